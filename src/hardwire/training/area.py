"""`AreaPrice`: hardware cost as a part of what training minimises, by a stated price for each look-up table.

The cost is that of the choices as they are now, and its gradient goes through the same softmax that lets them learn.
Surprising: nothing is added to the loss that is reported. The prices are added to the gradient of each step, so two
runs at different prices can be compared by their losses.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from hardwire.bits import Encoder
from hardwire.errors import HardwireError
from hardwire.layers import LutLayer, WiredLayer
from hardwire.training.callbacks import Callback, TrainingRun

_BITS = {"bits": 1, "bytes": 8, "int8": 8, "int16": 16, "int32": 32, "floats": 32}  # of one raw value
_TABLE = 6  # inputs of a look-up table of the hardware


class AreaPrice(Callback):
    """A callback of `fit` that prices hardware: thresholds that wires read, and tables that are not constant.

    Learned wires of the first layer pay for the comparison that makes the bit they choose: its look-up tables, divided
    among all wires that choose it. So wires prefer thresholds that are cheap, and those that others use already. A
    table of the last layer pays for each entry that is 1; one without any is a constant, which needs neither a table
    nor a place in a class sum.

    Args:
        thresholds: What a look-up table of the encoder costs, in units of the loss.
        tables: What a table of the last layer costs whose entries are all 1, in units of the loss.

    Example:
        >>> import hardwire as hw
        >>> data = hw.data.load("digits")
        >>> net = hw.LogicNetwork(data.inputs, data.classes, width=100, depth=1, wiring="learned", candidates=8, seed=0)
        >>> price = hw.AreaPrice(thresholds=1e-4)
        >>> history = hw.fit(net, data, iterations=20, callbacks=[price], progress=False)
    """

    def __init__(self, thresholds: float = 0.0, tables: float = 0.0):
        for name, price in (("thresholds", thresholds), ("tables", tables)):
            number = isinstance(price, int | float) and not isinstance(price, bool)
            if not (number and 0 <= price < float("inf")):
                raise HardwireError(f"the price of {name} is {price!r:.80}; use a number of at least 0, such as 1e-5")
        if not thresholds and not tables:
            raise HardwireError("area has no price; give thresholds or tables one above 0, such as 1e-5")
        self.thresholds, self.tables = float(thresholds), float(tables)
        self._costs = torch.empty(0)
        self._known: tuple[tuple[int, int], torch.Tensor, torch.Tensor] | None = None

    def identity(self, run: TrainingRun) -> dict[str, Any]:
        return {"thresholds": self.thresholds, "tables": self.tables}

    def on_start(self, run: TrainingRun) -> None:
        layers = getattr(run.net, "layers", None)
        if not layers:
            raise HardwireError("an area is priced for a LogicNetwork, whose first and last layers are known")
        self._first, self._last = layers[0], layers[-1]
        if self.thresholds and not (isinstance(self._first, WiredLayer) and self._first.wire_logits is not None):
            raise HardwireError('a price of thresholds moves learned wires; make the first layer with wiring="learned"')
        if self.tables and not isinstance(self._last, LutLayer):
            raise HardwireError("a price of tables is for look-up tables; make the last layer with arity=2 to 6")
        encoder = getattr(run.net, "encoder", None)
        costs = np.ones(self._first.inputs) if encoder is None else threshold_luts(encoder)
        device = next(self._first.parameters()).device
        self._costs, self._known = torch.from_numpy(costs).to(device, torch.float32), None

    def on_gradient(self, run: TrainingRun) -> None:
        if self.thresholds:
            self._price_wires(self._first)
        if self.tables:
            self._price_entries(self._last.logits)

    @torch.no_grad()
    def _price_wires(self, layer: WiredLayer) -> None:
        logits = layer.wire_logits
        assert logits is not None
        if logits.grad is None:
            return
        candidates, costs = self._candidates(layer)
        weights, chosen = torch.softmax(logits, -1), logits.argmax(-1, keepdim=True)
        readers = torch.bincount(candidates.gather(-1, chosen).flatten(), minlength=layer.inputs) + 1.0
        with_me = readers.take(candidates)
        with_me.scatter_add_(-1, chosen, with_me.new_tensor(-1.0).expand(chosen.shape))  # who reads it counts already
        share = weights * costs.div(with_me)
        logits.grad += share - weights * share.sum(-1, keepdim=True)

    def _candidates(self, layer: WiredLayer) -> tuple[torch.Tensor, torch.Tensor]:
        """The candidates as indices, and what each costs; kept until some are drawn anew."""
        wiring = layer.wiring
        if self._known is None or self._known[0] != (id(wiring), wiring._version):
            candidates = wiring.long()
            self._known = (id(wiring), wiring._version), candidates, self.thresholds * self._costs.take(candidates)
        return self._known[1:]

    @torch.no_grad()
    def _price_entries(self, logits: torch.Tensor) -> None:
        if logits.grad is not None:
            open_share = torch.sigmoid(logits)
            logits.grad += self.tables / logits.shape[1] * open_share * (1 - open_share)


def threshold_luts(encoder: Encoder) -> NDArray[np.float64]:
    """Look-up tables of six inputs that compare with each threshold, for every bit of the encoder: an estimate.

    A whole number is above a threshold if it is at least the next whole number, and the trailing zeros of that need no
    look at the value: a byte above 127.5 is its highest bit, which costs nothing.
    """
    if encoder.kind == "floats":
        return np.full(encoder.features, float(_luts_of(_BITS["floats"])))
    least = np.floor(encoder.thresholds.astype(np.float64)).astype(np.int64).ravel() + 1
    bits = _BITS[encoder.kind]
    zeros = [min(bits, (number & -number).bit_length() - 1) if number else bits - 1 for number in least.tolist()]
    return np.array([_luts_of(bits - count) for count in zeros], np.float64)


def _luts_of(bits: int) -> int:
    """Tables that combine so many bits; one bit is a wire."""
    return max(0, -(-(bits - 1) // (_TABLE - 1)))
