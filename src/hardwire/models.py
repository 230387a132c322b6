"""`save` and `load`: a network as one safetensors file, which cannot run code when it is opened.

The file holds the state (logits, wiring, temperatures, step counts), the encoder's thresholds and the arguments that
made the network. Surprising: everything is checked against those arguments before anything is built (each layer says
its size, see `hardwire.layers.size`), so a file that lies about its size cannot take the memory.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from hardwire import temperature
from hardwire.bits import Columns, Encoder
from hardwire.errors import HardwireError, check_holds_values, unknown_name, whole_number
from hardwire.files import parse_json
from hardwire.files import tensors as tensorfile
from hardwire.layers import LAYERS, GateLayer, NumberSum, Selector
from hardwire.layers.size import check_derived
from hardwire.network import LogicNetwork, fuse

KIND = "hardwire-network"
VERSION = 3
_THRESHOLDS = "encoder.thresholds"
_SELECTOR_OPTIONS = ("noise", "wire_gradient", "surrogate", "input_gradient")
_CONFIG_TYPES = {
    "inputs": int,
    "classes": int,
    "method": str,
    "temperature": dict,
    "seed": int,
    "group_temperature": float | int | None,
    "dtype": str,
    "layers": list,
    "wire_method": str,
    **dict.fromkeys(_SELECTOR_OPTIONS, str),
}
_DTYPES = {
    str(dtype).removeprefix("torch."): dtype for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16)
}
_Path = str | os.PathLike[str]
_Tensors = dict[str, torch.Tensor]


def save(net: nn.Module, path: _Path, dataset: str | None = None, settings: dict[str, Any] | None = None) -> None:
    """Writes a network to a file, whole or not at all. The same network always makes the same bytes.

    Args:
        net: A `LogicNetwork`, or an nn.Sequential of our layers, which is saved as the network that `hw.fuse` makes of
            it.
        path: The file.
        dataset: What the network was trained on, for `trained_on`.
        settings: How it was trained, as JSON values, for `settings_of`.

    Raises:
        HardwireError: A parameter is NaN or infinite, or the file cannot be written.

    Example:
        >>> hw.save(net, "digits.safetensors", dataset="digits")
        >>> hw.load("digits.safetensors").predict(data.test.x)
    """
    net = fuse(net)
    for name, tensor in net.state_dict().items():
        check_holds_values(f"the numbers of {name}", tensor)
        if not torch.isfinite(tensor).all():
            raise HardwireError(f"{name} holds NaN or infinity; such a network cannot be saved")
    tensors = net.state_dict()
    fields = {"config": json.dumps(config_of(net))} | ({} if dataset is None else {"dataset": str(dataset)})
    if net.encoder is not None:
        tensors[_THRESHOLDS] = torch.from_numpy(net.encoder.thresholds)
        fields["units"] = net.encoder.units()
    if net.columns is not None:
        fields["columns"] = net.columns.to_json()
    if settings is not None:
        fields["settings"] = json.dumps(settings)
    tensorfile.write(path, KIND, VERSION, tensors, fields)


def load(path: _Path) -> LogicNetwork:
    """Reads the network that `save` wrote, in eval mode.

    The file may come from anybody: opening it runs no code, and needs little more memory than the file is long.

    Args:
        path: The file.

    Raises:
        HardwireError: The file is damaged, or does not hold a valid network.

    Example:
        >>> net = hw.load("digits.safetensors")
        >>> net.predict(data.test.x[:3])
        tensor([2, 8, 2])
    """
    tensors, fields = tensorfile.read(path, KIND, VERSION)
    try:
        net = _build(tensors, _parse_config(fields.get("config", "")), fields.get("units"))
        net.columns = Columns.from_json(fields["columns"]) if "columns" in fields else None
        return net
    except HardwireError as error:
        raise HardwireError(f"{path} does not hold a valid network: {error}") from None


def trained_on(path: _Path) -> str | None:
    """The dataset that was named when the model was saved.

    Args:
        path: A model file.
    """
    return tensorfile.read(path, KIND, VERSION)[1].get("dataset")


def settings_of(path: _Path) -> dict[str, Any] | None:
    """The settings of its training that were given when the model was saved; None if there are none.

    Args:
        path: A model file.
    """
    text = tensorfile.read(path, KIND, VERSION)[1].get("settings")
    if text is None:
        return None
    settings = parse_json(text, f"the settings in {path}")
    if not isinstance(settings, dict):
        raise HardwireError(f"the settings in {path} are damaged; restore it from a copy")
    return settings


def config_of(net: LogicNetwork) -> dict[str, Any]:
    """The arguments that make a network of the same form, as plain JSON values."""
    config = {
        "inputs": net.inputs,
        "classes": net.classes,
        **_selector_config(net.selector),
        "group_temperature": net.group_sum.temperature,
        "dtype": str(next(net.parameters()).dtype).removeprefix("torch."),
        "layers": [_layer_config(layer) for layer in net.layers],
        "wire_method": net.selector.wire_method.name,
    }
    if isinstance(net.group_sum, NumberSum):
        config["number"] = [net.group_sum.low, net.group_sum.high]
    return config


def _selector_config(selector: Selector) -> dict[str, Any]:
    config = {"method": selector.method.name, "temperature": selector.temperature.config(), "seed": selector.seed}
    return config | {name: getattr(selector, name) for name in _SELECTOR_OPTIONS}


def _layer_config(layer: GateLayer) -> dict[str, Any]:
    own = {} if layer.selector is None else {"selector": _selector_config(layer.selector)}
    return {"kind": layer.kind, "arguments": layer.config(), **own}


def _parse_config(text: str) -> dict[str, Any]:
    config = parse_json(text, "its config")
    if not isinstance(config, dict) or set(config) - {"number"} != set(_CONFIG_TYPES):
        raise HardwireError(f"its config must have exactly the entries {', '.join(_CONFIG_TYPES)}")
    for name, kind in _CONFIG_TYPES.items():
        if not isinstance(config[name], kind) or isinstance(config[name], bool):
            raise HardwireError(f"its config entry {name} is {config[name]!r:.60}")
    if "number" in config:
        config["classes"] = None  # the range is all that is needed
    if config["dtype"] not in _DTYPES:
        raise HardwireError(f"its dtype is {config['dtype']!r:.60}; known are {', '.join(_DTYPES)}")
    return config


def _build(tensors: _Tensors, config: dict[str, Any], units: str | None) -> LogicNetwork:
    """The network of a file; sizes are checked before any of it is built."""
    thresholds = tensors.pop(_THRESHOLDS, None)
    entries = [_check_entry(number, entry) for number, entry in enumerate(config.pop("layers"))]
    _check_sizes(entries, tensors)
    encoder = None if thresholds is None else Encoder.restored(_numpy_thresholds(thresholds), units)
    inputs, dtype = config.pop("inputs"), _DTYPES[config.pop("dtype")]
    try:
        tau = temperature.from_config(config.pop("temperature"))
        layers = [_layer(number, entry, tensors) for number, entry in enumerate(entries)]
        net = LogicNetwork(**config, layers=layers, tau=tau, encoder=encoder).to(dtype)
    except HardwireError:
        raise
    except (TypeError, ValueError, ArithmeticError, RuntimeError) as error:  # of arguments that no check covers
        raise HardwireError(f"its config is not that of a network ({error})") from None
    if net.inputs != inputs:
        raise HardwireError(f"it reads {net.inputs} inputs, but its config says {inputs}")
    check_state(tensors, net)
    net.load_state_dict(tensors)
    return net.eval()


def _check_entry(number: int, entry: Any) -> dict[str, Any]:
    """An entry of the list of layers: a known kind, its arguments and, optionally, a selector of its own."""
    if not isinstance(entry, dict) or not isinstance(entry.get("arguments"), dict):
        raise HardwireError(f"layer {number} of its config is {entry!r:.60}")
    kind = entry.get("kind")
    if not isinstance(kind, str) or kind not in LAYERS:
        raise unknown_name("kind of layer", kind, LAYERS)
    return entry


def _check_sizes(entries: list[dict[str, Any]], tensors: Mapping[str, torch.Tensor]) -> None:
    """Raises unless the file holds the state of every layer, and what they compute from it fits into memory."""
    derived = 0
    for number, entry in enumerate(entries):
        size = LAYERS[entry["kind"]].size_of(entry["arguments"])
        there = sum(tensor.numel() for tensor in _own(tensors, number).values())
        if size.state > there:
            raise HardwireError(
                f"layer {number} of its config holds {size.state:,} numbers, but the file has {there:,}"
            )
        derived += size.derived
    check_derived(derived)


def _own(tensors: Mapping[str, torch.Tensor], number: int) -> _Tensors:
    prefix = f"layers.{number}."
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _layer(number: int, entry: dict[str, Any], tensors: _Tensors) -> GateLayer:
    """A layer of the list, with its own selector if it has one."""
    layer = LAYERS[entry["kind"]].restore(entry["arguments"], _own(tensors, number))
    selector = entry.get("selector")
    if selector is not None:
        layer.selector = _selector(selector)
        layer.own_choice = True
    return layer


def _selector(config: Any) -> Selector:
    names = ("method", "temperature", "seed", *_SELECTOR_OPTIONS)
    if not isinstance(config, dict) or set(config) != set(names):
        raise HardwireError(f"a selector has the entries {', '.join(names)}, not {config!r:.60}")
    if not isinstance(config["temperature"], dict):
        raise HardwireError(f"a selector's temperature is {config['temperature']!r:.60}")
    tau = temperature.from_config(config["temperature"])
    options = {name: config[name] for name in _SELECTOR_OPTIONS}
    return Selector(config["method"], tau, seed=whole_number("seed", config["seed"], least=0), **options)


def check_state(tensors: _Tensors, net: LogicNetwork) -> None:
    """Raises unless the tensors are exactly those of the network, finite and in range."""
    expected, parameters = net.state_dict(), dict(net.named_parameters())
    if unknown := sorted(set(tensors) - set(expected)):
        raise HardwireError(f"it holds tensors that no such network has: {', '.join(unknown)[:200]}")
    for name, like in expected.items():
        if name not in tensors:
            raise HardwireError(f"the tensor {name} is missing")
        tensor = tensors[name]
        dtype = torch.float32 if like.dtype == torch.bfloat16 else like.dtype  # see hardwire.files.tensors
        if tensor.shape != like.shape or tensor.dtype != dtype:
            raise HardwireError(f"{name} is {tensor.dtype} {list(tensor.shape)} instead of {dtype} {list(like.shape)}")
        if not torch.isfinite(tensor).all() or not (name in parameters or (tensor >= 0).all()):
            raise HardwireError(f"{name} must be finite, and at least 0 if it is not a parameter")
        if name.endswith(".tau") and not tensor > 0:
            raise HardwireError(f"{name} must be above 0")


def _numpy_thresholds(thresholds: torch.Tensor) -> NDArray[np.float32]:
    if thresholds.dtype != torch.float32:
        raise HardwireError(f"{_THRESHOLDS} is {thresholds.dtype} instead of torch.float32")
    return thresholds.numpy()
