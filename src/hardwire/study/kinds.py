"""`Kind`: what a study needs to know about its runs: their axes, what a run does, and what it costs.

Kinds are found by name, among those registered here and those that installed packages offer as entry points of the
group "hardwire_kinds"; so a study can hold runs that this package knows nothing about. Surprising: a kind is loaded
before anything heavy is imported, so its methods import what they need when they are called.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from hardwire.errors import HardwireError, unknown_name
from hardwire.study.config import Config, Value

if TYPE_CHECKING:
    from hardwire.study.reporting.content import Section
    from hardwire.study.store import Result, Store

Evaluation = dict[str, Any]  # what one evaluation measured, as JSON; "iteration" is always in it
ReportProgress = Callable[[int, int, Evaluation], None]  # (iteration, of how many, the latest evaluation or {})
REQUIRED = object()


@dataclass(frozen=True)
class Axis:
    """One setting that a study may vary.

    Attributes:
        name: Its name in a configuration, such as tau.
        key: Its key in a TOML file, such as taus.
        check: Gets the key and a value; returns the value or raises HardwireError. See `hardwire.study.checks`.
        default: The value if the file does not name one. Without a default, the file must.
        shown: Whether it is part of a run's label.

    Example:
        >>> Axis("tau", "taus", positive)
    """

    name: str
    key: str
    check: Callable[[str, object], Value]
    default: Any = REQUIRED
    shown: bool = True


@dataclass(frozen=True)
class StudyJob:
    """A run to do, or to continue.

    Attributes:
        config: Its configuration.
        checkpoint: A file of its own. What it writes there is there again when the run is continued.
        keep: Where to save its trained model, or None.
        report_progress: To be called after each evaluation, and once at the start of a run that is continued.
    """

    config: Config
    checkpoint: Path
    keep: Path | None = None
    report_progress: ReportProgress = lambda iteration, iterations, record: None


@dataclass(frozen=True)
class Outcome:
    """What a run returns.

    Attributes:
        records: Its evaluations, in order.
        measurements: What was measured once, by name.
        seconds: The time it took.
        cpu_seconds: Processor time on all threads. The worker fills it in for runs that were not interrupted.
    """

    records: list[Evaluation]
    measurements: dict[str, float]
    seconds: float
    cpu_seconds: float | None = None


@dataclass(frozen=True)
class Cost:
    """What a run is expected to cost on this machine.

    Attributes:
        seconds: Of the whole run.
        memory: In bytes.
        step: Seconds of one iteration.
        shape: Runs of the same shape are one line of a plan.
    """

    seconds: float
    memory: float
    step: float
    shape: str = ""


class Kind:
    """Base class of all kinds of runs.

    Attributes:
        name: What a study calls it: `kind = "network"`.
        axes: The settings that a study may vary.
        sources: Modules and packages, beside its own, whose code decides how a run goes.
        presets: Studies to start from, `hardwire study init --preset NAME`: name and how long it takes.

    Example:
        >>> class Falling(hw.study.Kind):  # doctest: +SKIP
        ...     name = "falling"
        ...     axes = (hw.study.Axis("height", "heights", positive),)
        ...     def run(self, job):
        ...         return hw.study.Outcome([{"iteration": 1}], {"energy": 9.81 * job.config["height"]}, seconds=0.0)
    """

    name: str
    axes: tuple[Axis, ...]
    sources: tuple[str, ...] = ()
    presets: ClassVar[dict[str, str]] = {}

    def run(self, job: StudyJob) -> Outcome:
        """Does a run. It may be killed at any moment and called again with the same job.

        Args:
            job: The run: its configuration, a file for its checkpoint, and a function that reports progress.
        """
        raise NotImplementedError

    def estimate(self, config: Config, threads: int) -> Cost:
        """Returns what a run is expected to cost, from a few timed steps.

        Args:
            config: Its configuration.
            threads: How many threads it will have.
        """
        raise NotImplementedError

    def complete(self, values: dict[str, Value]) -> dict[str, Value]:
        """Returns the values of a configuration with defaults written out that depend on other values.

        Args:
            values: The values by name.
        """
        return values

    def check(self, config: Config) -> None:
        """Raises HardwireError for values that do not fit together.

        Args:
            config: The configuration of a run.
        """

    def check_result(self, result: "Result") -> None:
        """Raises HardwireError if a stored result is not one that a run of this kind can have.

        A report calls this for every run before it computes anything, because a store may come from a stranger.

        Args:
            result: The result as it was stored.
        """

    def facts(self, configs: Iterable[Config], known: Mapping[str, object]) -> dict[str, object]:
        """Returns what holds for many runs and is not known yet, as JSON by name. Called before the first run.

        Args:
            configs: The configurations of all runs.
            known: What is known already.
        """
        return {}

    def summary(self, record: Evaluation) -> str:
        """Returns an evaluation in a few words.

        Args:
            record: What was measured, by name.
        """
        return ", ".join(f"{name} {value:.4g}" for name, value in record.items() if isinstance(value, float))

    def preset_text(self, name: str) -> str:
        """Returns the commented TOML of one of its presets.

        Args:
            name: One of `presets`.
        """
        raise NotImplementedError

    def sections(self, store: "Store") -> "list[Section]":
        """Returns what a report says about the runs of this kind. Called once for a store.

        Args:
            store: The open store.
        """
        from hardwire.study.reporting.plain import plain_sections

        return plain_sections(self, store)

    def label(self, config: Config) -> str:
        """Returns a run in a few words, such as mnist-binary hard-st tau 1 depth 6 width 64000 seed 0.

        Args:
            config: Its configuration.
        """
        shown = [(axis.name, config[axis.name]) for axis in self.axes if axis.shown and config[axis.name] is not None]
        return " ".join(value if isinstance(value, str) else f"{name} {value:g}" for name, value in shown)


@dataclass
class _Registry:
    kinds: dict[str, Kind] = field(default_factory=dict)


_REGISTRY = _Registry()


def register(kind: Kind) -> Kind:
    """Makes a kind of your own known by its name, in this process.

    Args:
        kind: An instance of your subclass of `Kind`.

    Returns:
        The same instance.

    Example:
        >>> hw.study.register(Falling())  # doctest: +SKIP
    """
    _REGISTRY.kinds[kind.name] = kind
    return kind


def kind_names() -> list[str]:
    """Returns the names of all kinds that are registered or installed, sorted."""
    return sorted({*_REGISTRY.kinds, *(point.name for point in entry_points(group="hardwire_kinds"))})


def find_kind(name: object) -> Kind:
    """Returns the kind of this name, or raises HardwireError with the names there are."""
    if isinstance(name, str) and name not in _REGISTRY.kinds:
        for point in entry_points(group="hardwire_kinds", name=name):
            register(point.load()())
    if not isinstance(name, str) or name not in _REGISTRY.kinds:
        raise unknown_name("kind of run", name, kind_names())
    return _REGISTRY.kinds[name]


def presets() -> dict[str, tuple[Kind, str]]:
    """Returns every preset of every installed kind: name -> (kind, how long it takes)."""
    kinds = map(find_kind, kind_names())
    return {name: (kind, duration) for kind in kinds for name, duration in kind.presets.items()}


def preset_text(name: str) -> str:
    """Returns the commented TOML of a preset of any installed kind."""
    known = presets()
    if name not in known:
        raise unknown_name("preset", name, known)
    return known[name][0].preset_text(name)


def label(config: Config) -> str:
    """Returns a run in a few words, also if its kind is not installed here."""
    try:
        return find_kind(config.kind).label(config)
    except HardwireError:
        return " ".join(f"{name} {value}" for name, value in config.values if value is not None)
