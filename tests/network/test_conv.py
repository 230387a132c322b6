"""Convolutions of gate trees and pooling: against a blackboard's, and through files, fit, measures and circuits."""

import oracle_levels
import pytest
import torch
from cases import property_test
from hypothesis import assume, given
from hypothesis import strategies as st
from small_runs import digits

import hardwire as hw


@st.composite
def convolutions(draw):
    channels, height, width = draw(st.integers(1, 3)), draw(st.integers(2, 6)), draw(st.integers(2, 6))
    size = draw(st.integers(1, 3))
    padding = draw(st.integers(0, size - 1))
    assume(min(height, width) + 2 * padding >= size)
    per_kernel = draw(st.integers(1, channels))
    arity = draw(st.sampled_from([None, None, 2, 3, 4, 6]))
    depth = draw(st.integers(1, 3))
    assume((arity or 2) ** depth <= per_kernel * size * size)
    return hw.LogicConv2d(
        (channels, height, width),
        kernels=draw(st.integers(1, 3)),
        kernel_size=size,
        tree_depth=depth,
        padding=padding,
        stride=draw(st.integers(1, 2)),
        channels_per_kernel=per_kernel,
        start=draw(st.sampled_from(["normal", "residual"] + (["tree"] if arity is None else []))),
        arity=arity,
        seed=draw(st.integers(0, 999)),
    )


def image_of(shape, seed=0):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)).round()


@property_test
@given(convolutions(), st.integers(0, 99))
def test_a_convolution_is_the_one_of_the_blackboard(layer, seed):
    image = image_of(layer.input_shape, seed)
    _, rows, columns = layer.output_shape
    nodes = [z.argmax(-1) if layer.arity is None else (z > 0).int() for z in layer.logits]
    tree_levels = [node.view(layer.kernels, -1, *node.shape[1:]).tolist() for node in nodes]
    expected = [
        oracle_levels.convolution(
            image.tolist(),
            layer.leaves[kernel, :, 0].tolist(),
            [tree_level[kernel] for tree_level in tree_levels],
            layer.stride,
            layer.padding,
            rows,
            columns,
        )
        for kernel in range(layer.kernels)
    ]
    out = layer.eval()(image.view(1, -1)).view(layer.output_shape)
    assert out.tolist() == expected


@property_test
@given(st.integers(1, 3), st.integers(2, 7), st.integers(2, 7), st.integers(2, 3), st.integers(1, 3))
def test_pooling_is_the_largest_of_every_window(channels, height, width, size, stride):
    assume(min(height, width) >= size)
    image = image_of((channels, height, width), seed=height * width)
    layer = hw.OrPool2d(size, stride, shape=(channels, height, width))
    out = layer(image.view(1, -1)).view(layer.output_shape)
    assert out.tolist() == oracle_levels.pool(image.tolist(), size, stride)


def test_the_gradient_of_pooling_goes_to_the_first_input_that_is_1():
    x = torch.tensor([[0.0, 1.0, 1.0, 0.0]], requires_grad=True)
    hw.OrPool2d(2, shape=(1, 2, 2))(x).sum().backward()
    assert x.grad.tolist() == [[0.0, 1.0, 0.0, 0.0]]
    x = torch.tensor([[0.0, 1.0, 1.0, 0.0]], requires_grad=True)
    hw.OrPool2d(2, shape=(1, 2, 2), gradient="formula").train()(x).sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0, 0.0, 0.0]], "either 1 alone keeps the OR at 1"


@pytest.mark.parametrize("groups", [1, 2])
def test_every_kernel_draws_different_leaves_from_few_channels_of_its_group(groups):
    layer = hw.LogicConv2d((8, 6, 6), kernels=12, kernel_size=3, tree_depth=3, groups=groups, seed=3)
    used = torch.zeros(8)
    for kernel, leaves in enumerate(layer.leaves[:, :, 0].tolist()):
        assert len({tuple(leaf) for leaf in leaves}) == 8
        channels = {channel for channel, _, _ in leaves}
        assert len(channels) <= 2
        assert {channel // (8 // groups) for channel in channels} == {kernel // (12 // groups)}
        used[list(channels)] += 1
    assert used.min() >= 2, "all channels take part"


def network(method="hard-st+cage", candidates=None):
    layers = [
        hw.LogicConv2d((5, 8, 8), 6, kernel_size=3, tree_depth=2, padding=1, candidates=candidates, seed=1),
        hw.OrPool2d(2),
        hw.LogicConv2d((6, 4, 4), 8, kernel_size=3, tree_depth=3, padding=1, seed=2),
        hw.OrPool2d(2),
        hw.LogicLayer(32, 60, seed=3),
        hw.LogicLayer(60, 40, seed=4, groups=10),
    ]
    return hw.LogicNetwork(classes=10, layers=layers, method=method, seed=0)


def images(data):
    """Digits have five thresholds a pixel: bits as channels, [5, 8, 8]."""
    x = data.x.unpack(torch.float32)
    return x.view(len(x), 64, 5).transpose(1, 2).flatten(1).contiguous()


@pytest.mark.parametrize("candidates", [None, 4])
def test_a_convolutional_network_trains_saves_loads_and_ships_as_a_circuit(tmp_path, candidates):
    data, net = digits(), network(candidates=candidates)
    train, test = (hw.data.Split(images(split), split.y) for split in (data.train, data.test))
    dataset = hw.data.Dataset("images", train, test, classes=10)
    options = {"iterations": 12, "batch_size": 32, "evaluate_every": 6, "progress": False}
    history = hw.fit(net, dataset, **options, checkpoint=tmp_path / "run")
    assert history.final.selection == history.final.computation == 0
    again = network(candidates=candidates)
    assert hw.fit(again, dataset, **options, checkpoint=tmp_path / "run") == history, "resumed at the end"
    hw.save(net, tmp_path / "net")
    loaded = hw.load(tmp_path / "net")
    assert torch.equal(loaded(test.x), net.eval()(test.x))
    circuit = hw.Circuit.from_network(loaded).simplify()
    assert circuit.predict(test.x.numpy() > 0.5).tolist() == net.predict(test.x).tolist()


@pytest.mark.parametrize("candidates", [None, 4])
def test_a_convolution_of_tables_trains_saves_and_loads(tmp_path, candidates):
    layers = [hw.LogicConv2d((5, 8, 8), 6, padding=1, arity=4, candidates=candidates, seed=1), hw.OrPool2d(2)]
    net = hw.LogicNetwork(classes=10, layers=[*layers, hw.LutLayer(96, 30, arity=4)], seed=0, cage=True)
    train, test = (hw.data.Split(images(split), split.y) for split in (digits().train, digits().test))
    history = hw.fit(net, hw.data.Dataset("images", train, test, classes=10), 12, 32, lr=0.05, progress=False)
    assert history.final.selection == history.final.computation == 0
    hw.save(net, tmp_path / "net")
    assert torch.equal(hw.load(tmp_path / "net")(test.x), net.eval()(test.x))


def test_a_state_of_other_leaves_rewires_the_layer():
    a, b = (hw.LogicConv2d((2, 5, 5), 4, tree_depth=2, seed=seed).eval() for seed in (1, 2))
    x = image_of((3, 50))
    assert not torch.equal(a(x), b(x))
    b.load_state_dict(a.state_dict())
    assert torch.equal(a(x), b(x))


@pytest.mark.parametrize(
    "method", ["soft-mix", "soft-gumbel", "hard-st", "gumbel-st", "hard-st+cage", "gumbel-st+cage"]
)
def test_any_method_trains_a_convolution(method):
    net = network(method)
    net(images(digits().train)[:7]).square().sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in net.parameters())
    assert sum(p.grad.abs().sum() > 0 for p in net.parameters()) > 4


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (
            lambda: hw.LogicConv2d((1, 4, 4), 2, kernel_size=2, tree_depth=3),
            "8 leaves, and the receptive field 4 places",
        ),
        (lambda: hw.LogicConv2d((1, 4, 4), 2, kernel_size=5, tree_depth=2), "has no place on an image of 4 x 4"),
        (lambda: hw.LogicConv2d((1, 4, 4), 2, kernel_size=2, tree_depth=1, padding=2), "nothing but padding"),
        (lambda: hw.LogicConv2d((3, 4), 2), "channels, height, width"),
        (lambda: hw.LogicConv2d((3, 4, 4), 4, groups=2), "cannot be split into 2 groups"),
        (lambda: hw.LogicConv2d((3, 4, 4), 4, candidates=40), "receptive field"),
        (lambda: hw.LogicConv2d((3, 4, 4), 4, start="nowhere"), "unknown start 'nowhere'"),
        (lambda: hw.LogicConv2d((3, 4, 4), 4, arity=4, start="tree"), "unknown start 'tree'"),
        (lambda: hw.LogicConv2d((3, 4, 4), 4, arity=7), "arity 7 is not from 2 to 6"),
        (lambda: hw.LogicConv2d((1, 4, 4), 4, kernel_size=2, arity=6), "6 leaves, and the receptive field 4 places"),
        (lambda: hw.OrPool2d(3, shape=(1, 2, 2)), "does not fit an image of 2 x 2"),
        (lambda: hw.OrPool2d(2)(torch.zeros(1, 4)), "has no image shape"),
        (lambda: hw.OrPool2d(2, gradient="steep"), "unknown gradient"),
        (
            lambda: hw.LogicNetwork(
                classes=2, layers=[hw.LogicConv2d((1, 4, 4), 2, tree_depth=1), hw.LogicLayer(9, 4)]
            ),
            "reads 9 values cannot follow one that makes 8",
        ),
        (lambda: hw.LogicNetwork(4, 2, layers=[hw.LogicLayer(4, 4)]), "either layers, or inputs and widths"),
        (lambda: hw.LogicNetwork(classes=2, layers=[]), "leaves no layer"),
        (lambda: hw.LogicNetwork(classes=2, layers=[torch.nn.Linear(2, 2)]), "Linear is not a layer of gates"),
        (lambda: hw.LogicNetwork(20, 2, widths=[4], wiring="learned", candidates=21), "use 2 to 20"),
        (lambda: hw.LogicNetwork(20, 2, widths=[4], wiring="learned", candidates=0), "candidates 0"),
        (lambda: hw.LogicNetwork(20, 2, widths=[4], wiring="lerned"), "did you mean learned"),
        (lambda: hw.LogicNetwork(20, 2, widths=[4], candidates=3), "takes no candidates"),
        (lambda: hw.LogicConv2d((1, 4, 4), 2, tree_depth=1)(torch.full((1, 16), 7.0)), r"must lie in \[0, 1\]"),
    ],
)
def test_what_does_not_fit_is_one_clear_error(make, rule):
    with pytest.raises(hw.HardwireError, match=rule):
        make()


def test_a_convolution_reads_the_thresholds_of_a_value_side_by_side_as_encoders_write_them():
    planes = hw.LogicConv2d((5, 8, 8), 4, tree_depth=3, padding=1, seed=1).eval()
    beside = hw.LogicConv2d((5, 8, 8), 4, tree_depth=3, padding=1, levels=5, seed=1).eval()
    data = digits().test
    assert torch.equal(beside(data.x), planes(images(data)))
