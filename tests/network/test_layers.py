import copy
import pickle

import oracle
import pytest
import torch
from cases import METHODS, close
from torch import nn

import hardwire as hw
from hardwire.layers import Selector
from hardwire.temperature import CAGE, Linear


def stack_like(net):
    """An nn.Sequential of layers and a group sum with the weights and wiring of a LogicNetwork."""
    sizes = zip([net.inputs, *net.widths], net.widths, strict=False)
    layers = [hw.LogicLayer(*size, method=net.method, tau=net.tau, seed=99) for size in sizes]
    for layer, source in zip(layers, net.layers, strict=True):
        layer.load_state_dict(source.state_dict(), strict=False)
    return nn.Sequential(*layers, hw.GroupSum(net.classes))


@pytest.mark.parametrize("method", ["soft-mix", "hard-st"])
def test_a_sequential_of_layers_equals_a_network_with_the_same_weights(method):
    net = hw.LogicNetwork(7, 3, widths=[11, 10, 12], method=method, tau=0.5, seed=4)
    stack = stack_like(net)
    x = torch.rand(6, 7)
    for model in (net, stack):
        model(x).square().sum().backward()
    for layer, module in zip(net.layers, stack, strict=False):
        torch.testing.assert_close(layer.logits.grad, module.logits.grad)
    for mode in ("method", "argmax", "deploy"):
        with hw.selection_mode(net, mode), hw.selection_mode(stack, mode):
            torch.testing.assert_close(net(x), stack(x))
    torch.testing.assert_close(net.eval()(x), stack.eval()(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("method", ["soft-mix", "soft-gumbel"])
def test_a_deep_sequential_of_mixtures_takes_its_own_rounding_errors(method, dtype):
    x = torch.rand(64, 20, generator=torch.Generator().manual_seed(0)).round().to(dtype)
    for seed in range(5):
        sizes = [(20, 200), (200, 200), (200, 200), (200, 200)]
        layers = [hw.LogicLayer(*size, method, tau=0.1, seed=10 * seed + i) for i, size in enumerate(sizes)]
        assert nn.Sequential(*layers).to(dtype)(x).shape == (64, 200)


def test_training_runs_the_methods_pass_and_eval_the_deployed_one():
    layer = hw.LogicLayer(6, 9, "soft-mix", seed=0)
    x = torch.rand(5, 6)
    trained, deployed = layer.train()(x), layer.eval()(x)
    gates, (first, second) = [oracle.argmax(z) for z in layer.logits.tolist()], layer.wiring.tolist()
    expected = [
        [oracle.hard_gate(g, row[a], row[b]) for g, a, b in zip(gates, first, second, strict=True)]
        for row in x.tolist()
    ]
    close(deployed, expected, 0)
    assert not torch.equal(trained, deployed)


def test_deployment_thresholds_strictly_above_one_half():
    layer = hw.LogicLayer(1, 1, seed=0).eval()
    with torch.no_grad():
        layer.logits.copy_(torch.eye(16)[3])  # gate A: the input itself
    assert layer(torch.tensor([[0.5], [0.50001], [0.49999], [1.0]])).tolist() == [[0], [1], [0], [1]]


@pytest.mark.parametrize("classes, neurons", [(2, 2), (2, 10), (3, 12), (10, 1000)])
def test_group_sum_adds_contiguous_equal_groups_over_the_papers_temperature(classes, neurons):
    x = torch.rand(4, neurons, dtype=torch.float64)
    close(hw.GroupSum(classes)(x), [oracle.class_scores(row, classes) for row in x.tolist()], 1e-12)


@pytest.mark.parametrize("classes, alpha", [(10, 0.49), (100, 0.27), (1000, 0.19)])
def test_the_group_temperature_is_the_papers_for_common_numbers_of_classes(classes, alpha):
    # the paper prints 0.49 for 0.4902, 0.27 for 0.2681 and 0.19 for 0.1867
    assert hw.GroupSum(classes).temperature_for(classes * 100) == pytest.approx(10 * alpha, abs=0.05)


def test_a_given_group_temperature_is_used():
    assert hw.GroupSum(2, temperature=4.0)(torch.ones(1, 6)).tolist() == [[0.75, 0.75]]


def test_logits_start_as_standard_normal_variables():
    logits = hw.LogicLayer(50, 4000, seed=0).logits
    assert logits.mean().item() == pytest.approx(0, abs=0.02)
    assert logits.std().item() == pytest.approx(1, abs=0.02)


def test_layers_without_a_seed_obey_torchs_generator():
    torch.manual_seed(1)
    first, second = hw.LogicLayer(5, 6), hw.LogicLayer(5, 6)
    torch.manual_seed(1)
    again = hw.LogicLayer(5, 6)
    assert torch.equal(first.logits, again.logits)
    assert torch.equal(first.wiring, again.wiring)
    assert not torch.equal(first.logits, second.logits)


def test_a_layer_alone_moves_cage_by_its_own_confidence():
    layer = hw.LogicLayer(5, 6, "hard-st", cage=True, seed=0)
    confidences = []
    for _ in range(3):
        confidences.append(oracle.confidence([layer.logits.tolist()]))
        layer(torch.rand(2, 5))
        layer.logits.data.mul_(2)
    assert layer.selector.temperature.tau.item() == pytest.approx(oracle.cage(confidences)[-1], rel=1e-5)


def test_a_schedule_moves_with_the_training_steps():
    layer = hw.LogicLayer(5, 6, "soft-mix", tau=Linear(2.0, 1.0, steps=3), seed=0)
    seen = []
    for _ in range(4):
        layer(torch.rand(2, 5))
        seen.append(layer.selector.temperature.tau.item())
    assert seen == [2.0, 1.5, 1.0, 1.0]


@pytest.mark.parametrize("mode", ["Method", "soft", None])
def test_an_unknown_mode_lists_the_right_ones(mode):
    with pytest.raises(hw.HardwireError, match="method, argmax, deploy"), hw.selection_mode(hw.LogicLayer(3, 2), mode):
        pass


def test_a_forced_mode_ends_with_its_block_even_after_an_error():
    layer = hw.LogicLayer(5, 6)
    with pytest.raises(RuntimeError), hw.selection_mode(layer, "argmax"):
        assert layer.mode == "argmax"
        with hw.selection_mode(layer, "deploy"):
            assert layer.mode == "deploy"
        assert layer.mode == "argmax"
        raise RuntimeError
    assert layer.mode == "method"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("inputs, neurons, batch", [(1, 1, 1), (1, 5, 3), (2, 1, 1), (13, 3, 7)])
def test_odd_shapes_train_and_deploy(method, inputs, neurons, batch):
    layer = hw.LogicLayer(inputs, neurons, method, seed=0)
    out = layer(torch.rand(batch, inputs))
    out.sum().backward()
    assert out.shape == layer.eval()(torch.rand(batch, inputs)).shape == (batch, neurons)
    assert layer.logits.grad.isfinite().all()


BAD_INPUT = [
    (torch.rand(3, 4), "this layer reads"),
    (torch.rand(5), "this layer reads"),
    (torch.rand(2, 3, 5), "this layer reads"),
    (hw.Bits.pack(torch.ones(2, 4)), "this layer reads"),
    (torch.rand(0, 5), "batch is empty"),
    (torch.full((2, 5), 1.01), "lie in"),
    (torch.full((2, 5), -0.01), "lie in"),
    (torch.full((2, 5), float("nan")), "lie in"),
    (torch.full((2, 5), 255, dtype=torch.uint8), "divide bytes by 255"),
    (torch.ones(2, 5, dtype=torch.complex64), "float tensor"),
    ([[0.0] * 5], "not list"),
]


@pytest.mark.parametrize(("x", "rule"), BAD_INPUT)
@pytest.mark.parametrize("make", [lambda: hw.LogicLayer(5, 4), lambda: hw.LogicNetwork(5, 2, width=4, depth=1)])
def test_input_that_is_no_batch_of_truth_values_is_refused(make, x, rule):
    with pytest.raises(hw.HardwireError, match=rule):
        make()(x)


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: hw.LogicLayer(0, 4), "inputs 0"),
        (lambda: hw.LogicLayer(4, 2.5), "neurons 2.5"),
        (lambda: hw.LogicLayer(4, 2, "softmix"), "soft-mix, soft-gumbel, hard-st, gumbel-st"),
        (lambda: hw.LogicLayer(4, 2, tau=0), "tau 0 is not"),
        (lambda: hw.LogicLayer(4, 2, tau=-0.5), "tau -0.5 is not"),
        (lambda: hw.LogicLayer(4, 2, "soft-mix", cage=True), "CAGE adapts"),
        (lambda: hw.LogicLayer(4, 2, tau=CAGE(), cage=True), "not both"),
        (lambda: hw.LogicLayer(4, 2, "soft-mix", tau=CAGE()), "does not apply to soft-mix"),
        (lambda: hw.LogicLayer(4, 2, seed=-1), "seed -1"),
        (lambda: hw.LogicLayer(4, 2, seed=2**63), "2\\*\\*63"),
        (lambda: hw.LogicNetwork(4, 2, widths=[2], seed=2**63), "2\\*\\*63"),
        (lambda: Selector(seed=1.5), "seed 1.5"),
        (lambda: hw.GroupSum(1), "classes 1"),
        (lambda: hw.GroupSum(2, temperature=0), "group temperature 0"),
        (lambda: hw.GroupSum(2, temperature=float("nan")), "group temperature nan"),
        (lambda: hw.GroupSum(10)(torch.zeros(1, 1001)), "use a multiple of 10, such as 1000"),
        (lambda: hw.GroupSum(10)(torch.zeros(1, 0)), "such as 10"),
    ],
)
def test_bad_settings_are_refused(make, rule):
    with pytest.raises(hw.HardwireError, match=rule):
        make()


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_one_cage_shared_by_the_layers_of_a_sequential_moves_once_a_step_as_a_networks_does(engine):
    widths = [60, 50, 40]
    network = hw.LogicNetwork(16, 10, widths=widths, method="hard-st+cage", seed=1, engine=engine)
    shared = CAGE()
    layers = [
        hw.LogicLayer(inputs, width, tau=shared, seed=seed, engine=engine)
        for seed, (inputs, width) in enumerate(zip([16, *widths], widths, strict=False))
    ]
    for layer, own in zip(layers, network.layers, strict=True):
        layer.load_state_dict({name: value for name, value in own.state_dict().items()}, strict=False)
    model = torch.nn.Sequential(*layers, hw.GroupSum(10))
    x = torch.rand(8, 16).round()
    for step in range(5):
        for part in (network, model):
            part(x).sum().backward()
        with torch.no_grad():  # the logits differ from step to step, as in training
            for layer, own in zip(layers, network.layers, strict=True):
                change = 0.5 * torch.randn(own.logits.shape, generator=torch.Generator().manual_seed(step))
                own.logits += change
                layer.logits += change
        assert shared.confidence.item() == pytest.approx(network.selector.temperature.confidence.item(), rel=1e-6)
        assert shared.tau.item() == pytest.approx(network.tau, rel=1e-6)


def test_a_schedule_shared_by_several_layers_moves_once_a_step():
    shared = Linear(2.0, 1.0, 11)
    model = torch.nn.Sequential(*(hw.LogicLayer(8, 8, tau=shared, seed=seed) for seed in range(3)))
    for _ in range(3):
        model(torch.rand(4, 8).round()).sum().backward()
    assert shared.step.item() == 3 and shared.tau.item() == pytest.approx(1.8)


def test_a_copy_of_a_model_with_a_shared_cage_moves_on_its_own():
    shared = CAGE()
    model = torch.nn.Sequential(*(hw.LogicLayer(8, 8, tau=shared, seed=seed) for seed in range(2)))
    model(torch.rand(4, 8).round()).sum().backward()
    copied = pickle.loads(pickle.dumps(copy.deepcopy(model)))
    for _ in range(2):
        copied(torch.rand(4, 8).round()).sum().backward()
    own = copied[0].selector.temperature
    assert own is copied[1].selector.temperature and own is not shared
    assert own.confidence > shared.confidence


def test_cage_refuses_a_number_of_choices_that_is_not_the_choices_own():
    with pytest.raises(hw.HardwireError, match="normalised for 8 choices, not 16; make it with choices=16"):
        hw.LogicLayer(4, 2, tau=CAGE(choices=8))
    with pytest.raises(hw.HardwireError, match="normalised for 16 choices, not 3"):
        hw.Choice(3, tau=CAGE())


@pytest.mark.parametrize("options", [{}, {"wiring": "learned", "candidates": 3}])
def test_a_layer_wires_only_the_inputs_that_it_is_to_read(options):
    layer = hw.LogicLayer(50, 40, seed=0, input_subset=[3, 7, 11, 40], **options)
    assert layer.wiring.unique().tolist() == [3, 7, 11, 40]
    net = hw.LogicNetwork(50, 2, widths=[40, 20], seed=0, input_subset=[3, 7, 11, 40], **options)
    assert net.layers[0].wiring.unique().tolist() == [3, 7, 11, 40]
    assert len(net.layers[1].wiring.unique()) > 10


def test_an_input_named_twice_is_refused():
    with pytest.raises(hw.HardwireError, match="names one of the inputs twice"):
        hw.LogicLayer(50, 40, seed=0, input_subset=[3, 7, 3])


@pytest.mark.parametrize("input_subset", [[], [50], [-1], [0.5], 3, [True, False]])
def test_inputs_that_are_not_there_cannot_be_read(input_subset):
    with pytest.raises(hw.HardwireError, match="input_subset holds some of the inputs 0 to 49"):
        hw.LogicLayer(50, 40, seed=0, input_subset=input_subset)
