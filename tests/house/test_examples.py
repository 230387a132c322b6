"""The scripts and notebooks of examples/ run as they are, in an empty folder; they assert what they claim."""

import json
import runpy
from pathlib import Path

import guide
import notebook
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_script_runs_and_its_assertions_hold(script, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert "assert " in script.read_text()
    runpy.run_path(str(script))
    assert capsys.readouterr().out


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs_and_shows_what_it_has_saved(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for cell, outputs in notebook.run(path):
        assert [output["output_type"] for output in outputs] == [saved["output_type"] for saved in cell["outputs"]]
        for output, saved in zip(outputs, cell["outputs"], strict=True):
            if output["output_type"] == "stream":
                assert guide.similar("".join(output["text"]), "".join(saved["text"]), float("inf"))
            else:
                assert output["data"].keys() == saved["data"].keys()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_is_one_of_nbformat_4(path):
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["nbformat"] == 4 and content["nbformat_minor"] >= 5 and content["metadata"]["kernelspec"]
    assert len({cell["id"] for cell in content["cells"]}) == len(content["cells"])
    for cell in content["cells"]:
        code = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        assert cell.keys() == {"cell_type", "id", "metadata", "source"} | code
    counts = [cell["execution_count"] for cell in notebook.code_cells(content)]
    assert counts == list(range(1, len(counts) + 1))
