"""What commands print: for people on standard output, or one JSON document there and everything else on standard error.

Every command with --json prints through an `Output`.
"""

import dataclasses
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document; everything else goes to standard error.")]


class Output:
    """Where a command prints.

    as_json: whether standard output is for one JSON document only.
    """

    def __init__(self, as_json: bool = False):
        self.as_json = as_json

    @property
    def console(self) -> "Console":
        """For tables and styled text."""
        from hardwire.console import make_console

        return make_console(stderr=self.as_json)

    def line(self, text: str) -> None:
        """Prints a plain line."""
        typer.echo(text, err=self.as_json)

    def table(self, headers: list[str], rows: list[list[str]]) -> None:
        """Prints a table with numbers aligned to the right of what they count; no header if all headers are empty."""
        from rich.table import Table

        table = Table(show_header=any(headers))
        for number, header in enumerate(headers):
            table.add_column(header, justify="right" if number else "left", no_wrap=True)
        for row in rows:
            table.add_row(*row)
        self.console.print(table)

    def document(self, value: Any) -> None:
        """Prints the JSON document, if it was asked for."""
        if self.as_json:
            typer.echo(json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def plain(value: Any) -> Any:
    """A value as JSON can hold it: dataclasses become objects, arrays lists, and numbers that are not finite null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if hasattr(value, "tolist"):  # numpy and torch
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value) if isinstance(value, Path) else value
