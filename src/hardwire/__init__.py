"""Train the circuit you ship: logic gate networks whose training-time forward pass is the deployed circuit.

Names load on first use, so that `import hardwire` is quick and a saved circuit runs without torch being imported.
"""

import importlib

_HOME = {  # public name -> the module it lives in
    "HardwireError": "errors",
    "GATES": "gates",
    "Encoder": "bits",
    "Bits": "bits",
    "select": "selection",
    "METHODS": "selection",
    "CAGE": "temperature",
    "LogicLayer": "layers",
    "LogicConv2d": "layers",
    "OrPool2d": "layers",
    "one_step": "layers",
    "fuse": "network",
    "GroupSum": "layers",
    "NumberSum": "layers",
    "Binarize": "layers",
    "selection_mode": "layers",
    "LogicNetwork": "network",
    "measure_gap": "measure",
    "commitment": "measure",
    "gate_usage": "measure",
    "node_gaps": "measure",
    "loss_bound": "measure",
    "save": "models",
    "load": "models",
    "fit": "training",
    "History": "training",
    "Callback": "training",
    "TensorBoard": "training",
    "TrainingDiverged": "training",
    "Choice": "systems",
    "SearchCell": "systems",
    "SearchNetwork": "systems",
    "MixtureOfExperts": "systems",
    "SoftMoE": "systems",
    "VectorQuantizer": "systems",
    "Circuit": "circuit",
    "LogicClassifier": "estimators",
    "LogicRegressor": "estimators",
}
_ROOMS = (
    "bits",
    "circuit",
    "data",
    "systems",
    "engine",
    "errors",
    "estimators",
    "files",
    "measure",
    "gates",
    "layers",
    "models",
    "network",
    "noise",
    "selection",
    "study",
    "temperature",
    "training",
    "wiring",
)

__version__ = "0.1.0"
__all__ = [*_HOME, *_ROOMS, "__version__"]


def __getattr__(name: str):
    if name in _HOME:
        value = getattr(importlib.import_module(f"hardwire.{_HOME[name]}"), name)
    elif name in _ROOMS:
        value = importlib.import_module(f"hardwire.{name}")
    else:
        raise AttributeError(f"module 'hardwire' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)
