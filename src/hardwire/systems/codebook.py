"""Vector quantisation: each vector chooses one of K codes, with minus its squared distances as the logits.

So the argmax is the nearest code, whatever the method; soft methods mix codes. Two gradients reach the encoder:
"copy" is the VQ-VAE's (the output's gradient handed on to the input unchanged, the codebook learning by a loss of its
own), "softmax" is the library's estimator, through softmax(-distance / tau). Surprising: K may exceed the number of
vectors in a batch, since a nearest neighbour needs no batch; only `initialise`, which takes K rows as codes, does.
"""

import torch
from torch import nn
from torch.nn import functional as F

from hardwire.errors import HardwireError, unknown_name, whole_number
from hardwire.layers import check_seed
from hardwire.selection import Method, check_logits, first_argmax, straight_through
from hardwire.systems.choice import Auxiliary, Choice
from hardwire.temperature import Temperature

GRADIENTS = ("copy", "softmax")


class VectorQuantizer(Auxiliary):
    """Replaces vectors by codes: [..., features] -> the same shape (the vectors lie along `axis`).

    codes: K. A node of the choice is a vector. gradient: "copy" (with hard-st this is the VQ-VAE) or "softmax" (any
    method, CAGE too). commitment: coefficient of |z - code|^2 in the auxiliary loss, which with "copy" also holds the
    codebook's own loss. method, tau, cage, seed: as in `hw.LogicLayer`; the codes start as N(0, 1).
    """

    def __init__(
        self,
        codes: int,
        features: int,
        method: str | Method = "hard-st",
        tau: float | Temperature = 1.0,
        cage: bool = False,
        seed: int | None = None,
        gradient: str = "copy",
        commitment: float = 0.25,
        axis: int = -1,
    ):
        super().__init__()
        self.choice = Choice(codes, method, tau, cage, seed)
        if gradient not in GRADIENTS:
            raise unknown_name("gradient", gradient, GRADIENTS)
        if gradient == "copy" and (cage or not self.choice.selector.method.hard):
            raise HardwireError(
                "gradient 'copy' hands on the gradient of one chosen code: it needs hard-st or gumbel-st without CAGE; "
                "use gradient='softmax'"
            )
        self.gradient, self.commitment, self.axis = gradient, float(commitment), axis
        generator = torch.Generator().manual_seed(self.choice.selector.seed)
        self.codebook = nn.Parameter(torch.randn(codes, whole_number("features", features), generator=generator))

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        vectors = _vectors(z, self.codebook, self.axis)
        values = self._values(vectors)
        training = self.training and self.choice.mode == "method" and torch.is_grad_enabled()
        self.auxiliary = self._loss(vectors, values) if training else None
        if self.gradient == "copy" and training:
            values = straight_through(values.detach(), vectors)
        return values.movedim(-1, self.axis)

    def _values(self, vectors: torch.Tensor) -> torch.Tensor:
        surrogate = self.gradient == "softmax" and self.choice.mode == "method" and torch.is_grad_enabled()
        if self.choice.picks and not surrogate:
            with torch.no_grad():
                logits = code_logits(vectors, self.codebook)
            return self.codebook[self.choice(logits, as_index=True)]
        # one-hot weights give exactly the code, and both sides get their gradient
        result: torch.Tensor = self.choice(code_logits(vectors, self.codebook)) @ self.codebook
        return result

    def _loss(self, vectors: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        loss = self.commitment * F.mse_loss(vectors, values.detach())
        return loss + F.mse_loss(values, vectors.detach()) if self.gradient == "copy" else loss

    @torch.no_grad()
    def initialise(self, z: torch.Tensor, seed: int = 0) -> None:
        """Sets the codes to K of the vectors of z, drawn without replacement."""
        vectors, codes = _vectors(z, self.codebook, self.axis).flatten(0, -2), len(self.codebook)
        if len(vectors) < codes:
            raise HardwireError(
                f"{len(vectors)} vectors cannot start {codes} codes; give at least {codes}, or keep the random start"
            )
        drawn = torch.randperm(len(vectors), generator=torch.Generator().manual_seed(check_seed(seed)))[:codes]
        self.codebook.copy_(vectors[drawn.to(vectors.device)])

    @torch.no_grad()
    def codes(self, z: torch.Tensor) -> torch.Tensor:
        """The index of the nearest code of each vector, ties to the lowest: int64, z's shape without `axis`."""
        return _nearest(_vectors(z, self.codebook, self.axis), self.codebook)

    def deploy(self) -> "Codebook":
        """The hard codebook: nearest codes, nothing else."""
        return Codebook(self.codebook.detach().clone(), self.axis).eval()


class Codebook(nn.Module):
    """A deployed quantiser: each vector becomes its nearest code; `codes` gives indices, `values` turns them back."""

    codebook: torch.Tensor

    def __init__(self, codebook: torch.Tensor, axis: int = -1):
        super().__init__()
        self.register_buffer("codebook", codebook)
        self.axis = axis

    def codes(self, z: torch.Tensor) -> torch.Tensor:
        return _nearest(_vectors(z, self.codebook, self.axis), self.codebook)

    def values(self, codes: torch.Tensor) -> torch.Tensor:
        """int64 [...] -> vectors [..., features], along `axis` again."""
        return self.codebook[codes].movedim(-1, self.axis)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return self.values(self.codes(z))


def code_logits(vectors: torch.Tensor, codebook: torch.Tensor) -> torch.Tensor:
    """-|z - e|^2 for vectors [..., features] and codebook [K, features] -> [..., K]."""
    squares = vectors.square().sum(-1, keepdim=True) + codebook.square().sum(-1)
    return 2 * vectors @ codebook.T - squares


def _nearest(vectors: torch.Tensor, codebook: torch.Tensor) -> torch.Tensor:
    return first_argmax(check_logits(code_logits(vectors, codebook)))


def _vectors(z: torch.Tensor, codebook: torch.Tensor, axis: int) -> torch.Tensor:
    """z with its vectors on the last axis."""
    if z.ndim < 2 or not -z.ndim <= axis < z.ndim or z.shape[axis] != codebook.shape[1] or z.numel() == 0:
        raise HardwireError(
            f"input of shape {list(z.shape)}; this codebook reads vectors of {codebook.shape[1]} features along "
            f"axis {axis}, at least one"
        )
    return z.movedim(axis, -1)
