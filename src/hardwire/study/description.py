"""A study's description: a TOML file becomes a grid of `Config`s, each checked before the first one starts.

Every key that is an axis of the study's kind holds a value or a list of values, and each combination is one run. An
axis may also be given as tables, [datasets.mnist] or [methods."hard-st+cage"]: its values are the tables' names, and
a key inside a table holds for that value only; [[methods.hard-st]] may be given several times, and each is a grid.
Surprising: this means that the tables of two axes cross; if both name the same key, the later one wins.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hardwire.errors import HardwireError, unknown_name, whole_number
from hardwire.files.toml import parse_toml, read_bytes
from hardwire.study.checks import printable, shortened
from hardwire.study.config import Config, Value
from hardwire.study.kinds import REQUIRED, Axis, Kind, find_kind, kind_names

MOST_RUNS = 100_000  # of a study: the paper's whole grid has 810
MOST_WORKERS = 4096
_OWN = ("name", "kind", "threads", "workers", "keep")


@dataclass(frozen=True)
class Grid:
    """Every combination of the values on the axes of a kind, the first axis outermost."""

    kind: Kind
    values: dict[str, tuple[Value, ...]]

    @property
    def size(self) -> int:
        """How many runs; `len` could not say it of the largest."""
        return math.prod(len(values) for values in self.values.values())

    def __iter__(self) -> Iterator[Config]:
        for combination in itertools.product(*self.values.values()):
            values = self.kind.complete(dict(zip(self.values, combination, strict=True)))
            yield Config.of(self.kind.name, values)


@dataclass(frozen=True)
class Description:
    """A whole study. It has a length, and iterates over the configurations of its runs.

    Attributes:
        name: Of the study.
        kind: Of its runs.
        grids: The grids that its tables span.
        text: The TOML it was read from, which the store keeps.
        threads: Threads of each run. No result depends on it.
        keep: Whether the trained models are kept in a folder beside the store.
        workers: How many runs at once; None for as many as there are cores.
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
        """Every run once, seed by seed, so that a study stopped early has whole grids of fewer seeds."""
        every = dict.fromkeys(itertools.chain.from_iterable(self.grids))
        return sorted(every, key=lambda config: config["seed"] if isinstance(config["seed"], int) else 0)

    def __len__(self) -> int:
        return len(self.configs)

    def __iter__(self) -> Iterator[Config]:
        return iter(self.configs)


def load(path: str | Path) -> Description:
    """Reads a study from a TOML file.

    Args:
        path: The file.

    Returns:
        The study, every run of which was checked.

    Raises:
        HardwireError: The file cannot be read, or has a mistake; the message names the first one.

    Example:
        >>> description = hw.study.describe("mine.toml")  # doctest: +SKIP
        >>> len(description)  # doctest: +SKIP
        24
    """
    path = Path(path).expanduser()
    content = read_bytes(path)
    try:
        return parse(content)
    except HardwireError as error:
        raise HardwireError(f"{path}: {error}") from None


def parse(text: str | bytes) -> Description:
    """Reads a study from TOML text.

    Args:
        text: The TOML; bytes are UTF-8.

    Returns:
        The study, every run of which was checked.

    Raises:
        HardwireError: There is a mistake in it; the message names the first one.

    Example:
        >>> study = parse('name = "s"\\nkind = "systems"\\nseeds = [0, 1]\\nruns = ["darts"]\\n')
        >>> len(study)
        2
    """
    table = parse_toml(text, "the study")
    own = {key: table.pop(key) for key in _OWN if key in table}
    if "name" not in own:
        raise HardwireError('name is missing; give the study one, such as name = "temperatures"')
    name = printable("name", own["name"])
    if not isinstance(own.get("keep", False), bool):
        raise HardwireError(f"keep: {shortened(repr(own['keep']))} is not true or false")
    if "kind" not in own:
        raise HardwireError(f'kind is missing; say what the runs are, such as kind = "{kind_names()[0]}"')
    kind = find_kind(own["kind"])
    grids = tuple(_grid(kind, chosen, place) for chosen, place in _expand(kind, table))
    if (runs := sum(grid.size for grid in grids)) > MOST_RUNS:
        raise HardwireError(f"this is a grid of {runs:,} runs, and a study has at most {MOST_RUNS:,}; split it")
    threads = _count("threads", own.get("threads", 1))
    workers = _count("workers", own["workers"]) if "workers" in own else None
    described = text if isinstance(text, str) else text.decode()
    description = Description(name, kind, grids, described, threads, own.get("keep", False), workers)
    for config in description:
        kind.check(config)
    return description


def _count(key: str, value: object) -> int:
    """Of threads or processes."""
    number = whole_number(key, value if not isinstance(value, int) else min(value, MOST_WORKERS + 1))
    if number > MOST_WORKERS:
        raise HardwireError(f"{key} is more than {MOST_WORKERS:,}, the most that one study uses")
    return number


def _expand(kind: Kind, table: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """(axis keys with their lists, where they were set) of each grid that the tables of a file span."""
    _check_keys(kind, table, "the study", _OWN)
    common = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    tabled = {key: _tables(kind, key, value) for key, value in table.items() if isinstance(value, Mapping)}
    if math.prod(map(len, tabled.values())) > MOST_RUNS:
        raise HardwireError(f"the tables {', '.join(tabled)} cross to more than {MOST_RUNS:,} grids; split the study")
    for combination in itertools.product(*tabled.values()):
        chosen = dict(common)
        for key, (value, special) in zip(tabled, combination, strict=True):
            chosen |= {key: [_from_name(value)], **special}
        yield chosen, ", ".join(f"[{key}.{value}]" for key, (value, _) in zip(tabled, combination, strict=True))


def _tables(kind: Kind, key: str, tables: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """(value, its table) for every table of an axis; a value comes again for each of its tables, [[key.value]]."""
    if not tables:
        raise HardwireError(f"{key} is empty; a grid needs at least one value on every axis")
    pairs = []
    for value, given in tables.items():
        for special in given if isinstance(given, list) and given else [given]:
            if not isinstance(special, Mapping):
                raise HardwireError(
                    f"{key}.{shortened(value)} must be a table, [{key}.{shortened(value)}]; it may be empty"
                )
            _check_keys(kind, special, f"{key}.{shortened(value)}")
            pairs.append((value, special))
    return pairs


def _check_keys(kind: Kind, table: Mapping[str, Any], place: str, extra: tuple[str, ...] = ()) -> None:
    known = (*extra, *(axis.key for axis in kind.axes))
    for key in table:
        if key not in known:
            raise unknown_name(f"key in {place}:", shortened(key), known)


def _grid(kind: Kind, chosen: Mapping[str, Any], place: str) -> Grid:
    missing = [axis.key for axis in kind.axes if axis.default is REQUIRED and axis.key not in chosen]
    if missing:
        where = f"at the top or in {place}" if place else "at the top"
        raise HardwireError(f"{', '.join(missing)} missing; set it {where}")
    return Grid(kind, {axis.name: _values(axis, chosen.get(axis.key, axis.default)) for axis in kind.axes})


def _values(axis: Axis, given: Any) -> tuple[Value, ...]:
    """At least one value, each once; a single value counts as a list of one."""
    if given is axis.default:
        return (given,)
    values = given if isinstance(given, list) else [given]
    if not values:
        raise HardwireError(f"{axis.key} is empty; a grid needs at least one value on every axis")
    checked = tuple(axis.check(axis.key, value) for value in values)
    if len(set(checked)) < len(checked):
        raise HardwireError(f"{axis.key} = {shortened(str(given))} names a value twice; each run is done once")
    return checked


def _from_name(name: str) -> Value:
    """The name of a TOML table as a value: [depths.6] means the number 6."""
    for number in (int, float):
        try:
            return number(name)
        except ValueError:
            continue
    return name
