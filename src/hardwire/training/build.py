"""The network of some settings: its layers, its wiring, and whether they fit into memory.

Settings may come from a file of a stranger: sizes are checked before anything is built, and an argument that nothing
accepts is one line.
"""

import inspect
import math
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from hardwire.data.dataset import Dataset
from hardwire.errors import HardwireError, unknown_name
from hardwire.layers import LAYERS, GateLayer
from hardwire.layers.size import LayerSize, check_derived
from hardwire.network import LogicNetwork, layer_seed
from hardwire.training.loops import build_loop, check_loop
from hardwire.training.memory import check_memory, check_numbers
from hardwire.wiring import accepts_option, candidates_for

if TYPE_CHECKING:
    from hardwire.training.settings import Settings

Built = TypeVar("Built")
# what making a network raises if arguments have names that it does not know, or values that it cannot use
_UNUSABLE = (TypeError, ValueError, AttributeError, KeyError, IndexError, OverflowError, RuntimeError, MemoryError)


def build(what: str, make: Callable[..., Built], arguments: Mapping[str, Any]) -> Built:
    """Calls `make` with arguments from a file or a user; what does not fit is one line that names what it is for."""
    try:
        inspect.signature(make).bind(**arguments)
        return make(**arguments)
    except HardwireError:
        raise
    except _UNUSABLE as error:
        reason = str(error).partition("\n")[0][:200] or type(error).__name__
        raise HardwireError(f"{what} cannot be built: {reason}") from error


def build_network(settings: "Settings", data: Dataset) -> LogicNetwork:
    """The untrained network of some settings for a dataset."""
    head: dict[str, Any] = {
        "classes": data.classes if data.number is None else None,
        "number": data.number,
        "method": settings.method,
        "tau": 1.0 if settings.tau is None else settings.tau,
        "seed": settings.seed,
        "encoder": data.encoder,
        "engine": settings.engine,
    }
    options: Mapping[str, Any] = settings.options
    if settings.loop is not None:
        cell = _layers(settings)["layers"] if settings.layers else None
        given = {"settings": settings, "data": data, "loop": check_loop(settings.loop), "cell": cell}
        loop, options = build("the loop", build_loop, given)
        body: dict[str, Any] = {"layers": [loop]}
    else:
        body = _layers(settings) if settings.layers else _widths(settings, data)
    for name in head | body:
        if name in options:
            raise HardwireError(f"the options of the network set {name}, which has a setting of its own")
    return build("the network", LogicNetwork, head | body | dict(options))


def _widths(settings: "Settings", data: Dataset) -> dict[str, Any]:
    """Plain layers, as arguments of LogicNetwork."""
    sizes, subset = settings.sizes(data.classes), data.useful_inputs()
    most = sys.maxsize if subset is None else min(len(subset), *sizes)
    check_memory(sizes, data.inputs, settings.batch_size, settings.candidates or 0, settings.arity)
    wiring = _wiring(settings, data, most)
    return {
        "inputs": data.inputs,
        "widths": sizes,
        "input_subset": subset,
        "start": settings.start,
        "arity": settings.arity,
        **wiring,
    }


def _wiring(settings: "Settings", data: Dataset, most: int) -> dict[str, Any]:
    """The wiring and its options, with the shape of the images if the wiring has that option."""
    shape = data.image_shape if data.image_shape and len(data.image_shape) in (2, 3) else None
    name = settings.wiring
    if name == "auto":
        name = "random" if shape is None else "structured"
    options = candidates_for(name, settings.candidates, most)
    if shape is not None and accepts_option(name, "shape") and "shape" not in settings.options:
        options |= {"shape": (1, *shape)[-3:], "levels": data.inputs // math.prod(shape)}
    return options


def _layers(settings: "Settings") -> dict[str, Any]:
    """Layers of any kind, as an argument of LogicNetwork."""
    entries = [_checked(number, entry, settings.seed) for number, entry in enumerate(settings.layers)]
    sizes = [_size(name, kind, arguments) for name, kind, arguments in entries if kind.learns]
    check_numbers(sum(size.state for size in sizes))
    check_derived(sum(size.derived for size in sizes))
    return {"layers": [build(name, kind, arguments) for name, kind, arguments in entries]}


def _size(name: str, kind: type[GateLayer], arguments: dict[str, Any]) -> LayerSize:
    """How many numbers a layer would hold, before it is made."""

    def all_arguments(**given: Any) -> dict[str, Any]:
        bound = inspect.signature(kind).bind(**given)
        bound.apply_defaults()
        known: dict[str, Any] = dict(bound.arguments)
        known.update(known.pop("options", {}))  # what a layer passes on to its wiring
        return known

    return build(name, kind.size_of, {"config": build(name, all_arguments, arguments)})


def _checked(number: int, entry: Mapping[str, Any], seed: int) -> tuple[str, type[GateLayer], dict[str, Any]]:
    """What a layer is called in messages, its kind and its arguments."""
    arguments = dict(entry)
    kind = arguments.pop("kind", None)
    if not isinstance(kind, str) or kind not in LAYERS:
        raise unknown_name("kind of layer", kind, LAYERS)
    if LAYERS[kind].learns:
        arguments.setdefault("seed", layer_seed(seed, number))
    return f"layer {number}, {kind},", LAYERS[kind], arguments
