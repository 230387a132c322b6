"""`Kind`: a kind of run, which is all that a study needs to know: its axes, what a run does, what it costs.

Kinds are found by name among those that were registered here and those that installed packages offer as entry points
of the group "hardwire_kinds"; so this room runs kinds that it has never heard of. Surprising: a kind is looked at
before anything heavy is imported, so its methods import what they need when they are called.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardwire.errors import HardwireError, unknown_name
from hardwire.study.config import Config, Value

if TYPE_CHECKING:
    from hardwire.study.reporting.content import Section
    from hardwire.study.store import Store

Record = dict[str, Any]  # what one evaluation measured, as JSON knows it; "iteration" is always in it
Tell = Callable[[int, int, Record], None]  # (iteration, of how many, the latest record or {})
REQUIRED = object()


@dataclass(frozen=True)
class Axis:
    """name: in a configuration (tau); key: in a TOML file (taus). check: (key, value) -> the value, or HardwireError.

    default: what it is where the file does not say; a file must say where there is none. shown: part of a run's label.
    """

    name: str
    key: str
    check: Callable[[str, object], Value]
    default: Any = REQUIRED
    shown: bool = True


@dataclass(frozen=True)
class Job:
    """One run to be done, or to be gone on with. checkpoint: its own file; keep: where it may leave its model, or None.

    tell: to be called after each evaluation, and once at the start of a run that goes on.
    """

    config: Config
    checkpoint: Path
    keep: Path | None = None
    tell: Tell = lambda iteration, iterations, record: None


@dataclass(frozen=True)
class Outcome:
    """What a run hands over: its evaluations in order, what was measured once, and the time it took.

    cpu_seconds: of the processor, on all threads; the worker says it where the run was done in one go.
    """

    records: list[Record]
    measurements: dict[str, float]
    seconds: float
    cpu_seconds: float | None = None


@dataclass(frozen=True)
class Cost:
    """What a run is expected to take: seconds on this machine, bytes of memory. step: seconds of one iteration."""

    seconds: float
    memory: float
    step: float
    shape: str = ""  # runs of the same shape are one line of a plan


class Kind:
    """Base of all kinds."""

    name: str
    axes: tuple[Axis, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        """Modules and packages, beside its own, whose code decides the course of a run."""
        return ()

    def run(self, job: Job) -> Outcome:
        """Does a run; it may be killed at any moment and called again with the same job."""
        raise NotImplementedError

    def estimate(self, config: Config, threads: int) -> Cost:
        raise NotImplementedError

    def check(self, config: Config) -> None:
        """Raises HardwireError on what no axis alone can tell."""

    def facts(self, configs: Iterable[Config], known: Mapping[str, object]) -> dict[str, object]:
        """What holds for many runs and is not yet known, as JSON by name; the conductor asks before the first run."""
        return {}

    def summary(self, record: Record) -> str:
        """The last evaluation in a few words."""
        return ", ".join(f"{name} {value:.4g}" for name, value in record.items() if isinstance(value, float))

    def sections(self, store: "Store") -> "list[Section]":
        """What a report says of the runs of this kind; called once for a store, whatever else it holds."""
        from hardwire.study.reporting.plain import plain_sections

        return plain_sections(self, store)

    def label(self, config: Config) -> str:
        """A run in a few words: mnist-binary hard-st tau 1 depth 6 width 64000 seed 0."""
        shown = [(axis.name, config[axis.name]) for axis in self.axes if axis.shown and config[axis.name] is not None]
        return " ".join(value if isinstance(value, str) else f"{name} {value:g}" for name, value in shown)


@dataclass
class _Registry:
    kinds: dict[str, Kind] = field(default_factory=dict)

    def names(self) -> list[str]:
        return sorted({*self.kinds, *(point.name for point in entry_points(group="hardwire_kinds"))})


_REGISTRY = _Registry()


def register(kind: Kind) -> Kind:
    """Makes a kind of your own known by its name, in this process."""
    _REGISTRY.kinds[kind.name] = kind
    return kind


def find_kind(name: object) -> Kind:
    """The kind of this name."""
    if isinstance(name, str) and name not in _REGISTRY.kinds:
        for point in entry_points(group="hardwire_kinds", name=name):
            register(point.load()())
    if not isinstance(name, str) or name not in _REGISTRY.kinds:
        raise unknown_name("kind of run", name, _REGISTRY.names())
    return _REGISTRY.kinds[name]


def label(config: Config) -> str:
    """A run in a few words, also where its kind is not installed here."""
    try:
        return find_kind(config.kind).label(config)
    except HardwireError:
        return " ".join(f"{name} {value}" for name, value in config.values if value is not None)
