"""The examples of docs/training.md run, from top to bottom."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "training.md"


def test_the_examples_of_the_training_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) > 5
    exec(compile("\n".join(blocks), str(PAGE), "exec"), {"__name__": "page"})
