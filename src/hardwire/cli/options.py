"""Arguments and options that several commands share, so that each has one name and one meaning."""

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from hardwire.cli import completion

TRAINED_ON = "[default: the one the model was trained on, if known]"

Model = Annotated[
    Path,
    Argument(
        help="A model file, a circuit file, or a circuit by name (see: hardwire circuit list).",
        autocompletion=completion.models,
    ),
]
Threads = Annotated[int | None, Option("--threads", min=1, help="Number of threads. [default: one per core]")]
Data = Annotated[
    str | None,
    Option(
        "--data",
        help="A dataset by name, or a file. [default: the one the model was trained on]",
        autocompletion=completion.datasets,
    ),
]
_TABLE = "Tables"
Decimal = Annotated[
    str | None,
    Option("--decimal", help='The decimal point of a .csv: "." or ",". [default: .]', rich_help_panel=_TABLE),
]
Separator = Annotated[
    str | None,
    Option(
        "--separator",
        help="What separates the cells of a .csv: a character, or comma, semicolon, tab, bar. [default: what occurs "
        "most often in its first line]",
        rich_help_panel=_TABLE,
    ),
]
Na = Annotated[
    str | None,
    Option(
        "--na",
        help="Texts of a .csv that mean a missing value, besides NA and the like: ?,unknown.",
        rich_help_panel=_TABLE,
    ),
]
Quote = Annotated[
    str | None, Option("--quote", help='What stands around a cell of a .csv. [default: "]', rich_help_panel=_TABLE)
]
Missing = Annotated[
    str | None,
    Option(
        "--missing",
        help="A missing value: zero (all its bits are 0; a text has a bit for it if the training rows had some), "
        "indicator (a bit more says whether a number is there), or error. [default: zero]",
        rich_help_panel=_TABLE,
    ),
]
Unknown = Annotated[
    str | None,
    Option(
        "--unknown",
        help='A text that the training rows did not have: zero (all its bits are 0, or "other"), or error. '
        "[default: zero]",
        rich_help_panel=_TABLE,
    ),
]
TestData = Annotated[
    str | None,
    Option("--data", help=f"A dataset by name, or a file. {TRAINED_ON}", autocompletion=completion.datasets),
]


def table_options(
    decimal: str | None, separator: str | None, na: str | None, quote: str | None, **others: str | None
) -> dict[str, Any]:
    """The options of a table by the names of `TableOptions`; lists are split at commas."""
    given: dict[str, Any] = {"decimal": decimal, "separator": separator, "quote": quote, "na": na} | others
    for name in ("na", "drop"):
        if given.get(name) is not None:
            given[name] = tuple(text.strip() for text in given[name].split(","))
    return {name: value for name, value in given.items() if value is not None}
