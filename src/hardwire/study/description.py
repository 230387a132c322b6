"""A study described: a TOML file becomes a grid of `Config`s, each of them checked before the first one starts.

Every key that is an axis of the study's kind holds a value or a list of values, and each combination is one run. An
axis may also be given as tables, [datasets.mnist] or [methods."hard-st+cage"]: its values are their names, and what
stands in a table holds for that value only. Surprising: so tables of two axes cross; where both name a key the later
one wins.
"""

import itertools
import math
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hardwire.errors import HardwireError, unknown_name, whole_number
from hardwire.study.config import Config, Value
from hardwire.study.kinds import REQUIRED, Axis, Kind, find_kind

DEFAULT_KIND = "network"  # files of 0.1.0 name none
_OWN = ("name", "kind", "threads", "workers", "keep")


@dataclass(frozen=True)
class Grid:
    """Every combination of the values on the axes of a kind, the first axis outermost."""

    kind: Kind
    values: dict[str, tuple[Value, ...]]

    def __iter__(self) -> Iterator[Config]:
        for combination in itertools.product(*self.values.values()):
            yield Config.of(self.kind.name, dict(zip(self.values, combination, strict=True)))


@dataclass(frozen=True)
class Description:
    """A whole study. text: the TOML it came from, kept in the store.

    threads: of each run, which no result depends on. workers: runs at once, as many as the cores allow if None. keep:
    the trained models stay in a folder beside the store.
    """

    name: str
    kind: Kind
    grids: tuple[Grid, ...]
    text: str
    threads: int = 1
    keep: bool = False
    workers: int | None = None

    @cached_property
    def configs(self) -> list[Config]:
        """Every run once, seed by seed: a study that is stopped early has whole grids of fewer seeds."""
        every = dict.fromkeys(itertools.chain.from_iterable(self.grids))
        return sorted(every, key=lambda config: config["seed"] if isinstance(config["seed"], int) else 0)

    def __len__(self) -> int:
        return len(self.configs)

    def __iter__(self) -> Iterator[Config]:
        return iter(self.configs)


def load(path: str | Path) -> Description:
    """The study of a TOML file."""
    path = Path(path).expanduser()
    try:
        text = path.read_text()
    except OSError as error:
        raise HardwireError(f"cannot read the study {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise HardwireError(f"{path} is not a text file; a study is TOML, see `hardwire study init`") from None
    try:
        return parse(text)
    except HardwireError as error:
        raise HardwireError(f"{path}: {error}") from None


def parse(text: str) -> Description:
    """The study of a TOML text; the first mistake in it is a HardwireError."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise HardwireError(f"this is not TOML: {error}") from None
    own = {key: table.pop(key) for key in _OWN if key in table}
    name = own.get("name")
    if not isinstance(name, str) or not name:
        raise HardwireError('name is missing; give the study one, such as name = "temperatures"')
    if not isinstance(own.get("keep", False), bool):
        raise HardwireError(f"keep: {own['keep']!r} is not true or false")
    kind = find_kind(own.get("kind", DEFAULT_KIND))
    grids = tuple(_grid(kind, chosen, place) for chosen, place in _expand(kind, table))
    threads = whole_number("threads", own.get("threads", 1))
    workers = whole_number("workers", own["workers"]) if "workers" in own else None
    description = Description(name, kind, grids, text, threads, own.get("keep", False), workers)
    for config in description:
        kind.check(config)
    return description


def _expand(kind: Kind, table: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """(axis keys with their lists, where they were set) of each grid that the tables of a file span."""
    _check_keys(kind, table, "the study", _OWN)
    common = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    tabled = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    for key, tables in tabled.items():
        if not tables:
            raise HardwireError(f"{key} is empty; a grid needs at least one value on every axis")
        for value, special in tables.items():
            if not isinstance(special, Mapping):
                raise HardwireError(f"{key}.{value} must be a table, [{key}.{value}]; it may be empty")
            _check_keys(kind, special, f"{key}.{value}")
    for combination in itertools.product(*(tables.items() for tables in tabled.values())):
        chosen = dict(common)
        for key, (value, special) in zip(tabled, combination, strict=True):
            chosen |= {key: [_from_name(value)], **special}
        yield chosen, ", ".join(f"[{key}.{value}]" for key, (value, _) in zip(tabled, combination, strict=True))


def _check_keys(kind: Kind, table: Mapping[str, Any], place: str, extra: tuple[str, ...] = ()) -> None:
    known = (*extra, *(axis.key for axis in kind.axes))
    for key in table:
        if key not in known:
            raise unknown_name(f"key in {place}:", key, known)


def _grid(kind: Kind, chosen: Mapping[str, Any], place: str) -> Grid:
    missing = [axis.key for axis in kind.axes if axis.default is REQUIRED and axis.key not in chosen]
    if missing:
        where = f"at the top or in {place}" if place else "at the top"
        raise HardwireError(f"{', '.join(missing)} missing; set it {where}")
    return Grid(kind, {axis.name: _values(axis, chosen.get(axis.key, axis.default)) for axis in kind.axes})


def _values(axis: Axis, given: Any) -> tuple[Value, ...]:
    """At least one value, each once; a lone value counts as a list of one."""
    if given is axis.default:
        return (given,)
    values = given if isinstance(given, list) else [given]
    if not values:
        raise HardwireError(f"{axis.key} is empty; a grid needs at least one value on every axis")
    entries = tuple(axis.check(axis.key, value) for value in values)
    if len(set(entries)) < len(entries):
        raise HardwireError(f"{axis.key} = {given} names a value twice; each run is done once")
    return entries


def _from_name(name: str) -> Value:
    """The name of a TOML table as a value: [depths.6] means the number 6."""
    for kind in (int, float):
        try:
            return kind(name)
        except ValueError:
            continue
    return name


def one_of(noun: str, known: Callable[[], Mapping[str, Any]] | Mapping[str, Any]) -> Callable[[str, object], str]:
    """A check of names; `known` may be a function, for names that cost something to know."""

    def checked(key: str, value: object) -> str:
        names = known() if callable(known) else known
        if not isinstance(value, str) or value not in names:
            raise unknown_name(noun, value, names)
        return value

    return checked


def whole(least: int) -> Callable[[str, object], int]:
    def checked(key: str, value: object) -> int:
        return whole_number(f"{key}:", value, least)

    return checked


def positive(key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise HardwireError(f"{key}: {value!r} is not a positive number")
    return float(value)
