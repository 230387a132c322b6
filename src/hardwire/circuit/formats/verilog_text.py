"""The text of a Verilog file of unknown origin, checked before yosys reads it.

Comments are removed. Compiler directives (`include reads other files), system tasks ($readmemh does too), strings,
escaped names and attributes are refused, since no export has any of them. Surprising: yosys gets the text without its
comments, so what was checked is what is read.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from hardwire.circuit.formats.text import read_text
from hardwire.circuit.tools import Limits
from hardwire.errors import HardwireError

MOST_BITS = 1 << 20  # of a vector: a few bytes could make yosys take gigabytes and minutes
_FOREIGN = re.compile(r"`\w{0,30}|\$\w{0,30}|[\"\\]|(?<!@)\(\*(?!\))|\d{11}|[^\n\t\x20-\x7e]")
_SWITCH = re.compile(r"translate[_ ]o(?:n|ff)|synthesis[_ ]o(?:n|ff)", re.IGNORECASE)
_COMMENT = re.compile(r"//|/\*")
_WIDTH = re.compile(r"\[ ?(\d{1,10})|: ?(\d{1,10}) ?\]|\b(\d{1,10}) ?'|\{ ?(\d{1,10}) ?\{")  # ranges, sizes, repeats


def checked_code(path: Path) -> tuple[str, str]:
    """Returns the text of a file, and its code without comments, if it holds nothing that reaches outside of it."""
    text = read_text(path)
    code = " ".join(_without_comments(path, text))
    if foreign := _FOREIGN.search(code):
        number = code.count("\n", 0, foreign.start()) + 1
        raise HardwireError(
            f"cannot read {path}: line {number} has {foreign[0]!r}; directives, system tasks, strings, escaped names "
            "and attributes are not read"
        )
    for match in _WIDTH.finditer(re.sub(r"\s+", " ", code.replace("_", ""))):  # 1_000 is 1000
        bits = match[match.lastindex or 0]
        if int(bits) > MOST_BITS:
            raise HardwireError(f"cannot read {path}: a vector of {bits} bits is too long; at most {MOST_BITS:,} fit")
    return text, code


def limits_for(code: str) -> Limits:
    """Returns what yosys may use for so much code: several times what an export of that length takes."""
    return Limits(memory=(768 << 20) + 8_000 * len(code), seconds=8 + len(code) // 1_000)


def _without_comments(path: Path, text: str) -> Iterator[str]:
    """Yields the code between comments, and the line ends inside of comments, so that lines keep their numbers."""
    at = 0
    while start := _COMMENT.search(text, at):
        yield text[at : start.start()]
        line = start[0] == "//"
        end = text.find("\n" if line else "*/", start.end())
        if end < 0 and not line:
            raise HardwireError(f"cannot read {path}: a comment does not end")
        if switch := _SWITCH.search(text, start.end(), len(text) if end < 0 else end):
            raise HardwireError(f"cannot read {path}: to some tools the comment {switch[0]!r} takes lines away")
        if line:
            at = len(text) if end < 0 else end
            continue
        yield "\n" * text.count("\n", start.start(), end)
        at = end + 2
    yield text[at:]
