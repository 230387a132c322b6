"""Claims about what is chosen and how surely: commitment by layer, and which gates."""

import statistics
from collections.abc import Callable, Iterable

from hardwire.gates import GATE_NAMES
from hardwire_paper import convergence, printed
from hardwire_paper.claims.base import (
    FAILS,
    HOLDS,
    UNTESTED,
    WEAKER,
    Finding,
    above,
    named,
    number,
    still_learning,
    worst,
)
from hardwire_paper.claims.evidence import (
    BINARY,
    Evidence,
    Judges,
    at_scale,
    each_method,
    everywhere,
    learned,
    paired,
)
from hardwire_paper.groups import RunGroup
from hardwire_paper.names import method_name
from hardwire_paper.runs import SeedRuns

_UNARY = ("A", "B", "¬A", "¬B")
_OTHERS = ("soft-mix", "soft-gumbel", "gumbel-st")


def _layers(cell: SeedRuns) -> list[float]:
    """Commitment of each layer at the end, percent, mean over seeds."""
    return [
        100 * statistics.fmean(layer)
        for layer in zip(*(run.history.final.commitment for run in cell.runs), strict=True)
    ]


def _commitment(method: str, low: float, high: float) -> Callable[[RunGroup], Finding | None]:
    def check(group: RunGroup) -> Finding | None:
        cell = group.get(method, group.main_depth, 1.0)
        if cell is None:
            return None
        layers = _layers(cell)
        right = abs(min(layers) - low) <= 2 and abs(max(layers) - high) <= 2
        near = abs(min(layers) - low) <= 10 and abs(max(layers) - high) <= 10
        return Finding(
            HOLDS if right else WEAKER if near else FAILS,
            f"{min(layers):.0f} to {max(layers):.0f} over layers (n={len(cell.runs)})",
        )

    return check


def _both(group: RunGroup, one: str, other: str) -> tuple[SeedRuns, SeedRuns] | None:
    """Two methods at the main temperature, where both ran and have learned."""
    first, second = (group.get(method, group.main_depth, group.main_tau) for method in (one, other))
    return (first, second) if first is not None and second is not None and learned(first, second) else None


def _more_committed(group: RunGroup) -> Finding | None:
    cells = _both(group, "hard-st", "soft-gumbel")
    if cells is None:
        return None
    layers = range(group.main_depth)
    return worst(named(f"layer {layer + 1}", above(paired(*cells, _of_layer(layer)))) for layer in layers)


def _of_layer(layer: int) -> Callable[[SeedRuns], list[float]]:
    return lambda cell: [100 * run.history.final.commitment[layer] for run in cell.runs]


def _rising(method: str) -> Callable[[RunGroup], Finding | None]:
    def check(group: RunGroup) -> Finding | None:
        cell = group.get(method, group.main_depth, group.main_tau)
        if cell is None or group.main_depth < 2 or not learned(cell):
            return None
        rises = [100 * (run.history.final.commitment[-1] - run.history.final.commitment[0]) for run in cell.runs]
        return named("last layer less first", above(rises))

    return check


def _all_layers(cell: SeedRuns) -> list[float]:
    """Commitment of each seed at the end, over all neurons, percent."""
    return [100 * run.history.final.confidence for run in cell.runs]


def _commits_more(one: str, other: str) -> Callable[[RunGroup], Finding | None]:
    """Whether one method ends more committed than another, at the main temperature, once both have learned: gates
    commit on the way, so one whose A^M still rises is not at its end.
    """

    def check(group: RunGroup) -> Finding | None:
        cells = _both(group, one, other)
        if cells is None:
            return None
        finding = above(paired(*cells, _all_layers))
        still = any(convergence.rising(run.history, "method") for cell in cells for run in cell.runs)
        return still_learning(finding) if still and not group.comparable else finding

    return check


def _each(pairs: Iterable[tuple[str, str]]) -> Callable[[Evidence], Finding]:
    """The worst over pairs of methods, of which the first commits more."""
    judges = {f"{method_name(one)} above {method_name(other)} by": (one, other) for one, other in pairs}

    def judge(evidence: Evidence) -> Finding:
        findings = {words: everywhere(_commits_more(*pair))(evidence) for words, pair in judges.items()}
        return worst(named(words, finding) for words, finding in findings.items())

    return judge


def _evenness(cell: SeedRuns) -> list[float]:
    """Of each seed how far apart the 16 gates are in use, over all layers: the deviation of their shares in points."""
    shares = ([statistics.fmean(gate) for gate in zip(*run.history.final.gate_usage, strict=True)] for run in cell.runs)
    return [100 * statistics.pstdev(own) for own in shares]


def _less_even(group: RunGroup, method: str) -> Finding | None:
    cells = _both(group, "hard-st", method)
    return above(paired(*cells, _evenness)) if cells else None


def _less_with_cage(group: RunGroup, method: str) -> Finding | None:
    plain, cage = group.get(method, group.main_depth, group.main_tau), group.side(f"{method}+cage", group.main_tau)
    if plain is None or cage is None or not learned(plain, cage):
        return None
    return above(paired(plain, cage, _all_layers))


def _shares(cell: SeedRuns, gates: tuple[str, ...]) -> list[float]:
    """Of each seed the share of neurons, over all layers, that deploy one of these gates, percent."""
    places = [GATE_NAMES.index(gate) for gate in gates]
    return [
        100 * statistics.fmean(sum(layer[p] for p in places) for layer in r.history.final.gate_usage) for r in cell.runs
    ]


def _hard_st_has_more(gates: tuple[str, ...], sign: int) -> Callable[[RunGroup, str], Finding | None]:
    """Whether Hard-ST deploys these gates more often (1) or less often (-1) than a method, at the main temperature."""

    def check(group: RunGroup, method: str) -> Finding | None:
        cells = _both(group, "hard-st", method)
        return above([sign * more for more in paired(*cells, lambda cell: _shares(cell, gates))]) if cells else None

    return check


def _xor_number(group: RunGroup) -> Finding | None:
    cell = group.get("hard-st", group.main_depth, 1.0)
    if cell is None:
        return None
    return worst([named(gate, number(_shares(cell, (gate,)), "~11")) for gate in ("XOR", "XNOR")])


def _xor_of_others(group: RunGroup) -> Finding | None:
    """Of each method without CAGE but Hard-ST, at the paper's main temperature."""
    parts = []
    for method in _OTHERS:
        cell = group.get(method, group.main_depth, 1.0)
        for gate in ("XOR", "XNOR"):
            share = None if cell is None else statistics.fmean(_shares(cell, (gate,)))
            figure = f"{method_name(method)} {gate} {share:.1f}" if share is not None else ""
            verdict = UNTESTED if share is None else HOLDS if 5.5 <= share <= 8.5 else FAILS
            parts.append(Finding(verdict, figure))
    return worst(parts) if any(one.figure for one in parts) else None


_BOUNDS = {method: tuple(float(n) for n in text.split(" to ")) for method, text in printed.COMMITMENT.items()}
JUDGES: Judges = {
    "hard-commits-more": everywhere(_more_committed),
    "hard-must-commit": _each([("hard-st", "soft-mix"), ("gumbel-st", "soft-gumbel")]),
    "noise-lets-hedge": _each([("soft-mix", "soft-gumbel")]),
    "gumbel-st-between": _each([("hard-st", "gumbel-st"), ("gumbel-st", "soft-gumbel")]),
    **{
        f"commitment-{method}": at_scale(BINARY, _commitment(method, low, high))
        for method, (low, high) in _BOUNDS.items()
    },
    "rising-soft-mix": everywhere(_rising("soft-mix")),
    "rising-gumbel-st": everywhere(_rising("gumbel-st")),
    "rising-soft-gumbel": everywhere(_rising("soft-gumbel")),
    "cage-commits-less": each_method(("hard-st", "gumbel-st"), _less_with_cage),
    "xor-more": each_method(_OTHERS, _hard_st_has_more(("XOR", "XNOR"), 1), "above {} by"),
    "xor-11": at_scale(BINARY, _xor_number),
    "xor-others": at_scale(BINARY, _xor_of_others),
    "gates-more-uniform": each_method(("soft-mix", "soft-gumbel"), _less_even, "beside {}"),
    "unary": each_method(_OTHERS, _hard_st_has_more(_UNARY, -1)),
}
