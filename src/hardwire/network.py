"""`LogicNetwork`: layers of gates and a group sum, run as one operation.

Flat, as in the paper (equal widths), with a list of widths, or of any layers of ours in a list. The whole forward pass
goes to the engine at once, so that a fast engine can fuse it; `fuse` does the same for an nn.Sequential of our layers.
Surprising: one selector serves all layers that have no method of their own, because CAGE's confidence is the
network's.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from hardwire.bits import Columns, Encoder
from hardwire.engine.stack import CHOSEN, Head, Input, frozen_gates
from hardwire.errors import HardwireError, whole_number
from hardwire.layers import (
    Fused,
    GateLayer,
    GroupSum,
    LogicLayer,
    NumberSum,
    Part,
    Selector,
    check_groups,
    check_input,
    check_seed,
    parts_of,
    selection_mode,
)
from hardwire.selection import Method, first_argmax
from hardwire.temperature import Temperature
from hardwire.wiring import takes

SEEDS_PER_NETWORK = 1009  # so many layers fit between two seeds before any two networks share a layer


class LayerList(nn.ModuleList):
    """An nn.ModuleList that knows what it holds."""

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[GateLayer]: ...
        def __getitem__(self, index: int) -> GateLayer: ...  # type: ignore[override]


class LogicNetwork(Fused):
    """A classifier made of two-input gates: [batch, inputs] -> class scores [batch, classes], or one number [batch, 1].

    inputs: features, floats in [0, 1] or packed Bits. width and depth, or widths: neurons of each layer; the last is a
    multiple of classes. layers: instead of inputs and widths, layers of ours in order. method: soft-mix, soft-gumbel,
    hard-st or gumbel-st, the hard two also with "+cage". tau: a number, or a temperature object. cage: set the backward
    temperature from the network's confidence (hard-st and gumbel-st). seed: wiring, initial logits and noise. number:
    instead of classes, (low, high), the range of a number to compute (see `NumberSum`), trained by its squared error.
    group_temperature: of the class sums; the paper's alpha(C)*sqrt(k) if not given. encoder: how raw values become the
    input bits, kept with the model for deployment. engine: auto, or an engine by name. wire_method: how learned wires
    choose, where it is not as gates do; wire_gradient: what they learn from under a hard method, the gradient through
    the "chosen" gate or the "mixture" of gates; input_gradient: the same for all that gates read. noise: one Gumbel
    draw for each "pass" or for each "sample". reads: the inputs that the first layer wires, all if not given. Whatever
    else is given goes to each layer: wiring, candidates, start, bonus.
    """

    def __init__(
        self,
        inputs: int | None = None,
        classes: int | None = None,
        width: int | None = None,
        depth: int | None = None,
        *,
        widths: list[int] | None = None,
        layers: Sequence[GateLayer] | None = None,
        method: str | Method = "hard-st",
        tau: float | Temperature = 1.0,
        cage: bool = False,
        seed: int | None = None,
        number: tuple[float, float] | None = None,
        group_temperature: float | None = None,
        encoder: Encoder | None = None,
        engine: str = "auto",
        wire_method: str | Method | None = None,
        noise: str = "pass",
        wire_gradient: str = CHOSEN,
        input_gradient: str = CHOSEN,
        reads: Sequence[int] | None = None,
        **layer_options: Any,
    ):
        super().__init__(engine)
        self.group_sum = _head(classes, number, group_temperature)
        self.classes = self.group_sum.classes
        self.selector = Selector(
            method, tau, cage, check_seed(seed, bits=53), wire_method=wire_method, noise=noise,
            wire_gradient=wire_gradient, input_gradient=input_gradient,
        )  # fmt: skip
        if layers is None:
            self.inputs = whole_number("inputs", inputs)
            widths = _widths(width, depth, widths)
            check_groups(widths[-1], self.classes)
            layers = self._make_layers(widths, layer_options, reads)
        elif layer_options or any(given is not None for given in (inputs, width, depth, widths, reads)):
            raise HardwireError("give either layers, or inputs and widths (with wiring, start and so on), not both")
        self.layers = LayerList(_adopt(_check_layers(layers)))
        self.inputs = self.layers[0].inputs
        self._finish(encoder)

    def _make_layers(self, widths: list[int], options: dict[str, Any], reads: Sequence[int] | None) -> list[GateLayer]:
        last = len(widths) - 1
        return [
            LogicLayer(
                inputs,
                neurons,
                seed=self.seed * SEEDS_PER_NETWORK + number,
                groups=self.classes if number == last else 1,
                reads=None if number else reads,
                **(options | ({"layer": number} if takes(options.get("wiring", ""), "layer") else {})),
            )
            for number, (inputs, neurons) in enumerate(zip([self.inputs, *widths], widths, strict=False))
        ]

    def _finish(self, encoder: Encoder | None) -> None:
        """What follows from the layers: they fit each other, the classes and the encoder."""
        shape = self.layers[0].input_shape
        for layer in self.layers:
            layer.connect(shape)
            shape = layer.output_shape
        check_groups(self.widths[-1], self.classes)
        for part in self.parts():
            if part.selector is not None and part.level.candidates is not None:
                part.selector.add_wires(part.level.candidates)
        self.encoder = encoder
        self.columns: Columns | None = None  # what raw values and answers are called, where a table gave them names
        if encoder is not None and encoder.features != self.inputs:
            raise HardwireError(f"the encoder makes {encoder.features} bits but the network reads {self.inputs}")

    def parts(self) -> list[Part]:
        return parts_of(self.layers, self.selector)

    def head(self) -> Head:
        return self.group_sum.head(self.layers[-1].neurons)

    def forward(self, x: Input) -> torch.Tensor:
        check_input(x, self.inputs)
        return self.group_sum.shift(self.run(x), self.widths[-1])

    @property
    def widths(self) -> list[int]:
        """The neurons of each layer."""
        return [layer.neurons for layer in self.layers]

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
        """The deployed gate of every neuron, uint8 [neurons] a level: the argmax logit, ties to the lowest index."""
        return [frozen_gates(part.level) for part in self.parts()]

    @torch.no_grad()
    def predict(self, x: Input) -> torch.Tensor:
        """The deployed classes [batch], ties to the lowest, or the numbers; the network's mode stays as it is."""
        with selection_mode(self, "deploy"):
            scores = self(x)
        return scores[:, 0] if isinstance(self.group_sum, NumberSum) else first_argmax(scores)


def fuse(model: nn.Module) -> LogicNetwork:
    """An nn.Sequential of our layers and a GroupSum as one network: the same parameters, choices and noise, one
    operation.

    The layers stay those of `model`, each with its own selector; train either, and both have learned.
    """
    if isinstance(model, LogicNetwork):
        return model
    children = list(model.children()) if isinstance(model, nn.Sequential) else []
    if len(children) < 2 or not isinstance(children[-1], GroupSum):
        raise HardwireError(
            f"{type(model).__name__} is no network of ours; give a LogicNetwork or an nn.Sequential of layers of gates "
            "with a GroupSum at the end"
        )
    layers, head = _check_layers(children[:-1]), children[-1]
    net = LogicNetwork.__new__(LogicNetwork)
    Fused.__init__(net, layers[0].engine)
    net.classes, net.group_sum = head.classes, head
    net.selector = Selector(seed=0)  # serves no level: every layer has its own
    net.layers = LayerList(layers)
    net.inputs = net.layers[0].inputs
    net._finish(encoder=None)
    return net.train(model.training)


def _head(classes: int | None, number: tuple[float, float] | None, temperature: float | None) -> GroupSum:
    if number is None:
        if classes is None:
            raise HardwireError("a network needs the number of classes; give classes=")
        return GroupSum(classes, temperature)
    if classes is not None or temperature is not None:
        raise HardwireError(
            "give either classes (and their group_temperature) or number, a range (low, high), not both"
        )
    if not (isinstance(number, tuple | list) and len(number) == 2):
        raise HardwireError(f"number {number!r} is not a range (low, high), such as (0, 100)")
    return NumberSum(*number)


def _check_layers(layers: Sequence[nn.Module]) -> list[GateLayer]:
    if not layers:
        raise HardwireError("layers [] leaves no layer; name at least one")
    for layer in layers:
        if not isinstance(layer, GateLayer):
            raise HardwireError(
                f"{type(layer).__name__} is not a layer of gates; a network is made of LogicLayer and its relatives"
            )
    if len(set(layers)) < len(layers):
        raise HardwireError("a layer stands twice in the list; make one for each place")
    return list(layers)  # type: ignore[arg-type]  # each was checked


def _adopt(layers: Sequence[GateLayer]) -> Sequence[GateLayer]:
    """Layers without a method of their own give up their selector: the network's serves them."""
    for layer in layers:
        if not layer.own_choice:
            layer.selector = None
    return layers


def _widths(width: int | None, depth: int | None, widths: list[int] | None) -> list[int]:
    if widths is None:
        if width is None or depth is None:
            raise HardwireError("give width and depth (a flat network) or widths (a list, one for each layer)")
        widths = [width] * whole_number("depth", depth)
    elif width is not None or depth is not None:
        raise HardwireError("give either width and depth, or widths, not both")
    if not widths:
        raise HardwireError("widths [] leaves no layer; name at least one")
    return [whole_number("width", w) for w in widths]
