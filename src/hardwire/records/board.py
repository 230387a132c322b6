"""The board: rows of the literature and of ours, and the Pareto front among them."""

import json
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

DATA = ("mnist", "fashion-mnist", "cifar10")
_ROOT = files("hardwire.records")
_COUNTS = "gates as built, without encoder, class sums and argmax"


@dataclass(frozen=True)
class BoardRow:
    """One network on the board.

    Attributes:
        data: The dataset: mnist, fashion-mnist or cifar10.
        name: What the network is called.
        accuracy: Test accuracy in percent.
        gates: Nominal gates or tables, before simplification.
        source: The paper, or the command that makes a row of ours.
        ours: Whether a recipe of this package makes it.
        counts: What `gates` counts.
        simplified: Gates after simplification, of our rows.
        luts: 6-input look-up tables of the gates.
        luts_whole: 6-input look-up tables of everything: encoder, gates, class sums and argmax ("all-in").
        luts_by_part: The same by part, where they were counted so.
        minutes: Training time.
        seed: Seed of the run.

    Example:
        >>> import hardwire as hw
        >>> rows = [row for row in hw.records.board() if row.name == "mnist-8k"]
        >>> rows[0].gates
        8000
    """

    data: str
    name: str
    accuracy: float
    gates: int
    source: str
    ours: bool = False
    counts: str = _COUNTS
    simplified: int | None = None
    luts: int | None = None
    luts_whole: int | None = None
    luts_by_part: dict[str, int] | None = None
    minutes: float | None = None
    seed: int | None = None


def literature() -> list[BoardRow]:
    """The rows that others have reported.

    Returns:
        One row per network, with its paper as the source.

    Example:
        >>> import hardwire as hw
        >>> all("arXiv" in row.source for row in hw.records.literature())
        True
    """
    return [BoardRow(**row) for row in tomllib.loads((_ROOT / "literature.toml").read_text())["row"]]


def ours() -> list[BoardRow]:
    """Our rows, as `hardwire records run` wrote them.

    Returns:
        One row per result in the package.

    Example:
        >>> import hardwire as hw
        >>> {row.data for row in hw.records.ours()} <= {"mnist", "fashion-mnist", "cifar10"}
        True
    """
    folder = _ROOT / "results"
    if not folder.is_dir():
        return []
    return [_ours(json.loads(entry.read_text())) for entry in folder.iterdir() if entry.name.endswith(".json")]


def _ours(result: dict[str, Any]) -> BoardRow:
    recipe = result["recipe"]
    data = recipe["data"].partition("@")[0].removesuffix("-binary")
    numbers: dict[str, Any] = {
        name: result.get(name)
        for name in ("accuracy", "gates", "simplified", "luts", "luts_whole", "luts_by_part", "minutes")
    }
    counts = _COUNTS.replace("gates", "look-up tables") if "arity" in recipe["network"] else _COUNTS
    return BoardRow(
        data, recipe["name"], source=result["command"], ours=True, counts=counts, seed=recipe["seed"], **numbers
    )


def board(data: str | None = None, by: str = "gates") -> list[BoardRow]:
    """All rows, ours and the literature's, cheapest first.

    Args:
        data: Only the rows of this dataset. None: all datasets.
        by: The cost: "gates", or "luts_whole" for look-up tables of everything, which leaves out rows without.

    Returns:
        The rows.

    Example:
        >>> import hardwire as hw
        >>> gates = [row.gates for row in hw.records.board("mnist")]
        >>> gates == sorted(gates)
        True
    """
    rows = [row for row in (*literature(), *ours()) if data in (None, row.data) and getattr(row, by) is not None]
    return sorted(rows, key=lambda row: (DATA.index(row.data), getattr(row, by), row.accuracy))


def front(rows: list[BoardRow], by: str = "gates") -> list[BoardRow]:
    """The Pareto front: rows that no other row matches in accuracy at as low a cost."""

    def beaten(row: BoardRow) -> bool:
        cost = getattr(row, by)
        return any(
            getattr(other, by) <= cost
            and other.accuracy >= row.accuracy
            and (getattr(other, by), other.accuracy) != (cost, row.accuracy)
            for other in rows
        )

    return [row for row in rows if not beaten(row)]
