"""Documentation that cannot rot: the code of the README and of every page in docs runs, and prints what the page shows.

The blocks of one page run in order, as one program, in an empty folder (tests/support/guide.py). In the guides that
includes the shell commands; on the other pages these are only checked against the commands and options that exist.
"""

import json
import re
import shlex
from pathlib import Path

import guide
import pytest
import typer

from hardwire.cli import app
from hardwire.study import kinds

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_the_page_runs_as_written_and_prints_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(kinds._REGISTRY, "kinds", dict(kinds._REGISTRY.kinds))  # a page's own kind stays on the page
    for block in guide.blocks(page):
        if block.language == "python":
            guide.compiled(block, page)  # also those that are not run
    for _, printed, shown in guide.run_page(page, shell=guide.is_guide(page)):
        if shown is not None:
            assert not (problem := guide.difference(printed, shown)), problem


def commands_of(page: Path) -> list[str]:
    """Every `hardwire ...` of a page: lines of shell blocks and spans of inline code."""
    blocks = guide.blocks(page)
    lines = [line for block in blocks if block.language in guide.SHELL for line in guide.commands(block)]
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL))
    return [text.strip() for text in lines + spans if text.startswith("hardwire ")]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_the_commands_of_the_page_exist_with_their_options(page):
    for text in commands_of(page):
        words = shlex.split(text, comments=True)[1:]
        command = typer.main.get_command(app)
        while words and words[0] in getattr(command, "commands", {}):
            command = command.commands[words.pop(0)]
        named = {word.partition("=")[0] for word in words if word.startswith("-") and not word.startswith("-.")}
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert not hasattr(command, "commands") or not words or named == set(words), f"{text}: no such command"
        assert named <= known | {"--help", "--debug"}, f"{text}: no such option"


def test_few_blocks_are_not_run():
    reasons = [block.reason for page in PAGES for block in guide.blocks(page) if block.reason]
    assert len(reasons) <= len(PAGES) / 2


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_the_links_of_the_page_lead_to_files(page):
    text = page.read_text()
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text) + re.findall(r'<img src="([^"]+)"', text)
    assert not [target for target in targets if not (page.parent / target).exists()]


def test_the_figure_of_the_demo_was_drawn_by_this_code():
    from PIL import Image

    from hardwire_paper.demo.figure import COLOURS

    with Image.open(ROOT / "docs" / "images" / "demo.png") as image:
        described = json.loads(image.text["Description"])
    assert described["colours"] == COLOURS, "run `make figure` and commit docs/images/demo.png"


def page_of(tmp_path: Path, text: str) -> Path:
    page = tmp_path / "page.md"
    page.write_text(text)
    return page


@pytest.mark.parametrize(
    ("remark", "shown", "same"),
    [
        ("", "100 gates, 95.5%, gap 0", True),
        ("", "101 gates, 95.5%, gap 0", False),
        ("<!-- prints: about -->\n", "104 gates, 92.0%, gap 0", True),
        ("<!-- prints: about -->\n", "150 gates, 95.5%, gap 0", False),
        ("<!-- prints: about -->\n", "104 wires, 92.0%, gap 0", False),
        ("<!-- prints: other numbers -->\n", "7 gates, 1.0%, gap 0", True),
        ("<!-- prints: other numbers -->\n", "7 gates", False),
    ],
)
def test_output_that_a_page_shows_is_compared_as_its_comment_says(tmp_path, remark, shown, same):
    page = page_of(tmp_path, f'```python\nprint("100 gates, 95.5%, gap 0")\n```\n\n{remark}```text\n{shown}\n```\n')
    ((_, printed, block),) = guide.run_page(page, shell=True)
    assert (guide.difference(printed, block) is None) == same


def test_a_shell_block_runs_in_the_folder_and_its_failure_is_noticed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = page_of(tmp_path, "```console\necho hello > file\ncat file   # shows it\n```\n\n```text\nhello\n```\n")
    ((_, printed, block),) = guide.run_page(page, shell=True)
    assert printed == "hello\n" and guide.difference(printed, block) is None
    with pytest.raises(AssertionError, match="exit code 2"):
        list(guide.run_page(page_of(tmp_path, "```console\nhardwire gap missing.safetensors\n```\n"), shell=True))


def test_the_figure_of_the_records_names_every_row_of_the_board():
    from hardwire.records import board

    drawn = (ROOT / "docs" / "images" / "records.svg").read_text()
    missing = [row.name for row in board() if f">{row.name}<" not in drawn]
    assert not missing, "run `hardwire records figure -o docs/images/records.svg`"
