"""Generated C and Verilog: the constant text lies in `templates`, filled in by Jinja2.

Surprising: words stand in « » and statements in <% %>, because both languages are full of braces and brackets.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


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
    """The template of that name with its words filled in; one that is missing is an error."""
    return _environment().get_template(template).render(values)


def initialiser(values: Sequence[object]) -> str:
    """The inside of a C initialiser, 16 values a line."""
    lines = [", ".join(map(str, values[start : start + 16])) for start in range(0, len(values), 16)]
    return ",\n    ".join(lines)
