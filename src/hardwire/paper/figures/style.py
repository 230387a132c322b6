"""A figure about a group of runs: drawn, with its numbers as a table."""

from hardwire.paper.groups import Group
from hardwire.paper.judging import table
from hardwire.paper.names import dataset_name
from hardwire.study.reporting.figure import Figure, Picture
from hardwire.study.reporting.table import Entry


def figure_of(
    group: Group,
    kind: str,
    title: str,
    *,
    where: str,
    caption: str,
    picture: Picture,
    columns: list[str],
    rows: list[list[Entry | str | int]],
) -> Figure:
    """columns and rows: the numbers of the picture."""
    slug, title = f"{kind}-{group.name}", f"{title}, {dataset_name(group.dataset)}"
    data = table(f"{slug}-data", f"{title}: data", columns, rows)
    return Figure(slug, title, caption, where, picture, data)
