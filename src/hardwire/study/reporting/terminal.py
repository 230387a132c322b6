"""What a report says first, on a terminal: the tables of its first sections, without what was left open."""

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from hardwire.study.reporting.content import Report
from hardwire.study.reporting.table import BAD, GOOD, OPEN, WEAK, Table

_COLOURS = {GOOD: "green", WEAK: "yellow", BAD: "bold red", OPEN: ""}
_COLUMNS = 3  # the first so many of a table; a terminal is narrow


def show(report: Report, console: Console) -> None:
    """Prints the sections that come before everything else."""
    for section in (section for section in report.sections if section.first):
        console.print(f"[bold]{section.title}[/]", highlight=False)
        for line in section.text:
            console.print(line, highlight=False, markup=False)
        console.print(Text(", ").join(Text(text, _COLOURS[tone]) for text, tone in section.chips))
        for table in section.tables:
            _print(table, console)


def _print(table: Table, console: Console) -> None:
    grid = Grid(*table.columns[:_COLUMNS])
    judged = [row for row in table.rows if not any(entry.verdict and entry.tone == OPEN for entry in row)]
    for row in judged:
        grid.add_row(*(Text(entry.text, _COLOURS[entry.tone] if entry.verdict else "") for entry in row[:_COLUMNS]))
    console.print(grid)
    if len(judged) < len(table.rows):
        console.print(f"and {len(table.rows) - len(judged)} that could not be judged", highlight=False)
    for note in table.notes:
        console.print(Text(f"- {note}", "dim"))
