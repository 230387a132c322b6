"""The training loop: batches, evaluation, progress, checkpoints that resume to the same bits.

Everything that depends on chance is a function of (seed, iteration), so no generator has to be carried from one process
to the next.
"""

from hardwire.training.callbacks import Callback, Run
from hardwire.training.divergence import TrainingDiverged
from hardwire.training.fit import fit
from hardwire.training.history import History, Record
from hardwire.training.measures import GapMeasures
from hardwire.training.memory import memory_needed
from hardwire.training.redraw import RedrawWires
from hardwire.training.settings import Settings
from hardwire.training.tensorboard import TensorBoard

__all__ = [
    "Callback",
    "GapMeasures",
    "History",
    "Record",
    "RedrawWires",
    "Run",
    "Settings",
    "TensorBoard",
    "TrainingDiverged",
    "fit",
    "memory_needed",
]
