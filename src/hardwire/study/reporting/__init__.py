"""`write_report`: one self-contained HTML page, the same as Markdown, tables as CSV, figures as SVG."""

from importlib import resources
from pathlib import Path

from hardwire.files import write_whole
from hardwire.study.export import csv_bytes
from hardwire.study.reporting.content import Report, build
from hardwire.study.reporting.markdown import to_markdown

__all__ = ["Report", "build", "to_html", "to_markdown", "write_report"]


def write_report(report: Report, folder: Path, png: bool = False) -> Path:
    """Writes a report as HTML and Markdown, with its tables and figures as files.

    Args:
        report: The report, from `build`.
        folder: Where to write; it is made if it does not exist.
        png: Whether to write each figure as a PNG as well, which takes half as long again.

    Returns:
        The page, folder/index.html.
    """
    for name in ("tables", "figures"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for table in [*report.tables, *(figure.data for figure in report.figures)]:
        write_whole(folder / "tables" / f"{table.slug}.csv", csv_bytes(*table.flat()))
    for figure in report.figures:
        write_whole(folder / "figures" / f"{figure.slug}.svg", figure.svg())
        if png:
            write_whole(folder / "figures" / f"{figure.slug}.png", figure.png())
    write_whole(folder / "report.md", to_markdown(report))
    write_whole(folder / "index.html", to_html(report))
    return folder / "index.html"


def to_html(report: Report) -> str:
    """Returns the report as one HTML page that fetches nothing."""
    import jinja2

    text = resources.files("hardwire.study.reporting").joinpath("page.html").read_text()
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(text).render(report=report)
