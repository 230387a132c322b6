"""Adds the full report of the studies to the site, and links to it from the findings.

Surprising: without a report the site builds too, and names its folder.
"""

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

REPORT = Path(__file__).parents[2] / "results" / "report"
NAMED, LINK = "`results/report`", "[the full report](report/index.html)"


def on_files(files: Files, config: Any) -> Files:
    for path in sorted(REPORT.rglob("*")):
        if path.is_file() and path.suffix != ".md":  # the page has all of the Markdown
            name = f"report/{path.relative_to(REPORT).as_posix()}"
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **kwargs: Any) -> str:
    written = (REPORT / "index.html").exists() and page.file.src_uri.startswith("findings")
    return markdown.replace(NAMED, LINK) if written else markdown
