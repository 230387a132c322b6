"""The kind of run `network`: a network of gates is trained on a dataset and measured throughout, and at its end by what
the paper's propositions are about.

Surprising: with CAGE the constant tau is not used, so a run draws its randomness from (seed, tau) there. The spread
over tau is then the spread between runs, and not the same run five times.
"""

import functools
import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from hardwire.errors import HardwireError
from hardwire.study.checks import one_of, positive, printable, switch, whole
from hardwire.study.config import Config, Value
from hardwire.study.kinds import Axis, Cost, Evaluation, Outcome, StudyJob
from hardwire_paper.kind import PaperKind

if TYPE_CHECKING:
    from hardwire.study.store import Result

# of LogicNetwork, where a study names them
OPTIONS = ("arity", "wiring", "candidates", "start", "noise", "straight_through")


def _dataset(key: str, value: object) -> str:
    from hardwire import data

    name = printable(key, value)
    data.check(name)
    return name


def _methods() -> dict[str, object]:
    from hardwire.selection import METHOD_VARIANTS

    return dict(METHOD_VARIANTS)


def _estimators() -> dict[str, object]:
    from hardwire.selection import STRAIGHT_THROUGH

    return dict(STRAIGHT_THROUGH)


class NetworkKind(PaperKind):
    """Networks of gates. The axes are the paper's, and options of `LogicNetwork` beyond it.

    `minutes` ends a run after that time. `straight_through` is part of every configuration of a hard method, also where
    a study does not name it, so that a new default of the library is never taken for the old one.
    """

    name = "network"
    axes = (
        Axis("seed", "seeds", whole(0)),
        Axis("dataset", "datasets", _dataset),
        Axis("iterations", "iterations", whole(1), None, shown=False),
        Axis("minutes", "minutes", positive, None),
        Axis("learning_rate", "learning_rates", positive, shown=False),
        Axis("batch_size", "batch_size", whole(1), shown=False),
        Axis("evaluate_every", "evaluate_every", whole(1), shown=False),
        Axis("validation", "validation", switch, None, shown=False),
        Axis("arity", "arity", whole(2), None),
        Axis("wiring", "wiring", printable, None),
        Axis("candidates", "candidates", whole(1), None),
        Axis("start", "start", printable, None),
        Axis("noise", "noise", printable, None),
        Axis("straight_through", "straight_through", printable, None),
        Axis("width", "widths", whole(2)),
        Axis("depth", "depths", whole(1)),
        Axis("tau", "taus", positive),
        Axis("method", "methods", one_of("method", _methods)),
    )
    presets: ClassVar[dict[str, str]] = {
        "smoke": "a minute",
        "small": "an hour on two cores",
        "paper": "everything, at full size",
        "demo": "what `hardwire demo` runs",
    }
    # the packages that a run passes through, not those that only look at its results
    sources: tuple[str, ...] = (
        "hardwire.bits",
        "hardwire.data",
        "hardwire.engine",
        "hardwire.gates",
        "hardwire.layers",
        "hardwire.measure",
        "hardwire.network",
        "hardwire.methods",
        "hardwire.noise",
        "hardwire.randomness",
        "hardwire.selection",
        "hardwire.temperature",
        "hardwire.training",
        "hardwire.wiring",
        "hardwire_paper.measured",
        "hardwire_paper.networks.train",
        "hardwire_paper.progress",
    )

    def complete(self, values: dict[str, Value]) -> dict[str, Value]:
        """Names the straight-through estimator of a hard method; a mixture has none."""
        from hardwire.selection import METHOD_VARIANTS, METHODS, get_straight_through

        name = values["straight_through"]
        method = METHODS[METHOD_VARIANTS[str(values["method"])][0]]
        if not method.hard:
            return values | {"straight_through": None}
        estimator = get_straight_through(method, None if name is None else str(name))
        return values | {"straight_through": straight_through_name(estimator, method.noisy)}

    def check(self, config: Config) -> None:
        if config["iterations"] is None and config["minutes"] is None:
            raise HardwireError("iterations missing; set it at the top, or minutes for runs of a fixed time")
        _check_options(tuple((name, config[name]) for name in (*OPTIONS, "method")))
        _check_width(config.text("dataset"), config.whole("width"))

    def check_result(self, result: "Result") -> None:
        from hardwire_paper.networks.stored import check_result

        check_result(result)

    def run(self, job: StudyJob) -> Outcome:
        from hardwire_paper.networks.train import run

        return run(job)

    def estimate(self, config: Config, threads: int) -> Cost:
        from hardwire_paper.networks.estimate import estimate

        return estimate(config, threads)

    def facts(self, configs: Iterable[Config], known: Mapping[str, object]) -> dict[str, object]:
        """Counts the pixel values of each dataset, for the computation gap."""
        from hardwire_paper.networks.train import pixel_counts

        datasets = {config.text("dataset") for config in configs}
        missing = sorted(name for name in datasets if f"pixels {name}" not in known)
        return {f"pixels {name}": counts for name in missing if (counts := pixel_counts(name))}

    def summary(self, record: Evaluation) -> str:
        return f"deployed {record['deploy']:.2%}, selection gap {100 * record['selection']:+.2f}"

    def label(self, config: Config) -> str:
        first = ("dataset", "method", "tau", "depth", "width")
        last = [axis.name for axis in self.axes if axis.shown and axis.name not in (*first, "seed", "straight_through")]
        shown = [(name, config[name]) for name in (*first, *last, "seed") if config[name] is not None]
        return " ".join(_named(name, value) for name, value in shown)


def straight_through_name(estimator: object, noisy: bool) -> str:
    """Returns the one name of an estimator; without noise "output" and "weights" are all there is."""
    from hardwire.selection import STRAIGHT_THROUGH

    names = [name for name, known in STRAIGHT_THROUGH.items() if known == estimator]
    same_without_noise = {"noisy-output": "output", "clean-weights": "weights"}
    return names[0] if noisy else same_without_noise.get(names[0], names[0])


def stream(config: Config) -> int:
    """Returns the seed of network, noise and batches: `seed`, or with CAGE a number drawn from (seed, tau)."""
    if not config.text("method").endswith("+cage"):
        return config.whole("seed")
    digest = hashlib.blake2b(f"{config['seed']} {config.number('tau')!r}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 1


def arguments(config: Config) -> dict[str, Any]:
    """Returns the arguments of `LogicNetwork` beside its size and seed."""
    given: dict[str, Any] = {name: config[name] for name in OPTIONS if config[name] is not None}
    return {"method": config["method"], "tau": config["tau"], **given}


def _named(name: str, value: Value) -> str:
    if name in ("dataset", "method"):
        return str(value)
    return f"{name} {value:g}" if isinstance(value, int | float) else f"{name} {value}"


@functools.cache
def _check_options(options: tuple[tuple[str, Value], ...]) -> None:
    """Builds a tiny network with the same options, to see whether `LogicNetwork` accepts them."""
    given = dict(options)
    method = given.pop("method")
    named: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if not named:
        return
    import hardwire as hw

    if isinstance(named.get("candidates"), int) and named["candidates"] > _MOST_CANDIDATES:
        raise HardwireError(f"candidates {named['candidates']} is more than {_MOST_CANDIDATES:,}, the most of a study")
    try:
        hw.LogicNetwork(64, 2, width=64, depth=1, seed=0, method=str(method), **named)
    except TypeError:
        raise HardwireError(f"LogicNetwork has no {', '.join(named)} here; leave it out of the study") from None


_MOST_CANDIDATES = 4096


@functools.cache
def _check_width(dataset: str, width: int) -> None:
    from hardwire.data.catalog import ENTRIES
    from hardwire.layers import check_groups

    classes = ENTRIES[dataset].classes if dataset in ENTRIES else None
    if classes is not None:  # of a file, only loading it tells
        check_groups(width, classes)
