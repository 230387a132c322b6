"""Vector quantisation: each vector chooses one of K codes, with its negative squared distances as logits.

So the argmax is the nearest code for every method, and soft methods mix codes. There are two gradients for the encoder:
"copy" is that of the VQ-VAE, which passes the output's gradient to the input unchanged and trains the codebook by its
own loss; "softmax" differentiates softmax(-distance / tau). Surprising: K may exceed the number of vectors in a batch;
only `initialise`, which uses K vectors as codes, needs that many.
"""

import torch
from torch import nn
from torch.nn import functional as F

from hardwire.errors import HardwireError, unknown_name, whole_number
from hardwire.randomness import check_seed, generator, normal
from hardwire.selection import Method, check_logits, first_argmax, replace_gradient
from hardwire.systems.choice import Auxiliary, Choice
from hardwire.temperature import Temperature

GRADIENTS = ("copy", "softmax")


class VectorQuantizer(Auxiliary):
    """Replaces vectors by codes of a codebook: [..., features] -> the same shape. A node is a vector.

    Args:
        codes: K, the number of codes. They start as N(0, 1).
        features: The length of a vector.
        method: "soft-mix", "soft-gumbel", "hard-st" or "gumbel-st"; the last two also with "+cage".
        tau: The temperature, a number or a temperature object.
        cage: The same as "+cage".
        seed: The seed of the initial codes and of the noise.
        gradient: "copy" (with hard-st this is the VQ-VAE) or "softmax" (any method, also with CAGE).
        commitment: The coefficient of |z - code|^2 in `auxiliary_loss`, which with "copy" also contains the loss of
            the codebook.
        axis: The axis of the vectors.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> quantizer = hw.VectorQuantizer(codes=64, features=8, seed=0)
        >>> quantizer(torch.randn(32, 8)).shape, quantizer.codes(torch.randn(32, 8)).shape
        (torch.Size([32, 8]), torch.Size([32]))
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
        self.choice = Choice(codes, method, tau, cage, seed, noise="sample")
        if gradient not in GRADIENTS:
            raise unknown_name("gradient", gradient, GRADIENTS)
        if gradient == "copy" and (cage or not self.choice.selector.method.hard):
            raise HardwireError(
                "gradient 'copy' passes on the gradient of one chosen code: it needs hard-st or gumbel-st without "
                "CAGE; use gradient='softmax'"
            )
        self.gradient, self.commitment, self.axis = gradient, float(commitment), axis
        features = whole_number("features", features)
        self.codebook = nn.Parameter(normal(self.choice.selector.seed, "codebook", self.choice.choices, features))

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        vectors = _vectors(z, self.codebook, self.axis)
        values = self._values(vectors)
        training = self.training and self.choice.mode == "method" and torch.is_grad_enabled()
        self.auxiliary = self._loss(vectors, values) if training else None
        if self.gradient == "copy" and training:
            values = replace_gradient(values.detach(), vectors)
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
        """Sets the codes to K vectors of z, drawn without replacement."""
        vectors, codes = _vectors(z, self.codebook, self.axis).flatten(0, -2), len(self.codebook)
        if len(vectors) < codes:
            raise HardwireError(
                f"{len(vectors)} vectors cannot start {codes} codes; give at least {codes}, or keep the random start"
            )
        drawn = generator(check_seed(seed), "codebook.initialise").permutation(len(vectors))[:codes]
        self.codebook.copy_(vectors[torch.from_numpy(drawn).to(vectors.device)])

    @torch.no_grad()
    def codes(self, z: torch.Tensor) -> torch.Tensor:
        """Returns the index of the nearest code of each vector; ties go to the lowest.

        Args:
            z: Vectors along `axis`.

        Returns:
            int64, of z's shape without `axis`.
        """
        return _nearest(_vectors(z, self.codebook, self.axis), self.codebook)

    def deploy(self) -> "Codebook":
        """The deployed codebook, which returns nearest codes."""
        return Codebook(self.codebook.detach().clone(), self.axis).eval()


class Codebook(nn.Module):
    """A deployed quantiser: replaces each vector by its nearest code. `codes` returns indices, `values` the codes."""

    codebook: torch.Tensor

    def __init__(self, codebook: torch.Tensor, axis: int = -1):
        super().__init__()
        self.register_buffer("codebook", codebook)
        self.axis = axis

    def codes(self, z: torch.Tensor) -> torch.Tensor:
        return _nearest(_vectors(z, self.codebook, self.axis), self.codebook)

    def values(self, codes: torch.Tensor) -> torch.Tensor:
        """The vectors of codes int64 [...], along `axis`."""
        return self.codebook[codes].movedim(-1, self.axis)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return self.values(self.codes(z))


def code_logits(vectors: torch.Tensor, codebook: torch.Tensor) -> torch.Tensor:
    """-|z - e|^2, [..., K], for vectors [..., features] and a codebook [K, features]."""
    squares = vectors.square().sum(-1, keepdim=True) + codebook.square().sum(-1)
    return 2 * vectors @ codebook.T - squares


def _nearest(vectors: torch.Tensor, codebook: torch.Tensor) -> torch.Tensor:
    return first_argmax(check_logits(code_logits(vectors, codebook)))


def _vectors(z: torch.Tensor, codebook: torch.Tensor, axis: int) -> torch.Tensor:
    """Moves the vectors of z to the last axis."""
    if z.ndim < 2 or not -z.ndim <= axis < z.ndim or z.shape[axis] != codebook.shape[1] or z.numel() == 0:
        raise HardwireError(
            f"input of shape {list(z.shape)}; this codebook reads vectors of {codebook.shape[1]} features along "
            f"axis {axis}, at least one"
        )
    return z.movedim(axis, -1)
