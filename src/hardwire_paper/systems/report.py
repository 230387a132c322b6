"""The section of a report on choices beyond gates: a row for each system and method, with its gap and its verdict."""

from statistics import mean
from typing import Any

from hardwire.study.reporting.content import Section
from hardwire.study.reporting.figure import Figure, draw
from hardwire.study.reporting.table import BAD, GOOD, OPEN, Cells, TableCell
from hardwire_paper.judging import table
from hardwire_paper.systems.catalog import SYSTEMS
from hardwire_paper.systems.verdicts import RULE, SystemVerdict

_WHERE = 'The paper\'s table "Training-inference gap in discrete selection", which it leaves to be tested.'
_COLOURS = {"gap": "#c44e52", "small": "#dd8452", "none": "#4c72b0"}
_TICKS = (-100, -10, -1, 0, 1, 10, 100)  # linear up to 1, then logarithmic
_COLUMNS = ["System", "Row", "Trained", "Deployed", "Gap by seed", "Largest in training", "Expected", "Holds"]
_COLUMNS += ["Confidence", "Dead"]


def systems_section(verdicts: list[SystemVerdict]) -> Section:
    """Gap by system and method, whether the row of the paper's table holds, and dead experts and codes beside it."""
    rows: list[Cells] = [_cells(verdict) for verdict in verdicts]
    rows_table = table("systems", "Selection beyond gates", _COLUMNS, rows, where=_WHERE, notes=[RULE])
    points: list[Cells] = [
        [verdict.row.title, seed, f"{gap:.4f}"] for verdict in verdicts for seed, gap in enumerate(verdict.gaps)
    ]
    picture = Figure(
        "systems-gaps",
        "Gap by system and method",
        "Every seed's gap as a dot, the largest in training as a stroke, coloured by what was expected.",
        _WHERE,
        *draw(
            lambda drawing: _draw(drawing.subplots(), verdicts), 9, 0.36 * len(verdicts) + 1.6, dpi=150, margins=None
        ),
        table("systems-gaps-data", "Gap by system and method: data", ["Row", "Seed", "Gap"], points),
    )
    scale = "Architecture search on digits, experts and codebooks on MNIST; the paper has no runs of these."
    return Section("beyond-gates", "Selection beyond gates", [rows_table], [picture], scale=scale)


def _cells(verdict: SystemVerdict) -> Cells:
    number = "{:.2%}" if verdict.metric == "accuracy" else "{:.5f}"
    # every operation of a search is free to stay unused, and experts that choose never are
    dead = (
        ""
        if verdict.system in ("search", "expert-choice")
        else f"{', '.join(map(str, verdict.dead))} of {verdict.choices}"
    )
    holds = verdict.unjudged or ("yes" if verdict.holds else "NO")
    return [
        SYSTEMS[verdict.system].title,
        verdict.row.title,
        number.format(mean(verdict.method)),
        number.format(mean(verdict.deployed)),
        ", ".join(_signed(gap) for gap in verdict.gaps),
        ", ".join(_signed(peak) for peak in verdict.peaks),
        verdict.row.expected,
        TableCell(holds, verdict=holds, tone=(GOOD if verdict.holds else BAD) if verdict.judged else OPEN),
        f"{mean(verdict.confidence):.2f}",
        dead,
    ]


def _signed(gap: float) -> str:
    return "0" if gap == 0 else f"{gap:+.2f}"


def _draw(axes: Any, verdicts: list[SystemVerdict]) -> None:
    axes.axvline(0, color="0.6", linewidth=0.8)
    for place, verdict in enumerate(verdicts):
        color = _COLOURS[verdict.row.expected]
        axes.plot([0, mean(verdict.gaps)], [place, place], color=color, linewidth=2, alpha=0.5)
        axes.plot(verdict.peaks, [place] * len(verdict.peaks), "|", color=color, markersize=10)
        axes.plot(verdict.gaps, [place] * len(verdict.gaps), "o", color=color, markersize=5, clip_on=False)
        text = verdict.unjudged or ("holds" if verdict.holds else "does not hold")
        weight = "normal" if verdict.holds else "bold"
        axes.text(1.01, place, text, transform=axes.get_yaxis_transform(), va="center", fontsize=8, weight=weight)
    axes.set_yticks(range(len(verdicts)), [verdict.row.title for verdict in verdicts], fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("symlog", linthresh=1)
    axes.set_xticks(_TICKS, [f"{tick:g}" for tick in _TICKS], fontsize=8)
    values = [value for verdict in verdicts for value in (*verdict.gaps, *verdict.peaks)]
    axes.set_xlim(1.5 * min(-1.0, *values), 1.5 * max(1.0, *values))  # after the ticks, which would widen them
    axes.set_xlabel(
        "gap in points of accuracy, codebooks in percent of the loss; right of 0 deployment is worse", fontsize=8
    )
    handles = [axes.plot([], [], "o", color=color, label=f"expected: {name}")[0] for name, color in _COLOURS.items()]
    handles += axes.plot([], [], "|", color="0.3", markersize=10, label="largest in training")
    axes.figure.legend(handles=handles, loc="outside upper center", ncols=4, fontsize=8)
