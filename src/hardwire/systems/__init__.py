"""The same selection core on other choices: operations of an architecture, experts, codes of a codebook.

`Choice` is the core as a module, for a model of your own; the others are whole systems with a `deploy()` that gives
their discrete form. `hw.measure_gap` works on all of them, and on any model that holds them.
"""

from hardwire.systems.choice import Choice, auxiliary_loss, choice_usage, deploy
from hardwire.systems.codebook import VectorQuantizer
from hardwire.systems.experts import MixtureOfExperts, SoftMoE
from hardwire.systems.search import OPERATIONS, SearchCell, SearchNetwork
from hardwire.systems.sparse import ExpertChoice, TopExperts

__all__ = [
    "OPERATIONS",
    "Choice",
    "ExpertChoice",
    "MixtureOfExperts",
    "SearchCell",
    "SearchNetwork",
    "SoftMoE",
    "TopExperts",
    "VectorQuantizer",
    "auxiliary_loss",
    "choice_usage",
    "deploy",
]
