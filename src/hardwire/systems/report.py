"""What the `domains` experiment says: the gap of every row, whether the row holds by a printed rule, tables, a figure.

A gap is method against deployed, in points of accuracy, or in percent of the method's loss where there are no classes.
Surprising: a negative gap is possible and counts by its size, since noise can make training look worse than deployment.
"""

import io
import os
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from rich.table import Table

from hardwire.errors import HardwireError
from hardwire.files import write_whole
from hardwire.systems.systems import ROWS, RUNS, SYSTEMS, Row

NOTABLE = 1.0  # points of accuracy, or percent of the loss

RULE = (
    f"A row holds if: expected none - every seed's gap is exactly 0; expected gap - the mean is at least {NOTABLE:g} "
    "and every seed's is above 0; expected small - the mean's size is less than half of the mean of the soft row "
    "it stands against. Gaps are points of accuracy, or percent of the method's loss (codebooks)."
)

_COLORS = {"gap": "#c44e52", "small": "#dd8452", "none": "#4c72b0"}
_TICKS = (-100, -10, -1, 0, 1, 10, 100)  # linear up to 1, then logarithmic
HEADERS = (
    "system",
    "row",
    "trained",
    "deployed",
    "gap by seed",
    "largest in training",
    "expected",
    "holds",
    "confidence",
    "dead",
)


@dataclass(frozen=True)
class Verdict:
    """A row with its measurements, one of each a seed.

    gaps: at the end of training; peaks: the largest in it, none where the row is deployed soft.
    """

    row: Row
    method: list[float]
    deployed: list[float]
    gaps: list[float]
    peaks: list[float]
    confidence: list[float]
    dead: list[int]
    choices: int
    holds: bool

    @property
    def metric(self) -> str:
        return SYSTEMS[_system(self)].metric


def judge(records: list[dict]) -> list[Verdict]:
    """A verdict for every row whose run has results; a small row without the row it stands against is an error."""
    by_run = {}
    for record in sorted(records, key=lambda record: record["seed"]):
        by_run.setdefault(record["run"], []).append(record)
    gaps = {row: [_gap(record, row) for record in by_run[row.run]] for row in ROWS if row.run in by_run}
    return [_verdict(row, by_run[row.run], gaps) for row in gaps]


def markdown_table(verdicts: list[Verdict]) -> str:
    """The verdicts as a Markdown table, without the rule."""
    lines = [HEADERS, ("---",) * len(HEADERS), *(cells(verdict) for verdict in verdicts)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def rich_table(verdicts: list[Verdict], brief: bool = False) -> Table:
    """The verdicts as a table for the terminal, a section for each system; rows that do not hold stand out.

    brief: only what fits 80 columns.
    """
    shown = ("row", "gap by seed", "expected", "holds") if brief else HEADERS[1:]
    table = Table(title="Gap of what is trained over what is deployed")
    for header in shown:
        table.add_column(header, justify="left" if header == "row" else "right", no_wrap=header != "row")
    for verdict, following in zip(verdicts, [*verdicts[1:], None], strict=True):
        by_header = dict(zip(HEADERS, cells(verdict), strict=True))
        last = following is None or _system(following) != _system(verdict)
        style = None if verdict.holds else "bold red"
        table.add_row(*(by_header[header] for header in shown), style=style, end_section=last)
    return table


def cells(verdict: Verdict) -> tuple[str, ...]:
    """The verdict as text, one cell for each of HEADERS."""
    system = _system(verdict)
    number = "{:.2%}" if verdict.metric == "accuracy" else "{:.5f}"
    # every operation of a search is free to stay unused, so only experts and codes can be dead
    dead = "" if system == "search" else f"{', '.join(map(str, verdict.dead))} of {verdict.choices}"
    return (
        SYSTEMS[system].title,
        verdict.row.title,
        number.format(mean(verdict.method)),
        number.format(mean(verdict.deployed)),
        ", ".join(_signed(gap) for gap in verdict.gaps),
        ", ".join(_signed(peak) for peak in verdict.peaks),
        verdict.row.expected,
        "yes" if verdict.holds else "NO",
        f"{mean(verdict.confidence):.2f}",
        dead,
    )


def write_figures(verdicts: list[Verdict], folder: str | os.PathLike) -> list[Path]:
    """domains.png and domains.svg; see `draw`."""
    paths = [Path(folder) / f"domains.{kind}" for kind in ("png", "svg")]
    for path in paths:
        write_whole(path, draw(verdicts, path.suffix[1:]))
    return paths


def draw(verdicts: list[Verdict], kind: str) -> bytes:
    """Every seed's gap as a dot, by row, coloured by what was expected; kind is png or svg."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 0.36 * len(verdicts) + 1.6), layout="constrained")
    FigureCanvasAgg(figure)
    _draw(figure.subplots(), verdicts)
    buffer = io.BytesIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "domains"}):  # text as text; the same file every time
        figure.savefig(buffer, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
    return buffer.getvalue()


def _gap(record: dict, row: Row) -> float:
    return _difference(record["gap"], _deployed(record, row))


def _peak(record: dict) -> float:
    """The largest gap by size, deployed hard, at any point of training."""
    return max((_difference(point, point["deploy"]) for point in record["curve"]), key=abs)


def _difference(gap: dict, deployed: float) -> float:
    method = gap["method"]
    return 100 * (method - deployed) if gap["metric"] == "accuracy" else 100 * (deployed - method) / method


def _deployed(record: dict, row: Row) -> float:
    return record["deployed"] if row.deployed == "hard" else record["deployed_soft"]


def _verdict(row: Row, records: list[dict], gaps: dict[Row, list[float]]) -> Verdict:
    return Verdict(
        row,
        [record["gap"]["method"] for record in records],
        [_deployed(record, row) for record in records],
        gaps[row],
        [_peak(record) for record in records] if row.deployed == "hard" else [],
        [record["confidence"] for record in records],
        [record["usage"]["dead"] for record in records],
        records[0]["usage"]["choices"],
        _holds(row, gaps),
    )


def _holds(row: Row, gaps: dict[Row, list[float]]) -> bool:
    found = gaps[row]
    if row.expected == "none":
        return all(gap == 0 for gap in found)
    if row.expected == "gap":
        return mean(found) >= NOTABLE and min(found) > 0
    soft = [values for other, values in gaps.items() if other.run == row.against]
    if not soft:
        raise HardwireError(f"{row.run} is judged against {row.against}, which has no results; run it as well")
    return abs(mean(found)) < mean(soft[0]) / 2


def _limits(verdicts: list[Verdict]) -> tuple[float, float]:
    values = [value for verdict in verdicts for value in (*verdict.gaps, *verdict.peaks)]
    return 1.5 * min(-1.0, *values), 1.5 * max(1.0, *values)


def _system(verdict: Verdict) -> str:
    return RUNS[verdict.row.run].system


def _signed(gap: float) -> str:
    return "0" if gap == 0 else f"{gap:+.2f}"


def _draw(axes, verdicts: list[Verdict]) -> None:
    axes.axvline(0, color="0.6", linewidth=0.8)
    for place, verdict in enumerate(verdicts):
        color = _COLORS[verdict.row.expected]
        axes.plot([0, mean(verdict.gaps)], [place, place], color=color, linewidth=2, alpha=0.5)
        axes.plot(verdict.peaks, [place] * len(verdict.peaks), "|", color=color, markersize=10)
        axes.plot(verdict.gaps, [place] * len(verdict.gaps), "o", color=color, markersize=5, clip_on=False)
        text = "holds" if verdict.holds else "does not hold"
        weight = "normal" if verdict.holds else "bold"
        axes.text(1.01, place, text, transform=axes.get_yaxis_transform(), va="center", fontsize=8, weight=weight)
    axes.set_yticks(range(len(verdicts)), [verdict.row.title for verdict in verdicts], fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("symlog", linthresh=1)
    axes.set_xticks(_TICKS, [f"{tick:g}" for tick in _TICKS], fontsize=8)
    axes.set_xlim(*_limits(verdicts))  # after the ticks, which would widen them
    axes.set_xlabel(
        "gap in points of accuracy, codebooks in percent of the loss; right of 0 deployment is worse", fontsize=8
    )
    handles = [axes.plot([], [], "o", color=color, label=f"expected: {name}")[0] for name, color in _COLORS.items()]
    handles += axes.plot([], [], "|", color="0.3", markersize=10, label="largest in training")
    axes.figure.legend(handles=handles, loc="outside upper center", ncols=4, fontsize=8, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
