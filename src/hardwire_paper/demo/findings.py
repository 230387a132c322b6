"""What the demo saw, in sentences: the paper's claims held against the numbers of this run.

Every sentence states its numbers, and `as_in_paper` says whether they bear the claim out; nothing in a sentence is
written before the run. Surprising: not all claims come out. The paper's networks are 64 times as wide and train 33
times as long, and a narrow network suffers more from noise.
"""

from dataclasses import dataclass
from pathlib import Path

from hardwire.cli.report import percent, points
from hardwire.errors import HardwireError
from hardwire.selection import METHOD_VARIANTS
from hardwire.study import Description, Store
from hardwire.training import History
from hardwire_paper.names import method_name
from hardwire_paper.runs import NetworkRun

HIGH, LOW = TAUS = (2.0, 0.05)
A_GAP = 0.01  # a difference that is no longer an image or two
A_COLLAPSE = 0.10


@dataclass(frozen=True)
class Trial:
    """A finished run of the demo, and the file of its trained model."""

    run: NetworkRun
    model: Path

    @property
    def label(self) -> str:
        return method_name(self.run.method)

    @property
    def history(self) -> History:
        return self.run.history

    @property
    def validation(self) -> float:
        """Its circuit's accuracy on the rows that no run has learned from and nobody is shown."""
        return float(self.history.final.validation)


@dataclass(frozen=True)
class Observation:
    as_in_paper: bool
    text: str


By = dict[tuple[str, float], History]


def read(path: Path, description: Description) -> list[Trial]:
    """The runs of the demo, by method and then from high to low tau."""
    with Store(path) as store:
        wanted = set(description)
        results = [result for result in store.finished("network") if result.config in wanted]
        failures = [state.error for config, state in store.failures() if config in wanted]
    if len(results) < len(wanted):
        raise HardwireError(f"a run of the demo failed: {failures[0] if failures else 'it is not in the store'}")
    trials = [Trial(NetworkRun.of(result), store.models / f"{result.key}.safetensors") for result in results]
    return sorted(trials, key=lambda trial: (list(METHOD_VARIANTS).index(trial.run.method), -trial.run.tau))


def winner(trials: list[Trial]) -> Trial:
    """The run whose circuit is right most often on the validation rows; the first of them if several are."""
    return max(trials, key=lambda trial: trial.validation)


def all_findings(trials: list[Trial]) -> list[Observation]:
    """The demo's closing lines, in the order of the paper's argument."""
    by = {(trial.run.method, trial.run.tau): trial.history for trial in trials}
    return [_hard(by), _soft_mix(by), _soft_gumbel(by), _collapse(by), _rescue(by), _gumbel_end(by), _robustness(by)]


def _hard(by: By) -> Observation:
    gaps = [gap for name in ("hard-st", "hard-st+cage") for tau in TAUS for gap in by[name, tau].column("selection")]
    if any(gaps):
        text = f"Hard-ST had a selection gap of up to {points(max(gaps, key=abs))}; it should be exactly 0."
        return Observation(False, text)
    return Observation(
        True,
        f"Hard-ST, with and without CAGE: the selection gap was exactly 0 in all {len(gaps)} evaluations. "
        "The network that trains is the circuit.",
    )


def _soft_mix(by: By) -> Observation:
    history = by["soft-mix", HIGH]
    peak = max(history.records, key=lambda record: float(record.selection))
    seen = peak.selection >= A_GAP
    return Observation(
        seen,
        f"Soft-Mix at τ={HIGH:g} promised {'up to' if seen else 'at most'} {points(peak.selection)} points more than "
        f"its circuit kept (its peak, at iteration {peak.iteration:,}), {points(history.final.selection)} at the end.",
    )


def _soft_gumbel(by: By) -> Observation:
    history = by["soft-gumbel", HIGH]
    low, high = min(history.column("selection")), history.peak("selection")
    largest = max(abs(low), abs(high))
    noise = "noise alone did not close the gap" if largest >= A_GAP else "with noise there was hardly a gap"
    larger = high > by["soft-mix", HIGH].peak("selection")
    return Observation(
        larger and high >= A_GAP,
        f"Soft-Gumbel at τ={HIGH:g} had gaps from {points(low)} to {points(high)}: {noise}. "
        f"Its peak was {'above' if larger else 'not above'} Soft-Mix's; in the paper it is above.",
    )


def _collapse(by: By) -> Observation:
    low, high = by["gumbel-st", LOW].final, by["gumbel-st", HIGH].final
    failed = low.method < high.method - A_COLLAPSE
    return Observation(
        failed,
        f"Gumbel-ST at τ={LOW:g} {'failed' if failed else 'did not fail'}: {percent(low.method)} % in training and "
        f"{percent(low.deploy)} % deployed, against {percent(high.method)} and {percent(high.deploy)} % at τ={HIGH:g}.",
    )


def _rescue(by: By) -> Observation:
    low, high = by["gumbel-st", LOW].final, by["gumbel-st", HIGH].final
    cage = [by["gumbel-st+cage", tau].final for tau in TAUS]
    needed = low.method < high.method - A_COLLAPSE
    rescued = needed and min(final.method for final in cage) > low.method + A_COLLAPSE
    done = "rescued it" if rescued else "did not rescue it" if needed else "had nothing to rescue"
    return Observation(
        rescued,
        f"CAGE {done}: Gumbel-ST+CAGE, which needs no τ, ended two runs at "
        f"{' and '.join(percent(final.method) for final in cage)} % in training and "
        f"{' and '.join(percent(final.deploy) for final in cage)} % deployed.",
    )


def _gumbel_end(by: By) -> Observation:
    trained = [by["gumbel-st", HIGH], *(by["gumbel-st+cage", tau] for tau in TAUS)]
    gaps = [history.final.selection for history in trained]
    closed = max(abs(gap) for gap in gaps) < A_GAP
    return Observation(
        closed,
        f"Gumbel-ST at τ={HIGH:g} and with CAGE ends with gaps of {', '.join(points(gap) for gap in gaps)}: "
        f"{'near 0, as in' if closed else 'not near 0 as in'} the paper.",
    )


def _robustness(by: By) -> Observation:
    plain, cage = ([by[name, tau].final.deploy for tau in TAUS] for name in ("hard-st", "hard-st+cage"))
    steadier = max(cage) - min(cage) <= max(plain) - min(plain)
    compared = "nearer together than" if steadier else "further apart than"
    return Observation(
        steadier,
        f"Hard-ST deploys {percent(plain[0])} % at τ={HIGH:g} and {percent(plain[1])} % at τ={LOW:g}; two runs with "
        f"CAGE, which sets τ itself, {percent(cage[0])} and {percent(cage[1])} %: {compared} without.",
    )
