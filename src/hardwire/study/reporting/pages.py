"""Pages of your own with parts of a report in them: what stands between two comments is written anew, the rest stays.

    <!-- report: table claims | Claim, Verdict -->      a table by its slug, all of its columns or those named
    <!-- report: figure accuracy-tau-... -->            a figure; its SVG goes to images/ beside the page
    <!-- report: text headline -->                      short results and sentences of a section, as a list
    <!-- report: end -->

Surprising: a part that the report does not have is no mistake. A page may be written before the runs it will speak of.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from hardwire.errors import HardwireError, unknown_name
from hardwire.files import write_whole
from hardwire.study.reporting.content import Report
from hardwire.study.reporting.figure import Figure
from hardwire.study.reporting.markdown import markdown_table
from hardwire.study.reporting.table import Table, table

NOTHING = "*Not run yet.*"
_PART = re.compile(r"(<!-- report: (\w+) (\S+)(?: \| ([^\n]+))? -->\n)(.*?)(<!-- report: end -->)", re.DOTALL)
_ANY = re.compile(r"<!-- report: (?!end)[^\n]*")


def fill_pages(report: Report, pages: Iterable[Path]) -> list[Path]:
    """Writes the parts of every page and the figures beside it; gives the files that changed."""
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
    """The page as it should be, and the SVG of each figure in it by its path from the page."""
    images: dict[str, str] = {}

    def part(found: re.Match[str]) -> str:
        begin, kind, name, columns, _, end = found.groups()
        if kind not in _PARTS:
            raise unknown_name("part of a report", kind, _PARTS)
        return f"{begin}\n{_PARTS[kind](report, name, columns, images) or NOTHING}\n\n{end}"

    filled, count = _PART.subn(part, text)
    if count < len(_ANY.findall(text)):
        raise HardwireError("a part of a report begins and does not end; close each with <!-- report: end -->")
    return filled, images


def _table(report: Report, name: str, columns: str | None, images: dict[str, str]) -> str:
    found = next((table for table in report.tables if table.slug == name), None)
    if found is None:
        return ""
    notes = [f"- {note}" for note in found.notes]
    shown = markdown_table(found) if columns is None else _some_columns(found, columns)
    return "\n".join([shown, "", *notes]).rstrip()


def _some_columns(found: Table, wanted: str) -> str:
    """Columns by name; "Claim (paper) = The paper" gives one another name."""
    names, rows = found.flat()
    places, headings = [], []
    for choice in wanted.split(", "):
        name, _, heading = choice.partition(" = ")
        if name not in names:
            raise unknown_name(f"column of {found.slug}", name, names)
        places.append(names.index(name))
        headings.append(heading or name)
    return markdown_table(table(found.slug, found.title, headings, [[row[place] for place in places] for row in rows]))


def _figure(report: Report, name: str, columns: str | None, images: dict[str, str]) -> str:
    found = next((figure for figure in report.figures if figure.slug == name), None)
    if found is None:
        return ""
    path = f"images/{name}.svg"
    images[path] = _on_white(found)
    return f"![{found.title}]({path})\n\n*{found.title}.* {found.caption}"


def _on_white(figure: Figure) -> str:
    """Readable where the page around it is dark."""
    return figure.svg().replace(
        '<g id="figure_1">', '<rect width="100%" height="100%" fill="#ffffff"/>\n <g id="figure_1">', 1
    )


def _text(report: Report, name: str, columns: str | None, images: dict[str, str]) -> str:
    found = next((section for section in report.sections if section.slug == name), None)
    if found is None:
        return ""
    short = [", ".join(text for text, _ in found.chips)] if found.chips else []
    return "\n".join(f"- {line}" for line in [*short, *found.text])


_PARTS = {"table": _table, "figure": _figure, "text": _text}
