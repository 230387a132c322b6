"""`RedrawWires`: candidates that lost make room for new ones while a network with learned wires trains.

A wire with 16 candidates of thousands of inputs sees few of them. Those with the lowest logits are exchanged now and
then for inputs drawn anew, so that in the end a wire has tried many at the cost of few. Surprising: nothing has to be
kept for a resumed run, because what is drawn is a function of the seed and the iteration.
"""

import torch
from torch import optim

from hardwire.errors import HardwireError, whole_number
from hardwire.layers import LogicLayer
from hardwire.training.callbacks import Callback, Run


class RedrawWires(Callback):
    """A callback of `fit`: every `every` iterations, during the first `until` of the run, the `share` of each wire's
    candidates with the lowest logits becomes new inputs, whose logits start `below` under the wire's highest.

    The deployed network does not change at that moment: the candidate with the highest logit stays.
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

    def on_start(self, run: Run) -> None:
        if not _wired(run.net):
            raise HardwireError('the network has no learned wires to redraw; make it with wiring="learned"')

    def on_step(self, run: Run) -> None:
        if run.iteration % self.every or run.iteration > self.until * run.iterations:
            return
        generator = torch.Generator().manual_seed((self.seed * 1_000_003 + run.iteration) % 2**63)  # what torch takes
        for layer in _wired(run.net):
            self.redraw(layer, run.optimizer, generator)

    @torch.no_grad()
    def redraw(self, layer: LogicLayer, optimizer: optim.Optimizer, generator: torch.Generator) -> None:
        """Exchanges candidates of one layer; the optimizer's memory of them becomes the mean of their wire's others."""
        assert layer.wire_logits is not None
        logits, offered = layer.wire_logits, layer.wiring
        readable = torch.arange(layer.inputs, dtype=offered.dtype) if layer.reads is None else layer.reads
        count = min(int(self.share * logits.shape[2]), logits.shape[2] - 1, len(readable) - logits.shape[2])
        if count < 1:  # a wire that chooses among all inputs has seen them
            return
        lost = logits.topk(count, dim=2, largest=False).indices
        offered.copy_(exchange(offered, lost, readable, generator))
        logits.scatter_(2, lost, (logits.amax(2, keepdim=True) - self.below).expand(lost.shape))
        for memory in optimizer.state.get(logits, {}).values():
            if isinstance(memory, torch.Tensor) and memory.shape == logits.shape:
                others = memory.scatter(2, lost, 0).sum(2, keepdim=True) / (logits.shape[2] - count)
                memory.scatter_(2, lost, others.expand(lost.shape))


def exchange(
    offered: torch.Tensor, lost: torch.Tensor, readable: torch.Tensor, generator: torch.Generator
) -> torch.Tensor:
    """`offered` [2, neurons, K] with other `readable` inputs at the places `lost`, none twice for one wire."""
    new = torch.zeros_like(offered).scatter_(2, lost, 1)
    result, wrong = offered, new.bool()
    while wrong.any():
        drawn = readable[torch.randint(len(readable), offered.shape, generator=generator)].to(offered.device)
        result = torch.where(wrong, drawn, result)
        # sorted by input with the new ones behind: what equals the one before it is new, and comes a second time
        ordered, order = (2 * result.long() + new).sort(2)
        again = ordered[..., 1:] // 2 == ordered[..., :-1] // 2
        wrong = torch.zeros_like(wrong).scatter_(2, order[..., 1:], again)
    return result


def _wired(net: torch.nn.Module) -> list[LogicLayer]:
    return [layer for layer in net.modules() if isinstance(layer, LogicLayer) and layer.wire_logits is not None]
