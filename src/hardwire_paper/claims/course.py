"""Claims about how training goes: convergence, and CAGE's adaptation."""

import math
import statistics
from collections.abc import Callable

from hardwire.gates import GATES
from hardwire.selection import METHOD_VARIANTS
from hardwire_paper import convergence, printed
from hardwire_paper.claims.base import FAILS, HOLDS, UNTESTED, WEAKER, Finding, above, exact, named, not_tested, worst
from hardwire_paper.claims.evidence import (
    BINARY,
    Evidence,
    Judges,
    any_learned,
    at_scale,
    each_method,
    everywhere,
    learned,
)
from hardwire_paper.groups import RunGroup
from hardwire_paper.names import tau_name
from hardwire_paper.runs import SeedRuns

_CAGE = ("hard-st+cage", "gumbel-st+cage")


def _settled(group: RunGroup, method: str) -> dict[float, float | None]:
    """tau -> iterations to convergence by the gap, None where it does not converge."""
    cells = group.over_taus(method, group.main_depth)
    return {tau: convergence.converged(cell, "gap") for tau, cell in cells.items() if learned(cell)}


def _listed(times: dict[float, float | None]) -> str:
    return ", ".join(f"{tau_name(tau)} {'no' if time is None else f'{time:,.0f}'}" for tau, time in times.items())


AT_ONCE = 1_000  # iterations: twice the paper's ~500


def _by_accuracy(group: RunGroup) -> dict[float, float | None]:
    """Hard-ST: tau -> iterations to convergence by accuracy, None where it does not converge or has not learned."""
    cells = group.over_taus("hard-st", group.main_depth)
    return {tau: convergence.converged(cell, "accuracy") if learned(cell) else None for tau, cell in cells.items()}


def _at_once(group: RunGroup) -> Finding | None:
    """By accuracy alone: by the gap Hard-ST converges at the first evaluation whatever it has learned."""
    settled = _by_accuracy(group)
    if not any_learned(group.over_taus("hard-st", group.main_depth).values()):
        return None
    quick = all(time is not None and time <= AT_ONCE for time in settled.values())
    finding = Finding(HOLDS if quick else FAILS, f"by accuracy {_listed(settled)}")
    return finding if len(settled) > 1 else worst([finding, not_tested("another τ")])


def _flat_by_accuracy(group: RunGroup) -> Finding | None:
    """The same by accuracy, where converging means having learned: the slowest temperature against the fastest."""
    cells = group.over_taus("hard-st", group.main_depth)
    if len(cells) < 2 or not any_learned(cells.values()):
        return None
    settled = _by_accuracy(group)
    times = [value for value in settled.values() if value is not None]
    ratio = max(times) / min(times) if len(times) == len(settled) else math.inf
    return Finding(HOLDS if ratio <= 2 else FAILS, f"by accuracy {_listed(settled)}")


def _times_faster(group: RunGroup) -> Finding | None:
    """A method that never converges is slower by no known factor: against it Hard-ST is faster, and no more is said."""
    hard, soft = _settled(group, "hard-st"), _settled(group, "soft-gumbel")
    both = [tau for tau in soft if tau in hard]
    if not both:
        return None
    factors = [(soft[tau] or math.inf) / (hard[tau] or math.inf) for tau in both]
    right, faster = all(30 <= factor <= 76 for factor in factors), all(factor > 1 for factor in factors)
    figure = f"Hard-ST {_listed(hard)}; Soft-Gumbel {_listed(soft)}"
    return Finding(HOLDS if right else WEAKER if faster else FAILS, figure)


def _u_shape(group: RunGroup) -> Finding | None:
    """Where no temperature converges in time nothing is known of which is slowest."""
    settled = _settled(group, "soft-gumbel")
    if len(settled) < 3:
        return None
    if not any(settled.values()):
        return Finding(UNTESTED, _listed(settled))
    taus = sorted(settled)
    inner = [settled[tau] for tau in taus[1:-1]]
    times = [value for value in inner if value is not None]
    ends = [settled[tau] for tau in (taus[0], taus[-1])]
    right = times and min(times) < min(float("inf") if end is None else end for end in ends)
    return Finding(HOLDS if right else FAILS, _listed(settled))


def _soft_gumbel_times(group: RunGroup) -> Finding | None:
    settled = _settled(group, "soft-gumbel")
    stated = "~38,000 and ~30,000"
    times = [value for value in settled.values() if value is not None]
    if not settled:
        return None
    right = len(times) == len(settled) and min(times) >= 15_000 and max(times) <= 38_000
    return Finding(HOLDS if right else FAILS, f"{_listed(settled)} (the paper: {stated} at the ends)")


def _algorithm(evidence: Evidence) -> Finding:
    """The temperature of every evaluation against the last line of Algorithm 1, from the average stored beside it."""
    runs = [run for run in evidence.runs if METHOD_VARIANTS[run.method][1]]
    records = [record for run in runs for record in run.history if hasattr(record, "ema")]
    k, low, high = len(GATES), printed.CAGE_TAU_MIN, printed.CAGE_TAU_MAX
    off = [abs(r.tau - (high - (high - low) * (r.ema - 1 / k) / (1 - 1 / k))) for r in records]
    broken = sum(value > 1e-5 for value in off)
    return evidence.at_our_scale(exact(broken, len(off), f"{broken} of {len(off):,} evaluations have another τ_b"))


def _cage_runs(group: RunGroup, method: str) -> SeedRuns | None:
    cells = group.over_taus(method, group.main_depth).values()
    runs = tuple(run for cell in cells for run in cell.runs)
    return SeedRuns(runs) if runs else None


def _cage_course(method: str, tau: str, confidence: str) -> Callable[[RunGroup], Finding | None]:
    """Temperature and confidence at the start and at the end, over all streams and seeds."""

    def check(group: RunGroup) -> Finding | None:
        cell = _cage_runs(group, method)
        if cell is None:
            return None
        first, last = ([run.history.records[place] for run in cell.runs] for place in (0, -1))
        parts = [
            named("τ at the start", _about([r.tau for r in first], 2.4)),
            named("τ at the end", _about([r.tau for r in last], float(tau))),
            named("confidence at the start", _about([r.confidence for r in first], 0.25)),
            named("confidence at the end", _about([r.confidence for r in last], float(confidence))),
        ]
        return worst(parts)

    return check


def _drops_at_once(group: RunGroup) -> Finding | None:
    """The temperature at iteration 5,000."""
    cell = _cage_runs(group, "hard-st+cage")
    taus = [r.tau for run in cell.runs for r in run.history if r.iteration == 5_000] if cell else []
    return named("τ at iteration 5,000", _about(taus, 1.0)) if taus else None


def _about(values: list[float], stated: float) -> Finding:
    """Within a tenth of what the paper reads off its figure."""
    mean = statistics.fmean(values)
    off = abs(mean / stated - 1)
    return Finding(HOLDS if off <= 0.1 else WEAKER if off <= 0.25 else FAILS, f"{mean:.2f} (n={len(values)})")


def _never_at_the_floor(group: RunGroup, method: str) -> Finding | None:
    runs = _cage_runs(group, method)
    if runs is None:
        return None
    lowest = min(record.tau for run in runs.runs for record in run.history)
    return Finding(HOLDS if lowest > 0.5 else FAILS, f"lowest τ_b {lowest:.2f}")


def _falls_as_confidence_rises(group: RunGroup, method: str) -> Finding | None:
    runs = _cage_runs(group, method)
    if runs is None:
        return None
    return above([run.history.records[0].tau - run.history.final.tau for run in runs.runs])


def _faster_commitment(group: RunGroup) -> Finding | None:
    hard, noisy = (_cage_runs(group, method) for method in _CAGE)
    if hard is None or noisy is None or not learned(hard, noisy):
        return None
    one, other = (
        {(run.tau, run.seed): 100 * run.history.final.confidence for run in cell.runs} for cell in (hard, noisy)
    )
    return above([one[stream] - other[stream] for stream in one if stream in other])


JUDGES: Judges = {
    "hard-converges-at-once": everywhere(_at_once),
    "algorithm-1": _algorithm,
    "convergence-independent-of-tau": everywhere(_flat_by_accuracy),
    "soft-gumbel-iterations": at_scale(BINARY, _soft_gumbel_times),
    "times-faster": at_scale(BINARY, _times_faster),
    "u-shape": everywhere(_u_shape),
    "cage-lowers-tau": each_method(_CAGE, _falls_as_confidence_rises),
    "cage-hard-course": at_scale(BINARY, _cage_course("hard-st+cage", "0.7", "0.9")),
    "cage-hard-at-5000": at_scale(BINARY, _drops_at_once),
    "cage-gumbel-course": at_scale(BINARY, _cage_course("gumbel-st+cage", "0.8", "0.85")),
    "cage-above-floor": each_method(_CAGE, _never_at_the_floor),
    "cage-hard-commits-faster": everywhere(_faster_commitment),
}
