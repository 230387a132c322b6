"""A figure about a group of runs: drawn, with its numbers as a table."""

from collections.abc import Callable

from hardwire.study.reporting.figure import Figure
from hardwire.study.reporting.table import Cells
from hardwire_paper.groups import RunGroup
from hardwire_paper.judging import table
from hardwire_paper.names import dataset_name


def figure_of(
    group: RunGroup,
    kind: str,
    title: str,
    *,
    where: str,
    caption: str,
    drawn: tuple[Callable[[], str], Callable[[], bytes]],
    columns: list[str],
    rows: list[Cells],
) -> Figure:
    """drawn is what `draw` gave, columns and rows are its numbers."""
    slug, title = f"{kind}-{group.name}", f"{title}, {dataset_name(group.dataset)}"
    data = table(f"{slug}-data", f"{title}: data", columns, rows)
    return Figure(slug, title, caption, where, *drawn, data)
