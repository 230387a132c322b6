"""A layer from outside that writes nonsense gets one clear error, from either engine, before anything is run."""

import pytest
import torch
from cases import needs_native

import hardwire as hw
from hardwire.engine.functions import Choose, Entries, Fixed
from hardwire.engine.stack import Level
from hardwire.layers import GateLayer, Selector

AND, OR = 1, 7


def wires(*sides, dtype=torch.int32):
    return torch.tensor(sides, dtype=dtype)


def logits(*shape):
    return torch.zeros(shape)


class Outside(GateLayer):
    """Whatever level it is given."""

    kind = "outside"

    def __init__(self, level, engine):
        super().__init__(engine)
        self.level, self.input_shape, self.output_shape = level, (2,), (level.neurons,)
        self.selector = Selector() if level.parameters() else None

    def levels(self):
        return [self.level]


WRONG = {
    "holds something other than 0 and 1": Level(2, 1, wires([0], [1]), Fixed((0, 1, 2, 0))),
    "functions have 8 values, and 2 inputs have 4": Level(2, 1, wires([0], [1]), Fixed((0, 1) * 4)),
    "functions have 16 values, and 2 inputs have 4": Level(2, 1, wires([0], [1]), Entries(logits(1, 16))),
    "neurons have 1 inputs; they may have 2 to 6": Level(2, 1, wires([0]), Entries(logits(1, 2))),
    "neurons have 7 inputs": Level(2, 1, wires(*[[0]] * 7), Entries(logits(1, 128))),
    "must lie in 0 to 1": Level(2, 1, wires([0], [9]), Fixed.of_gate(AND)),
    "-1 needs `padded`": Level(2, 1, wires([0], [-1]), Fixed.of_gate(AND)),
    r"logits are \[1, 8\], not \[rows, 16\]": Level(2, 1, wires([0], [1]), Choose(logits(1, 8))),
    "3 rows of logits for 1 neurons": Level(2, 1, wires([0], [1]), Choose(logits(3, 16))),
    r"rows are \[1\] numbers below 1": Level(
        2, 1, wires([0], [1]), Choose(logits(1, 16)), rows=torch.tensor([5], dtype=torch.int32)
    ),
    r"wires are \[2, 1\], not \[2, 3\]": Level(2, 3, wires([0], [1]), Fixed.of_gate(AND)),
    r"wires are \[2, 1\], not \[2, 1, 4\]": Level(2, 1, wires([0], [1]), Choose(logits(1, 16)), logits(2, 1, 4)),
    "the first level reads 5 values, not 2": Level(5, 1, wires([0], [4]), Fixed.of_gate(AND)),
    "did you mean maximum": Level(2, 1, wires([0], [1]), Fixed.of_gate(OR), gradient="maxmum"),
    'is for levels of the fixed gate OR': Level(2, 1, wires([0], [1]), Fixed.of_gate(AND), gradient="maximum"),
}  # fmt: skip


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("message", WRONG)
def test_a_level_that_makes_no_sense_is_refused(message, engine):
    with pytest.raises(hw.HardwireError, match=message):
        Outside(WRONG[message], engine)(hw.Bits.pack(torch.tensor([[1.0, 1.0]])))


def test_levels_that_do_not_follow_from_each_other_are_refused():
    layer = Outside(Level(2, 3, wires([0, 1, 0], [1, 0, 1]), Fixed.of_gate(AND)), "auto")
    layer.levels = lambda: [layer.level, Level(4, 1, wires([0], [3]), Fixed.of_gate(OR))]
    with pytest.raises(hw.HardwireError, match="it reads 4 values, and the level below makes 3"):
        layer(torch.tensor([[1.0, 1.0]]))


@needs_native
def test_logits_that_change_their_shape_are_seen():
    layer = hw.LogicLayer(4, 3, seed=0, engine="native")
    layer(torch.rand(2, 4))
    layer.logits = torch.nn.Parameter(torch.zeros(2, 16))
    with pytest.raises(hw.HardwireError, match="do not have the shape"):
        layer(torch.rand(2, 4))
