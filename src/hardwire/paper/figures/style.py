"""A figure about a group of runs: drawn, with its numbers as a table."""

from collections.abc import Callable

from hardwire.paper.groups import Group
from hardwire.paper.judging import table
from hardwire.paper.names import dataset_name
from hardwire.study.reporting.figure import Figure
from hardwire.study.reporting.table import Entry


def figure_of(
    group: Group,
    kind: str,
    title: str,
    *,
    where: str,
    caption: str,
    drawn: tuple[Callable[[], str], Callable[[], bytes]],
    columns: list[str],
    rows: list[list[Entry | str | int]],
) -> Figure:
    """drawn is what `draw` gave, columns and rows are its numbers."""
    slug, title = f"{kind}-{group.name}", f"{title}, {dataset_name(group.dataset)}"
    data = table(f"{slug}-data", f"{title}: data", columns, rows)
    return Figure(slug, title, caption, where, *drawn, data)
