"""`LogicNetwork`: layers of gates and class sums, run as one operation.

A network has equal widths as in the paper, a list of widths, or a list of layers. The whole forward pass goes to the
engine at once, so that a fast engine can fuse it; `fuse` does the same for an nn.Sequential of layers of gates.
Surprising: all layers without a method of their own share one selector, because CAGE uses the confidence of the whole
network.
"""

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from hardwire.bits import Columns, Encoder
from hardwire.engine.functions import Fixed
from hardwire.engine.stack import Head, Input, frozen_gates, frozen_tables
from hardwire.errors import HardwireError, whole_number
from hardwire.gates import GATES
from hardwire.layers import (
    Fused,
    GateLayer,
    GroupSum,
    LogicLayer,
    LutLayer,
    NetworkPart,
    NumberSum,
    Recurrent,
    Selector,
    check_groups,
    check_input,
    class_sums,
    parts_of,
    selection_mode,
)
from hardwire.randomness import check_seed, child_seed
from hardwire.selection import Method, first_argmax
from hardwire.temperature import Temperature
from hardwire.wiring import accepts_option

MOST_LAYERS = 10_000  # of a network by width and depth


def layer_seed(seed: int, number: int) -> int:
    """The seed of layer number `number` of a network with this seed."""
    return child_seed(seed, f"layers.{number}")


class LayerList(nn.ModuleList):
    """An nn.ModuleList of layers of gates, for type checkers."""

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[GateLayer]: ...
        def __getitem__(self, index: int) -> GateLayer: ...  # type: ignore[override]


class LogicNetwork(Fused):
    """A network of gates or look-up tables: [batch, inputs] -> class scores [batch, classes], or a number [batch, 1].

    The input is a float tensor in [0, 1] or packed `Bits`. In `eval()` the network is its deployed circuit.

    Args:
        inputs: The number of inputs.
        classes: The number of classes.
        width: The number of neurons in each layer, a multiple of classes.
        depth: The number of layers.
        widths: The number of neurons of each layer, in place of width and depth; the last is a multiple of classes.
        arity: 2 to 6 for layers of look-up tables with so many inputs each; by default layers of two-input gates, each
            one of 16.
        layers: A list of layers, in place of inputs, widths and layer options.
        method: "soft-mix", "soft-gumbel", "hard-st" or "gumbel-st"; the last two also with "+cage".
        tau: The temperature, a number or a temperature object.
        cage: The same as "+cage": set the backward temperature by the network's confidence.
        seed: The seed of wires, initial logits and noise. By default torch's generator gives one.
        number: (low, high) in place of classes: the range of a number to compute, trained by its squared error. See
            `NumberSum`.
        group_temperature: The temperature of the class sums; by default the paper's alpha(C) * sqrt(k).
        encoder: The encoder that turns raw values into the input bits. It is saved with the network and exported.
        engine: "auto", "native" or "reference".
        wire_method: The method of learned wires; by default that of gates.
        noise: For the noisy methods: one draw for each "pass" or one for each "sample".
        wire_gradient: For hard methods: whether learned wires learn from the gradient through the "chosen" gate or
            through the "mixture" of gates.
        straight_through: For hard methods: what the backward pass differentiates, one of
            `selection.STRAIGHT_THROUGH`. By default "output" for gumbel-st and "weights" for hard-st.
        surrogate: "clean" or "noisy", a part of straight_through.
        input_gradient: "chosen" or "mixture", the other part.
        input_subset: The inputs that the first layer may wire; by default all.
        **layer_options: Arguments of every layer, such as wiring, candidates, start and bonus. See `LogicLayer`
            and `LutLayer`.

    Example:
        >>> import hardwire as hw
        >>> data = hw.data.load("digits")
        >>> net = hw.LogicNetwork(data.inputs, data.classes, width=300, depth=2, method="hard-st", cage=True, seed=0)
        >>> history = hw.fit(net, data, iterations=100, batch_size=100, lr=0.02, progress=False)
        >>> net.predict(data.test.x[:3]).shape
        torch.Size([3])
    """

    def __init__(
        self,
        inputs: int | None = None,
        classes: int | None = None,
        width: int | None = None,
        depth: int | None = None,
        *,
        widths: list[int] | None = None,
        arity: int | None = None,
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
        wire_gradient: str = "chosen",
        straight_through: str | None = None,
        surrogate: str | None = None,
        input_gradient: str | None = None,
        input_subset: Sequence[int] | None = None,
        **layer_options: Any,
    ):
        super().__init__(engine)
        self.group_sum = class_sums(classes, number, group_temperature)
        self.classes = self.group_sum.classes
        seed = check_seed(seed)
        if layers is None:
            widths = _widths(width, depth, widths)
            check_groups(widths[-1], self.classes)
            inputs = whole_number("inputs", inputs)
            layers = _make_layers(inputs, widths, arity, self.classes, seed, layer_options, input_subset)
        elif layer_options or any(given is not None for given in (inputs, width, depth, widths, arity, input_subset)):
            raise HardwireError("give either layers, or inputs and widths (with wiring, start and so on), not both")
        self.layers = LayerList(connect_layers(_adopt(check_layers(layers))))
        self.selector = Selector(
            method, tau, cage, seed, choices=_choices(self.layers), wire_method=wire_method, noise=noise,
            wire_gradient=wire_gradient, straight_through=straight_through, surrogate=surrogate,
            input_gradient=input_gradient,
        )  # fmt: skip
        self.inputs = self.layers[0].inputs
        self._finish(encoder)

    def _finish(self, encoder: Encoder | None) -> None:
        """Checks that the layers fit the classes and the encoder, and prepares the selectors for them."""
        check_groups(self.widths[-1], self.classes)
        for part in self.parts():
            if part.selector is not None:
                part.selector.prepare_for([part.level])
        self.encoder = encoder
        self.columns: Columns | None = None  # the names of raw values and answers, if a table gave them
        if encoder is not None and encoder.features != self.inputs:
            raise HardwireError(f"the encoder makes {encoder.features} bits but the network reads {self.inputs}")

    def parts(self) -> list[NetworkPart]:
        return parts_of(self.layers, self.selector)

    def head(self) -> Head:
        return self.group_sum.head(self.layers[-1].neurons)

    def forward(self, x: Input) -> torch.Tensor:
        check_input(x, self.inputs)
        return self.group_sum.shift(self.run(x), self.widths[-1])

    def with_steps(self, steps: int) -> "LogicNetwork":
        """The same network for sequences of another length; both share their parameters, so training one trains both.

        Args:
            steps: The number of steps of every loop in it.

        Example:
            >>> import hardwire as hw
            >>> loop = hw.Recurrent(hw.LogicLayer(4 + 1, 4 + 2, seed=0), steps=8, state=4)
            >>> net = hw.LogicNetwork(layers=[loop], classes=2, seed=0)
            >>> net.inputs, net.with_steps(16).inputs
            (8, 16)
        """
        layers = [layer.with_steps(steps) if isinstance(layer, Recurrent) else layer for layer in self.layers]
        if not any(isinstance(layer, Recurrent) for layer in layers):
            raise HardwireError("a network without a loop has no steps; give it a hw.Recurrent")
        longer = _assembled(layers, self.group_sum, self.selector, self.engine)
        longer.columns = self.columns
        return longer.train(self.training)

    @property
    def widths(self) -> list[int]:
        """The number of neurons of each layer."""
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
        """The deployed gate of every neuron, uint8 [neurons] for each level: the largest logit, ties to the lowest.

        Look-up tables of more inputs are not gates; `tables` has them.
        """
        return [frozen_gates(part.level) for part in self.parts()]

    @torch.no_grad()
    def tables(self) -> list[torch.Tensor]:
        """The deployed function of every neuron, uint8 [neurons, 2**n] for each level.

        Column `address` is the output where input j is bit j of the address.
        """
        return [frozen_tables(part.level) for part in self.parts()]

    @torch.no_grad()
    def predict(self, x: Input) -> torch.Tensor:
        """The classes that the deployed circuit predicts, or the numbers that it computes.

        Args:
            x: A float tensor [batch, inputs] in [0, 1], or Bits.

        Returns:
            int64 [batch], ties to the lowest class; for a network of numbers float64 [batch].
        """
        with selection_mode(self, "deploy"):
            scores = self(x)
        return scores[:, 0] if isinstance(self.group_sum, NumberSum) else first_argmax(scores)


def _make_layers(
    inputs: int,
    widths: list[int],
    arity: int | None,
    classes: int,
    seed: int,
    options: dict[str, Any],
    input_subset: Sequence[int] | None,
) -> list[GateLayer]:
    """Layers of these widths: of two-input gates, or of look-up tables with `arity` inputs each."""
    last = len(widths) - 1
    kind: Any = LogicLayer if arity is None else functools.partial(LutLayer, arity=arity)
    return [
        kind(
            below,
            neurons,
            seed=layer_seed(seed, number),
            groups=classes if number == last else 1,
            input_subset=None if number else input_subset,
            **(options | ({"layer": number} if accepts_option(options.get("wiring", ""), "layer") else {})),
        )
        for number, (below, neurons) in enumerate(zip([inputs, *widths], widths, strict=False))
    ]


def _choices(layers: Iterable[GateLayer]) -> int:
    """Among how many functions the layers choose, for CAGE: that of look-up tables if there is nothing else."""
    levels = [level for layer in layers for level in layer.levels() if level.logits is not None]
    kinds = {level.function.choices for level in levels if not isinstance(level.function, Fixed)}
    return kinds.pop() if len(kinds) == 1 else len(GATES)


def fuse(model: nn.Module) -> LogicNetwork:
    """Turns an nn.Sequential of layers of gates and a GroupSum into one network that runs as one operation.

    Parameters, choices and noise are the same. The network shares the layers of the model, so training one trains both.

    Args:
        model: The nn.Sequential; a LogicNetwork is returned as it is.

    Returns:
        The network.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> model = torch.nn.Sequential(hw.LogicLayer(64, 100, seed=0), hw.GroupSum(10))
        >>> net = hw.fuse(model)
        >>> net.layers[0] is model[0]
        True
    """
    if isinstance(model, LogicNetwork):
        return model
    children = list(model.children()) if isinstance(model, nn.Sequential) else []
    if len(children) < 2 or not isinstance(children[-1], GroupSum):
        raise HardwireError(
            f"{type(model).__name__} is not a network of gates; give a LogicNetwork, or an nn.Sequential of layers of "
            "gates with a GroupSum at the end"
        )
    layers = check_layers(children[:-1])
    unused = Selector(seed=0)  # every layer has its own
    net = _assembled(layers, children[-1], unused, layers[0].engine)
    return net.train(model.training)


def _assembled(layers: Sequence[GateLayer], group_sum: GroupSum, selector: Selector, engine: str) -> LogicNetwork:
    """A network of these very modules, without a change to any of them."""
    net = LogicNetwork.__new__(LogicNetwork)
    Fused.__init__(net, engine)
    net.classes, net.group_sum, net.selector = group_sum.classes, group_sum, selector
    net.layers = LayerList(connect_layers(layers))
    net.inputs = net.layers[0].inputs
    net._finish(encoder=None)
    return net


def check_layers(layers: Sequence[nn.Module]) -> list[GateLayer]:
    if not layers:
        raise HardwireError("layers [] leaves no layer; name at least one")
    for layer in layers:
        if not isinstance(layer, GateLayer):
            raise HardwireError(
                f"{type(layer).__name__} is not a layer of gates; a network consists of layers such as LogicLayer"
            )
    if len(set(layers)) < len(layers):
        raise HardwireError("a layer is in the list twice; make one for each position")
    return list(layers)  # type: ignore[arg-type]  # each was checked


def connect_layers(layers: Sequence[GateLayer]) -> Sequence[GateLayer]:
    """Tells each layer the shape of the one before; raises where they do not fit each other."""
    shape = layers[0].input_shape
    for layer in layers:
        layer.connect(shape)
        shape = layer.output_shape
    return layers


def _adopt(layers: Sequence[GateLayer]) -> Sequence[GateLayer]:
    """Removes the selector of layers without a method of their own, which then use that of the network.

    The other selectors get new seeds for their noise, so that no two layers, nor a layer and the network, share draws.
    """
    for number, layer in enumerate(layers):
        if not layer.own_choice:
            layer.selector = None
        elif layer.selector is not None:
            layer.selector.seed = layer_seed(layer.selector.seed, number)
    return layers


def equal_widths(width: int, depth: int) -> list[int]:
    """The widths of a flat network: `depth` layers of `width` neurons."""
    if whole_number("depth", depth) > MOST_LAYERS:
        raise HardwireError(f"depth {depth} is more than {MOST_LAYERS} layers; use fewer and wider ones")
    return [whole_number("width", width)] * depth


def _widths(width: int | None, depth: int | None, widths: list[int] | None) -> list[int]:
    if widths is None:
        if width is None or depth is None:
            raise HardwireError("give width and depth (a flat network) or widths (a list, one for each layer)")
        widths = equal_widths(width, depth)
    elif width is not None or depth is not None:
        raise HardwireError("give either width and depth, or widths, not both")
    if not widths:
        raise HardwireError("widths [] leaves no layer; name at least one")
    return [whole_number("width", w) for w in widths]
