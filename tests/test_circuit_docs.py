"""The examples of docs/circuits.md run, Python and commands, from top to bottom."""

import re
import shlex
from pathlib import Path

from typer.testing import CliRunner

from hardwire.cli import bench, circuit

PAGE = Path(__file__).parents[1] / "docs" / "circuits.md"
APPS = {"circuit": circuit.app, "bench": bench.app}


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
            _, room, *arguments = shlex.split(line)
            result = CliRunner().invoke(APPS[room], arguments)
            assert result.exit_code == 0, f"{line}: {result.output}{result.exception!r}"
            if arguments[0] == "verify":
                assert "the 450 test images agree" in result.output
    assert names["accuracy"] > 0.7
