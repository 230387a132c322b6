"""Claims about the gap: which methods have one, at which temperatures, how it goes over training."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from hardwire_paper import convergence, printed
from hardwire_paper.claims.base import (
    FAILS,
    HOLDS,
    UNTESTED,
    WEAKER,
    Finding,
    above,
    at_most,
    capped,
    exact,
    named,
    not_tested,
    number,
    spread,
    still_learning,
    worst,
)
from hardwire_paper.claims.evidence import (
    BINARY,
    CIFAR,
    MNIST,
    Evidence,
    Judges,
    any_learned,
    at_scale,
    everywhere,
    learned,
    paired,
)
from hardwire_paper.groups import RunGroup
from hardwire_paper.judging import PRACTICAL, SampleMean
from hardwire_paper.names import method_name, tau_name
from hardwire_paper.runs import FAILURE_GAP, SeedRuns

NOTABLE = 1.0  # points: a gap that is one
HIGH = 2.0  # the highest temperature of the paper: what it says of high ones needs runs there


def late(cell: SeedRuns) -> list[float]:
    """The peak of each seed from where the paper's ranges begin; in a shorter run what comes before is warm-up."""
    return [high for _, high in cell.late_ranges("selection")]


def late_peak(cell: SeedRuns) -> list[float]:
    """The same over the last 80% of training, however long that was: beside a number that the paper prints."""
    return cell.late_peaks("selection")


def final(cell: SeedRuns) -> list[float]:
    return cell.finals("selection")


def _final_size(cell: SeedRuns) -> list[float]:
    return [abs(gap) for gap in final(cell)]


def _late_size(cell: SeedRuns) -> list[float]:
    return [max(abs(low), abs(high)) for low, high in cell.late_ranges("selection")]


def _sizes(*cells: SeedRuns) -> dict[str, Callable[[SeedRuns], list[float]]]:
    """By which sizes gaps are compared: at the end, and at the largest late in training where that is more."""
    ends = all(low == high for cell in cells for low, high in cell.late_ranges("selection"))
    return {"at the end": _final_size} if ends else {"at the end": _final_size, "late": _late_size}


def _signed(cell: SeedRuns, what: str) -> str:
    """The gap whose size is meant, with its sign."""
    gaps = [final(cell)] if what == "at the end" else list(zip(*cell.late_ranges("selection"), strict=True))
    return f"{max((statistics.fmean(values) for values in gaps), key=abs):+.1f}"


def _compare(one: str, other: str, margin: float = 0.0) -> Callable[[RunGroup], Finding | None]:
    """The gap of one above that of the other by size, at the highest temperature: at the end, and at its largest."""

    def check(group: RunGroup) -> Finding | None:
        first, second = group.side(one, HIGH), group.side(other, HIGH)
        if first is None or second is None or not learned(first, second):
            return None
        parts = []
        for what, size in _sizes(first, second).items():
            words = f"{what} ({_signed(first, what)} and {_signed(second, what)})"
            parts.append(named(words, above(paired(first, second, size), margin)))
        return worst(parts)

    return check


def _of_mixtures(group: RunGroup, check: Callable[[SeedRuns, SeedRuns], Iterable[Finding]]) -> Finding | None:
    """Soft-Gumbel and Soft-Mix at every temperature."""
    parts: list[Finding] = []
    for tau in group.taus:
        noisy, plain = (group.get(method, group.main_depth, tau) for method in ("soft-gumbel", "soft-mix"))
        if noisy is None or plain is None or not learned(noisy, plain):
            parts.append(not_tested(tau_name(tau)))
        else:
            parts += [named(tau_name(tau), part) for part in check(noisy, plain)]
    return worst(parts) if any(one.verdict != UNTESTED for one in parts) else None


def _noise_does_not_reduce(group: RunGroup) -> Finding | None:
    """By size: holds where Soft-Gumbel's gap is no smaller, fails where it is smaller by a point."""

    def check(noisy: SeedRuns, plain: SeedRuns) -> Iterable[Finding]:
        for what, size in _sizes(noisy, plain).items():
            differences = paired(plain, noisy, size)
            if not differences:  # no seed in common
                yield Finding(UNTESTED)
                continue
            less = SampleMean.of(differences)
            verdict = HOLDS if less.value + 2 * less.error <= 0 else WEAKER if less.value <= NOTABLE else FAILS
            figure = f"{what} {_signed(noisy, what)} and {_signed(plain, what)}"
            yield capped(Finding(verdict, figure), len(differences))

    return _of_mixtures(group, check)


def _noise_amplifies(group: RunGroup) -> Finding | None:
    """Soft-Gumbel above Soft-Mix, signs counting, as the paper's table has them."""
    values = {"final": final, "late peak": late_peak}
    return _of_mixtures(
        group, lambda noisy, plain: [named(w, above(paired(noisy, plain, of))) for w, of in values.items()]
    )


def _small_only_at_low_tau(group: RunGroup) -> Finding | None:
    cells = group.over_taus("soft-mix", group.main_depth)
    if len(cells) < 2 or max(cells) < HIGH or not learned(*cells.values()):
        return None
    low, high = cells[min(cells)], cells[max(cells)]
    small = named(f"late in training at {tau_name(min(cells))}", at_most(late(low), NOTABLE))
    larger = named(f"{tau_name(max(cells))} above it by", above(paired(high, low, late), NOTABLE))
    return worst([small, larger])


def _soft_has_a_gap(group: RunGroup) -> Finding | None:
    """Soft-Mix at every temperature: the paper's row says that soft mixtures have a gap, and not at which."""
    cells = group.over_taus("soft-mix", group.main_depth)
    parts = {tau: above(late(cell), NOTABLE) for tau, cell in cells.items() if learned(cell)}
    if not parts:
        return None
    with_gap = [tau for tau, part in parts.items() if statistics.fmean(late(cells[tau])) > NOTABLE]
    figure = "late peak " + ", ".join(f"{tau_name(tau)} {part.figure}" for tau, part in parts.items())
    if len(with_gap) == len(parts):
        return replace(worst(parts.values()), figure=figure)
    return Finding(WEAKER if with_gap else FAILS, figure)


def _near_zero(group: RunGroup) -> Finding | None:
    """Gumbel-ST's final gap at each of the paper's temperatures where it does not fail there, once it has learned."""
    if not group.over_taus("gumbel-st", group.main_depth):
        return None
    parts = []
    for tau in (tau for tau in printed.TAUS if tau >= 0.5):
        cell = group.get("gumbel-st", group.main_depth, tau)
        if cell is None or cell.mark:
            parts.append(not_tested(tau_name(tau)))
        else:
            part = replace(at_most(_final_size(cell), 1.1), figure=spread(final(cell)))
            parts.append(named(tau_name(tau), part if _at_the_end(group, cell) else still_learning(part)))
    return worst(parts)


def _at_the_end(group: RunGroup, cell: SeedRuns) -> bool:
    """Whether training is over: the paper's length, or accuracy that has settled, and none of the two passes rising."""
    still = any(convergence.rising(run.history, "method") for run in cell.runs)
    return group.comparable or (convergence.converged(cell, "accuracy") is not None and not still)


def _numbers(
    method: str, taus: tuple[float, ...], stated: Mapping[str, tuple[str, ...]]
) -> Callable[[RunGroup], Finding | None]:
    """Final and late peak at these temperatures, each against the number that the paper states there."""
    values = {"final": final, "late peak": late_peak}

    def check(group: RunGroup) -> Finding | None:
        if not group.over_taus(method, group.main_depth):
            return None
        parts = []
        for what, texts in stated.items():
            for tau, text in zip(taus, texts, strict=True):
                cell = group.get(method, group.main_depth, tau)
                part = Finding(UNTESTED, "no runs") if cell is None else number(values[what](cell), text)
                parts.append(named(f"{what} at {tau_name(tau)}", part))
        return worst(parts)

    return check


def _peak_of_figure_2a(group: RunGroup) -> Finding | None:
    cell = group.get("soft-gumbel", group.main_depth, 1.0)
    if cell is None:
        return None
    tops = [max(run.history.records, key=lambda record: float(record.selection)) for run in cell.runs]
    size = named("peak", number([100 * top.selection for top in tops], "~17"))
    places = [float(top.iteration) for top in tops]
    near = all(2_500 <= place <= 10_000 for place in places)
    place = Finding(HOLDS if near else FAILS, f"at iteration {statistics.fmean(places):,.0f}")
    return worst([size, place])


def _residual(group: RunGroup) -> Finding | None:
    cell = group.get("soft-gumbel", group.main_depth, group.main_tau)
    if cell is None or not learned(cell):
        return None
    return above(final(cell)) if _at_the_end(group, cell) else still_learning(above(final(cell)))


def _negative_at_low_tau(group: RunGroup) -> Finding | None:
    cell = group.get("gumbel-st", group.main_depth, group.taus[0])
    if cell is None or group.taus[0] > 0.1:
        return None
    lowest = [-100 * min(run.history.column("selection")) for run in cell.runs]
    return named("depth of the lowest gap", above(lowest, NOTABLE))


def _uniformly_zero(evidence: Evidence) -> Finding:
    """The heatmap: Hard-ST's final gap at every depth and temperature; some of the paper's never run are not tested."""
    groups = evidence.on(MNIST)
    cells = {
        (group.words, method, tau): (group.main_depth, cell)
        for group in groups
        for method in ("hard-st", "hard-st+cage")
        for tau, cell in group.over_taus(method, group.main_depth).items()
    }
    if not cells:
        return Finding(UNTESTED)
    gaps = [abs(value) for _, cell in cells.values() for value in cell.finals("total")]
    figure = f"largest final gap {max(gaps):.1f} points in {len(cells)} cells"
    finding = exact(sum(gap > NOTABLE for gap in gaps), len(cells), figure)
    depths, taus = {depth for depth, _ in cells.values()}, {tau for _, method, tau in cells if method == "hard-st"}
    left = [f"L={depth}" for depth in printed.DEPTHS if depth not in depths]
    left += [tau_name(tau) for tau in printed.TAUS if tau not in taus]
    if left:
        finding = worst([finding, Finding(UNTESTED, f"not run: {', '.join(left)}")])
    scales, names = tuple(group.words for group in groups), frozenset(group.name for group in groups)
    return replace(finding, scales=scales, groups=names)


def _smaller_on_cifar(evidence: Evidence) -> Finding:
    """The largest size late in training, at the temperatures that both datasets have."""
    nearest = [
        next((g for g in evidence.on(dataset) if any_learned(g.over_taus("soft-gumbel", g.main_depth).values())), None)
        for dataset in (CIFAR, BINARY)
    ]
    cifar, mnist = nearest
    if cifar is None or mnist is None:
        return Finding(UNTESTED)
    both = [group.over_taus("soft-gumbel", group.main_depth) for group in (cifar, mnist)]
    taus = [tau for tau in both[0] if tau in both[1]]
    if not taus:
        return Finding(UNTESTED)
    sizes = [max(statistics.fmean(_late_size(cells[tau])) for tau in taus) for cells in both]
    listed = ", ".join(f"{tau:g}" for tau in taus)
    figure = f"late size {sizes[0]:.1f} on CIFAR-10-Binary, {sizes[1]:.1f} on MNIST-Binary at τ {listed}"
    verdict = HOLDS if sizes[0] < sizes[1] else FAILS
    names = frozenset([cifar.name, mnist.name])
    return capped(Finding(verdict, figure, (cifar.words, mnist.words), names), min(cifar.seeds, mnist.seeds))


def _finals(cells: Sequence[SeedRuns]) -> list[float]:
    return [value for cell in cells for value in cell.finals("total")]


def _largest(cells: Sequence[SeedRuns]) -> list[float]:
    """Of the temperature where it is largest, as the paper's table across datasets prints it."""
    return max((cell.largest("total") for cell in cells), key=statistics.fmean)


def _only_computation(
    stated: str, of: Callable[[Sequence[SeedRuns]], list[float]]
) -> Callable[[RunGroup], Finding | None]:
    """Hard-ST's total gap against the paper's number, and no selection gap in it at any evaluation."""

    def check(group: RunGroup) -> Finding | None:
        cells = group.over_taus("hard-st", group.main_depth).values()
        if not cells:
            return None
        selection = [gap for cell in cells for run in cell.runs for gap in run.history.column("selection")]
        zero = exact(sum(gap != 0 for gap in selection), len(selection), "selection gap 0 throughout")
        return worst([zero, named("total gap", number(of(list(cells)), stated))])

    return check


def _grid_on(dataset: str, method: str, failing: bool) -> Callable[[Evidence], Finding]:
    """The heatmap of a noisy method: every final gap at low temperatures below the failure line, or all near zero."""

    def judge(evidence: Evidence) -> Finding:
        cells = {
            (group.main_depth, tau): (group, cell)
            for group in reversed(evidence.on(dataset))  # the nearest to the paper's scale last, which stays
            for tau, cell in group.over_taus(method, group.main_depth).items()
            if not failing or tau <= 0.1
        }
        if not cells:
            return Finding(UNTESTED)
        ends = [cell.final("total") for _, cell in cells.values()]
        broken = sum(end >= FAILURE_GAP if failing else abs(end) > NOTABLE for end in ends)
        figure = f"final gap {min(ends):+.1f} to {max(ends):+.1f} points in {len(ends)} cells"
        groups = [group for group, _ in cells.values()]
        scales = tuple(dict.fromkeys(group.words for group in groups))
        finding = capped(exact(broken, len(ends), figure), min(group.seeds for group in groups))
        return replace(finding, scales=scales, groups=frozenset(group.name for group in groups))

    return judge


def _factorial(group: RunGroup) -> Finding | None:
    cells = {method: group.get(method, group.main_depth, 2.0) for method in printed.FACTORIAL}
    if not any(cells.values()):
        return None
    missing = Finding(UNTESTED, "no runs")
    return worst(
        named(method_name(m), missing if c is None else number(late_peak(c), printed.FACTORIAL[m]))
        for m, c in cells.items()
    )


_SOFT_GUMBEL = {"final": ("0.7", "0.2", "0.2", "0.2", "2.1"), "late peak": ("2", "2", "7", "17", "40")}
JUDGES: Judges = {
    "soft-mixtures-have-a-gap": everywhere(_soft_has_a_gap),
    "pass-decides": everywhere(_compare("soft-gumbel", "gumbel-st", PRACTICAL)),
    "hard-below-soft-gumbel": everywhere(_compare("soft-gumbel", "hard-st")),
    "noise-does-not-reduce": everywhere(_noise_does_not_reduce),
    "noise-amplifies": at_scale(BINARY, _noise_amplifies),
    "soft-mix-only-at-low-tau": everywhere(_small_only_at_low_tau),
    "gumbel-st-near-zero": everywhere(_near_zero),
    "figure-1": at_scale(BINARY, _factorial),
    "soft-mix-numbers": at_scale(BINARY, _numbers("soft-mix", (2.0,), {"final": ("0.6",), "late peak": ("24",)})),
    "soft-gumbel-numbers": at_scale(BINARY, _numbers("soft-gumbel", printed.TAUS, _SOFT_GUMBEL)),
    "gumbel-st-negative-numbers": at_scale(BINARY, _numbers("gumbel-st", (0.05, 0.1), {"final": ("-40", "-59")})),
    "figure-2a": at_scale(BINARY, _peak_of_figure_2a),
    "residual-gap": everywhere(_residual),
    "negative-early": everywhere(_negative_at_low_tau),
    "figure-4": _uniformly_zero,
    "figure-4-gumbel-st": _grid_on(MNIST, "gumbel-st", failing=True),
    "figure-4-cage": _grid_on(MNIST, "gumbel-st+cage", failing=False),
    "mnist-computation-only": at_scale(MNIST, _only_computation("~0.2", _finals)),
    "table-5-computation": at_scale(MNIST, _only_computation("0.4", _largest)),
    "cifar-smaller": _smaller_on_cifar,
    "cifar-gumbel-st": at_scale(CIFAR, _numbers("gumbel-st", (0.1,), {"final": ("-14",)})),
}
