"""Claims about how training goes: convergence, CAGE's adaptation, commitment by layer, the gates that are chosen."""

import statistics
from collections.abc import Callable

from hardwire.paper import convergence
from hardwire.paper.claims.base import FAILS, HOLDS, WEAKER, Finding, above, named, worst
from hardwire.paper.claims.evidence import BINARY, Judges, at_scale, everywhere, learned
from hardwire.paper.groups import Cell, Group
from hardwire.paper.names import method_name, tau_name

_UNARY = ("A", "B", "¬A", "¬B")


def _settled(group: Group, method: str) -> dict[float, float | None]:
    """tau -> iterations to convergence by the gap, None where it does not converge."""
    cells = group.over_taus(method, group.main_depth)
    return {tau: convergence.converged(cell, "gap") for tau, cell in cells.items() if learned(cell)}


def _flat(group: Group) -> Finding | None:
    """Hard-ST's gap is within a point from the first evaluation on, at every temperature."""
    found = _settled(group, "hard-st")
    if not found:
        return None
    first = group.scale.evaluate_every
    right = all(value == first for value in found.values())
    listed = ", ".join(f"{tau_name(tau)} {'no' if v is None else f'{v:,.0f}'}" for tau, v in found.items())
    return Finding(HOLDS if right else FAILS, f"by the gap {listed}; the first evaluation is at {first:,}")


def _flat_by_accuracy(group: Group) -> Finding | None:
    """The same by accuracy, where converging means having learned: the slowest temperature against the fastest."""
    cells = group.over_taus("hard-st", group.main_depth)
    found = [convergence.converged(cell, "accuracy") for cell in cells.values() if learned(cell)]
    if len(found) < 2:
        return None
    listed = ", ".join(
        f"{tau_name(tau)} {'no' if v is None else f'{v:,.0f}'}" for tau, v in zip(cells, found, strict=False)
    )
    times = [value for value in found if value is not None]
    if len(times) < len(found):
        return Finding(FAILS, f"by accuracy {listed}")
    ratio = max(times) / min(times)
    return Finding(HOLDS if ratio <= 2 else WEAKER if ratio <= 4 else FAILS, f"by accuracy {listed}")


def _times_faster(group: Group) -> Finding | None:
    hard, soft = _settled(group, "hard-st"), _settled(group, "soft-gumbel")
    ratios = {tau: soft[tau] / hard[tau] for tau in soft if soft[tau] and hard.get(tau)}  # type: ignore[operator]
    never = [tau for tau, value in soft.items() if value is None]
    if not soft:
        return None
    listed = ", ".join(f"{tau_name(tau)} {ratio:.0f}x" for tau, ratio in ratios.items())
    listed += "".join(f", {tau_name(tau)} not converged" for tau in never)
    right = ratios and min(ratios.values()) >= 30 and (max(ratios.values()) <= 76 or never)
    verdict = HOLDS if right else WEAKER if (ratios or never) and all(ratio > 1 for ratio in ratios.values()) else FAILS
    return Finding(verdict, listed)


def _u_shape(group: Group) -> Finding | None:
    found = _settled(group, "soft-gumbel")
    if len(found) < 3:
        return None
    taus = sorted(found)
    inner = [found[tau] for tau in taus[1:-1]]
    times = [value for value in inner if value is not None]
    ends = [found[tau] for tau in (taus[0], taus[-1])]
    right = times and min(times) < min(float("inf") if end is None else end for end in ends)
    listed = ", ".join(f"{tau_name(tau)} {'no' if v is None else f'{v:,.0f}'}" for tau, v in found.items())
    return Finding(HOLDS if right else FAILS, listed)


def _soft_gumbel_times(group: Group) -> Finding | None:
    found = _settled(group, "soft-gumbel")
    stated = {0.05: "~38,000", 2.0: "~30,000"}
    times = [value for value in found.values() if value is not None]
    if not found:
        return None
    listed = ", ".join(f"{tau_name(tau)} {'no' if v is None else f'{v:,.0f}'}" for tau, v in found.items())
    right = len(times) == len(found) and min(times) >= 12_000 and max(times) <= 43_000
    return Finding(HOLDS if right else FAILS, f"{listed} (the paper: {stated[0.05]} and {stated[2.0]} at the ends)")


def _cage_runs(group: Group, method: str) -> Cell | None:
    cells = group.over_taus(method, group.main_depth).values()
    runs = tuple(run for cell in cells for run in cell.runs)
    return Cell(runs) if runs else None


def _cage_course(method: str, tau: str, confidence: str) -> Callable[[Group], Finding | None]:
    """Temperature and confidence at the start and at the end, over all streams and seeds."""

    def check(group: Group) -> Finding | None:
        cell = _cage_runs(group, method)
        if cell is None:
            return None
        first, last = ([run.history.records[place] for run in cell.runs] for place in (0, -1))
        found = [
            named("τ at the start", _about([r.tau for r in first], 2.4)),
            named("τ at the end", _about([r.tau for r in last], float(tau))),
            named("confidence at the start", _about([r.confidence for r in first], 0.25)),
            named("confidence at the end", _about([r.confidence for r in last], float(confidence))),
        ]
        return worst(found)

    return check


def _about(values: list[float], stated: float) -> Finding:
    """Within a tenth of what the paper reads off its figure."""
    mean = statistics.fmean(values)
    off = abs(mean / stated - 1)
    return Finding(HOLDS if off <= 0.1 else WEAKER if off <= 0.25 else FAILS, f"{mean:.2f} (n={len(values)})")


def _never_at_the_floor(group: Group) -> Finding | None:
    taus = [
        r.tau
        for m in ("hard-st+cage", "gumbel-st+cage")
        if (cell := _cage_runs(group, m))
        for run in cell.runs
        for r in run.history
    ]
    return Finding(HOLDS if min(taus) > 0.5 else FAILS, f"lowest τ_b {min(taus):.2f}") if taus else None


def _falls_as_confidence_rises(group: Group) -> Finding | None:
    found = []
    for method in ("hard-st+cage", "gumbel-st+cage"):
        if cell := _cage_runs(group, method):
            drops = [run.history.records[0].tau - run.history.final.tau for run in cell.runs]
            found.append(named(method_name(method), above([100 * drop for drop in drops])))
    return worst(found) if found else None


def _faster_commitment(group: Group) -> Finding | None:
    hard, noisy = (_cage_runs(group, method) for method in ("hard-st+cage", "gumbel-st+cage"))
    if hard is None or noisy is None or not learned(hard, noisy):
        return None
    means = [[100 * run.history.final.confidence for run in cell.runs] for cell in (hard, noisy)]
    return above([a - b for a, b in zip(*means, strict=False)])


JUDGES: Judges = {
    "hard-converges-at-once": everywhere(_flat),
    "convergence-independent-of-tau": everywhere(_flat_by_accuracy),
    "soft-gumbel-iterations": at_scale(BINARY, _soft_gumbel_times),
    "times-faster": at_scale(BINARY, _times_faster),
    "u-shape": everywhere(_u_shape),
    "cage-lowers-tau": everywhere(_falls_as_confidence_rises),
    "cage-hard-course": at_scale(BINARY, _cage_course("hard-st+cage", "0.7", "0.9")),
    "cage-gumbel-course": at_scale(BINARY, _cage_course("gumbel-st+cage", "0.8", "0.85")),
    "cage-above-floor": everywhere(_never_at_the_floor),
    "cage-hard-commits-faster": everywhere(_faster_commitment),
}
