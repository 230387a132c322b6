"""What a report says first, on a terminal: the first sections, and how many claims or rows have which result."""

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from hardwire.study.reporting.content import Report, Section
from hardwire.study.reporting.table import BAD, GOOD, OPEN, WEAK, Table

_COLOURS = {GOOD: "green", WEAK: "yellow", BAD: "bold red", OPEN: ""}
_COLUMNS = 7  # the first so many of a table; a terminal is narrow


def show(report: Report, console: Console) -> None:
    """Prints the sections that come before everything else, and the short results of the others."""
    for section in report.sections:
        if section.first:
            _show_first(section, console)
        elif section.chips:
            console.print(Text(f"{section.title}: ").append(_chips(section)))


def printable(text: str) -> str:
    """Returns text without control characters, which could drive a terminal."""
    return "".join(character if character.isprintable() else "�" for character in text)


def _show_first(section: Section, console: Console) -> None:
    console.print(Text(printable(section.title), "bold"))
    for line in section.text:
        console.print(printable(line), highlight=False, markup=False)
    if section.chips:
        console.print(_chips(section))
    for table in section.tables:
        if not table.folded:
            _print(table, console)


def _chips(section: Section) -> Text:
    return Text(", ").join(Text(printable(text), _COLOURS[tone]) for text, tone in section.chips)


def _print(table: Table, console: Console) -> None:
    grid = Grid(*table.columns[:_COLUMNS], title=Text(printable(table.title)), title_justify="left")
    for row in table.rows:
        cells = row[:_COLUMNS]
        grid.add_row(*(Text(printable(cell.text), _COLOURS[cell.tone] if cell.verdict else "") for cell in cells))
    console.print(grid)
    for note in table.notes:
        console.print(Text(f"- {printable(note)}", "dim"))
