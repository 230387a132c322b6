"""The training loop: batches, evaluation, progress, and checkpoints that resume to the same bits.

Everything random is a function of (seed, iteration), so no generator state has to be carried from one process to the
next.
"""

from hardwire.training.area import AreaPrice
from hardwire.training.callbacks import Callback, TrainingRun
from hardwire.training.choosing import ChosenLayers, LayerChoice, choose_by_use
from hardwire.training.curriculum import Curriculum, curriculum
from hardwire.training.divergence import TrainingDiverged
from hardwire.training.fit import fit
from hardwire.training.history import History, Record
from hardwire.training.job import TrainingJob
from hardwire.training.measures import GapMeasures
from hardwire.training.memory import memory_needed
from hardwire.training.redraw import RedrawWires
from hardwire.training.settings import Settings
from hardwire.training.tensorboard import TensorBoard
from hardwire.training.train import TrainedNetwork, train

__all__ = [
    "AreaPrice",
    "Callback",
    "ChosenLayers",
    "Curriculum",
    "GapMeasures",
    "History",
    "LayerChoice",
    "Record",
    "RedrawWires",
    "Settings",
    "TensorBoard",
    "TrainedNetwork",
    "TrainingDiverged",
    "TrainingJob",
    "TrainingRun",
    "choose_by_use",
    "curriculum",
    "fit",
    "memory_needed",
    "train",
]
