"""The board: rows of the literature and of ours, the front of those that no other beats, and the figure."""

import json
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DATA = ("mnist", "fashion-mnist", "cifar10")
_ROOT = files("hardwire.records")


@dataclass(frozen=True)
class Row:
    """One network on the board. accuracy: in percent, on the test set. gates: nominal; other counts of ours only."""

    data: str
    name: str
    accuracy: float
    gates: int
    source: str
    ours: bool = False
    simplified: int | None = None
    luts: int | None = None
    luts_whole: int | None = None
    minutes: float | None = None
    seed: int | None = None


def literature() -> list[Row]:
    """What others have reported."""
    return [Row(**row) for row in tomllib.loads((_ROOT / "literature.toml").read_text())["row"]]


def ours() -> list[Row]:
    """Our rows, as `hardwire records run` wrote them."""
    folder = _ROOT / "results"
    if not folder.is_dir():
        return []
    return [_ours(json.loads(entry.read_text())) for entry in folder.iterdir() if entry.name.endswith(".json")]


def _ours(result: dict[str, Any]) -> Row:
    recipe = result["recipe"]
    data = recipe["data"].partition("@")[0].removesuffix("-binary")
    numbers = {name: result[name] for name in ("accuracy", "gates", "simplified", "luts", "luts_whole", "minutes")}
    return Row(data, recipe["name"], source=result["command"], ours=True, seed=recipe["seed"], **numbers)


def board(data: str | None = None) -> list[Row]:
    """All rows, of one dataset or of all, fewest gates first."""
    rows = [row for row in (*literature(), *ours()) if data in (None, row.data)]
    return sorted(rows, key=lambda row: (DATA.index(row.data), row.gates, row.accuracy))


def front(rows: list[Row]) -> list[Row]:
    """Those that no other row beats: none is as accurate with as few gates."""

    def beaten(row: Row) -> bool:
        return any(
            other.gates <= row.gates
            and other.accuracy >= row.accuracy
            and (other.gates, other.accuracy) != (row.gates, row.accuracy)
            for other in rows
        )

    return [row for row in rows if not beaten(row)]


def figure(rows: list[Row] | None = None) -> "Figure":
    """Accuracy against gates, a panel for each dataset; the line is the front."""
    from matplotlib.figure import Figure

    rows = board() if rows is None else rows
    shown = [data for data in DATA if any(row.data == data for row in rows)]
    picture = Figure(figsize=(4.2 * len(shown), 3.8), layout="constrained")
    for place, data in enumerate(shown, 1):
        axes = picture.add_subplot(1, len(shown), place)
        own = [row for row in rows if row.data == data]
        line = sorted(front(own), key=lambda row: row.gates)
        axes.plot([row.gates for row in line], [row.accuracy for row in line], color="0.7", linewidth=1, zorder=1)
        for kind, colour, marker in ((False, "0.35", "o"), (True, "tab:red", "*")):
            part = [row for row in own if row.ours == kind]
            size = 90 if kind else 28
            label = "hardwire" if kind else "literature"
            gates, accuracies = [row.gates for row in part], [row.accuracy for row in part]
            axes.scatter(gates, accuracies, s=size, c=colour, marker=marker, label=label, zorder=2)
        for number, row in enumerate(own):
            # ours to the upper left, the literature to the lower right, in two lines: rows that compete stand close
            place_of, side = ((-6, 4), "right") if row.ours else ((4, -9 - 7 * (number % 2)), "left")
            at = (row.gates, row.accuracy)
            axes.annotate(row.name, at, place_of, textcoords="offset points", ha=side, fontsize=6.5)
        axes.set(xscale="log", title=data, xlabel="gates (nominal)", ylabel="test accuracy, %" if place == 1 else "")
        axes.margins(x=0.35, y=0.12)
        axes.grid(alpha=0.25)
    picture.axes[0].legend(loc="lower right", fontsize=8)
    return picture
