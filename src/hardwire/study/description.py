"""A study described: a TOML file becomes a grid of `RunConfig`s, each of them checked before the first one starts.

The top of the file holds for all datasets; a table [datasets.NAME] may say otherwise for one. Surprising: with CAGE the
constant tau is not used, so a run's randomness is drawn from (seed, tau) there: the spread over tau is then
run-to-run spread, and not the same run five times.
"""

import hashlib
import itertools
import json
import math
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path

from hardwire.errors import HardwireError, unknown_name

METHODS = {  # the paper's six, in its order: name -> arguments of LogicNetwork
    "soft-mix": {"method": "soft-mix"},
    "soft-gumbel": {"method": "soft-gumbel"},
    "hard-st": {"method": "hard-st"},
    "gumbel-st": {"method": "gumbel-st"},
    "hard-st+cage": {"method": "hard-st", "cage": True},
    "gumbel-st+cage": {"method": "gumbel-st", "cage": True},
}
PRESETS = ("smoke", "small", "paper")


@dataclass(frozen=True, order=True)
class RunConfig:
    """Everything that decides the course of one run."""

    dataset: str
    method: str
    tau: float
    depth: int
    width: int
    iterations: int
    learning_rate: float
    batch_size: int
    evaluate_every: int
    seed: int

    @property
    def stream(self) -> int:
        """The seed that network, noise and batches get: `seed`, or for CAGE a number drawn from (seed, tau)."""
        if not METHODS[self.method].get("cage"):
            return self.seed
        digest = hashlib.blake2b(f"{self.seed} {self.tau!r}".encode(), digest_size=4).digest()
        return int.from_bytes(digest, "big") >> 1

    def key(self, code: str) -> str:
        """The name of this run in a store: a hash of the whole configuration and of the code version."""
        text = json.dumps({**asdict(self), "code": code}, sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()

    def __str__(self) -> str:
        return f"{self.dataset} {self.method} tau {self.tau:g} depth {self.depth} width {self.width} seed {self.seed}"


@dataclass(frozen=True)
class Grid:
    """The runs of one dataset: every combination of the lists, with the numbers that hold for all of them."""

    dataset: str
    methods: tuple[str, ...]
    taus: tuple[float, ...]
    depths: tuple[int, ...]
    widths: tuple[int, ...]
    iterations: tuple[int, ...]
    learning_rates: tuple[float, ...]
    seeds: tuple[int, ...]
    batch_size: int
    evaluate_every: int

    def __len__(self) -> int:
        return math.prod(len(getattr(self, name)) for name in _AXES)

    def __iter__(self) -> Iterator[RunConfig]:
        """Seeds outermost: a study that is stopped early has whole grids of fewer seeds."""
        axes = (getattr(self, name) for name in _AXES)
        for seed, iterations, rate, width, depth, tau, method in itertools.product(*axes):
            yield RunConfig(
                self.dataset, method, tau, depth, width, iterations, rate, self.batch_size, self.evaluate_every, seed
            )


_AXES = ("seeds", "iterations", "learning_rates", "widths", "depths", "taus", "methods")  # outermost first


@dataclass(frozen=True)
class Description:
    """A whole study. text: the TOML it came from, kept in the store."""

    name: str
    grids: tuple[Grid, ...]
    text: str

    def __len__(self) -> int:
        return sum(len(grid) for grid in self.grids)

    def __iter__(self) -> Iterator[RunConfig]:
        """Seed by seed over all datasets."""
        return iter(sorted(itertools.chain.from_iterable(self.grids), key=lambda config: config.seed))


def preset_text(name: str) -> str:
    """The commented TOML of a preset: smoke (a minute), small (an hour on two cores), paper (everything)."""
    if name not in PRESETS:
        raise unknown_name("preset", name, PRESETS)
    return resources.files("hardwire.study").joinpath("presets", f"{name}.toml").read_text()


def load(path) -> Description:
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
    name, datasets = table.pop("name", None), table.pop("datasets", None)
    if not isinstance(name, str) or not name:
        raise HardwireError('name is missing; give the study one, such as name = "temperatures"')
    if not isinstance(datasets, dict) or not datasets:
        raise HardwireError("no dataset; name at least one as a table, such as [datasets.digits]")
    _check_keys(table, "the study", extra=("name", "datasets"))
    grids = tuple(_grid(dataset, table, special) for dataset, special in datasets.items())
    return Description(name, grids, text)


def _grid(dataset: str, common: dict, special) -> Grid:
    if not isinstance(special, dict):
        raise HardwireError(f"datasets.{dataset} must be a table, [datasets.{dataset}]; it may be empty")
    _check_keys(special, f"datasets.{dataset}")
    merged = common | special
    missing = [key for key in _KEYS if key not in merged]
    if missing:
        raise HardwireError(f"{', '.join(missing)} missing for {dataset}; set it at the top or in [datasets.{dataset}]")
    grid = Grid(dataset, **{key: check(key, merged[key]) for key, check in _KEYS.items()})
    _check_dataset(grid)
    return grid


def _check_keys(table: dict, place: str, extra: tuple[str, ...] = ()) -> None:
    for key in table:
        if key not in _KEYS:
            raise HardwireError(f"unknown key {key!r} in {place}; known are: {', '.join((*extra, *_KEYS))}")


def _check_dataset(grid: Grid) -> None:
    from hardwire.data.catalog import entry_of
    from hardwire.layers import check_groups

    if not grid.dataset.endswith(".npz"):
        for width in grid.widths:
            check_groups(width, entry_of(grid.dataset).classes)
    elif not Path(grid.dataset).expanduser().is_file():
        raise HardwireError(f"there is no file {grid.dataset}")


def _list(check):
    """A checker of lists of at least one entry, each once; a lone value counts as a list of one."""

    def checked(key: str, value) -> tuple:
        values = value if isinstance(value, list) else [value]
        if not values:
            raise HardwireError(f"{key} is empty; a grid needs at least one value on every axis")
        entries = tuple(check(key, entry) for entry in values)
        if len(set(entries)) < len(entries):
            raise HardwireError(f"{key} = {value} names a value twice; each run is done once")
        return entries

    return checked


def _method(key: str, value) -> str:
    if not isinstance(value, str) or value not in METHODS:
        raise unknown_name("method", value, METHODS)
    return value


def _whole(least: int):
    def checked(key: str, value) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise HardwireError(f"{key}: {value!r} is not a whole number of at least {least}")
        return value

    return checked


def _positive(key: str, value) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise HardwireError(f"{key}: {value!r} is not a positive number")
    return float(value)


_KEYS = {
    "methods": _list(_method),
    "taus": _list(_positive),
    "depths": _list(_whole(1)),
    "widths": _list(_whole(2)),
    "iterations": _list(_whole(1)),
    "learning_rates": _list(_positive),
    "seeds": _list(_whole(0)),
    "batch_size": _whole(1),
    "evaluate_every": _whole(1),
}
