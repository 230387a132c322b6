"""The examples of docs/circuits.md run, Python and commands, from top to bottom."""

import re
import shlex
from pathlib import Path

from typer.testing import CliRunner

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
