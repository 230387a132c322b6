"""Small networks and inputs of odd shapes for the tests of the core, and the way from a network to oracle's lists."""

import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st

import hardwire as hw
from hardwire.engine import ENGINES, native
from hardwire.selection import STRAIGHT_THROUGH

METHODS = ("soft-mix", "soft-gumbel", "hard-st", "gumbel-st")
TAUS = (0.05, 0.5, 1.0, 2.0)

property_test = settings(deadline=None, max_examples=30, derandomize=True)
needs_native = pytest.mark.skipif(
    not native.available(),
    reason="needs the native engine: apt install g++ python3-dev, then make clean and make install",
)


ENGINES_HERE = [name for name in ENGINES if name != "native" or native.available()]


@st.composite
def networks(draw, methods=METHODS, cage=False):
    """1 to 9 inputs, depth 1 to 4, odd widths, sometimes ties among the logits; the reference engine in float64."""
    engine = draw(st.sampled_from(ENGINES_HERE))
    classes = draw(st.integers(2, 4))
    widths = [*draw(st.lists(st.integers(1, 11), max_size=3)), classes * draw(st.integers(1, 4))]
    net = hw.LogicNetwork(
        draw(st.integers(1, 9)),
        classes,
        widths=widths,
        method=draw(st.sampled_from(methods)),
        tau=1.0 if cage else draw(st.sampled_from(TAUS)),
        cage=cage,
        seed=draw(st.integers(0, 2**40)),
        engine=engine,
        straight_through=draw(st.sampled_from(list(STRAIGHT_THROUGH))),
    )
    if engine == "reference":
        net.double()
    if draw(st.booleans()):
        with torch.no_grad():
            for layer in net.layers:
                layer.logits.round_()
    return net


def random_input(net, rows, binary=False, seed=0):
    """Doubles [rows, inputs], uniform in [0, 1] or all 0 and 1."""
    x = torch.rand(rows, net.inputs, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    return x.round() if binary else x


def logits_of(net):
    return [layer.logits.tolist() for layer in net.layers]


def wirings_of(net):
    return [layer.wiring.tolist() for layer in net.layers]


def close(actual, expected, tolerance):
    """Raises unless a tensor equals the oracle's numbers to within a relative and absolute tolerance."""
    expected = torch.as_tensor(expected, dtype=torch.float64)
    torch.testing.assert_close(actual.detach().double(), expected, rtol=tolerance, atol=tolerance)
