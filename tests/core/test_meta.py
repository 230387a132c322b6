"""Tensors on torch's meta device have a shape and no values: one clear line wherever values are needed."""

import pytest
import torch

import hardwire as hw

X, Y = torch.rand(8, 20).round(), torch.zeros(8, dtype=torch.int64)


def network(device="cpu"):
    return hw.LogicNetwork(20, 2, widths=[12, 8], seed=0).to(device)


@pytest.mark.parametrize(
    "action",
    [
        lambda: network()(X.to("meta")),
        lambda: network("meta")(X),
        lambda: network("meta")(X.to("meta")),
        lambda: hw.measure_gap(network("meta"), (X, Y)),
        lambda: hw.node_gaps(network("meta"), X),
        lambda: hw.gate_usage(network("meta")),
        lambda: hw.commitment(network("meta")),
        lambda: hw.Circuit.from_network(network("meta")),
        lambda: hw.save(network("meta"), "net.safetensors"),
        lambda: hw.fit(network("meta"), (X, Y), 2, 4),
        lambda: hw.select(torch.zeros(3, device="meta"), torch.zeros(3, device="meta")),
        lambda: hw.Choice(3, seed=0)(torch.zeros(2, 3, device="meta")),
        lambda: hw.Bits.pack(X.to("meta")),
    ],
)
def test_values_that_are_not_there_are_named(action):
    with pytest.raises(hw.HardwireError, match="meta device"):
        action()
