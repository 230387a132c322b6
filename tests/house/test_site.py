"""The site: it builds without a warning, no link in it leads nowhere, and nothing of it comes from elsewhere."""

import functools
import inspect
import os
import re
import subprocess
import sys
import threading
import zlib
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
from pages import needs_chromium, opened

import hardwire as hw

ROOT = Path(__file__).parents[2]
REPOSITORY = "https://github.com/somebody/hardwire"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site as a workflow of this repository builds it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder]
    environment = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "somebody/hardwire"}
    result = subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return folder


class Page(HTMLParser):
    """links: where a reader may go; parts: what the browser loads with the page; anchors: places to link to."""

    def __init__(self, path: Path):
        super().__init__()
        self.links: list[str] = []
        self.parts: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = {name: value for name, value in attributes if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in ("img", "script", "iframe", "source", "audio", "video") and "src" in given:
            self.parts.append(given["src"])
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.parts.append(given["href"])


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, Page]:
    return {path.resolve(): Page(path) for path in site.rglob("*.html") if path.name != "404.html"}


def is_elsewhere(link: str) -> bool:
    return link.startswith(("http:", "https:", "mailto:", "//"))


def test_every_link_of_the_site_leads_to_a_page_and_a_place_on_it(pages):
    wrong = []
    for path, page in pages.items():
        for link in page.links + page.parts:
            if is_elsewhere(link) or link.startswith("data:"):  # the latter is its own content
                continue
            target, anchor = urldefrag(unquote(link))
            there = (path.parent / target).resolve() if target else path
            if not there.exists():
                wrong.append(f"{path.name}: {link}: no such file")
            elif anchor and there in pages and anchor not in pages[there].anchors:
                wrong.append(f"{path.name}: {link}: no such place")
    assert len(pages) > 20 and not wrong


def test_no_page_loads_anything_from_elsewhere(pages):
    assert not [part for page in pages.values() for part in page.parts if is_elsewhere(part)]


def test_every_page_links_to_the_home_page_and_to_the_repository(site, pages):
    home = (site / "index.html").resolve()
    for path, page in pages.items():
        if path.parent.name in ("live", "report"):  # the playground and the report are pages of their own
            continue
        targets = {(path.parent / link).resolve() for link in page.links if not is_elsewhere(link)}
        assert REPOSITORY in page.links and home in targets, path


def test_the_home_page_gives_the_numbers_of_the_readme():
    row = re.search(r"^\| hardwire, (.+)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    gates, accuracy, size, speed = [cell.strip() for cell in row[1].split("|")][:4]
    home = (ROOT / "docs" / "index.md").read_text()
    assert all(f"**{number}**" in home for number in (accuracy, size, speed)) and gates in home


def test_the_reference_has_every_public_name(site):
    inventory = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]  # four lines of text, then names, compressed
    described = {line.split()[0] for line in zlib.decompress(inventory).decode().splitlines()}
    names = [name for name in hw.__all__ if not inspect.ismodule(getattr(hw, name))]
    assert {name for name in names if not any(path.endswith(f".{name}") for path in described)} == {"__version__"}
    assert not [path for path in described if path.endswith((".Fused", ".parts", ".stack"))]  # internals


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        """Says nothing."""


@pytest.fixture(scope="module")
def address(site):
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.browser
@needs_chromium
@pytest.mark.parametrize(
    ("path", "width"),
    [
        ("index.html", 1280),
        ("index.html", 390),
        ("systems.html", 390),
        ("playground.html", 1280),
        ("api/networks.html", 390),
    ],
)
def test_a_page_shows_without_complaint_and_without_being_wider_than_the_screen(address, path, width):
    with opened(f"{address}/{path}", width, dark=width < 600) as shown:
        wide = shown.page.evaluate("document.documentElement.scrollWidth")
        scheme = shown.page.evaluate("document.body.dataset.mdColorScheme")
    assert not shown.problems and wide <= width
    assert scheme == ("slate" if width < 600 else "default")
    assert all(request.startswith((address, "data:", "blob:")) for request in shown.requests)


@pytest.mark.browser
@needs_chromium
@pytest.mark.parametrize("path", ["index.html", "guides/embedded.html"])
def test_the_search_works_on_a_page_that_was_opened_from_a_folder(site, path):
    with opened((site / path).as_uri()) as shown:
        shown.page.focus("input.md-search__input")
        shown.page.keyboard.type("Verilog")
        shown.page.wait_for_selector(".md-search-result__item")
        assert "matching documents" in shown.page.inner_text(".md-search-result__meta")
    assert not shown.problems
    assert all(request.startswith(("file:", "data:", "blob:", "about:")) for request in shown.requests)
