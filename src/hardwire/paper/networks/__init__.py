"""The kind of run `network`: a network of gates, trained on a dataset, measured all the way, and at its end by what the
paper's propositions speak about.

Surprising: with CAGE the constant tau is not used, so a run's randomness is drawn from (seed, tau) there: the spread
over tau is then run-to-run spread, and not the same run five times.
"""

import functools
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from hardwire.errors import HardwireError
from hardwire.paper.kind import PaperKind
from hardwire.study.config import Config, Value
from hardwire.study.description import one_of, positive, whole
from hardwire.study.kinds import Axis, Cost, Job, Outcome, Record

OPTIONS = ("wiring", "candidates", "start", "noise", "input_gradient")  # of LogicNetwork, where a study names them


def _text(key: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise HardwireError(f"{key}: {value!r} is not a name in quotes")
    return value


def _switch(key: str, value: object) -> int:
    if not isinstance(value, bool):
        raise HardwireError(f"{key}: {value!r} is not true or false")
    return int(value)


def _dataset(key: str, value: object) -> str:
    from hardwire import data

    data.check(_text(key, value))
    return str(value)


def _methods() -> dict[str, object]:
    from hardwire.selection import SIX

    return dict(SIX)


class NetworkKind(PaperKind):
    """Axes: the paper's, and what `LogicNetwork` takes beyond it; minutes: the run stops after so many."""

    name = "network"
    axes = (
        Axis("seed", "seeds", whole(0)),
        Axis("dataset", "datasets", _dataset),
        Axis("iterations", "iterations", whole(1), None, shown=False),
        Axis("minutes", "minutes", positive, None),
        Axis("learning_rate", "learning_rates", positive, shown=False),
        Axis("batch_size", "batch_size", whole(1), shown=False),
        Axis("evaluate_every", "evaluate_every", whole(1), shown=False),
        Axis("validation", "validation", _switch, None, shown=False),
        Axis("wiring", "wiring", _text, None),
        Axis("candidates", "candidates", whole(1), None),
        Axis("start", "start", _text, None),
        Axis("noise", "noise", _text, None),
        Axis("input_gradient", "input_gradient", _text, None),
        Axis("width", "widths", whole(2)),
        Axis("depth", "depths", whole(1)),
        Axis("tau", "taus", positive),
        Axis("method", "methods", one_of("method", _methods)),
    )
    # what decides the course of a run: the rooms it passes through, not those that only look at its results
    rooms: tuple[str, ...] = (
        "bits",
        "data",
        "engine",
        "gates",
        "layers",
        "measure",
        "network",
        "noise",
        "selection",
        "temperature",
    )
    rooms += ("training", "wiring", "paper.networks.train", "paper.telling", "paper.measured")

    def check(self, config: Config) -> None:
        if config["iterations"] is None and config["minutes"] is None:
            raise HardwireError("iterations missing; set it at the top, or minutes for runs of a fixed time")
        _check_options(tuple((name, config[name]) for name in (*OPTIONS, "method")))
        _check_width(config.text("dataset"), config.whole("width"))

    def run(self, job: Job) -> Outcome:
        from hardwire.paper.networks.train import run

        return run(job)

    def estimate(self, config: Config, threads: int) -> Cost:
        from hardwire.paper.networks.estimate import estimate

        return estimate(config, threads)

    def facts(self, configs: Iterable[Config], known: Mapping[str, object]) -> dict[str, object]:
        """The pixel values of each dataset, for the computation gap."""
        from hardwire.paper.networks.train import pixel_counts

        datasets = {config.text("dataset") for config in configs}
        missing = sorted(name for name in datasets if f"pixels {name}" not in known)
        return {f"pixels {name}": counts for name in missing if (counts := pixel_counts(name))}

    def summary(self, record: Record) -> str:
        return f"deployed {record['deploy']:.2%}, selection gap {100 * record['selection']:+.2f}"

    def label(self, config: Config) -> str:
        first = ("dataset", "method", "tau", "depth", "width")
        last = [axis.name for axis in self.axes if axis.shown and axis.name not in (*first, "seed")]
        shown = [(name, config[name]) for name in (*first, *last, "seed") if config[name] is not None]
        return " ".join(_named(name, value) for name, value in shown)


def stream(config: Config) -> int:
    """The seed that network, noise and batches get: `seed`, or for CAGE a number drawn from (seed, tau)."""
    if not config.text("method").endswith("+cage"):
        return config.whole("seed")
    digest = hashlib.blake2b(f"{config['seed']} {config.number('tau')!r}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 1


def arguments(config: Config) -> dict[str, Any]:
    """What `LogicNetwork` is given beside its size and seed."""
    given: dict[str, Any] = {name: config[name] for name in OPTIONS if config[name] is not None}
    return {"method": config["method"], "tau": config["tau"], **given}


def _named(name: str, value: Value) -> str:
    if name in ("dataset", "method"):
        return str(value)
    return f"{name} {value:g}" if isinstance(value, int | float) else f"{name} {value}"


@functools.cache
def _check_options(options: tuple[tuple[str, Value], ...]) -> None:
    """A tiny network with the same options says whether `LogicNetwork` takes them."""
    given = dict(options)
    method = given.pop("method")
    named: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if not named:
        return
    import hardwire as hw

    try:
        hw.LogicNetwork(64, 2, width=64, depth=1, seed=0, method=str(method), **named)
    except TypeError:
        raise HardwireError(f"this LogicNetwork does not take {', '.join(named)}; leave it out of the study") from None


@functools.cache
def _check_width(dataset: str, width: int) -> None:
    from hardwire.data.catalog import ENTRIES
    from hardwire.layers import check_groups

    classes = ENTRIES[dataset].classes if dataset in ENTRIES else None
    if classes is not None:  # else only loading tells
        check_groups(width, classes)
