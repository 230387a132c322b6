"""Gumbel noise from a counter, not from a state: Philox4x32-10 (Salmon et al., 2011, "Parallel random numbers: as easy
as 1, 2, 3") keyed by the seed and counted by (neuron, choice, step, layer).

Nothing has to be stored: the same key gives the same draw, so a backward pass, a resumed run or the native engine
can repeat it. This file is the definition; the native engine implements the same in C++.
"""

from dataclasses import dataclass
from typing import Any

import torch

from hardwire.errors import HardwireError

_ROUNDS = 10
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_LOW = 0xFFFFFFFF
_PER_SAMPLE = 1 << 29  # bit 29 of a stream: every sample draws for itself
_MOST_SAMPLES = 1 << 16
_DRAW_SHIFT = 12  # where the draw stands in the word of a stream whose samples draw for themselves
_DRAWS = 1 << (29 - _DRAW_SHIFT)
WIRE_STREAMS = 1 << 30  # bit 30 of a stream: the wires of a level, not its gates


@dataclass(frozen=True)
class NoiseKey:
    """Identifies one draw of noise.

    Attributes:
        seed: The key of the generator, 64 bits.
        step: The training step, a 0-d int64 tensor or an int.
        draw: The number of the evaluation since the last step, or of the micro-batch in this step.
        evaluation: Whether the pass is an evaluation.
        per_sample: Whether every sample of a batch has its own draw; otherwise the batch shares one.
    """

    seed: int
    step: torch.Tensor | int
    draw: int = 0
    evaluation: bool = False
    per_sample: bool = False


def stream_word(key: NoiseKey, noise_stream: int) -> int:
    """The counter word that separates streams: the number of the level, and bit 31 for evaluations."""
    return noise_stream | key.evaluation << 31


def sample_stream_word(key: NoiseKey, noise_stream: int) -> int:
    """The same word where every sample has its own draw.

    The number of the sample then fills the counter field that usually holds the draw, and the draw moves here.
    """
    if noise_stream >= 1 << _DRAW_SHIFT:
        raise HardwireError(f"noise='sample' is for networks of at most {1 << _DRAW_SHIFT} levels; use noise='pass'")
    return stream_word(key, noise_stream) | _PER_SAMPLE | key.draw % _DRAWS << _DRAW_SHIFT


def check_samples(samples: int) -> None:
    """Raises if a batch has more samples than the counter has numbers."""
    if samples > _MOST_SAMPLES:
        raise HardwireError(f"noise for each sample takes batches of at most {_MOST_SAMPLES}, not {samples}")


def philox(counter: tuple[Any, ...], key: tuple[int, int]) -> tuple[Any, ...]:
    """Maps counters of four 32-bit words to four random words; all are int64 tensors or ints below 2**32."""
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


def gumbel(key: NoiseKey, noise_stream: int, nodes: int, choices: int, like: torch.Tensor) -> torch.Tensor:
    """Standard Gumbel noise [nodes, choices] on the device and in the dtype of `like`."""
    neuron = torch.arange(nodes, device=like.device).unsqueeze(1)
    return _draw(key, neuron, key.draw, stream_word(key, noise_stream), choices, like)


def sample_race(
    key: NoiseKey, noise_stream: int, nodes: torch.Tensor, samples: int, logits: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Draws Gumbel noise separately for every sample.

    Noise is drawn as a race. Candidate k arrives after an exponential time of rate p_k = softmax(logits)_k, and the
    noisy logits are -ln of these times. Exponential times have no memory, so the winner (by the shares p), its time
    (by its own draw) and the delay of the others (by theirs) are independent. The winner therefore takes one uniform
    draw, and a pass that only chooses needs no more.

    Args:
        key: Which draw.
        noise_stream: The number of the level.
        nodes: The numbers of the nodes, [nodes].
        samples: The size of the batch.
        logits: The logits of these nodes, [nodes, choices].

    Returns:
        The candidate with the largest noisy logit, [nodes, samples], and all noisy logits up to a constant of each
        node and sample, [nodes, samples, choices].
    """
    check_samples(samples)
    choices, stream = logits.shape[-1], sample_stream_word(key, noise_stream)
    sample = torch.arange(samples, device=logits.device).view(1, -1, 1)
    node = nodes.to(torch.int64).view(-1, 1, 1)
    times = -torch.log(_uniform(key, node, sample, stream, choices)).to(logits.dtype)
    of_four_nodes = _uniform(key, node // 4, sample, stream, 4, behind=choices)
    uniform = of_four_nodes.gather(-1, (node % 4).expand(-1, samples, 1)).to(logits.dtype)
    upto = torch.softmax(logits, -1).cumsum(-1).unsqueeze(1)
    winner = (uniform >= upto[..., :-1] / upto[..., -1:]).sum(-1, keepdim=True)
    first = times.gather(-1, winner).log()
    later = torch.logaddexp(first, times.log() - torch.log_softmax(logits, -1).unsqueeze(1))
    return winner.squeeze(-1), -later.scatter(-1, winner, first)


def _draw(
    key: NoiseKey, neuron: torch.Tensor, draw: torch.Tensor | int, stream: int, choices: int, like: torch.Tensor
) -> torch.Tensor:
    """Gumbel noise for broadcast counters [..., 1], with the choices on the last axis."""
    return -torch.log(-torch.log(_uniform(key, neuron, draw, stream, choices))).to(like.dtype)


def _uniform(
    key: NoiseKey, neuron: torch.Tensor, draw: torch.Tensor | int, stream: int, choices: int, behind: int = 0
) -> torch.Tensor:
    """Uniform numbers between 0 and 1 for broadcast counters [..., 1], with the choices on the last axis.

    behind: how many choices have drawn from these counters already.
    """
    device = neuron.device
    block = torch.arange(_blocks(choices), device=device) + _blocks(behind) + ((draw << 16) & _LOW)
    stream_tensor = torch.full((), stream, dtype=torch.int64, device=device)
    step = torch.as_tensor(key.step, device=device) & _LOW
    words = philox((neuron, block, step, stream_tensor), (key.seed & _LOW, (key.seed >> 32) & _LOW))
    word = torch.stack(torch.broadcast_tensors(*words), dim=-1).flatten(-2)[..., :choices]
    # 23 bits, so that a float32 is never 0 or 1 and the noise is always finite
    return ((word >> 9).to(torch.float32) + 0.5) * 2.0**-23


def _blocks(choices: int) -> int:
    return (choices + 3) // 4  # a counter yields four words, one for each of four choices


def logistic(key: NoiseKey, noise_stream: int, rows: int, entries: int, like: torch.Tensor) -> torch.Tensor:
    """Standard logistic noise [rows, entries], the difference of two Gumbel variables, for choices between two."""
    neuron = torch.arange(rows, device=like.device).unsqueeze(-1)
    uniform = _uniform(key, neuron, key.draw, stream_word(key, noise_stream), entries)
    return (torch.log(uniform) - torch.log1p(-uniform)).to(like.dtype)


def wire_gumbel(key: NoiseKey, noise_stream: int, logits: torch.Tensor) -> torch.Tensor:
    """Standard Gumbel noise for the wires of a level, [2, rows, K], in a stream of its own."""
    sides, rows, choices = logits.shape
    return gumbel(key, noise_stream + WIRE_STREAMS, sides * rows, choices, like=logits).view(logits.shape)


def gumbel_like(x: torch.Tensor, generator: torch.Generator | None = None) -> torch.Tensor:
    """Standard Gumbel noise of the shape of `x` from torch's generator, for use outside a network."""
    uniform = torch.rand(x.shape, dtype=x.dtype, device=x.device, generator=generator)
    tiny, eps = torch.finfo(x.dtype).tiny, torch.finfo(x.dtype).eps
    return -torch.log(-torch.log(uniform.clamp(tiny, 1 - eps)))
