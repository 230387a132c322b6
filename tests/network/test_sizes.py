"""Sizes of layers: computed from their arguments alone, as large as the layer really is, and limited in files."""

import json

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_runs import small_net

import hardwire as hw
from hardwire import models
from hardwire.errors import HardwireError
from hardwire.files import tensors as tensorfile
from hardwire.layers import LAYERS, GateLayer, register_layer
from hardwire.layers.size import MOST_DERIVED


def flat_layers():
    wired = st.sampled_from([{}, {"wiring": "learned", "candidates": 3}, {"wiring": "structured"}])
    sizes = st.integers(4, 20)
    return st.builds(lambda inputs, neurons, options: hw.LogicLayer(inputs, neurons, **options), sizes, sizes, wired)


def table_layers():
    wired = st.sampled_from([{}, {"wiring": "learned", "candidates": 3}, {"wiring": "structured"}])
    sizes = st.integers(6, 20), st.integers(4, 20), st.integers(2, 6)
    return st.builds(
        lambda inputs, tables, arity, options: hw.LutLayer(inputs, tables, arity, **options), *sizes, wired
    )


@st.composite
def convolutions(draw):
    size, depth = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    shape = (2 * draw(st.integers(1, 2)), draw(st.integers(4, 6)), draw(st.integers(4, 6)))
    options = {"kernel_size": size, "tree_depth": depth, "padding": draw(st.integers(0, size - 1))}
    options |= draw(st.sampled_from([{}, {"arity": 2}, {"arity": 4, "tree_depth": 1}]))
    options |= {"stride": draw(st.integers(1, 3)), "candidates": draw(st.sampled_from([None, 2, 4]))}
    try:
        return hw.LogicConv2d(shape, 2 * draw(st.integers(1, 3)), groups=draw(st.integers(1, 2)), **options)
    except HardwireError:  # more leaves than places
        return hw.LogicConv2d(shape, 2, kernel_size=3, tree_depth=2)


@st.composite
def pools(draw):
    shape = (draw(st.integers(1, 3)), draw(st.integers(4, 6)), draw(st.integers(4, 6)))
    return hw.OrPool2d(draw(st.integers(2, 4)), draw(st.sampled_from([None, 1, 3])), shape=shape)


@st.composite
def edges(draw):
    levels, values = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    shape = (levels * values, draw(st.integers(1, 6)), draw(st.integers(1, 6)))
    steps = draw(st.lists(st.integers(1, levels), min_size=1, unique=True))
    planes = draw(st.none() | st.lists(st.integers(0, values - 1), min_size=1, unique=True))
    return hw.EdgeChannels(shape, levels, planes, steps)


@st.composite
def grids(draw):
    shape = (draw(st.integers(1, 2)), draw(st.integers(3, 5)), draw(st.integers(3, 5)))
    options = {"arity": draw(st.sampled_from([None, 4])), "votes": draw(st.sampled_from([1, 3]))}
    options |= {"border": draw(st.sampled_from(["periodic", "zero"])), "candidates": draw(st.sampled_from([None, 3]))}
    return hw.LocalLayer(shape, draw(st.integers(1, 3)), **options)


@st.composite
def loops(draw):
    state, bits, width = draw(st.integers(2, 6)), draw(st.integers(1, 4)), draw(st.integers(8, 12))
    cell = [hw.LogicLayer(state + bits, width), hw.LogicLayer(width, state + 2)]
    options = {"initial": draw(st.sampled_from(["zeros", "learned"]))}
    options |= {"outputs": draw(st.sampled_from(["last", "all", "sum"]))}
    return hw.Recurrent(cell, steps=draw(st.integers(1, 4)), state=state, **options)


EXAMPLES = {
    "logic": flat_layers(),
    "lut": table_layers(),
    "conv2d": convolutions(),
    "or-pool2d": pools(),
    "edges2d": edges(),
    "local": grids(),
    "recurrent": loops(),
}
ESTIMATED = ("edges2d", "local", "recurrent")  # kinds whose wires are no more than they say


def test_every_registered_layer_has_examples_here():
    # other tests register layers of their own
    own = {kind for kind, layer in LAYERS.items() if layer.__module__.startswith("hardwire.")}
    assert set(EXAMPLES) == own


@pytest.mark.parametrize("kind", EXAMPLES)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_the_size_of_a_layer_is_what_it_holds(kind, data):
    layer = data.draw(EXAMPLES[kind])
    size = type(layer).size_of(layer.config())
    for part in layer.modules():
        part.selector = None  # a few numbers, which do not grow
    held = {tensor.data_ptr() for tensor in layer.state_dict().values()}
    own = layer.cell if kind == "recurrent" else [layer]  # a loop's repetitions are limited by its outputs
    wires = [t for part in own for level in part.levels() for t in (level.wires, level.rows) if t is not None]
    derived = {tensor.data_ptr(): tensor.numel() for tensor in wires if tensor.data_ptr() not in held}
    assert size.state == sum(tensor.numel() for tensor in layer.state_dict().values())
    if kind in ESTIMATED:
        assert sum(derived.values()) <= size.derived <= 4 * sum(derived.values()) + 4 * size.state
    else:
        assert size.derived == sum(derived.values())


def test_a_layer_that_does_not_say_its_size_cannot_be_registered():
    class Endless(GateLayer):
        kind = "endless"

    with pytest.raises(HardwireError, match="layer endless has no class method size_of"):
        register_layer(Endless)
    assert "endless" not in LAYERS


CONV = {
    "shape": [1, 4, 4], "levels": 1, "kernels": 2, "kernel_size": 3, "tree_depth": 2, "padding": 0, "stride": 1,
    "groups": 1, "channels_per_kernel": 1, "candidates": None, "start": "tree", "bonus": 2.0, "seed": 0,
}  # fmt: skip
LOCAL = {
    "shape": [1, 4, 4], "kernel_size": 3, "border": "periodic", "arity": None, "votes": 1, "candidates": None,
    "start": "normal", "bonus": 5.0, "seed": 0, "neurons": 4,
}  # fmt: skip
LOOP = {
    "cell": [{"kind": "local", "arguments": LOCAL}], "steps": 2, "state": 16, "initial": "input", "outputs": "last",
    "held": False, "seed": 0,
}  # fmt: skip
POOL = {"shape": [1, 4, 4], "size": 2, "stride": 2, "gradient": "maximum"}


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        ("conv2d", CONV | {"tree_depth": 2**31}, "tree_depth 2147483648 is more than 16"),
        ("conv2d", CONV | {"kernels": 10**15}, "numbers, but the file has 0"),
        ("conv2d", CONV | {"shape": [10**9, 10**9, 10**9]}, "has more than"),
        ("conv2d", CONV | {"kernel_size": 10**9, "padding": 10**9 - 1}, "kernel_size 1000000000 is more than 4096"),
        ("conv2d", CONV | {"stride": 10**18}, "stride 1000000000000000000 is more than"),
        ("conv2d", CONV | {"candidates": 10**12}, "places"),
        ("conv2d", CONV | {"padding": None}, "padding None"),
        ("conv2d", {}, "needs the arguments shape, kernels"),
        ("or-pool2d", POOL | {"shape": [1, 11_000, 11_000], "size": 2, "stride": 1}, "numbers of wires are more"),
        ("or-pool2d", POOL | {"shape": [1, 2**13, 2**13], "size": 2**12, "stride": 1}, "numbers of wires are more"),
        ("or-pool2d", POOL | {"stride": 10**18}, "stride"),
        ("or-pool2d", POOL | {"shape": "444"}, "shape"),
        ("local", LOCAL | {"neurons": 10**15}, "numbers"),
        ("local", LOCAL | {"votes": 10**18}, "votes"),
        ("local", LOCAL | {"shape": [1, 2**13, 2**13]}, "numbers"),
        ("recurrent", LOOP | {"steps": 10**18}, "more than a loop may have"),
        ("recurrent", LOOP | {"state": 10**15}, "numbers"),
        ("recurrent", LOOP | {"cell": [{"kind": "recurrent", "arguments": LOOP}]}, "unknown kind of layer in a cell"),
        ("lut", {"inputs": 10, "tables": 10**15, "arity": 6}, "numbers, but the file has 0"),
        ("lut", {"inputs": 10, "tables": 10, "arity": 2**31}, "2147483648"),
        ("lut", {"inputs": 10, "tables": 10, "arity": 6, "candidates": 10**15}, "numbers, but the file has 0"),
        ("logic", {"inputs": 10, "neurons": 10**15}, "numbers, but the file has 0"),
        ("logic", {"inputs": 10, "neurons": 10, "candidates": 10**15}, "numbers, but the file has 0"),
    ],
)
def test_a_small_file_that_asks_for_much_memory_is_refused_before_anything_is_built(
    kind, arguments, message, tmp_path, monkeypatch
):
    for each in LAYERS.values():
        monkeypatch.setattr(each, "restore", None)  # not even tried
    config = models.config_of(small_net()) | {"layers": [{"kind": kind, "arguments": arguments}]}
    path = tmp_path / "net"
    tensorfile.write(path, models.KIND, models.VERSION, {}, {"config": json.dumps(config)})
    assert path.stat().st_size < 2000
    with pytest.raises(HardwireError, match=message):
        hw.load(path)


def test_the_limit_is_that_of_all_layers_together(tmp_path):
    side = int((MOST_DERIVED / 8) ** 0.5)  # four times as many wires as positions, so half of the limit
    config = models.config_of(small_net()) | {"layers": [{"kind": "or-pool2d", "arguments": pool(side)}] * 3}
    tensorfile.write(tmp_path / "net", models.KIND, models.VERSION, {}, {"config": json.dumps(config)})
    with pytest.raises(HardwireError, match="numbers of wires are more"):
        hw.load(tmp_path / "net")


def pool(side):
    return {"shape": [1, side, side], "size": 2, "stride": 1, "gradient": "maximum"}


def test_layers_made_in_python_have_the_same_limit():
    with pytest.raises(HardwireError, match="use fewer kernels"):
        hw.LogicConv2d((1, 4096, 4096), kernels=2, tree_depth=2, channels_per_kernel=1)
    with pytest.raises(HardwireError, match="numbers of wires are more"):
        hw.OrPool2d(2, stride=1, shape=(1, 11_000, 11_000))


def test_wires_computed_in_pieces_are_those_computed_at_once(monkeypatch):
    whole = hw.LogicConv2d((4, 9, 8), kernels=6, tree_depth=2, padding=1, candidates=3, seed=1)
    monkeypatch.setattr("hardwire.layers.conv._CHUNK", 50)
    pieces = hw.LogicConv2d((4, 9, 8), kernels=6, tree_depth=2, padding=1, candidates=3, seed=1)
    for a, b in zip(whole.levels(), pieces.levels(), strict=True):
        assert torch.equal(a.wires, b.wires)
