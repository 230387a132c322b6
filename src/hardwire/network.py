"""`LogicNetwork`: layers of gates and a group sum, run as one operation.

Flat, as in the paper (equal widths), or with a list of widths. The whole forward pass goes to the engine at once, so
that a fast engine can fuse it. Surprising: one selector serves all layers, because CAGE's confidence is the network's.
"""

import torch
from torch import nn

from hardwire import engine as engines
from hardwire.bits import Encoder
from hardwire.errors import HardwireError, whole_number
from hardwire.layers import GateLayer, GroupSum, Selecting, Selector, check_groups, check_input, selection_mode
from hardwire.selection import check_logits, first_argmax


class LogicNetwork(Selecting):
    """A classifier made of two-input gates: [batch, inputs] -> class scores [batch, classes].

    inputs: features, floats in [0, 1] or packed Bits. width and depth, or widths: neurons of each layer; the last is a
    multiple of classes. method: soft-mix, soft-gumbel, hard-st or gumbel-st. tau: a number, or a temperature object.
    cage: set the backward temperature from the network's confidence (hard-st and gumbel-st). seed: wiring, initial
    logits and noise. group_temperature: of the class sums; the paper's alpha(C)*sqrt(k) if not given. encoder: how raw
    values become the input bits, kept with the model for deployment. engine: auto, or an engine by name.
    """

    def __init__(
        self,
        inputs: int,
        classes: int,
        width: int | None = None,
        depth: int | None = None,
        *,
        widths: list[int] | None = None,
        method: str = "hard-st",
        tau=1.0,
        cage: bool = False,
        seed: int | None = None,
        group_temperature: float | None = None,
        encoder: Encoder | None = None,
        engine: str = "auto",
    ):
        super().__init__()
        self.inputs, self.classes = whole_number("inputs", inputs), whole_number("classes", classes, least=2)
        self.widths = _widths(width, depth, widths)
        self.group_sum = GroupSum(self.classes, group_temperature)
        check_groups(self.widths[-1], self.classes)
        self.selector = Selector(method, tau, cage, seed)
        self.layers = nn.ModuleList(self._make_layers())
        self.engine = engines.check_engine(engine)
        self.encoder = encoder
        if encoder is not None and encoder.features != self.inputs:
            raise HardwireError(f"the encoder makes {encoder.features} bits but the network reads {self.inputs}")

    def _make_layers(self):
        last = len(self.widths) - 1
        for layer, (inputs, neurons) in enumerate(zip([self.inputs, *self.widths], self.widths, strict=False)):
            # 1009 layers fit between two seeds before any two networks share a layer
            yield GateLayer(inputs, neurons, self.seed * 1009 + layer, self.classes if layer == last else 1)

    def forward(self, x) -> torch.Tensor:
        check_input(x, self.inputs)
        return engines.choose(self.engine, x, self.layers[0].logits).run_network(
            x,
            [layer.logits for layer in self.layers],
            [layer.wiring for layer in self.layers],
            self.next_plan(),
            self.classes,
            self.group_sum.temperature_for(self.widths[-1]),
        )

    @property
    def seed(self) -> int:
        return self.selector.seed

    @property
    def method(self) -> str:
        return self.selector.method.name

    @property
    def tau(self) -> float:
        """The temperature of the latest training step."""
        return self.selector.temperature.tau.item()

    @torch.no_grad()
    def gates(self) -> list[torch.Tensor]:
        """The deployed gate of every neuron, uint8 [neurons] a layer: the argmax logit, ties to the lowest index."""
        return [first_argmax(check_logits(layer.logits)).to(torch.uint8) for layer in self.layers]

    @torch.no_grad()
    def predict(self, x) -> torch.Tensor:
        """The deployed classes [batch], ties to the lowest; the network's mode stays as it is."""
        with selection_mode(self, "deploy"):
            return first_argmax(self(x))


def _widths(width, depth, widths) -> list[int]:
    if widths is None:
        if width is None or depth is None:
            raise HardwireError("give width and depth (a flat network) or widths (a list, one for each layer)")
        widths = [width] * whole_number("depth", depth)
    elif width is not None or depth is not None:
        raise HardwireError("give either width and depth, or widths, not both")
    if not widths:
        raise HardwireError("widths [] leaves no layer; name at least one")
    return [whole_number("width", w) for w in widths]
