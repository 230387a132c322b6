"""Documentation that cannot rot: the Python of the README and of every page in docs runs, the commands exist.

The blocks of one page run in order, as one program, in an empty folder. A block that a test cannot run has a comment
above it that says why: <!-- not run: it needs a download -->. Such blocks are still compiled.
"""

import re
import shlex
from pathlib import Path

import pytest
import typer

from hardwire.cli import app
from hardwire.study import kinds

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
BLOCK = re.compile(r"(?:<!-- not run: (?P<reason>.+?) -->\s*\n)?```(?P<language>\w*)\n(?P<text>.*?)```", re.DOTALL)
SHELL = ("console", "bash", "sh", "shell")


def blocks(page: Path, *languages: str) -> list[re.Match]:
    return [block for block in BLOCK.finditer(page.read_text()) if block["language"] in languages]


def commands(page: Path) -> list[str]:
    """Every `hardwire ...` of a page: lines of shell blocks and spans of inline code."""
    lines = [line.removeprefix("$ ") for block in blocks(page, *SHELL) for line in block["text"].splitlines()]
    spans = re.findall(r"`([^`\n]+)`", BLOCK.sub("", page.read_text()))
    return [text.strip() for text in lines + spans if text.startswith("hardwire ")]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_the_python_of_the_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        kinds._REGISTRY, "kinds", dict(kinds._REGISTRY.kinds)
    )  # what a page registers stays on the page
    program = []
    for block in blocks(page, "python"):
        line = page.read_text().count("\n", 0, block.start("text"))
        code = compile("\n" * line + block["text"], str(page), "exec")  # so that a traceback names the page's line
        if not block["reason"]:
            program.append(code)
    namespace = {"__name__": "page"}
    for code in program:
        exec(code, namespace)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_the_commands_of_the_page_exist_with_their_options(page):
    for text in commands(page):
        words = shlex.split(text, comments=True)[1:]
        command = typer.main.get_command(app)
        while words and words[0] in getattr(command, "commands", {}):
            command = command.commands[words.pop(0)]
        named = {word.partition("=")[0] for word in words if word.startswith("-") and not word.startswith("-.")}
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert not hasattr(command, "commands") or not words or named == set(words), f"{text}: no such command"
        assert named <= known | {"--help", "--debug"}, f"{text}: no such option"


def test_the_readme_opens_with_the_two_commands():
    assert re.findall(r"^make \w+", (ROOT / "README.md").read_text(), re.MULTILINE)[:2] == ["make demo", "make test"]


def test_few_blocks_are_not_run():
    reasons = [block["reason"] for page in PAGES for block in blocks(page, "python") if block["reason"]]
    assert len(reasons) <= len(PAGES)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_the_links_of_the_page_lead_to_files(page):
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text())
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert not missing
