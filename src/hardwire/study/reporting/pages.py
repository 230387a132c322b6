"""Pages of your own that contain parts of a report: the text between two comments is rewritten, the rest stays.

    <!-- report: table claims | Claim, Verdict -->      a table by its slug, all of its columns or those named
    <!-- report: list claims | ID, ID -->               rows of a table by their ids, as a list
    <!-- report: figure accuracy-tau-... -->            a figure; its SVG goes to images/ beside the page
    <!-- report: text headline -->                      short results and sentences of a section, as a list
    <!-- report: end -->

Surprising: a part that the report does not have is no mistake. A page may be written before the runs it is about.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from hardwire.errors import HardwireError, unknown_name
from hardwire.files import write_whole
from hardwire.study.reporting.content import Report
from hardwire.study.reporting.figure import Figure
from hardwire.study.reporting.markdown import escaped, markdown_table
from hardwire.study.reporting.table import Cells, Table, table

NOT_RUN = "*Not run yet.*"
_PART = re.compile(r"(<!-- report: (\w+) (\S+)(?: \| ([^\n]+))? -->\n)(.*?)(<!-- report: end -->)", re.DOTALL)
_ANY = re.compile(r"<!-- report: (?!end)[^\n]*")


def fill_pages(report: Report, pages: Iterable[Path]) -> list[Path]:
    """Writes the parts of a report into pages, and figures beside them.

    Args:
        report: The report.
        pages: Markdown files.

    Returns:
        The files that changed.
    """
    content: dict[Path, str] = {}
    for page in pages:
        try:
            text, images = fill(page.read_text(encoding="utf-8"), report)
        except (OSError, UnicodeDecodeError) as error:
            raise HardwireError(f"cannot read the page {page}: {error}") from None
        except HardwireError as error:
            raise HardwireError(f"{page}: {error}") from None
        content[page] = text
        content |= {page.parent / name: svg for name, svg in images.items()}
    changed = [path for path, text in content.items() if not path.exists() or path.read_text("utf-8") != text]
    for path in changed:
        path.parent.mkdir(exist_ok=True)
        write_whole(path, content[path])
    return changed


def fill(text: str, report: Report) -> tuple[str, dict[str, str]]:
    """Returns the page with its parts filled in, and the SVG of each figure by its path from the page."""
    images: dict[str, str] = {}

    def part(match: re.Match[str]) -> str:
        begin, kind, name, options, _, end = match.groups()
        if kind not in _PARTS:
            raise unknown_name("part of a report", kind, _PARTS)
        return f"{begin}\n{_PARTS[kind](report, name, options, images) or NOT_RUN}\n\n{end}"

    filled, count = _PART.subn(part, text)
    if count < len(_ANY.findall(text)):
        raise HardwireError("a part of a report begins and does not end; close each with <!-- report: end -->")
    return filled, images


def _find_table(report: Report, name: str) -> Table | None:
    return next((table for table in report.tables if table.slug == name), None)


def _table(report: Report, name: str, columns: str | None, images: dict[str, str]) -> str:
    own = _find_table(report, name)
    if own is None:
        return ""
    notes = [f"- {escaped(note)}" for note in own.notes]
    shown = markdown_table(own) if columns is None else _some_columns(own, columns)
    return "\n".join([shown, "", *notes]).rstrip()


def _some_columns(own: Table, wanted: str) -> str:
    """Columns by name; "Claim (paper) = The paper" gives one another name."""
    names, rows = own.flat()
    places, headings = [], []
    for choice in wanted.split(", "):
        name, _, heading = choice.partition(" = ")
        if name not in names:
            raise unknown_name(f"column of {own.slug}", name, names)
        places.append(names.index(name))
        headings.append(heading or name)
    chosen: list[Cells] = [[row[place] for place in places] for row in rows]
    return markdown_table(table(own.slug, own.title, headings, chosen))


def _list(report: Report, name: str, ids: str | None, images: dict[str, str]) -> str:
    """Rows by their ids, each as its first three columns."""
    own = _find_table(report, name)
    if own is None:
        return ""
    rows = dict(zip(own.ids, own.rows, strict=True))
    lines = []
    for key in (ids or "").split(", "):
        if key not in rows:
            raise unknown_name(f"row of {name}", key, own.ids)
        claim, verdict, ours, *_ = rows[key]
        reference = f" (the {own.reference}: {claim.reference})" if claim.reference else ""
        lines.append(
            f"- {escaped(claim.text)}{escaped(reference)}: **{escaped(verdict.text)}**. {escaped(ours.text)}".rstrip()
        )
    return "\n".join(lines)


def _figure(report: Report, name: str, columns: str | None, images: dict[str, str]) -> str:
    own = next((figure for figure in report.figures if figure.slug == name), None)
    if own is None:
        return ""
    path = f"images/{name}.svg"
    images[path] = _on_white(own)
    return f"![{escaped(own.title)}]({path})\n\n*{escaped(own.title)}.* {escaped(own.caption)}"


def _on_white(figure: Figure) -> str:
    """Readable if the page around it is dark."""
    return figure.svg().replace(
        '<g id="figure_1">', '<rect width="100%" height="100%" fill="#ffffff"/>\n <g id="figure_1">', 1
    )


def _text(report: Report, name: str, columns: str | None, images: dict[str, str]) -> str:
    section = next((section for section in report.sections if section.slug == name), None)
    if section is None:
        return ""
    short = [", ".join(text for text, _ in section.chips)] if section.chips else []
    return "\n".join(f"- {escaped(line)}" for line in [*short, *section.text])


_PARTS = {"table": _table, "list": _list, "figure": _figure, "text": _text}
