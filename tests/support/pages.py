"""A page in the system's Chromium, driven by playwright, with what went wrong on it and what it asked for."""

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt install chromium")


@dataclass
class Page:
    """page: playwright's. problems: console messages and exceptions. requests: every address that was asked for."""

    page: object
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextlib.contextmanager
def opened(address: str, width: int = 1280, height: int = 900, dark: bool = False) -> Iterator[Page]:
    """The page at an address, loaded, on a screen of this size; below 600 it is a phone's."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            phone = width < 600
            page = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme="dark" if dark else "light",
                is_mobile=phone,
                has_touch=phone,
            )
            shown = Page(page)
            page.on("console", lambda message: shown.problems.append(message.text))
            page.on("pageerror", lambda error: shown.problems.append(str(error)))
            page.on("request", lambda request: shown.requests.append(request.url))
            page.goto(address)
            yield shown
        finally:
            browser.close()
