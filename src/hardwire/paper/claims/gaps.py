"""Claims about the gap: which methods have one, at which temperatures, how it goes over training."""

import statistics
from collections.abc import Callable, Mapping

from hardwire.paper import printed
from hardwire.paper.claims.base import (
    FAILS,
    HOLDS,
    UNTESTED,
    Finding,
    above,
    at_most,
    capped,
    exact,
    named,
    not_tested,
    number,
    worst,
)
from hardwire.paper.claims.evidence import (
    BINARY,
    CIFAR,
    MNIST,
    Evidence,
    Judges,
    at_scale,
    everywhere,
    learned,
    paired,
)
from hardwire.paper.groups import Cell, Group
from hardwire.paper.names import method_name, tau_name

NOTABLE = 1.0  # points: a gap that is one
LARGE = 5.0  # points: the paper's threshold of practical significance


def late(cell: Cell) -> list[float]:
    return cell.late_peaks("selection")


def final(cell: Cell) -> list[float]:
    return cell.finals("selection")


def _compare(
    one: str, other: str, side: str, values: Callable[[Cell], list[float]], margin: float = 0.0
) -> Callable[[Group], Finding | None]:
    """one above other at the lowest or highest temperature."""

    def check(group: Group) -> Finding | None:
        tau = group.taus[0] if side == "low" else group.taus[-1]
        first, second = group.side(one, tau), group.side(other, tau)
        if first is None or second is None or not learned(first, second):
            return None
        return above(paired(first, second, values), margin)

    return check


def _noise_amplifies(group: Group) -> Finding | None:
    """Soft-Gumbel above Soft-Mix at every temperature, at the end and at the late peak."""
    found = []
    for tau in group.taus:
        noisy, plain = (group.get(method, group.main_depth, tau) for method in ("soft-gumbel", "soft-mix"))
        if noisy is None or plain is None or not learned(noisy, plain):
            found.append(not_tested(tau_name(tau)))
            continue
        for what, values in (("final", final), ("late peak", late)):
            found.append(named(f"{tau_name(tau)} {what}", above(paired(noisy, plain, values))))
    return worst(found) if found else None


def _small_only_at_low_tau(group: Group) -> Finding | None:
    cells = group.over_taus("soft-mix", group.main_depth)
    if len(cells) < 2 or not learned(*cells.values()):
        return None
    low, high = cells[min(cells)], cells[max(cells)]
    small = named(f"late peak at {tau_name(min(cells))}", at_most(late(low), NOTABLE))
    larger = named(f"{tau_name(max(cells))} above it by", above(paired(high, low, late), NOTABLE))
    return worst([small, larger])


def _soft_has_a_gap(group: Group) -> Finding | None:
    cell = group.get("soft-mix", group.main_depth, group.taus[-1])
    return above(late(cell), NOTABLE) if cell is not None and learned(cell) else None


def _near_zero(group: Group) -> Finding | None:
    """Gumbel-ST's final gap wherever it does not fail by the dagger rule."""
    cells = group.over_taus("gumbel-st", group.main_depth)
    found = [
        named(tau_name(tau), at_most([abs(value) for value in final(cell)], 1.1))
        for tau, cell in cells.items()
        if not cell.mark
    ]
    return worst(found) if found else None


def _numbers(
    method: str, taus: tuple[float, ...], stated: Mapping[str, tuple[str, ...]]
) -> Callable[[Group], Finding | None]:
    """Final and late peak at these temperatures, each against the number that the paper states there."""
    values = {"final": final, "late peak": late}

    def check(group: Group) -> Finding | None:
        if not group.over_taus(method, group.main_depth):
            return None
        found = []
        for what, texts in stated.items():
            for tau, text in zip(taus, texts, strict=True):
                cell = group.get(method, group.main_depth, tau)
                part = Finding(UNTESTED, "no runs") if cell is None else number(values[what](cell), text)
                found.append(named(f"{what} at {tau_name(tau)}", part))
        return worst(found)

    return check


def _peak_of_figure_2a(group: Group) -> Finding | None:
    cell = group.get("soft-gumbel", group.main_depth, 1.0)
    if cell is None:
        return None
    tops = [max(run.history.records, key=lambda record: float(record.selection)) for run in cell.runs]
    size = named("peak", number([100 * top.selection for top in tops], "~17"))
    places = [float(top.iteration) for top in tops]
    near = all(2_500 <= place <= 10_000 for place in places)
    place = Finding(HOLDS if near else FAILS, f"at iteration {statistics.fmean(places):,.0f}")
    return worst([size, place])


def _residual(group: Group) -> Finding | None:
    cell = group.get("soft-gumbel", group.main_depth, group.main_tau)
    return above(final(cell)) if cell is not None and learned(cell) else None


def _negative_at_low_tau(group: Group) -> Finding | None:
    cell = group.get("gumbel-st", group.main_depth, group.taus[0])
    if cell is None or group.taus[0] > 0.1:
        return None
    lowest = [-100 * min(run.history.column("selection")) for run in cell.runs]
    return named("depth of the lowest gap", above(lowest, NOTABLE))


def _uniformly_zero(evidence: Evidence) -> Finding:
    """The heatmap: Hard-ST's final gap at every depth and temperature; some of the paper's never run are not tested."""
    cells = {
        (group.words, method, tau): (group.main_depth, cell)
        for group in evidence.groups
        for method in ("hard-st", "hard-st+cage")
        for tau, cell in group.over_taus(method, group.main_depth).items()
    }
    gaps = [abs(value) for _, cell in cells.values() for value in cell.finals("total")]
    figure = f"largest final gap {max(gaps, default=0.0):.1f} points in {len(cells)} cells"
    found = exact(sum(gap > NOTABLE for gap in gaps), len(cells), figure)
    depths, taus = {depth for depth, _ in cells.values()}, {tau for _, method, tau in cells if method == "hard-st"}
    left = [f"L={depth}" for depth in printed.DEPTHS if depth not in depths]
    left += [tau_name(tau) for tau in printed.TAUS if tau not in taus]
    return worst([found, Finding(UNTESTED, f"not run: {', '.join(left)}")]) if cells and left else found


def _smaller_on_cifar(evidence: Evidence) -> Finding:
    tops, scales, seeds = [], [], []
    for dataset in (CIFAR, BINARY):
        for group in evidence.on(dataset):
            cells = group.over_taus("soft-gumbel", group.main_depth).values()
            if cells and learned(*cells):
                tops.append(max(statistics.fmean(late(cell)) for cell in cells))
                scales.append(group.words)
                seeds.append(group.seeds)
                break
    if len(tops) < 2:
        return Finding(UNTESTED)
    figure = f"late peak {tops[0]:.1f} on CIFAR-10-Binary, {tops[1]:.1f} on MNIST-Binary"
    return capped(Finding(HOLDS if tops[0] < tops[1] else FAILS, figure, "; ".join(scales)), min(seeds))


def _only_computation(group: Group) -> Finding | None:
    cells = group.over_taus("hard-st", group.main_depth).values()
    values = [value for cell in cells for value in cell.finals("total")]
    if not values:
        return None
    selection = [gap for cell in cells for run in cell.runs for gap in run.history.column("selection")]
    zero = exact(sum(gap != 0 for gap in selection), len(selection), "selection gap 0 throughout")
    return worst([zero, named("total gap", number(values, "~0.2"))])


def _factorial(group: Group) -> Finding | None:
    cells = {method: group.get(method, group.main_depth, 2.0) for method in printed.FACTORIAL}
    if not any(cells.values()):
        return None
    missing = Finding(UNTESTED, "no runs")
    return worst(
        named(method_name(m), missing if c is None else number(late(c), printed.FACTORIAL[m])) for m, c in cells.items()
    )


_SOFT_GUMBEL = {"final": ("0.7", "0.2", "0.2", "0.2", "2.1"), "late peak": ("2", "2", "7", "17", "40")}
JUDGES: Judges = {
    "soft-mixtures-have-a-gap": everywhere(_soft_has_a_gap),
    "pass-decides": everywhere(_compare("soft-gumbel", "gumbel-st", "high", late, LARGE)),
    "hard-below-soft-gumbel": everywhere(_compare("soft-gumbel", "hard-st", "high", late)),
    "noise-does-not-reduce": everywhere(_noise_amplifies),
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
    "mnist-computation-only": at_scale(MNIST, _only_computation),
    "cifar-smaller": _smaller_on_cifar,
    "cifar-gumbel-st": at_scale(CIFAR, _numbers("gumbel-st", (0.1,), {"final": ("-14",)})),
}
