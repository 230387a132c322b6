"""The report as Markdown: the same tables and figures, with the paper's figures and verdicts in brackets."""

from hardwire.study.analysis.table import Entry, Table
from hardwire.study.figures import Figure
from hardwire.study.reporting.content import Report


def to_markdown(report: Report) -> str:
    parts = [f"# {report.title}", *report.facts]
    for section in report.sections:
        parts.append(f"## {section.title}")
        parts += [f"- {line}" for line in section.text]
        parts += [_table(table) for table in section.tables]
        parts += [_figure(figure) for figure in section.figures]
    return "\n\n".join(parts) + "\n"


def _table(table: Table) -> str:
    lines = [_row(table.columns), _row(["---"] * len(table.columns))]
    lines += [_row([_cell(entry) for entry in row]) for row in table.rows]
    return "\n\n".join([f"### {table.title}", *_scales(table), "\n".join(lines), *_notes(table)])


def _figure(figure: Figure) -> str:
    data = f"[data](tables/{figure.data.slug}.csv)"
    picture = f"![{figure.title}](figures/{figure.slug}.svg)"
    return "\n\n".join([f"### {figure.title}", *_scales(figure), picture, f"{figure.caption} {data}"])


def _scales(part: Table | Figure) -> list[str]:
    lines = [f"Repeats the paper's {part.where}."] if part.where else []
    if part.ours:
        lines.append(f"These runs: {part.ours}. The paper: {part.theirs}.")
    return lines


def _notes(table: Table) -> list[str]:
    return ["\n".join(f"- {note}" for note in table.notes)] if table.notes else []


def _cell(entry: Entry) -> str:
    aside = [f"paper {entry.paper}"] if entry.paper else []
    if entry.verdict and entry.verdict != entry.text:
        aside.append(entry.verdict)
    return entry.text + (f" ({'; '.join(aside)})" if aside else "")


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '∣') for cell in cells)} |"  # a bar would end the cell
