"""Selection for other choices than gates: operations of an architecture, experts, and codes of a codebook.

`Choice` is selection as a module, for a model of your own. The others are whole systems, whose `deploy()` returns their
discrete form. `hw.measure_gap` works on all of them, and on any model that contains them.
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
