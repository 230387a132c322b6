"""Gumbel noise from a counter, not from a state: Philox4x32-10 (Salmon et al., 2011, "Parallel random numbers: as easy
as 1, 2, 3") keyed by the seed and counted by (neuron, choice, step, layer).

Nothing has to be stored: the same key gives the same draw, so a backward pass, a resumed run or the native engine
can make it again. This file is the definition; the native engine repeats it in C++.
"""

from dataclasses import dataclass
from typing import Any

import torch

from hardwire.errors import HardwireError

_ROUNDS = 10
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_LOW = 0xFFFFFFFF
_PER_SAMPLE = 1 << 29  # bit 29 of a place: every sample draws for itself
_MOST_SAMPLES = 1 << 16
WIRES = 1 << 30  # bit 30 of a place: the wires of a level, not its gates


@dataclass(frozen=True)
class NoiseKey:
    """Which draw is meant. `step` is a 0-d int64 tensor or an int; `draw` numbers the evaluations between two steps.

    per_sample: every sample of a batch draws for itself; otherwise a draw is shared by the batch.
    """

    seed: int
    step: torch.Tensor | int
    draw: int = 0
    evaluation: bool = False
    per_sample: bool = False


def place_of(key: NoiseKey, layer: int) -> int:
    """The word of the counter that says where noise is added: the level, and bit 31 for evaluations."""
    return layer | key.evaluation << 31


def sample_place(key: NoiseKey, layer: int) -> int:
    """The same where every sample draws for itself: its number takes the draw's place in the counter, and the draw
    moves here.
    """
    return place_of(key, layer) | _PER_SAMPLE | key.draw << 12


def check_samples(samples: int) -> None:
    """Raises where there are more samples than the counter has numbers for."""
    if samples > _MOST_SAMPLES:
        raise HardwireError(f"noise for each sample takes batches of at most {_MOST_SAMPLES}, not {samples}")


def philox(counter: tuple[Any, ...], key: tuple[int, int]) -> tuple[Any, ...]:
    """Four 32-bit words for each counter of four 32-bit words; all are int64 tensors (or ints) below 2**32."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(_ROUNDS):
        high0, low0 = _multiply(c0, _MULTIPLIERS[0])
        high1, low1 = _multiply(c2, _MULTIPLIERS[1])
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + _KEY_STEPS[0]) & _LOW, (k1 + _KEY_STEPS[1]) & _LOW
    return c0, c1, c2, c3


def _multiply(word: Any, multiplier: int) -> tuple[Any, Any]:
    """The high and low 32 bits of a product of two 32-bit words.

    In two parts of 16 bits, because the whole product overflows int64 and torch.compile's C++ then goes wrong.
    """
    low = word * (multiplier & 0xFFFF)
    middle = word * (multiplier >> 16) + (low >> 16)
    return middle >> 16, ((middle & 0xFFFF) << 16) | (low & 0xFFFF)


def gumbel(key: NoiseKey, layer: int, nodes: int, choices: int, like: torch.Tensor) -> torch.Tensor:
    """Standard Gumbel noise [nodes, choices] on the device and in the dtype of `like`."""
    neuron = torch.arange(nodes, device=like.device).unsqueeze(1)
    return _draw(key, neuron, key.draw, place_of(key, layer), choices, like)


def sample_race(
    key: NoiseKey, layer: int, nodes: torch.Tensor, samples: int, logits: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Gumbel noise for every sample apart: which choice has the largest noisy logit, [nodes, samples], and all noisy
    logits, less what they have in common, [nodes, samples, choices]; of the nodes with these numbers and logits.

    Noise is drawn as a race. Choice k arrives after an exponential time of rate p_k = softmax(logits)_k, and noisy
    logits are -ln of these times. Such times have no memory, so who comes first (by the shares p), when (by the
    winner's own draw), and how much later the others come (by theirs) are independent: the winner takes one uniform
    draw, and a pass that only picks needs no more.
    """
    check_samples(samples)
    choices, place = logits.shape[-1], sample_place(key, layer)
    sample = torch.arange(samples, device=logits.device).view(1, -1, 1)
    node = nodes.to(torch.int64).view(-1, 1, 1)
    times = -torch.log(_uniform(key, node, sample, place, choices)).to(logits.dtype)
    of_four_nodes = _uniform(key, node // 4, sample, place, 4, behind=choices)
    uniform = of_four_nodes.gather(-1, (node % 4).expand(-1, samples, 1)).to(logits.dtype)
    upto = torch.softmax(logits, -1).cumsum(-1).unsqueeze(1)
    winner = (uniform >= upto[..., :-1] / upto[..., -1:]).sum(-1, keepdim=True)
    first = times.gather(-1, winner).log()
    later = torch.logaddexp(first, times.log() - torch.log_softmax(logits, -1).unsqueeze(1))
    return winner.squeeze(-1), -later.scatter(-1, winner, first)


def _draw(
    key: NoiseKey, neuron: torch.Tensor, draw: torch.Tensor | int, place: int, choices: int, like: torch.Tensor
) -> torch.Tensor:
    """Gumbel noise for broadcast counters [..., 1], with the choices on the last axis."""
    return -torch.log(-torch.log(_uniform(key, neuron, draw, place, choices))).to(like.dtype)


def _uniform(
    key: NoiseKey, neuron: torch.Tensor, draw: torch.Tensor | int, place: int, choices: int, behind: int = 0
) -> torch.Tensor:
    """Numbers between 0 and 1 for broadcast counters [..., 1], with the choices on the last axis.

    behind: they come after the draws of so many choices.
    """
    device = neuron.device
    block = torch.arange(_blocks(choices), device=device) + _blocks(behind) + ((draw << 16) & _LOW)
    placed = torch.full((), place, dtype=torch.int64, device=device)
    step = torch.as_tensor(key.step, device=device) & _LOW
    words = philox((neuron, block, step, placed), (key.seed & _LOW, (key.seed >> 32) & _LOW))
    word = torch.stack(torch.broadcast_tensors(*words), dim=-1).flatten(-2)[..., :choices]
    # 23 bits, so that a float32 uniform is never 0 or 1 and the noise always finite
    return ((word >> 9).to(torch.float32) + 0.5) * 2.0**-23


def _blocks(choices: int) -> int:
    return (choices + 3) // 4  # a counter yields four words, one for each of four choices


def wire_gumbel(key: NoiseKey, layer: int, logits: torch.Tensor) -> torch.Tensor:
    """Standard Gumbel noise for the wires of a level, [2, rows, K]: a place of its own, apart from the gates' noise."""
    sides, rows, choices = logits.shape
    return gumbel(key, layer + WIRES, sides * rows, choices, like=logits).view(logits.shape)


def gumbel_like(x: torch.Tensor, generator: torch.Generator | None = None) -> torch.Tensor:
    """Standard Gumbel noise in the shape of `x` from torch's own generator, for use outside a network."""
    uniform = torch.rand(x.shape, dtype=x.dtype, device=x.device, generator=generator)
    tiny, eps = torch.finfo(x.dtype).tiny, torch.finfo(x.dtype).eps
    return -torch.log(-torch.log(uniform.clamp(tiny, 1 - eps)))
