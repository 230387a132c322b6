"""`RedrawWires`: replaces the worst candidates of learned wires by new ones during training.

A wire with 16 candidates sees few of thousands of inputs. When the candidates with the lowest logits are replaced now
and then, a wire tries many inputs at the cost of few. Surprising: a resumed run needs no extra state, because the draws
are a function of the seed, the layer and the iteration.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import optim

from hardwire.errors import HardwireError, whole_number
from hardwire.layers import WiredLayer
from hardwire.randomness import generator
from hardwire.training.callbacks import Callback, TrainingRun


class RedrawWires(Callback):
    """A callback of `fit` that replaces the candidates of learned wires with the lowest logits by new inputs.

    The deployed network does not change when candidates are replaced: the candidate with the highest logit stays, and
    new ones start below it. A new candidate is an input that the wire has neither kept nor just lost.

    Args:
        every: Iterations between two replacements.
        share: The share of each wire's candidates that is replaced.
        until: The share of the run after which replacements stop.
        below: How far below the wire's highest logit new logits start.
        seed: The seed of the draws.

    Example:
        >>> import hardwire as hw
        >>> data = hw.data.load("digits")
        >>> net = hw.LogicNetwork(data.inputs, data.classes, width=100, depth=2, wiring="learned", candidates=8, seed=0)
        >>> history = hw.fit(net, data, iterations=20, callbacks=[hw.RedrawWires(every=5)], progress=False)
    """

    def __init__(self, every: int = 250, share: float = 0.5, until: float = 0.5, below: float = 1.0, seed: int = 0):
        self.every, self.seed = whole_number("every", every), whole_number("seed", seed, least=0)
        for name, value in (("share", share), ("until", until)):
            if not 0 < value <= 1:
                raise HardwireError(f"{name} is a part of the whole, above 0 and at most 1, not {value!r}")
        if not 0 < below < float("inf"):
            raise HardwireError(
                f"below is how far new logits start under the highest, a positive number, not {below!r}"
            )
        self.share, self.until, self.below = share, until, float(below)

    def identity(self, run: TrainingRun) -> dict[str, Any]:
        return {**vars(self), "last": int(self.until * run.iterations)}

    def on_start(self, run: TrainingRun) -> None:
        if not _learned_layers(run.net):
            raise HardwireError('the network has no learned wires to redraw; make it with wiring="learned"')

    def on_step(self, run: TrainingRun) -> None:
        if run.iteration % self.every or run.iteration > self.until * run.iterations:
            return
        for name, layer in _learned_layers(run.net).items():
            self.redraw(layer, run.optimizer, generator(self.seed, f"redraw.{run.iteration}.{name}"))

    @torch.no_grad()
    def redraw(self, layer: WiredLayer, optimizer: optim.Optimizer, rng: np.random.Generator) -> None:
        """Replaces candidates of one layer; their optimizer state becomes the mean of the wire's other candidates."""
        assert layer.wire_logits is not None
        logits, offered = layer.wire_logits, layer.wiring
        readable = torch.arange(layer.inputs) if layer.input_subset is None else layer.input_subset.unique()
        count = min(int(self.share * logits.shape[2]), logits.shape[2] - 1, len(readable) - logits.shape[2])
        if count < 1:  # the wires have all inputs as candidates
            return
        top, winner = logits.max(2, keepdim=True)
        # of equal logits the first is deployed, so the winner is excluded explicitly
        lost = logits.scatter(2, winner, torch.inf).topk(count, dim=2, largest=False).indices
        exchanged = exchange(offered.cpu().numpy(), lost.cpu().numpy(), readable.cpu().numpy(), rng)
        offered.copy_(torch.from_numpy(exchanged))
        # a small `below` may vanish by rounding, and an equal logit at a lower index would be deployed instead
        start = torch.minimum(top - self.below, torch.nextafter(top, top.new_tensor(-torch.inf)))
        logits.scatter_(2, lost, start.expand(lost.shape))
        for memory in optimizer.state.get(logits, {}).values():
            if isinstance(memory, torch.Tensor) and memory.shape == logits.shape:
                memory.scatter_(2, lost, 0)
                others = memory.sum(2, keepdim=True) / (logits.shape[2] - count)
                memory.scatter_(2, lost, others.expand(lost.shape))


def exchange(
    offered: NDArray[np.int32], lost: NDArray[np.int64], readable: NDArray[np.int32], rng: np.random.Generator
) -> NDArray[np.int32]:
    """Candidates [n, neurons, K] with new inputs in the columns `lost` [n, neurons, count].

    New inputs are among the `readable` ones (sorted, each once) and were not candidates of the wire before; none is
    drawn twice for one wire.
    """
    columns = offered.shape[2]
    ranks = _distinct_numbers(len(readable) - columns, lost.shape, rng)
    # free place number r comes after all taken places that have at most r free places before them; one column at a
    # time along whole rows of numbers, which is several times faster than wire by wire
    taken = np.ascontiguousarray(_places(offered, readable).reshape(-1, columns).T)
    ranks = np.ascontiguousarray(ranks.reshape(-1, lost.shape[2]).T.astype(np.int32))
    places = ranks.copy()
    for column in range(columns):
        places += taken[column] - np.int32(column) <= ranks
    result = offered.copy()
    new = readable[places.T.reshape(lost.shape)].astype(offered.dtype, copy=False)
    np.put_along_axis(result, lost, new, axis=2)
    return result


def _places(offered: NDArray[np.int32], readable: NDArray[np.int32]) -> NDArray[np.int32]:
    """The places of the offered inputs among the readable ones, sorted along the last axis.

    Wires that a user gave may be repeated or not readable; these get a number behind all places.
    """
    behind = np.int32(len(readable))
    place_of = np.full(max(offered.max(), readable[-1]) + 1, behind, np.int32)
    place_of[readable] = np.arange(len(readable), dtype=np.int32)
    places = np.sort(place_of[offered], axis=2)
    repeated = places[..., 1:] == places[..., :-1]
    if repeated.any():
        places[..., 1:][repeated] = behind
        places.sort(axis=2)
    return places


def _distinct_numbers(end: int, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.int64]:
    """Different numbers below `end` along the last axis, all sets equally likely (Floyd's algorithm)."""
    numbers = np.empty(shape, np.int64)
    for column in range(shape[-1]):
        largest = end - shape[-1] + column
        drawn = rng.integers(0, largest + 1, shape[:-1])
        repeated = (numbers[..., :column] == drawn[..., None]).any(-1)
        numbers[..., column] = np.where(repeated, largest, drawn)
    return numbers


def _learned_layers(net: torch.nn.Module) -> dict[str, WiredLayer]:
    """The layers with learned wires by their names in the network."""
    modules = net.named_modules()
    return {name: one for name, one in modules if isinstance(one, WiredLayer) and one.wire_logits is not None}
