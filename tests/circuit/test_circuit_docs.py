"""The examples of docs/circuits.md run, Python and commands, from top to bottom; so do those of docstrings."""

import doctest
import importlib
import pkgutil
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hardwire import circuit
from hardwire.circuit import formats
from hardwire.cli import app

PAGE = Path(__file__).parents[2] / "docs" / "circuits.md"


def test_the_examples_of_the_circuits_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```(python|sh)\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) > 6
    names = {"__name__": "page"}
    for kind, text in blocks:
        if kind == "python":
            exec(compile(text, str(PAGE), "exec"), names)
            continue
        for line in text.splitlines():
            result = CliRunner().invoke(app, shlex.split(line)[1:])
            assert result.exit_code == 0, f"{line}: {result.output}{result.exception!r}"
            if "circuit verify" in line:
                assert "the 450 test images agree" in result.output
    assert names["accuracy"] > 0.7


@pytest.mark.parametrize(
    "name", sorted(module.name for module in pkgutil.walk_packages(circuit.__path__, "hardwire.circuit."))
)
def test_the_examples_of_docstrings_are_true(name, monkeypatch):
    monkeypatch.setattr(formats, "_FORMATS", dict(formats.formats()))  # an example registers one
    assert doctest.testmod(importlib.import_module(name)).failed == 0
