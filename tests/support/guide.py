"""The code blocks of a Markdown page: reading them, running them as one program, and comparing what they print.

A `text` block directly after a Python or console block shows what that block prints. It is compared exactly, unless a
comment above it says that the numbers are only similar on another machine, or differ in every run:

    <!-- prints: about -->            numbers agree within ten percent
    <!-- prints: other numbers -->    only the words are compared

`python tests/support/guide.py PAGE` runs the page in an empty folder and writes what it prints into these blocks.

A block in another language whose first line is a comment with a file name, such as `/* main.c */` or `# study.toml`, is
that file, and is written before the blocks after it run.

A Python block that imports hardwire starts a new program: it may use files of the blocks before it, not their names.
A block that a test cannot run has a comment above it that says why: <!-- not run: it needs a download -->.
"""

import contextlib
import io
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SHELL = ("console", "bash", "sh", "shell")
_BLOCK = re.compile(r"(?:<!-- (?P<remark>[^>]+?) -->\s*\n)?```(?P<language>\w*)\n(?P<text>.*?)```", re.DOTALL)
_FILE = re.compile(r"(?:#|//|/\*) (?P<name>[\w.-]+\.\w+)(?: \*/)?\n")
_NUMBER = re.compile(r"[-+−]?\d[\d,_]*(?:\.\d+)?")


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, the comment above it, and the number of its first line."""

    language: str
    text: str
    remark: str
    line: int
    after: str = field(default="", compare=False)  # what stands between the block before and this one

    @property
    def reason(self) -> str:
        """Why the block is not run, or nothing."""
        return self.remark.removeprefix("not run: ") if self.remark.startswith("not run: ") else ""


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    text, end, result = page.read_text(encoding="utf-8"), 0, []
    for match in _BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("text"))
        result.append(
            Block(match["language"], match["text"], match["remark"] or "", line, text[end : match.start()].strip())
        )
        end = match.end()
    return result


def commands(block: Block) -> list[str]:
    """The commands of a shell block: its lines, without prompts and comments, continued lines joined."""
    lines = block.text.replace("\\\n", " ").splitlines()
    return [command for line in lines if (command := line.removeprefix("$ ").partition("  #")[0].strip())]


def is_guide(page: Path) -> bool:
    """Whether the shell commands of a page are run, too."""
    return page.parent.name == "guides" or page.name == "playground.md"


def run_page(page: Path, *, shell: bool) -> Iterator[tuple[Block, str, Block | None]]:
    """Run the page in the current folder; give each block, what it printed, and the block that shows its output."""
    names: dict[str, object] = {}
    for block, following in itertools.zip_longest(blocks(page), blocks(page)[1:]):
        if block.language not in ("python", *SHELL) and (file := _FILE.match(block.text)):
            Path(file["name"]).write_text(block.text, encoding="utf-8")
        if block.reason or (block.language != "python" and not (shell and block.language in SHELL)):
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            if block.language == "python":
                if re.search(r"^import .*\bhardwire\b", block.text, re.MULTILINE):
                    names = {"__name__": "page"}
                exec(compiled(block, page), names)
            else:
                for command in commands(block):
                    print(_run(command), end="")
        shown = following if following and following.language == "text" and not following.after else None
        yield block, printed.getvalue(), shown


def compiled(block: Block, page: Path) -> object:
    """The block as code whose tracebacks name the line of the page."""
    return compile("\n" * block.line + block.text, str(page), "exec")


def difference(printed: str, shown: Block) -> str | None:
    """How what a block printed differs from what the page shows, or None."""
    tolerance = {"prints: about": 0.1, "prints: other numbers": float("inf")}.get(shown.remark, 0.0)
    if similar(printed, shown.text, tolerance):
        return None
    return f"printed:\n{printed}\nbut line {shown.line} shows:\n{shown.text}"


def similar(printed: str, shown: str, tolerance: float) -> bool:
    """Whether two texts have the same words, and numbers that differ by no more than this share of the larger one."""
    here, there = _plain(printed), _plain(shown)
    numbers_here, numbers_there = _NUMBER.findall(here), _NUMBER.findall(there)
    if tolerance == 0 or len(numbers_here) != len(numbers_there):
        return here == there
    return _NUMBER.sub("#", here) == _NUMBER.sub("#", there) and all(
        _value(a) == _value(b) or abs(_value(a) - _value(b)) <= tolerance * max(abs(_value(a)), abs(_value(b)))
        for a, b in zip(numbers_here, numbers_there, strict=True)
    )


def _plain(text: str) -> str:
    """Without blank lines, and with the rules and blanks of a table in one length."""
    lines = (re.sub(r"[ ━─]{2,}", " ", line).strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def _value(number: str) -> float:
    return float(re.sub(r"[,_]", "", number).replace("−", "-"))


def _run(command: str) -> str:
    """What a command prints. `hardwire` runs in this process, which saves seconds of imports; the rest in a shell."""
    if not command.startswith("hardwire ") or any(sign in command for sign in "|<>"):
        folder = str(Path(sys.executable).parent)
        result = subprocess.run(
            f"PATH={shlex.quote(folder)}:$PATH; {command}", shell=True, text=True, stdout=subprocess.PIPE, check=True
        )
        return result.stdout
    from hardwire.__main__ import main

    printed, arguments = io.StringIO(), sys.argv
    sys.argv = shlex.split(command)
    try:
        with contextlib.redirect_stdout(printed):
            main()
    except SystemExit as stop:
        assert not stop.code, f"{command}: exit code {stop.code}\n{printed.getvalue()}"
    finally:
        sys.argv = arguments
    return printed.getvalue()


def write_outputs(page: Path, images: Path) -> None:
    """Run the page in an empty folder; write what it prints into the page, and the pictures it makes into `images`."""
    lines = page.read_text(encoding="utf-8").splitlines()
    os.environ |= {"COLUMNS": "100", "NO_COLOR": "1"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for _, printed, shown in reversed(
            list(run_page(page, shell=is_guide(page)))
        ):  # from below, so that line numbers hold
            if shown is not None:
                lines[shown.line : shown.line + shown.text.count("\n")] = printed.strip("\n").splitlines()
        for path in Path().glob("*.svg"):
            if (images / path.name).exists():
                shutil.copy(path, images)
    page.write_text("".join(f"{line.rstrip()}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        write_outputs(Path(name).resolve(), Path("docs/images").resolve())
