"""`save` and `load`: a network as one safetensors file, which cannot run code when it is opened.

The file holds the state (logits, wiring, temperature, step count), the encoder's thresholds and the arguments that
made the network. Surprising: shapes are checked against those arguments before anything is built, so a file that lies
about its size cannot take the memory.
"""

import json

import numpy as np
import torch

from hardwire import temperature
from hardwire.bits import Encoder
from hardwire.errors import HardwireError
from hardwire.files import tensors as tensorfile
from hardwire.layers import K
from hardwire.network import LogicNetwork

KIND = "hardwire-network"
VERSION = 1
_THRESHOLDS = "encoder.thresholds"
_CONFIG_TYPES = {
    "inputs": int,
    "classes": int,
    "widths": list,
    "method": str,
    "temperature": dict,
    "seed": int,
    "group_temperature": float | int | None,
    "dtype": str,
}
_DTYPES = {
    str(dtype).removeprefix("torch."): dtype for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16)
}


def save(net: LogicNetwork, path, dataset: str | None = None) -> None:
    """Writes the network to `path`, whole or not at all; `dataset` is what it was trained on, for `trained_on`."""
    if not isinstance(net, LogicNetwork):
        raise HardwireError(f"hw.save takes a LogicNetwork, not {type(net).__name__}; save its state_dict() instead")
    for name, logits in net.named_parameters():
        if not torch.isfinite(logits).all():
            raise HardwireError(f"{name} holds NaN or infinity; such a network cannot be saved")
    tensors = net.state_dict()
    if net.encoder is not None:
        tensors[_THRESHOLDS] = torch.from_numpy(net.encoder.thresholds)
    fields = {"config": json.dumps(config_of(net))} | ({} if dataset is None else {"dataset": str(dataset)})
    tensorfile.write(path, KIND, VERSION, tensors, fields)


def load(path) -> LogicNetwork:
    """The network that `save` wrote, in eval mode."""
    tensors, fields = tensorfile.read(path, KIND, VERSION)
    try:
        return _rebuild(tensors, _parse_config(fields.get("config", "")))
    except HardwireError as error:
        raise HardwireError(f"{path} does not hold a valid network: {error}") from None


def trained_on(path) -> str | None:
    """The dataset that was named when the model was saved."""
    return tensorfile.read(path, KIND, VERSION)[1].get("dataset")


def config_of(net: LogicNetwork) -> dict:
    """What makes a network of the same form, as plain JSON values."""
    return {
        "inputs": net.inputs,
        "classes": net.classes,
        "widths": net.widths,
        "method": net.method,
        "temperature": net.selector.temperature.config(),
        "seed": net.seed,
        "group_temperature": net.group_sum.temperature,
        "dtype": str(net.layers[0].logits.dtype).removeprefix("torch."),
    }


def _parse_config(text: str) -> dict:
    try:
        config = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise HardwireError(f"its config is not JSON ({error})") from None
    if not isinstance(config, dict) or set(config) != set(_CONFIG_TYPES):
        raise HardwireError(f"its config must have exactly the entries {', '.join(_CONFIG_TYPES)}")
    for name, kind in _CONFIG_TYPES.items():
        if not isinstance(config[name], kind) or isinstance(config[name], bool):
            raise HardwireError(f"its config entry {name} is {config[name]!r}")
    if not config["widths"] or not all(type(width) is int and width > 0 for width in config["widths"]):
        raise HardwireError(f"its widths are {config['widths']}")
    if config["dtype"] not in _DTYPES:
        raise HardwireError(f"its dtype is {config['dtype']!r}; known are {', '.join(_DTYPES)}")
    return config


def _rebuild(tensors: dict[str, torch.Tensor], config: dict) -> LogicNetwork:
    thresholds = tensors.pop(_THRESHOLDS, None)
    dtype = _DTYPES[config.pop("dtype")]
    tau = temperature.from_config(config.pop("temperature"))
    _check_layers(tensors, config["inputs"], config["widths"], dtype)
    encoder = None if thresholds is None else Encoder(_numpy_thresholds(thresholds))
    net = LogicNetwork(**config, tau=tau, encoder=encoder).to(dtype)
    _check_state(tensors, net.state_dict())
    net.load_state_dict(tensors)
    return net.eval()


def _check_layers(tensors, inputs: int, widths: list[int], dtype: torch.dtype) -> None:
    """Shape, dtype and range of what grows with the network, before a network of that size is made."""
    for layer, width in enumerate(widths):
        logits = _take(tensors, f"layers.{layer}.logits", (width, K), dtype)
        if not torch.isfinite(logits).all():
            raise HardwireError(f"layers.{layer}.logits holds NaN or infinity")
        wiring = _take(tensors, f"layers.{layer}.wiring", (2, width), torch.int32)
        if wiring.min() < 0 or wiring.max() >= inputs:
            raise HardwireError(f"layers.{layer}.wiring must lie in 0 to {inputs - 1}")
        inputs = width


def _check_state(tensors, expected) -> None:
    unknown = sorted(set(tensors) - set(expected))
    if unknown:
        raise HardwireError(f"it holds tensors that no such network has: {', '.join(unknown)}")
    for name, like in expected.items():
        tensor = _take(tensors, name, tuple(like.shape), like.dtype)
        if not ((torch.isfinite(tensor).all() and (tensor >= 0).all()) or name.endswith(".logits")):
            raise HardwireError(f"{name} must be a finite number of at least 0")
    if not tensors["selector.temperature.tau"] > 0:
        raise HardwireError("selector.temperature.tau must be above 0")


def _take(tensors, name: str, shape: tuple, dtype: torch.dtype) -> torch.Tensor:
    if name not in tensors:
        raise HardwireError(f"the tensor {name} is missing")
    tensor = tensors[name]
    if tuple(tensor.shape) != shape or tensor.dtype != dtype:
        raise HardwireError(f"{name} is {tensor.dtype} {list(tensor.shape)} instead of {dtype} {list(shape)}")
    return tensor


def _numpy_thresholds(thresholds: torch.Tensor) -> np.ndarray:
    if thresholds.dtype != torch.float32:
        raise HardwireError(f"{_THRESHOLDS} is {thresholds.dtype} instead of torch.float32")
    return thresholds.numpy()
