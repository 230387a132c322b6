"""Reads BLIF files of one model with ABC, which turns them into AIGER.

ABC is given the text under a name of its own in an empty folder, with limits of memory and time, and only directives of
a plain netlist pass: a file that includes other files or models is refused.
"""

import re
import tempfile
from pathlib import Path

from hardwire.circuit.read_aiger import MOST_BYTES, Aiger, parse, reading
from hardwire.circuit.tools import Limits, run_abc
from hardwire.errors import HardwireError

# control characters, and comments that end in a backslash: readers disagree about where such a line ends
_AMBIGUOUS = re.compile(r"[^\n\t\x20-\x7e\x80-\U0010ffff]|#.*\\[ \t]*$", flags=re.MULTILINE)
DIRECTIVES = (".model", ".inputs", ".outputs", ".names", ".latch", ".end")


def parse_blif(text: str, path: Path) -> Aiger:
    """Returns the and-inverter graph of the text of a file; `path` is for messages."""
    if ambiguous := _AMBIGUOUS.search(text):
        number = text.count("\n", 0, ambiguous.start()) + 1
        raise HardwireError(f"cannot read {path}: line {number} has {ambiguous[0]!r:.40}, after which readers disagree")
    for match in re.finditer(r"^[ \t]*(\.\w{0,30})", text, flags=re.MULTILINE):
        if match[1] not in DIRECTIVES:
            number = text.count("\n", 0, match.start()) + 1
            raise HardwireError(f"cannot read {path}: line {number} has {match[1]}; known are {', '.join(DIRECTIVES)}")
    with tempfile.TemporaryDirectory() as folder, reading(path):
        netlist = Path(folder, "netlist.aig")
        Path(folder, "source.blif").write_text(text)
        limits = Limits(memory=(512 << 20) + 1_000 * len(text), seconds=10 + len(text) // 20_000)
        run_abc(f"read_blif source.blif; strash; write_aiger -s {netlist.name}", folder, limits)
        if not netlist.is_file():
            raise HardwireError("ABC cannot read it as BLIF")
        if netlist.stat().st_size > MOST_BYTES:
            raise HardwireError(f"ABC makes more than {MOST_BYTES:,} bytes of it")
        # where latches start as 1, ABC calls the outputs properties
        header = re.compile(rb"^aig (\d+ \d+ \d+) 0 (\d+) (\d+) 0\n")
        return parse(header.sub(rb"aig \1 \3 \2\n", netlist.read_bytes()))
