"""Generated C and Verilog: the constant text is in `templates`, filled in by Jinja2.

Surprising: expressions are written in « » and statements in <% %>, because both languages are full of braces.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from hardwire.errors import HardwireError

if TYPE_CHECKING:
    from jinja2 import Environment


MOST_BYTES = 1 << 25  # of a text file that is read back; a million gates in C take 20 MB


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined,
        variable_start_string="«",
        variable_end_string="»",
        block_start_string="<%",
        block_end_string="%>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["initialiser"] = initialiser
    return environment


def render(template: str, **values: object) -> str:
    """Fills in a template; a missing value is an error."""
    return _environment().get_template(template).render(values)


def initialiser(values: Sequence[object]) -> str:
    """Returns the inside of a C initialiser, 16 values a line."""
    lines = [", ".join(map(str, values[start : start + 16])) for start in range(0, len(values), 16)]
    return ",\n    ".join(lines)


def read_text(path: Path) -> str:
    """Returns the text of a file of bounded size, with plain line ends."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise HardwireError(f"cannot read {path}: it has more than {MOST_BYTES:,} bytes")
        return path.read_bytes().decode().replace("\r\n", "\n")
    except OSError as error:
        raise HardwireError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise HardwireError(f"cannot read {path}: byte {error.start} is not UTF-8 text") from None
