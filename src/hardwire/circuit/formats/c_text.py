"""The text of an exported C file as a compiler sees it: logical lines without comments, with their line numbers.

Two texts with equal lines mean the same to a compiler. Surprising: trigraphs, lines continued by a backslash and
control characters are refused anywhere, even in comments, because with them a comment may not end where it seems to.
"""

import re
from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hardwire.errors import HardwireError

Line = tuple[int, str]  # number and content
TRICKS = re.compile(r"\\[ \t]*$|\?\?|[^\n\t\x20-\x7e\x80-\U0010ffff]", flags=re.MULTILINE)
_SEPARATORS = str.maketrans("{},", "   ")


class CText:
    """A C file: its lines, and how values are taken from them."""

    def __init__(self, path: Path, text: str):
        self.path, self.lines = path, logical_lines(path, text)
        self.text = "\n".join(["", *(content for _, content in self.lines), ""])

    def has(self, line: str) -> bool:
        """Whether a line starts like this."""
        return f"\n{line}" in self.text

    def match(self, pattern: str) -> str:
        """Returns what the group of a pattern of one line matches; an error if no line matches."""
        match = re.search(f"^{pattern}$", self.text, flags=re.MULTILINE)
        if match is None:
            raise self.refused("hardwire did not write it, or another version did")
        return match[1]

    def number(self, name: str) -> int:
        """Returns the value of a macro."""
        return int(self.match(rf"#define {name} \(?(-?\d{{1,10}})\)?"))

    def values(self, declaration: str) -> list[str]:
        """Returns the values of a table, row after row, as text."""
        start = re.search(rf"^static const \w{{1,9}} {declaration} = \{{$", self.text, flags=re.MULTILINE)
        end = -1 if start is None else self.text.find("};", start.end())
        if start is None or end < 0:
            raise self.refused("hardwire did not write it, or another version did")
        return self.text[start.end() : end].translate(_SEPARATORS).split()

    def numbers(self, declaration: str) -> npt.NDArray[np.int64]:
        """Returns the numbers of a table, row after row."""
        try:
            return np.array(array("q", map(int, self.values(declaration))), np.int64)
        except (ValueError, OverflowError):
            raise self.refused("one of its tables does not hold whole numbers") from None

    def refused(self, reason: str) -> HardwireError:
        """The error for a file that is not an export."""
        return HardwireError(f"cannot verify {self.path}: {reason}; only an unchanged export can be verified")

    def check_equal(self, expected: str) -> None:
        """Raises an error that names the first line that is not as expected."""
        wanted = logical_lines(self.path, expected)
        for line, (_, content) in zip(self.lines, wanted, strict=False):
            if line[1] != content:
                raise self.refused(f"line {line[0]} is not what this version of hardwire writes: {line[1]!r:.80}")
        if len(self.lines) > len(wanted):
            number, content = self.lines[len(wanted)]
            raise self.refused(f"line {number} is not what this version of hardwire writes: {content!r:.80}")
        if len(self.lines) < len(wanted):
            raise self.refused("its last lines are missing")


def logical_lines(path: Path, text: str) -> list[Line]:
    """Returns the lines that are not blank, with comments and repeated blanks replaced by one blank."""
    trick = TRICKS.search(text)
    if trick:
        number = text.count("\n", 0, trick.start()) + 1
        raise HardwireError(f"cannot verify {path}: line {number} has {trick[0].strip()!r}, which no export has")
    lines: list[Line] = []
    pieces: list[str] = []  # of the current line
    number = start = 1
    for at, piece in enumerate(_pieces(path, text)):
        if at % 2:  # a comment does not end the line it is in
            pieces.append(" ")
            number += piece.count("\n")
            continue
        for place, part in enumerate(piece.split("\n")):
            if place:
                lines.append((start, " ".join("".join(pieces).split())))
                pieces.clear()
                number += 1
            if not pieces:
                start = number
            pieces.append(part)
    lines.append((start, " ".join("".join(pieces).split())))
    return [line for line in lines if line[1]]


def _pieces(path: Path, text: str) -> Iterator[str]:
    """Yields code and comments in turns."""
    at = 0
    while (opened := text.find("/*", at)) >= 0:
        yield text[at:opened]
        at = text.find("*/", opened + 2) + 2
        if at < 2:
            number = text.count("\n", 0, opened) + 1
            raise HardwireError(f"cannot verify {path}: the comment in line {number} does not end")
        yield text[opened:at]
    yield text[at:]
