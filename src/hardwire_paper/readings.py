"""Which reading of the straight-through estimator fits which of the paper's numbers, as a table and a figure.

The paper prints one formula and describes another; `docs/methods.md` has both. Surprising: only numbers that the paper
prints for iteration 10,000 or earlier can tell the readings apart in runs of that length, so commitment, which it
prints for the end, is shown and judged in runs of its own length alone.
"""

from collections.abc import Sequence
from typing import Any

from hardwire.selection import METHOD_VARIANTS, STRAIGHT_THROUGH
from hardwire.study.reporting.figure import Figure, draw, legend_below, panels
from hardwire.study.reporting.table import Cells, Table, TableCell
from hardwire_paper import printed
from hardwire_paper.groups import RunGroup
from hardwire_paper.judging import AGREE, DIFFER, SampleMean, judged, table
from hardwire_paper.names import COLOURS, method_name, tau_name
from hardwire_paper.paper_ranges import inside, printed_range
from hardwire_paper.runs import CHANCE_MARGIN, PAPER_READING, SeedRuns, paper_range_start

DATASET = "mnist-binary"
_CAGE_LOOK, _CAGE_TAU = 5_000, 1.0  # "drops rapidly to ~1.0 within 5,000 iterations"
_Key = tuple[str, int, float, str]  # method, depth, tau, reading
RULE = (
    "agree: the gap is inside the paper's range from that iteration on, or no farther outside than a point; τ_b within "
    "a tenth; both ends of commitment within 2 points. A network at chance (‡) is not judged, nor is commitment before "
    "the paper's 50,000 iterations. In brackets: deployed accuracy. Hard-ST has no noise, so two readings are all."
)


def readings(groups: Sequence[RunGroup]) -> Table | None:
    """Returns a row for each of the paper's numbers, a column for each reading; None if one reading is all there is."""
    cells = _cells(groups)
    names = [name for name in STRAIGHT_THROUGH if any(key[3] == name for key in cells)]
    if len(names) < 2:
        return None
    rows: list[Cells] = [
        *_gap_rows(cells, names),
        *_cage_rows(cells, names),
        *_commitment_rows(cells, names),
    ]
    verdicts = {name: [_verdict(row[2 + place]) for row in rows] for place, name in enumerate(names)}
    counts = [f"{judged.count(AGREE)} of {judged.count(AGREE) + judged.count(DIFFER)}" for judged in verdicts.values()]
    rows.append(["agree, of those judged", "", *counts])
    return table(
        "readings",
        "Which reading of the straight-through estimator fits which of the paper's numbers",
        ["MNIST-Binary, 64,000 gates a layer", "The paper", *(f'"{name}"' for name in names)],
        rows,
        notes=[RULE],
    )


def _cells(groups: Sequence[RunGroup]) -> dict[_Key, SeedRuns]:
    """The longest runs of the hard methods at the paper's width in each reading; CAGE, which has no tau, under 0."""
    cells: dict[_Key, SeedRuns] = {}
    for group in sorted(groups, key=lambda group: group.scale.iterations):
        if group.dataset != DATASET or not group.like_paper:
            continue
        for (method, depth, tau), cell in group.cells.items():
            plain, cage = METHOD_VARIANTS[method]
            if plain in PAPER_READING:
                reading = str(cell.runs[0].config["straight_through"] or PAPER_READING[plain])
                cells[method, depth, 0.0 if cage else tau, reading] = cell
    return cells


def _gap_rows(cells: dict[_Key, SeedRuns], names: Sequence[str]) -> list[Cells]:
    start = paper_range_start(DATASET)
    assert start is not None
    keys = sorted(
        {key[:3] for key in cells if key[0].startswith("gumbel-st")}, key=lambda key: (key[1], key[0], key[2])
    )
    rows: list[Cells] = []
    for method, depth, tau in keys:
        low, high = printed_range(DATASET, method, depth, tau or 1.0)
        entries = [_gap_entry(cells.get((method, depth, tau, name)), start, low, high) for name in names]
        if any(entry.text for entry in entries):
            what = f"{_named(method, tau)}, {depth} layers: gap at iteration {start:,}"
            rows.append([what, f"{low} to {high}", *entries])
    return rows


def _gap_entry(cell: SeedRuns | None, start: int, low: str, high: str) -> TableCell:
    if cell is None or not cell.at("total", start):
        return TableCell("")
    gap, deployed = (SampleMean.of(cell.at(name, start)) for name in ("total", "deploy"))
    if deployed.value < cell.chance + CHANCE_MARGIN:
        return TableCell(f"‡ ({deployed.value:.1f}%)")
    text = f"{round(gap.value, 1) + 0.0:+.1f} ({deployed.value:.1f}%)"
    return judged(text, "", [AGREE if inside(gap, low, high) else DIFFER])


def _cage_rows(cells: dict[_Key, SeedRuns], names: Sequence[str]) -> list[Cells]:
    depth, rows = printed.MAIN_DEPTH, list[Cells]()
    entries = []
    for name in names:
        cell = cells.get(("hard-st+cage", depth, 0.0, name))
        taus = [value / 100 for value in cell.at("tau", _CAGE_LOOK)] if cell else []
        mean = SampleMean.of(taus) if taus else None
        verdict = [] if mean is None else [AGREE if abs(mean.value / _CAGE_TAU - 1) <= 0.1 else DIFFER]
        entries.append(judged("" if mean is None else f"{mean.value:.2f}", "", verdict))
    if any(entry.text for entry in entries):
        rows.append([f"Hard-ST+CAGE, {depth} layers: τ_b at iteration {_CAGE_LOOK:,}", "~1.0", *entries])
    return rows


def _commitment_rows(cells: dict[_Key, SeedRuns], names: Sequence[str]) -> list[Cells]:
    rows: list[Cells] = []
    depth, whole = printed.MAIN_DEPTH, printed.SCALES[DATASET].iterations
    for method in PAPER_READING:
        entries = []
        for name in names:
            cell = cells.get((method, depth, 1.0, name))
            entries.append(
                TableCell("") if cell is None else _commitment_entry(cell, printed.COMMITMENT[method], whole)
            )
        if any(entry.text for entry in entries):
            what = f"{_named(method, 1.0)}, {depth} layers: commitment by layer at the end, percent"
            rows.append([what, printed.COMMITMENT[method], *entries])
    return rows


def _commitment_entry(cell: SeedRuns, stated: str, whole: int) -> TableCell:
    ends = [run.history.final for run in cell.runs]
    layers = [100 * sum(values) / len(values) for values in zip(*(end.commitment for end in ends), strict=True)]
    text = ", ".join(f"{layer:.0f}" for layer in layers)
    if ends[0].iteration < whole:
        return TableCell(f"{text} after {ends[0].iteration:,}")
    low, high = map(float, stated.split(" to "))
    near = abs(min(layers) - low) <= 2 and abs(max(layers) - high) <= 2
    return judged(text, "", [AGREE if near else DIFFER])


def _named(method: str, tau: float) -> str:
    return f"{method_name(method)} {tau_name(tau)}" if tau else method_name(method)


def _verdict(cell: object) -> str:
    return cell.verdict if isinstance(cell, TableCell) else ""


_SHADES = dict(zip(STRAIGHT_THROUGH, list(COLOURS.values())[2:], strict=False))


def readings_figure(groups: Sequence[RunGroup]) -> Figure | None:
    """Deployed accuracy and that of the training pass over iterations, Gumbel-ST at tau 1, a panel for each depth."""
    cells = {key: cell for key, cell in _cells(groups).items() if key[0] == "gumbel-st" and key[2] == 1.0}
    depths = sorted({key[1] for key in cells})
    if len({key[3] for key in cells}) < 2:
        return None
    end = min(cell.iterations()[-1] for cell in cells.values())

    def paint(drawing: Any) -> None:
        axes = dict(zip(depths, panels(drawing, len(depths), sharey=True), strict=True))
        for (_, depth, _, name), cell in cells.items():
            places = [place for place, iteration in enumerate(cell.iterations()) if iteration <= end]
            for quantity, dash in (("deploy", "-"), ("method", "--")):
                values = [100 * value for value in cell.curve(quantity)]
                axes[depth].plot(
                    [cell.iterations()[place] for place in places],
                    [values[place] for place in places],
                    dash,
                    color=_SHADES[name],
                    label=f'"{name}"' + (", training pass" if quantity == "method" else ", deployed"),
                )
        for depth, axis in axes.items():
            axis.set(title=f"{depth} layers", xlabel="iteration", ylabel="test accuracy (%)", ylim=(0, 100))
        legend_below(drawing)

    rows: list[Cells] = [
        [depth, name, iteration, f"{100 * deployed:.2f}", f"{100 * method:.2f}"]
        for (_, depth, _, name), cell in cells.items()
        for iteration, deployed, method in zip(
            cell.iterations(), cell.curve("deploy"), cell.curve("method"), strict=True
        )
    ]
    title = "Gumbel-ST at τ=1 by reading, MNIST-Binary, 64,000 gates a layer"
    return Figure(
        "readings-over-training",
        title,
        "Mean over seeds of A^hard (drawn out) and A^M (dashed), as far as all readings were run.",
        "The paper's Proposition 8 and section 2.2, which print two formulas.",
        *draw(paint, 7.2, 3.6),
        table(
            "readings-over-training-data", f"{title}: data", ["Layers", "Reading", "Iteration", "A^hard", "A^M"], rows
        ),
    )
