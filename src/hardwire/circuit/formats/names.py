"""Names that a C compiler and a Verilog tool accept, taken from the path of the file that is written."""

import os
import re
from pathlib import Path

from hardwire.errors import HardwireError

RESERVED = {"main", "module", "input", "output", "wire", "reg", "int", "char", "float", "double", "case", "default"}


def name_for(path: str | os.PathLike[str], name: str | None = None) -> str:
    """`name` if given, else the file's stem with unfit characters as underscores."""
    if name is None:
        name = re.sub(r"\W", "_", Path(path).stem, flags=re.ASCII)
        if not name or name[0].isdigit() or name in RESERVED:
            name = f"circuit_{name}"
    if not re.fullmatch(r"[A-Za-z_]\w*", name, flags=re.ASCII) or name in RESERVED:
        raise HardwireError(f"{name!r} is no name for a C function or a Verilog module; use letters, digits and _")
    return name
