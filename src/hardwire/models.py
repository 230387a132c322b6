"""`save` and `load`: a network as one safetensors file, which cannot run code when it is opened.

The file holds the state (logits, wiring, temperatures, step counts), the encoder's thresholds and the arguments that
made the network. Surprising: shapes are checked against those arguments before anything is built, so a file that lies
about its size cannot take the memory.
"""

import json
import os
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from hardwire import temperature
from hardwire.bits import Columns, Encoder
from hardwire.errors import HardwireError, unknown_name
from hardwire.files import tensors as tensorfile
from hardwire.gates import GATES
from hardwire.layers import LAYERS, GateLayer, LogicLayer, NumberSum, Selector
from hardwire.network import SEEDS_PER_NETWORK, LogicNetwork, fuse

KIND = "hardwire-network"
PLAIN, LAYERED = 1, 2  # versions: a list of widths, as 0.1.0 wrote it; a list of layers of any kind
VERSION = LAYERED
_THRESHOLDS = "encoder.thresholds"
_COMMON = {
    "inputs": int,
    "classes": int,
    "method": str,
    "temperature": dict,
    "seed": int,
    "group_temperature": float | int | None,
    "dtype": str,
}
_PLAIN_TYPES = {**_COMMON, "widths": list}
_LAYERED_TYPES = {**_COMMON, "layers": list, "wire_method": str}
# of a selector; a file says what is otherwise
_USUALLY = {"noise": "pass", "wire_gradient": "chosen", "input_gradient": "chosen"}
_DTYPES = {
    str(dtype).removeprefix("torch."): dtype for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16)
}
_Path = str | os.PathLike[str]


def save(net: nn.Module, path: _Path, dataset: str | None = None, settings: dict[str, Any] | None = None) -> None:
    """Writes a network to `path`, whole or not at all.

    dataset: what it was trained on, for `trained_on`. settings: how, as JSON values, for `settings_of`.
    An nn.Sequential of our layers is saved as the network that `hw.fuse` makes of it.
    """
    net = fuse(net)
    for name, logits in net.named_parameters():
        if not torch.isfinite(logits).all():
            raise HardwireError(f"{name} holds NaN or infinity; such a network cannot be saved")
    tensors = net.state_dict()
    if net.encoder is not None:
        tensors[_THRESHOLDS] = torch.from_numpy(net.encoder.thresholds)
    config = config_of(net)
    fields = {"config": json.dumps(config)} | ({} if dataset is None else {"dataset": str(dataset)})
    if net.columns is not None:
        fields["columns"] = net.columns.to_json()
    fields |= {} if settings is None else {"settings": json.dumps(settings)}
    if net.encoder is not None:
        fields["units"] = net.encoder.units()
    tensorfile.write(path, KIND, LAYERED if "layers" in config else PLAIN, tensors, fields)


def load(path: _Path) -> LogicNetwork:
    """The network that `save` wrote, in eval mode."""
    tensors, fields = tensorfile.read(path, KIND, VERSION)
    try:
        net = _rebuild(tensors, _parse_config(fields.get("config", "")), fields.get("units"))
        net.columns = Columns.from_json(fields["columns"]) if "columns" in fields else None
        return net
    except HardwireError as error:
        raise HardwireError(f"{path} does not hold a valid network: {error}") from None


def trained_on(path: _Path) -> str | None:
    """The dataset that was named when the model was saved."""
    return tensorfile.read(path, KIND, VERSION)[1].get("dataset")


def settings_of(path: _Path) -> dict[str, Any] | None:
    """The settings of its training that were given when the model was saved."""
    text = tensorfile.read(path, KIND, VERSION)[1].get("settings")
    try:
        settings = None if text is None else json.loads(text)
    except ValueError:
        settings = None
    return settings if isinstance(settings, dict) else None


def config_of(net: LogicNetwork) -> dict[str, Any]:
    """What makes a network of the same form, as plain JSON values."""
    config = {
        "inputs": net.inputs,
        "classes": net.classes,
        **_selector_config(net.selector),
        "group_temperature": net.group_sum.temperature,
        "dtype": str(next(net.parameters()).dtype).removeprefix("torch."),
    }
    if isinstance(net.group_sum, NumberSum):
        config["number"] = [net.group_sum.low, net.group_sum.high]
    if _is_plain(net):
        return config | {"widths": net.widths}
    layers = [_layer_config(layer) for layer in net.layers]
    return config | {"layers": layers, "wire_method": net.selector.wire_method.name}


def _is_plain(net: LogicNetwork) -> bool:
    """Whether widths and a seed say it all: the form of 0.1.0."""
    last = len(net.layers) - 1
    for number, layer in enumerate(net.layers):
        if not isinstance(layer, LogicLayer) or layer.selector is not None or layer.wire_logits is not None:
            return False
        groups = net.classes if number == last else 1
        if layer.config() != {
            "inputs": layer.inputs,
            "neurons": layer.neurons,
            "seed": net.seed * SEEDS_PER_NETWORK + number,
            "wiring": "random",
            "start": "normal",
            "groups": groups,
        }:
            return False
    return True


def _selector_config(selector: Selector) -> dict[str, Any]:
    config = {"method": selector.method.name, "temperature": selector.temperature.config(), "seed": selector.seed}
    unusual = {name: getattr(selector, name) for name, usual in _USUALLY.items() if getattr(selector, name) != usual}
    return config | unusual


def _layer_config(layer: GateLayer) -> dict[str, Any]:
    own = {} if layer.selector is None else {"selector": _selector_config(layer.selector)}
    return {"kind": layer.kind, "arguments": layer.config(), **own}


def _parse_config(text: str) -> dict[str, Any]:
    try:
        config = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise HardwireError(f"its config is not JSON ({error})") from None
    types = _LAYERED_TYPES if isinstance(config, dict) and "layers" in config else _PLAIN_TYPES
    if not isinstance(config, dict) or set(config) - {*_USUALLY, "number"} != set(types):
        raise HardwireError(f"its config must have exactly the entries {', '.join(types)}")
    for name, kind in types.items():
        if not isinstance(config[name], kind) or isinstance(config[name], bool):
            raise HardwireError(f"its config entry {name} is {config[name]!r}")
    widths = config.get("widths", [1])
    if not widths or not all(type(width) is int and width > 0 for width in widths):
        raise HardwireError(f"its widths are {config['widths']}")
    if "number" in config:
        config["classes"] = None  # the range says it all
    if config["dtype"] not in _DTYPES:
        raise HardwireError(f"its dtype is {config['dtype']!r}; known are {', '.join(_DTYPES)}")
    return config


def _rebuild(tensors: dict[str, torch.Tensor], config: dict[str, Any], units: str | None) -> LogicNetwork:
    thresholds = tensors.pop(_THRESHOLDS, None)
    encoder = None if thresholds is None else Encoder.restored(_numpy_thresholds(thresholds), units)
    dtype = _DTYPES[config.pop("dtype")]
    tau = temperature.from_config(config.pop("temperature"))
    if "layers" in config:
        inputs = config.pop("inputs")
        layers = [_layer(number, entry, tensors) for number, entry in enumerate(config.pop("layers"))]
        net = LogicNetwork(**config, layers=layers, tau=tau, encoder=encoder).to(dtype)
        if net.inputs != inputs:
            raise HardwireError(f"it reads {net.inputs} inputs, but says {inputs}")
    else:
        _check_widths(tensors, config["inputs"], config["widths"], dtype)
        net = LogicNetwork(**config, tau=tau, encoder=encoder).to(dtype)
    _check_state(tensors, net)
    net.load_state_dict(tensors)
    return net.eval()


def _layer(number: int, entry: Any, tensors: dict[str, torch.Tensor]) -> GateLayer:
    """A layer of the list, with its own selector if it has one."""
    if not isinstance(entry, dict) or not isinstance(entry.get("arguments"), dict):
        raise HardwireError(f"layer {number} of its config is {entry!r}")
    kind = entry.get("kind")
    if not isinstance(kind, str) or kind not in LAYERS:
        raise unknown_name("kind of layer", kind, LAYERS)
    prefix = f"layers.{number}."
    own = {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
    try:
        layer = LAYERS[kind].restore(entry["arguments"], own)
    except TypeError as error:
        raise HardwireError(f"layer {number} of its config does not fit a {kind} layer: {error}") from None
    selector = entry.get("selector")
    if selector is not None:
        layer.selector = _selector(selector)
        layer.own_choice = True
    return layer


def _selector(config: Any) -> Selector:
    if not isinstance(config, dict) or set(config) - set(_USUALLY) != {"method", "temperature", "seed"}:
        raise HardwireError(f"a selector has method, temperature and seed, not {config!r}")
    if not isinstance(config["temperature"], dict):
        raise HardwireError(f"a selector's temperature is {config['temperature']!r}")
    tau = temperature.from_config(config["temperature"])
    unusual = {name: config[name] for name in _USUALLY if name in config}
    return Selector(config["method"], tau, seed=config["seed"], **unusual)


def _check_widths(tensors: dict[str, torch.Tensor], inputs: int, widths: list[int], dtype: torch.dtype) -> None:
    """Shape, dtype and range of what grows with the network, before a network of that size is made."""
    for layer, width in enumerate(widths):
        logits = _take(tensors, f"layers.{layer}.logits", (width, len(GATES)), dtype)
        if not torch.isfinite(logits).all():
            raise HardwireError(f"layers.{layer}.logits holds NaN or infinity")
        wiring = _take(tensors, f"layers.{layer}.wiring", (2, width), torch.int32)
        if wiring.min() < 0 or wiring.max() >= inputs:
            raise HardwireError(f"layers.{layer}.wiring must lie in 0 to {inputs - 1}")
        inputs = width


def _check_state(tensors: dict[str, torch.Tensor], net: LogicNetwork) -> None:
    expected, logits = net.state_dict(), dict(net.named_parameters())
    unknown = sorted(set(tensors) - set(expected))
    if unknown:
        raise HardwireError(f"it holds tensors that no such network has: {', '.join(unknown)}")
    for name, like in expected.items():
        tensor = _take(tensors, name, tuple(like.shape), like.dtype)
        if not torch.isfinite(tensor).all() or not (name in logits or (tensor >= 0).all()):
            raise HardwireError(f"{name} must be finite, and at least 0 where it is no logit")
        if name.endswith("temperature.tau") and not tensor > 0:
            raise HardwireError(f"{name} must be above 0")


def _take(tensors: dict[str, torch.Tensor], name: str, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    if name not in tensors:
        raise HardwireError(f"the tensor {name} is missing")
    tensor = tensors[name]
    if tuple(tensor.shape) != shape or tensor.dtype != dtype:
        raise HardwireError(f"{name} is {tensor.dtype} {list(tensor.shape)} instead of {dtype} {list(shape)}")
    return tensor


def _numpy_thresholds(thresholds: torch.Tensor) -> NDArray[np.float32]:
    if thresholds.dtype != torch.float32:
        raise HardwireError(f"{_THRESHOLDS} is {thresholds.dtype} instead of torch.float32")
    return thresholds.numpy()
