# What `hardwire` offers. Editors and type checkers read it, and so does `__init__.py`, which loads names on first use.
from . import (
    bits,
    circuit,
    data,
    engine,
    errors,
    files,
    gates,
    layers,
    measure,
    models,
    network,
    noise,
    selection,
    study,
    systems,
    temperature,
    training,
    wiring,
)
from .bits import Bits, Encoder
from .circuit import Circuit
from .errors import HardwireError
from .gates import GATES
from .layers import GroupSum, LogicLayer, selection_mode
from .measure import commitment, gate_usage, loss_bound, measure_gap, node_gaps
from .models import load, save
from .network import LogicNetwork
from .selection import METHODS, select
from .systems import Choice, MixtureOfExperts, SearchCell, SearchNetwork, SoftMoE, VectorQuantizer
from .temperature import CAGE
from .training import Callback, History, TensorBoard, TrainingDiverged, fit

__version__: str
__all__ = [
    "CAGE",
    "GATES",
    "METHODS",
    "Bits",
    "Callback",
    "Choice",
    "Circuit",
    "Encoder",
    "GroupSum",
    "HardwireError",
    "History",
    "LogicLayer",
    "LogicNetwork",
    "MixtureOfExperts",
    "SearchCell",
    "SearchNetwork",
    "SoftMoE",
    "TensorBoard",
    "TrainingDiverged",
    "VectorQuantizer",
    "__version__",
    "bits",
    "circuit",
    "commitment",
    "data",
    "engine",
    "errors",
    "files",
    "fit",
    "gate_usage",
    "gates",
    "layers",
    "load",
    "loss_bound",
    "measure",
    "measure_gap",
    "models",
    "network",
    "node_gaps",
    "noise",
    "save",
    "select",
    "selection",
    "selection_mode",
    "study",
    "systems",
    "temperature",
    "training",
    "wiring",
]
