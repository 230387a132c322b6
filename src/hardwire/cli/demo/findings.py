"""What the demo saw, in sentences: the paper's claims held against the numbers of this run.

Every sentence states its numbers, and `as_in_paper` says whether they bear the claim out. Surprising: not all of them
do. The paper's networks are 64 times as wide and train 33 times as long, and a narrow network suffers more from noise.
"""

from dataclasses import dataclass

from hardwire.cli.demo.trials import TAUS, Result
from hardwire.cli.report import percent, points

HIGH, LOW = TAUS
A_GAP = 0.01  # a difference that is no longer an image or two
A_COLLAPSE = 0.10


@dataclass(frozen=True)
class Finding:
    as_in_paper: bool
    text: str


def all_findings(results: list[Result]) -> list[Finding]:
    """The demo's closing lines, in the order of the paper's argument."""
    by = {(result.trial.label, result.trial.tau): result.history for result in results}
    return [_hard(by), _soft_mix(by), _soft_gumbel(by), _collapse(by), _rescue(by), _gumbel_end(by), _robustness(by)]


def winner(results: list[Result]) -> Result:
    """The run whose circuit is right most often; the first of them if several are."""
    return max(results, key=lambda result: result.history.final.deploy)


def _hard(by) -> Finding:
    gaps = [gap for label in ("Hard-ST", "Hard-ST+CAGE") for tau in TAUS for gap in by[label, tau].column("selection")]
    if not any(gaps):
        return Finding(
            True,
            f"Hard-ST, with and without CAGE: the selection gap was exactly 0 in all {len(gaps)} evaluations. "
            "The network that trains is the circuit.",
        )
    return Finding(False, f"Hard-ST had a selection gap of up to {points(max(gaps, key=abs))}; it should be exactly 0.")


def _soft_mix(by) -> Finding:
    history = by["Soft-Mix", HIGH]
    peak = max(history.records, key=lambda record: record.selection)
    seen = peak.selection >= A_GAP
    return Finding(
        seen,
        f"Soft-Mix at τ={HIGH:g} promised {'up to' if seen else 'at most'} {points(peak.selection)} points more than "
        f"its circuit kept (iteration {peak.iteration:,}), {points(history.final.selection)} at the end.",
    )


def _soft_gumbel(by) -> Finding:
    history = by["Soft-Gumbel", HIGH]
    low, high = min(history.column("selection")), history.peak("selection")
    larger = high > by["Soft-Mix", HIGH].peak("selection")
    return Finding(
        larger and high >= A_GAP,
        f"Soft-Gumbel at τ={HIGH:g} had gaps from {points(low)} to {points(high)}: noise alone does not close the gap. "
        f"Its peak was {'above' if larger else 'not above'} Soft-Mix's; in the paper it is above.",
    )


def _collapse(by) -> Finding:
    low, high = by["Gumbel-ST", LOW].final, by["Gumbel-ST", HIGH].final
    failed = low.method < high.method - A_COLLAPSE
    return Finding(
        failed,
        f"Gumbel-ST at τ={LOW:g} {'failed' if failed else 'did not fail'}: {percent(low.method)} % in training and "
        f"{percent(low.deploy)} % deployed, against {percent(high.method)} and {percent(high.deploy)} % at τ={HIGH:g}.",
    )


def _rescue(by) -> Finding:
    low = by["Gumbel-ST", LOW].final
    cage = [by["Gumbel-ST+CAGE", tau].final for tau in TAUS]
    rescued = min(final.method for final in cage) > low.method + A_COLLAPSE
    return Finding(
        rescued,
        f"CAGE {'rescued' if rescued else 'did not rescue'} it: Gumbel-ST+CAGE, which needs no τ, ended two seeds at "
        f"{' and '.join(percent(final.method) for final in cage)} % in training and "
        f"{' and '.join(percent(final.deploy) for final in cage)} % deployed.",
    )


def _gumbel_end(by) -> Finding:
    trained = [by["Gumbel-ST", HIGH], *(by["Gumbel-ST+CAGE", tau] for tau in TAUS)]
    gaps = [history.final.selection for history in trained]
    closed = max(abs(gap) for gap in gaps) < A_GAP
    return Finding(
        closed,
        f"Where Gumbel-ST trains (τ={HIGH:g}, CAGE), its gap ends at {', '.join(points(gap) for gap in gaps)}: "
        f"{'near 0, as in' if closed else 'not near 0 as in'} the paper, which trains longer and wider.",
    )


def _robustness(by) -> Finding:
    plain, cage = ([by[label, tau].final.deploy for tau in TAUS] for label in ("Hard-ST", "Hard-ST+CAGE"))
    steadier = max(cage) - min(cage) <= max(plain) - min(plain)
    return Finding(
        steadier,
        f"Hard-ST deploys {percent(plain[0])} % at τ={HIGH:g} and {percent(plain[1])} % at τ={LOW:g}; with CAGE, which "
        f"sets τ itself, two seeds give {percent(cage[0])} and {percent(cage[1])} %.",
    )
