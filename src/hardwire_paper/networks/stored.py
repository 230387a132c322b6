"""Whether a stored result of the kind `network` is one that such a run can have.

A report computes with these numbers, and a store may come from a stranger; so names, types, ranges and lengths are
checked before that, and whatever does not fit is one error.
"""

from typing import Any

from hardwire.errors import HardwireError, unknown_name
from hardwire.gates import GATES, LEAST_ARITY
from hardwire.selection import METHOD_VARIANTS, STRAIGHT_THROUGH
from hardwire.study.checks import positive, printable, shortened, whole
from hardwire.study.store import Result

_WHOLE = {"width": 2, "depth": 1, "batch_size": 1, "evaluate_every": 1, "seed": 0}
_POSITIVE = ("tau", "learning_rate")
_SHARES = ("method", "argmax", "deploy")
_OPTIONAL_SHARES = ("train_method", "train_deploy", "validation")
_GAPS = ("selection", "computation", "total")
_NUMBERS = ("loss", "tau", "confidence", "seconds")  # of a run that diverged, they may be NaN
_LAYERS = ("commitment", "node_actual", "node_bound")
_OPTIONAL_LAYERS = ("gradient", "gradient_median")
_MOST_LAYERS = 10_000


def check_result(result: Result) -> None:
    """Raises HardwireError at the first value that no run can have."""
    config = result.config
    printable("dataset", config["dataset"])
    known: dict[str, dict[Any, object]] = {
        "method": {**METHOD_VARIANTS},
        "straight_through": {None: None, **STRAIGHT_THROUGH},
    }
    for axis, names in known.items():
        if config[axis] not in names:
            raise unknown_name(axis, config[axis], filter(None, names))
    if config["arity"] is not None:
        whole(LEAST_ARITY)("arity", config["arity"])
    for axis, least in _WHOLE.items():
        whole(least)(axis, config[axis])
    for axis in _POSITIVE:
        positive(axis, config[axis])
    if config["iterations"] is None:
        positive("minutes", config["minutes"])
    else:
        whole(1)("iterations", config["iterations"])
    if config.whole("depth") > _MOST_LAYERS:
        raise HardwireError(f"depth {config['depth']} is more than {_MOST_LAYERS:,}")
    for record in result.records:
        _check_record(record, config.whole("depth"), gates=config["arity"] is None)
    for name, value in result.measurements.items():
        check_number(name, value)


def _check_record(record: dict[str, object], depth: int, gates: bool) -> None:
    whole(1)("iteration", record.get("iteration"))
    for name in (*_SHARES, *(name for name in _OPTIONAL_SHARES if name in record)):
        check_number(name, record.get(name), 0.0, 1.0)
    for name in _GAPS:
        check_number(name, record.get(name), -1.0, 1.0)
    for name in (*_NUMBERS, *(["ema"] if "ema" in record else [])):
        check_number(name, record.get(name))
    for name in (*_LAYERS, *(name for name in _OPTIONAL_LAYERS if name in record)):
        _numbers(name, record.get(name), depth)
    if not gates:
        return  # the functions of look-up tables have no names
    usage = record.get("gate_usage")
    if not isinstance(usage, list) or len(usage) != depth:
        raise HardwireError(f"gate_usage is not a list for each of {depth} layers")
    for layer in usage:
        _numbers("gate_usage", layer, len(GATES))


def check_number(name: str, value: object, least: float | None = None, most: float | None = None) -> None:
    """Raises HardwireError if a value is no number, or not between two others."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise HardwireError(f"{name} {shortened(repr(value))} is not a number")
    if least is not None and most is not None and not least <= value <= most:
        raise HardwireError(f"{name} {shortened(repr(value))} is not between {least:g} and {most:g}")


def _numbers(name: str, values: object, count: int) -> None:
    if not isinstance(values, list) or len(values) != count:
        raise HardwireError(f"{name} is not a list of {count} numbers")
    for value in values:
        check_number(name, value)
