"""The report as Markdown: the same tables and figures, with what stands beside a cell and its verdict in brackets."""

from hardwire.study.reporting.content import Report
from hardwire.study.reporting.figure import Figure
from hardwire.study.reporting.table import Entry, Table


def to_markdown(report: Report) -> str:
    parts = [f"# {report.title}", *report.facts]
    for section in report.sections:
        parts += [f"## {section.title}", *([section.scale] if section.scale else [])]
        parts += ["\n".join(f"- {line}" for line in section.text)] if section.text else []
        parts += [", ".join(text for text, _ in section.chips)] if section.chips else []
        parts += [_table(table) for table in section.tables]
        parts += [_figure(figure) for figure in section.figures]
    return "\n\n".join(parts) + "\n"


def markdown_table(table: Table) -> str:
    """Its rows alone, without title and notes."""
    lines = [_row(table.columns), _row(["---"] * len(table.columns))]
    return "\n".join(lines + [_row([_cell(entry, table.beside) for entry in row]) for row in table.rows])


def _table(table: Table) -> str:
    notes = ["\n".join(f"- {note}" for note in table.notes)] if table.notes else []
    return "\n\n".join([f"### {table.title}", *_where(table), markdown_table(table), *notes])


def _figure(figure: Figure) -> str:
    data = f"[data](tables/{figure.data.slug}.csv)"
    picture = f"![{figure.title}](figures/{figure.slug}.svg)"
    return "\n\n".join([f"### {figure.title}", *_where(figure), picture, f"{figure.caption} {data}"])


def _where(part: Table | Figure) -> list[str]:
    return [part.where] if part.where else []


def _cell(entry: Entry, beside: str) -> str:
    aside = [f"{beside} {entry.beside}"] if entry.beside else []
    if entry.verdict and entry.verdict != entry.text:
        aside.append(f"{entry.verdict}: {entry.each}" if entry.each else entry.verdict)
    return entry.text + (f" ({'; '.join(aside)})" if aside else "")


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '∣') for cell in cells)} |"  # a bar would end the cell
