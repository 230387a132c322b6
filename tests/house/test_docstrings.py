"""The examples in docstrings run, and every name of the reference has a summary, its arguments and an example."""

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

from hardwire.layers import LAYERS
from hardwire.temperature import TEMPERATURES
from hardwire.wiring import WIRINGS

PACKAGES = ("data", "estimators", "recipes", "records", "zoo")
CORE = (
    "bits", "engine", "errors", "gates", "layers", "measure", "methods", "network", "noise", "randomness", "selection",
    "systems", "temperature", "training.redraw", "wiring",
)  # fmt: skip
REFERENCE = sorted((Path(__file__).parents[2] / "docs" / "api").glob("*.md"))


def modules(package):
    """A module, or a package and all modules in it."""
    parent = importlib.import_module(f"hardwire.{package}")
    yield parent
    for module in pkgutil.walk_packages(getattr(parent, "__path__", []), f"{parent.__name__}."):
        yield importlib.import_module(module.name)


@pytest.fixture
def registries():
    """Examples may register a layer, a wiring or a temperature; other tests do not see it."""
    before = [(registry, dict(registry)) for registry in (LAYERS, TEMPERATURES, WIRINGS)]
    yield
    for registry, entries in before:
        registry.clear()
        registry.update(entries)


@pytest.mark.parametrize("package", [*PACKAGES, *CORE])
def test_the_examples_of_docstrings_run(package, tmp_path, monkeypatch, registries):
    monkeypatch.chdir(tmp_path)
    finder = doctest.DocTestFinder()
    for module in modules(package):
        for test in finder.find(module):
            failures = []
            doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=failures.append)
            assert not failures, "".join(failures)


def documented():
    """Every name of the reference that is a class or a function, and the methods that its page shows."""
    for page in REFERENCE:
        for path, options in re.findall(r"^::: (\S+)((?:\n +.*)*)", page.read_text(), re.MULTILINE):
            package, _, name = path.rpartition(".")
            value = getattr(importlib.import_module(package), name)
            if not callable(value):
                continue
            yield pytest.param(value, True, id=path)
            methods = inspect.getmembers(value, lambda member: inspect.isfunction(member) or inspect.ismethod(member))
            listed = re.search(r"members: (\[.*\]|false|(?:\n +- \w+)+)", options)
            for own, method in methods if inspect.isclass(value) else ():
                shown = own in re.findall(r"\w+", listed[1]) if listed else own in vars(value)
                if shown and not own.startswith("_"):
                    yield pytest.param(method, False, id=f"{path}.{own}")


@pytest.mark.parametrize(("value", "with_example"), list(documented()))
def test_every_name_of_the_reference_says_every_argument_and_has_an_example(value, with_example):
    text = inspect.getdoc(value) or ""
    assert text and (not with_example or "Example:" in text)
    is_error = inspect.isclass(value) and issubclass(value, Exception)  # which takes a message
    for parameter in () if is_error else inspect.signature(value).parameters.values():
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        has_line = any(f"\n    {name}: " in text for name in (parameter.name, stars + parameter.name))
        assert has_line or parameter.name == "self", f"no line says what {parameter.name} is"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_of_these_packages_has_a_docstring(package):
    parent = importlib.import_module(f"hardwire.{package}")
    assert all(inspect.getdoc(getattr(parent, name)) for name in parent.__all__)
