"""The systems: small models on real data, each around one module that chooses; the runs, and the rows of the table that
judges them.

Surprising: one run can serve two rows. Soft gating is trained once and judged twice, deployed as it was trained and
deployed top-1.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from hardwire import data as datasets
from hardwire.systems.codebook import VectorQuantizer
from hardwire.systems.experts import MixtureOfExperts, SoftMoE
from hardwire.systems.search import SearchNetwork
from hardwire.systems.sparse import ExpertChoice, TopExperts

Rows = tuple[torch.Tensor, torch.Tensor]  # images [rows, 1, height, width] in [0, 1], and targets


@dataclass(frozen=True)
class System:
    """A model around one module that chooses, and how it is trained.

    build: the module's settings -> a model; load: -> training rows and test rows; loss: of (output, target);
    metric: "accuracy" or "loss", what the gap is measured in; prepare: called once with the model and the first batch.
    """

    title: str
    data: str
    build: Callable[..., nn.Module]
    load: Callable[[str], tuple[Rows, Rows]]
    iterations: int
    batch_size: int
    lr: float
    loss: Callable[[Any, Any], torch.Tensor] = F.cross_entropy
    metric: str = "accuracy"
    prepare: Callable[[nn.Module, torch.Tensor], None] = lambda model, x: None


@dataclass(frozen=True)
class SystemRun:
    """One training run a seed: a system with these settings of its choosing module, `tau` a number or a config.

    logit_rate: learning rate of parameters that are logits, in units of the weights' rate. two_levels: weights learn
    from one half of the training rows and logits from the other, in turn, and what was chosen is trained anew.
    iterations: those of the system if None.
    """

    system: str
    settings: dict[str, Any] = field(default_factory=dict)
    logit_rate: float = 1.0
    two_levels: bool = False
    iterations: int | None = None


@dataclass(frozen=True)
class SystemRow:
    """A line of the table: a run, how it is deployed, and what is expected of its gap.

    deployed: "hard", "soft" (as the mixture it was), "alone" (row by row) or "retrained". expected: "gap", "small"
    (less than half of the gap of the row `against`) or "none".
    """

    title: str
    run: str
    expected: str
    deployed: str = "hard"
    against: str | None = None


def load_classes(name: str) -> tuple[Rows, Rows]:
    """Images and labels of both splits."""
    data = datasets.load(name)

    def images(split: str) -> torch.Tensor:
        raw = torch.from_numpy(data.raw(split)).float()
        return (raw / (16 if name == "digits" else 255)).view(-1, 1, *(data.image_shape or ()))

    return (images("train"), data.train.y), (images("test"), data.test.y)


def load_images(name: str) -> tuple[Rows, Rows]:
    """Images that are their own target; 2,000 of the test images, since each holds 49 choices."""
    (train, _), (test, _) = load_classes(name)
    return (train, train), (test[:2000], test[:2000])


def search_network(**settings: Any) -> nn.Module:
    """Two cells of two nodes (six edges, six operations) over 8 channels."""
    return SearchNetwork(1, 10, channels=8, cells=2, nodes=2, **settings)


def expert_network(**settings: Any) -> nn.Module:
    """784 -> 64 -> one of 8 experts -> 10."""
    experts = MixtureOfExperts(64, _experts(8, 64), **settings)
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 64), nn.ReLU(), experts, nn.Linear(64, 10))


def top_network(**settings: Any) -> nn.Module:
    """The same with several of 8 experts for a row."""
    experts = TopExperts(64, _experts(8, 64), **settings)
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 64), nn.ReLU(), experts, nn.Linear(64, 10))


class Beside(nn.Module):
    """x + inner(x), so that a row that no expert takes goes on as it came."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = x + self.inner(x)
        return out


def expert_choice_network(**settings: Any) -> nn.Module:
    """The same with 8 experts that take rows of the batch, beside the rows themselves."""
    experts = Beside(ExpertChoice(64, _experts(8, 64), **settings))
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 64), nn.ReLU(), experts, nn.Linear(64, 10))


class Patches(nn.Module):
    """Images [batch, 1, 28, 28] as tokens [batch, 16, features]: 7x7 patches, a linear map and a learnt place."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.cut, self.embed = nn.Unfold(7, stride=7), nn.Linear(49, features)
        self.place = nn.Parameter(0.1 * torch.randn(16, features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.embed(self.cut(x).transpose(1, 2)) + self.place)


def soft_moe_network(**settings: Any) -> nn.Module:
    """16 patches as tokens, 8 experts of one slot each."""
    return nn.Sequential(Patches(64), SoftMoE(64, _experts(8, 64), **settings), nn.Flatten(), nn.Linear(16 * 64, 10))


def autoencoder(**settings: Any) -> nn.Module:
    """28x28 -> 7x7 vectors of 8 -> their codes, 64 in all -> 28x28."""
    encoder = nn.Sequential(
        nn.Conv2d(1, 16, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(32, 8, 1),
        nn.GroupNorm(1, 8),  # vectors of unit scale, so that distances are of the size of logits
    )
    decoder = nn.Sequential(
        nn.ConvTranspose2d(8, 32, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.ConvTranspose2d(32, 1, 4, stride=2, padding=1),
    )
    return nn.Sequential(encoder, VectorQuantizer(64, 8, axis=1, **settings), decoder)


def start_codes(model: nn.Module, x: torch.Tensor) -> None:
    """Codes start as vectors that the encoder makes of the first batch."""
    assert isinstance(model, nn.Sequential) and isinstance(model[1], VectorQuantizer)
    model[1].initialise(model[0](x), model[1].choice.selector.seed)


def _experts(count: int, features: int) -> list[nn.Module]:
    return [nn.Sequential(nn.Linear(features, features), nn.ReLU()) for _ in range(count)]


SYSTEMS = {
    "search": System("architecture search", "digits", search_network, load_classes, 500, 64, 3e-3),
    "experts": System("mixture of experts", "mnist", expert_network, load_classes, 1000, 128, 1e-3),
    "top-experts": System("mixture of experts", "mnist", top_network, load_classes, 1000, 128, 1e-3),
    "expert-choice": System("experts that choose", "mnist", expert_choice_network, load_classes, 1000, 128, 1e-3),
    "soft-moe": System("Soft MoE", "mnist", soft_moe_network, load_classes, 1000, 128, 1e-3),
    "codebook": System("codebook", "mnist", autoencoder, load_images, 500, 64, 2e-3, F.mse_loss, "loss", start_codes),
}

LONG = 5_000  # iterations of the cells that sample: after 500 they have hardly learned


def _falling(start: float, steps: int) -> dict[str, Any]:
    """A temperature that is annealed to 0.1, as SNAS (from 1) and GDAS (from 10) do."""
    return {"name": "linear", "start": start, "end": 0.1, "steps": steps}


_FALLING, _SLOWLY = _falling(1.0, 500), _falling(1.0, LONG)

RUNS = {
    "darts": SystemRun("search", {"method": "soft-mix"}),
    "darts-fast": SystemRun("search", {"method": "soft-mix"}, logit_rate=10.0),
    "darts-two-level": SystemRun("search", {"method": "soft-mix"}, two_levels=True),
    "snas": SystemRun("search", {"method": "soft-gumbel", "tau": _FALLING}),
    "snas-sampled": SystemRun("search", {"method": "gumbel-st", "tau": _FALLING}),
    "gdas": SystemRun("search", {"method": "gumbel-st"}),
    "darts-long": SystemRun("search", {"method": "soft-mix"}, iterations=LONG),
    "snas-long": SystemRun("search", {"method": "soft-gumbel", "tau": _SLOWLY}, iterations=LONG),
    "snas-sampled-long": SystemRun("search", {"method": "gumbel-st", "tau": _SLOWLY}, iterations=LONG),
    "gdas-long": SystemRun("search", {"method": "gumbel-st", "tau": _falling(10.0, LONG)}, iterations=LONG),
    "fair-darts": SystemRun("search", {"method": "soft-mix", "independent": True, "zero_one": 10.0}),
    "search-hard-st": SystemRun("search", {"method": "hard-st"}),
    "search-hard-st-cage": SystemRun("search", {"method": "hard-st", "cage": True}),
    "soft-gating": SystemRun("experts", {"method": "soft-mix"}),
    "soft-moe": SystemRun("soft-moe", {"method": "soft-mix"}),
    "switch": SystemRun("experts", {"method": "hard-st", "scaled": True, "balance": 0.01}),
    "switch-balanced": SystemRun("experts", {"method": "hard-st", "scaled": True, "balance": 0.1}),
    "gshard": SystemRun("top-experts", {"top": 2, "balance": 0.01}),
    "gshard-capacity": SystemRun("top-experts", {"top": 2, "balance": 0.01, "capacity": 1.0}),
    "gshard-random": SystemRun("top-experts", {"top": 2, "balance": 0.01, "random_second": True}),
    "expert-choice": SystemRun("expert-choice", {"capacity": 2.0}),
    "experts-hard-st-cage": SystemRun("experts", {"method": "hard-st", "cage": True, "balance": 0.01}),
    "vq-vae": SystemRun("codebook", {"method": "hard-st", "gradient": "copy"}),
    "gumbel-soft": SystemRun("codebook", {"method": "soft-gumbel", "gradient": "softmax", "commitment": 0.0}),
    "gumbel-st": SystemRun("codebook", {"method": "gumbel-st", "gradient": "softmax", "commitment": 0.0}),
    "codebook-hard-st-cage": SystemRun("codebook", {"method": "hard-st", "cage": True, "gradient": "softmax"}),
}

ROWS = (
    SystemRow("DARTS-style cell (soft-mix)", "darts", "gap"),
    SystemRow("DARTS-style cell, logits at 10 times the rate", "darts-fast", "gap"),
    SystemRow("DARTS in two levels, the search's weights", "darts-two-level", "gap"),
    SystemRow("DARTS in two levels, retrained from scratch", "darts-two-level", "gap", deployed="retrained"),
    SystemRow("SNAS-style cell, relaxed (soft-gumbel, tau 1 to 0.1)", "snas", "small", against="darts"),
    SystemRow("SNAS-style cell, sampled (gumbel-st, tau 1 to 0.1)", "snas-sampled", "small", against="darts"),
    SystemRow("GDAS-style cell (gumbel-st)", "gdas", "small", against="darts"),
    SystemRow("DARTS-style cell, 5,000 iterations", "darts-long", "gap"),
    SystemRow("SNAS-style cell, relaxed, 5,000 iterations", "snas-long", "small", against="darts-long"),
    SystemRow("SNAS-style cell, sampled, 5,000 iterations", "snas-sampled-long", "small", against="darts-long"),
    SystemRow("GDAS-style cell (tau 10 to 0.1), 5,000 iterations", "gdas-long", "small", against="darts-long"),
    SystemRow("FairDARTS-style cell (a sigmoid for each operation)", "fair-darts", "gap"),
    SystemRow("Hard-ST cell", "search-hard-st", "none"),
    SystemRow("Hard-ST + CAGE cell", "search-hard-st-cage", "none"),
    SystemRow("soft gating, deployed soft", "soft-gating", "none", deployed="soft"),
    SystemRow("soft gating, deployed top-1", "soft-gating", "gap"),
    SystemRow("Soft MoE, deployed soft", "soft-moe", "none", deployed="soft"),
    SystemRow("Soft MoE, deployed top-1", "soft-moe", "gap"),
    SystemRow("Switch top-1, load balance 0.01", "switch", "none"),
    SystemRow("Switch top-1, load balance 0.1", "switch-balanced", "none"),
    SystemRow("GShard top-2, load balance 0.01", "gshard", "none"),
    SystemRow("GShard with capacity 1, deployed in batches of 1,000", "gshard-capacity", "none"),
    SystemRow("GShard with capacity 1, deployed row by row", "gshard-capacity", "none", deployed="alone"),
    SystemRow("GShard with a random second expert", "gshard-random", "none"),
    SystemRow("Expert Choice, deployed in batches of 1,000", "expert-choice", "none"),
    SystemRow("Expert Choice, deployed row by row", "expert-choice", "none", deployed="alone"),
    SystemRow("Hard-ST + CAGE experts, load balance 0.01", "experts-hard-st-cage", "none"),
    SystemRow("VQ-VAE (nearest, copied gradient)", "vq-vae", "none"),
    SystemRow("Gumbel-softmax codebook, soft", "gumbel-soft", "gap"),
    SystemRow("Gumbel-softmax codebook, straight-through", "gumbel-st", "small", against="gumbel-soft"),
    SystemRow("Hard-ST + CAGE codebook", "codebook-hard-st-cage", "none"),
)

CLAIMED = {  # rows of the paper's table "Training-inference gap in discrete selection", and our runs for each
    "darts": ("darts", "darts-fast", "darts-two-level"),
    "sampled": ("snas-long", "snas-sampled-long", "gdas-long"),
    "soft-gating": ("soft-gating", "soft-moe"),
    "sparse": ("switch", "switch-balanced", "gshard", "expert-choice"),
    "vq": ("vq-vae",),
}
DEPLOYED_AS_CLAIMED = {"soft-gating": "soft"}  # the only one whose hard deployment the paper does not speak about
