"""Claims about how training goes: convergence, CAGE's adaptation, commitment by layer, the gates that are chosen."""

import statistics
from collections.abc import Callable

from hardwire.gates import GATE_NAMES
from hardwire.paper import convergence, printed
from hardwire.paper.claims.base import FAILS, HOLDS, WEAKER, Claim, Finding, above, named, number, worst
from hardwire.paper.claims.evidence import BINARY, at_scale, everywhere, learned, paired
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


def _layers(cell: Cell) -> list[float]:
    """Commitment of each layer at the end, percent, mean over seeds."""
    return [
        100 * statistics.fmean(layer)
        for layer in zip(*(run.history.final.commitment for run in cell.runs), strict=True)
    ]


def _commitment(method: str, low: float, high: float) -> Callable[[Group], Finding | None]:
    def check(group: Group) -> Finding | None:
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


def _more_committed(group: Group) -> Finding | None:
    hard, soft = (group.get(m, group.main_depth, group.main_tau) for m in ("hard-st", "soft-gumbel"))
    if hard is None or soft is None or not learned(hard, soft):
        return None
    found = []
    for layer in range(group.main_depth):
        found.append(named(f"layer {layer + 1}", above(paired(hard, soft, _of_layer(layer)))))
    return worst(found)


def _of_layer(layer: int) -> Callable[[Cell], list[float]]:
    return lambda cell: [100 * run.history.final.commitment[layer] for run in cell.runs]


def _rising(method: str) -> Callable[[Group], Finding | None]:
    def check(group: Group) -> Finding | None:
        cell = group.get(method, group.main_depth, group.main_tau)
        if cell is None or group.main_depth < 2 or not learned(cell):
            return None
        rises = [100 * (run.history.final.commitment[-1] - run.history.final.commitment[0]) for run in cell.runs]
        return named("last layer less first", above(rises))

    return check


def _less_with_cage(group: Group) -> Finding | None:
    found = []
    for method in ("hard-st", "gumbel-st"):
        plain, cage = group.get(method, group.main_depth, group.main_tau), group.side(f"{method}+cage", group.main_tau)
        if plain is not None and cage is not None and learned(plain, cage):
            differences = paired(plain, cage, lambda cell: [100 * run.history.final.confidence for run in cell.runs])
            found.append(named(method_name(method), above(differences)))
    return worst(found) if found else None


def _shares(cell: Cell, gates: tuple[str, ...]) -> list[float]:
    """Of each seed the share of neurons, over all layers, that deploy one of these gates, percent."""
    places = [GATE_NAMES.index(gate) for gate in gates]
    return [
        100 * statistics.fmean(sum(layer[p] for p in places) for layer in r.history.final.gate_usage) for r in cell.runs
    ]


def _xor(group: Group) -> Finding | None:
    cells = {
        m: group.get(m, group.main_depth, group.main_tau) for m in ("hard-st", "soft-mix", "soft-gumbel", "gumbel-st")
    }
    hard = cells.pop("hard-st")
    if hard is None:
        return None
    found = []
    for method, cell in cells.items():
        if cell is not None and learned(hard, cell):
            differences = paired(hard, cell, lambda c: _shares(c, ("XOR", "XNOR")))
            found.append(named(f"above {method_name(method)} by", above(differences)))
    return worst(found) if found else None


def _xor_number(group: Group) -> Finding | None:
    cell = group.get("hard-st", group.main_depth, 1.0)
    if cell is None:
        return None
    return worst([named(gate, number(_shares(cell, (gate,)), "~11")) for gate in ("XOR", "XNOR")])


def _unary(group: Group) -> Finding | None:
    """Above the quarter of neurons that four gates of sixteen would have by chance, and above Hard-ST's."""
    found = []
    hard = group.get("hard-st", group.main_depth, group.main_tau)
    for method in ("soft-mix", "soft-gumbel", "gumbel-st"):
        cell = group.get(method, group.main_depth, group.main_tau)
        if cell is not None and hard is not None and learned(cell, hard):
            found.append(named(method_name(method), above(paired(cell, hard, lambda c: _shares(c, _UNARY)))))
    return worst(found) if found else None


_COMMITMENT = {method: tuple(float(n) for n in text.split(" to ")) for method, text in printed.COMMITMENT.items()}
COURSE = [
    Claim(
        "Section 6.4, Figure 2c",
        "Hard-ST converges at once, at any τ",
        "~500",
        "later than the first evaluation at some τ (by the gap)",
        everywhere(_flat),
    ),
    Claim(
        "Section 6.4",
        "its convergence time does not depend on τ",
        "",
        "the slowest τ takes over 4 times the fastest, or one does not converge (by accuracy; weaker: over 2)",
        everywhere(_flat_by_accuracy),
    ),
    Claim(
        "Section 6.4",
        "Soft-Gumbel needs 15,000 to 38,000 iterations",
        "15,000 to 38,000",
        "a τ outside (by the gap)",
        at_scale(BINARY, _soft_gumbel_times),
    ),
    Claim(
        "Section 6.4",
        "Hard-ST is 30 to 76 times faster",
        "30 to 76",
        "not faster (weaker: by another factor)",
        at_scale(BINARY, _times_faster),
    ),
    Claim(
        "Section 6.4",
        "Soft-Gumbel is slowest at extreme τ (U-shape)",
        "",
        "no moderate τ is faster than both ends",
        everywhere(_u_shape),
    ),
    Claim(
        "Section 6.5, Figure 3",
        "CAGE lowers τ_b as confidence rises",
        "",
        "τ_b does not fall",
        everywhere(_falls_as_confidence_rises),
    ),
    Claim(
        "Section 6.5, Figure 3",
        "Hard-ST+CAGE: τ_b ~2.4 to ~0.7, confidence ~0.25 to ~0.9",
        "",
        "off by over a quarter (weaker: over a tenth)",
        at_scale(BINARY, _cage_course("hard-st+cage", "0.7", "0.9")),
    ),
    Claim(
        "Section 6.5, Figure 3",
        "Gumbel-ST+CAGE: τ_b ~2.4 to ~0.8, confidence ~0.25 to ~0.85",
        "",
        "off by over a quarter (weaker: over a tenth)",
        at_scale(BINARY, _cage_course("gumbel-st+cage", "0.8", "0.85")),
    ),
    Claim("Section 6.5", "τ_b never reaches τ_min = 0.5", "0.5", "it does", everywhere(_never_at_the_floor)),
    Claim(
        "Section 6.5",
        "Hard-ST+CAGE commits faster than Gumbel-ST+CAGE",
        "",
        "no higher confidence at the end",
        everywhere(_faster_commitment),
    ),
    Claim(
        "Section 6.6, Figure 2d",
        "Hard-ST commits more than Soft-Gumbel, in every layer",
        "",
        "not in some layer",
        everywhere(_more_committed),
    ),
    *(
        Claim(
            "Section 6.6, Figure 2d",
            f"{method_name(method)}: commitment {printed.COMMITMENT[method]} over layers",
            printed.COMMITMENT[method],
            "off by over 10 points (weaker: over 2)",
            at_scale(BINARY, _commitment(method, *bounds)),
        )
        for method, bounds in _COMMITMENT.items()
    ),
    *(
        Claim(
            "Section 6.6",
            f"{method_name(method)} commits more towards the output",
            "",
            "the last layer no more than the first",
            everywhere(_rising(method)),
        )
        for method in ("soft-mix", "gumbel-st")
    ),
    Claim("Section 6.6", "with CAGE commitment is slightly lower", "", "not lower", everywhere(_less_with_cage)),
    Claim(
        "Section 6.6, Figure 5", "Hard-ST uses XOR and XNOR more than other methods", "", "not more", everywhere(_xor)
    ),
    Claim(
        "Section 6.6, Figure 5",
        "Hard-ST: XOR and XNOR ~11% each",
        "~11",
        "another number",
        at_scale(BINARY, _xor_number),
    ),
    Claim(
        "Section 6.6",
        "soft and Gumbel methods favour unary gates, beside Hard-ST",
        "",
        "a method does not",
        everywhere(_unary),
    ),
]
