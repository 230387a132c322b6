"""How a table is read: how its .csv is written, which columns are left out, and what missing and unknown values mean.

These options follow the path of a table, as `urllib.parse.urlencode` writes them:
"prices.csv?decimal=%2C&na=None,%3F#price". So a table stays one string, and a model that was trained on it remembers
how it was written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode

from hardwire.errors import HardwireError, shown, unknown_name

DECIMALS = (".", ",")
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "space": " "}  # names that a shell leaves alone


@dataclass(frozen=True)
class TableOptions:
    """How a table is read.

    Args:
        decimal: The decimal point of a .csv, "." or ",".
        separator: What stands between two cells of a .csv; None: of , ; tab and | the most frequent in its first line.
        na: Texts that mean a missing value, besides those that pandas knows (an empty cell, NA, None, nan and so on).
        quote: What stands around a cell that has a separator in it.
        drop: Columns to leave out.
        missing: What a missing number means: "zero", "indicator" or "error". None: zero, or the model's own.
        unknown: What a text means that training did not have: "zero" or "error". None: zero, or the model's own.

    Example:
        >>> from hardwire.data.table_options import TableOptions
        >>> TableOptions(decimal=",", na=("?",)).query()
        'decimal=%2C&na=%3F'
    """

    decimal: str = "."
    separator: str | None = None
    na: tuple[str, ...] = ()
    quote: str = '"'
    drop: tuple[str, ...] = ()
    missing: str | None = None
    unknown: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in DECIMALS:
            raise unknown_name("decimal point", self.decimal, DECIMALS)
        if self.separator is not None:
            object.__setattr__(self, "separator", SEPARATORS.get(self.separator, self.separator))
        for name in ("separator", "quote"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, str) or len(value) != 1):
                raise HardwireError(f"{name} {shown(value)} is not one character, nor one of {', '.join(SEPARATORS)}")
        if self.decimal == self.separator:
            raise HardwireError(f"{self.decimal!r} cannot be both the decimal point and the separator")

    @classmethod
    def parse(cls, query: str) -> "TableOptions":
        """The options behind the path of a table."""
        given = parse_qsl(query, keep_blank_values=True)
        for name, _ in given:
            if name not in cls.__dataclass_fields__:
                raise unknown_name("option of a table", name, cls.__dataclass_fields__)
        lists = {name: tuple(value.split(",")) for name, value in given if name in ("na", "drop")}
        return cls(**(dict(given) | lists))  # type: ignore[arg-type]  # each is text or a tuple of texts

    def query(self) -> str:
        """What `parse` reads; empty if nothing differs from the usual."""
        own = {name: value for name, value in vars(self).items() if value != getattr(TableOptions, name)}
        return urlencode({name: ",".join(value) if isinstance(value, tuple) else value for name, value in own.items()})

    def written(self) -> dict[str, Any]:
        """How the .csv is written, as a model remembers it: only what differs from the usual."""
        own = {name: getattr(self, name) for name in ("decimal", "separator", "na", "quote")}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in own.items()
            if value != getattr(TableOptions, name)
        }

    def after(self, written: Mapping[str, Any]) -> "TableOptions":
        """These options, completed by what a model remembers."""
        usual = {name for name in written if getattr(self, name, None) == getattr(TableOptions, name, None)}
        remembered = {name: tuple(value) if isinstance(value, list) else value for name, value in written.items()}
        try:
            return TableOptions(**(vars(self) | {name: remembered[name] for name in usual}))
        except TypeError:
            raise HardwireError(f"the model remembers how its table was written as {shown(dict(written))}") from None

    def for_pandas(self) -> dict[str, Any]:
        """Arguments of pandas.read_csv, without the separator."""
        return {"decimal": self.decimal, "na_values": list(self.na), "quotechar": self.quote}


DEFAULT_OPTIONS = TableOptions()


def with_options(name: str, **given: Any) -> str:
    """The name of a table with options of reading behind its path, for `hw.data.load` and `hw.train`.

    Args:
        name: The path of a table, with or without its target: "prices.csv#price".
        **given: Options by the names of `TableOptions`: decimal, separator, na, quote, drop, missing, unknown; None is
            left out.

    Returns:
        The name.

    Example:
        >>> import hardwire as hw
        >>> hw.data.with_options("prices.csv#price", decimal=",", na=["?"])
        'prices.csv?decimal=%2C&na=%3F#price'
    """
    options = TableOptions(**{option: _texts(value) for option, value in given.items() if value is not None})
    path, mark, target = name.partition("#")
    query = options.query()
    return f"{path}?{query}{mark}{target}" if query else name


def _texts(value: Any) -> Any:
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
