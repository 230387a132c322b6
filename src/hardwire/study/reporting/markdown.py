"""The report as Markdown: the same tables and figures, with the reference of a cell and its verdict in brackets.

Whatever comes from a store is escaped: a dataset named <script> stays a name.
"""

import html
import re

from hardwire.study.reporting.content import Report
from hardwire.study.reporting.figure import Figure
from hardwire.study.reporting.table import Table, TableCell


def to_markdown(report: Report) -> str:
    """Returns the whole report as Markdown."""
    parts = [f"# {escaped(report.title)}", *map(escaped, report.facts)]
    for section in report.sections:
        parts += [f"## {escaped(section.title)}", *([escaped(section.scale)] if section.scale else [])]
        parts += ["\n".join(f"- {escaped(line)}" for line in section.text)] if section.text else []
        parts += [", ".join(escaped(text) for text, _ in section.chips)] if section.chips else []
        parts += [_figure(figure) for figure in section.figures] if section.first else []
        parts += [_table(table) for table in section.tables]
        parts += [_figure(figure) for figure in section.figures] if not section.first else []
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """Returns text that Markdown shows as it is, but for code in backquotes."""
    plain = html.escape(text, quote=False).replace("\n", " ")
    return re.sub(r"([\[\]])", r"\\\1", plain) if "](" in plain else plain


def markdown_table(table: Table) -> str:
    """Returns the rows alone, without title and notes."""
    lines = [_row([escaped(column) for column in table.columns]), _row(["---"] * len(table.columns))]
    return "\n".join(lines + [_row([_cell(cell, table.reference) for cell in row]) for row in table.rows])


def _table(table: Table) -> str:
    notes = ["\n".join(f"- {escaped(note)}" for note in table.notes)] if table.notes else []
    return "\n\n".join([f"### {escaped(table.title)}", *_where(table), markdown_table(table), *notes])


def _figure(figure: Figure) -> str:
    data = f"[data](tables/{figure.data.slug}.csv)"
    picture = f"![{escaped(figure.title)}](figures/{figure.slug}.svg)"
    return "\n\n".join([f"### {escaped(figure.title)}", *_where(figure), picture, f"{escaped(figure.caption)} {data}"])


def _where(part: Table | Figure) -> list[str]:
    return [escaped(part.where)] if part.where else []


def _cell(cell: TableCell, reference: str) -> str:
    aside = [f"{reference} {cell.reference}"] if cell.reference else []
    if cell.verdict and cell.verdict != cell.text:
        aside.append(f"{cell.verdict}: {cell.details}" if cell.details else cell.verdict)
    return escaped(cell.text + (f" ({'; '.join(aside)})" if aside else ""))


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '∣') for cell in cells)} |"  # a bar would end the cell
