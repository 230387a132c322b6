"""Theory beside measurement, as tables: each line with our figure, the paper's, a verdict and the rule that gave it.

The computation gap and the pixel table need no training; the rest comes from what workers measured on trained networks
and left in the store. Surprising: some of the paper's arithmetic does not hold, and these tables are where it shows.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from hardwire.gates import GATES, Gate
from hardwire.study.reporting.table import Cells, Table, TableCell
from hardwire_paper import printed
from hardwire_paper.judging import NOT_COMPARABLE, PRINTED_RULE, judge_printed, judged, table, worst
from hardwire_paper.theory import computation_gap as gap
from hardwire_paper.theory import single_nodes

MONTE_CARLO_RULE = f"Monte Carlo: {gap.DRAWS:,} pairs; its distance from the closed form in standard errors"


Pairs = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Pixels = dict[str, dict[float, int]]  # dataset -> raw value in [0, 1] -> how often it occurs


def pixel_source(pixels: Pixels) -> tuple[str, dict[float, int]] | None:
    """The pixel values that stand for MNIST: its own if the store has them, else those of another dataset."""
    for dataset in ("mnist", "mnist-binary", *pixels):
        if dataset in pixels:
            return ("mnist" if dataset.startswith("mnist") else dataset), pixels[dataset]
    return None


def all_gates(pixels: Pixels) -> Table:
    """The gap of all 16 gates under binary, measured, uniform and boundary inputs."""
    source = pixel_source(pixels)
    columns = ["Gate", "Binary", "Uniform", "Uniform, Monte Carlo", "At a = b = 0.5", "Near 0.5, at most"]
    if source:
        columns[2:2] = [f"{source[0]} pixels", f"{source[0]} pixels, Monte Carlo"]
    uniform = gap.uniform_pairs()
    drawn = gap.measured_pairs(source[1]) if source else None
    rows: list[Cells] = []
    for gate in GATES:
        exactly, near = gap.at_boundary(gate)
        value = float(100 * gap.exact(gate, gap.UNIFORM))
        theirs = printed.COMPUTATION_GAP["uniform"].get(gap.category(gate), "0.0")
        row: Cells = [gate.name, _percent(gap.exact(gate, gap.BINARY))]
        if source and drawn is not None:
            row += [*_closed_and_sampled(gate, gap.of_counts(source[1]), drawn)]
        closed, monte_carlo = _closed_and_sampled(gate, gap.UNIFORM, uniform)
        verdict = judge_printed([value], theirs)
        row += [judged(closed, theirs, verdict), monte_carlo, _percent(exactly), _percent(near)]
        rows.append(row)
    return table(
        "computation-gap-all-gates",
        "Computation gap of all 16 gates (%)",
        columns,
        rows,
        where='The paper\'s table "Expected computation gap for all 16 gates on Uniform [0,1] inputs".',
        notes=[
            "E|soft - hard| for two independent inputs, by exact integration over the four quadrants.",
            MONTE_CARLO_RULE,
            "XOR by hand: a + b - 2ab differs from the hard gate by 3/32 over each of the four quadrants, 3/8 = 37.5% "
            "in all; the paper prints 16.7%.",
            PRINTED_RULE,
        ],
    )


def _closed_and_sampled(gate: Gate, inputs: gap.Halves, pairs: Pairs) -> tuple[str, str]:
    exact = float(gap.exact(gate, inputs))
    mean, error = gap.sampled(gate, *pairs)
    away = f" ({abs(mean - exact) / error:.1f} s.e.)" if error else ""
    return _percent(exact), f"{_percent(mean)}{away}"


def representative_gates(pixels: Pixels) -> Table:
    """The paper's table of three kinds of gates under four input distributions; every gate of a kind is judged."""
    source = pixel_source(pixels)
    kinds = ("unary", "and/or", "xor")
    rows: list[Cells] = [["Binary {0,1}", *(_kind_entry(k, gap.BINARY, "binary") for k in kinds)]]
    if source is None or source[0] != "mnist":
        theirs = printed.COMPUTATION_GAP["mnist"]
        rows.append(["MNIST pixels", *(judged("not in the store", theirs[kind], [NOT_COMPARABLE]) for kind in kinds)])
    if source is not None:
        inputs = gap.of_counts(source[1])
        rows.append([f"{source[0]} pixels", *(_kind_entry(kind, inputs, source[0]) for kind in kinds)])
    rows.append(["Uniform [0,1]", *(_kind_entry(kind, gap.UNIFORM, "uniform") for kind in kinds)])
    rows.append(["Exactly at a = b = 0.5", *(_boundary_entry(kind, exactly=True) for kind in kinds)])
    rows.append(["As a, b approach 0.5", *(_boundary_entry(kind, exactly=False) for kind in kinds)])
    return table(
        "computation-gap",
        "Computation gap under different input distributions (%)",
        ["Distribution", "Unary", "AND/OR", "XOR"],
        rows,
        where='The paper\'s table "Computation gap for representative gates under different input distributions".',
        notes=[
            "Each gate of a kind is judged; gates with the same gap stand together. Inputs are independent.",
            "At exactly 0.5 the hard input is false: AND gives |0.25 - 0| = 25% and OR |0.75 - 0| = 75%, so the "
            "paper's 75% for both holds for OR there, and for AND only as a limit from above.",
            PRINTED_RULE,
        ],
    )


def _kind_entry(kind: str, inputs: gap.Halves, row: str) -> TableCell:
    by_gate = {gate.name: 100 * float(gap.exact(gate, inputs)) for gate in gap.gates_of(kind)}
    return _gates_entry(by_gate, printed.COMPUTATION_GAP.get(row, {}).get(kind, ""), 2)


def _boundary_entry(kind: str, exactly: bool) -> TableCell:
    by_gate = {gate.name: 100 * gap.at_boundary(gate)[0 if exactly else 1] for gate in gap.gates_of(kind)}
    return _gates_entry(by_gate, printed.COMPUTATION_GAP["boundary"][kind], 0)


def _gates_entry(by_gate: dict[str, float], theirs: str, digits: int) -> TableCell:
    """Gaps with the gates that have them, unless all have the same; the verdict is the worst gate's."""
    gates: dict[str, list[str]] = {}
    for name, value in by_gate.items():
        gates.setdefault(f"{value:.{digits}f}", []).append(name)
    text = "; ".join(f"{', '.join(names)} {value}" if len(gates) > 1 else value for value, names in gates.items())
    verdicts = [verdict for value in by_gate.values() for verdict in judge_printed([value], theirs)] if theirs else []
    return judged(text, theirs, [worst(verdicts)])


def pixel_distribution(pixels: Pixels) -> Table | None:
    """The paper's table of pixel values; both columns come from the raw values."""
    source = pixel_source(pixels)
    if source is None:
        return None
    name, counts = source
    total = sum(counts.values())
    ranges: dict[str, Callable[[float], bool]] = {
        "exactly 0": lambda v: v == 0,
        "(0, 0.1)": lambda v: 0 < v < 0.1,
        "[0.1, 0.9]": lambda v: 0.1 <= v <= 0.9,
        "(0.9, 1]": lambda v: v > 0.9,
        "binary-like (< 0.1 or > 0.9)": lambda v: v < 0.1 or v > 0.9,
    }
    rows: list[Cells] = []
    for label, inside in ranges.items():
        raw = 100 * sum(count for value, count in counts.items() if inside(value)) / total
        bits = 100 * sum(count for value, count in counts.items() if inside(float(value > 0.5))) / total
        theirs = printed.PIXELS[label] if name == "mnist" else ("", "")
        pairs = zip((raw, bits), theirs, strict=True)
        rows.append([label, *(judged(f"{v:.2f}", p, judge_printed([v], p) if p else []) for v, p in pairs)])
    return table(
        "pixels",
        f"Pixel value distribution of {name} (% of both splits)",
        ["Pixel range", f"{name} [0,1]", f"{name}, pixel > 0.5"],
        rows,
        where='The paper\'s table "MNIST pixel value distribution".',
        notes=[f"{total:,} pixels.", PRINTED_RULE],
    )


def hessian() -> Table:
    """What Gumbel noise adds to the loss of single nodes, and the second-order term that is said to describe it."""
    rows: list[Cells] = [
        [
            f"{term.tau:g}",
            f"{term.measured:.3g} ± {term.error:.1g}",
            f"{term.expansion:.3g}",
            f"{term.expansion / term.measured:.2f}",
        ]
        for term in single_nodes.hessian_terms()
    ]
    return table(
        "hessian",
        "The Hessian expansion on single nodes",
        ["τ", "E L - L, Monte Carlo", "π²/(12τ²) tr H", "Ratio"],
        rows,
        where='The paper\'s appendix "Critique of Hessian Regularization Hypothesis".',
        notes=[
            f"L = -log softmax(z/τ)_j of {single_nodes.NODES} nodes with N(0, 1) logits over {single_nodes.K} gates, "
            f"{single_nodes.DRAWS:,} draws; tr H has a closed form. On trained last layers: see the claims.",
        ],
    )


def gate_formulas() -> Table:
    """The 16 gates as this library computes them."""
    rows: list[Cells] = [
        [
            gate.index,
            gate.name,
            gate.boolean,
            gate.formula,
            "".join(map(str, gate.truth_table)),
        ]
        for gate in GATES
    ]
    return table(
        "gates",
        "The 16 gates",
        ["Index", "Gate", "Boolean", "Soft formula", "Truth table for ab = 00, 01, 10, 11"],
        rows,
        where='The paper\'s table "All 16 two-input Boolean gates".',
    )


def _percent(value: float | Fraction) -> str:
    return f"{float(100 * value):.2f}"
