"""What the pages have in common: their files, and how a page is put together from them."""

from importlib import resources
from typing import Any


def rendered(template: str, **values: Any) -> str:
    """Returns a page: a template of this folder with the style and the version, and these values."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    from hardwire import __version__

    environment = Environment(loader=FunctionLoader(part), autoescape=True, undefined=StrictUndefined)
    return environment.get_template(template).render(version=__version__, style=part("page.css"), **values)


def part(name: str) -> str:
    """Returns the text of a file of this folder."""
    return resources.files("hardwire.playground").joinpath(name).read_text(encoding="utf-8")
