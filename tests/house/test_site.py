"""The site: it builds without a warning, no link in it leads nowhere, and nothing of it comes from elsewhere."""

import functools
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


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
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


def test_the_reference_has_every_public_name(site):
    inventory = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]  # four lines of text, then names, compressed
    described = {line.split()[0] for line in zlib.decompress(inventory).decode().splitlines()}
    missing = [
        name
        for name, value in ((name, getattr(hw, name)) for name in hw.__all__)
        if not {f"hardwire.{name}", f"{getattr(value, '__module__', None)}.{name}"} & described
    ]
    assert missing == ["__version__"]


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
