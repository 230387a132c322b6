"""What a run measures beside its gap: against autograd, against brute force, and with the network left as it was."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import hardwire as hw
from hardwire.gates import COEFFICIENTS
from hardwire_paper.measured import Measures, forwards, gradients, hessian
from hardwire_paper.theory import single_nodes


@pytest.fixture(scope="module")
def data():
    return hw.data.load("digits")


def layer_and_logits(neurons=20, rows=6, seed=0):
    g = torch.Generator().manual_seed(seed)
    a, b = torch.randint(0, 2, (2, rows, neurons), generator=g).double()
    y = torch.randint(0, 5, (rows,), generator=g)
    return hessian.LastLayer(a, b, y, 5, 1.3), torch.randn(neurons, 16, generator=g, dtype=torch.float64)


def test_slopes_and_trace_are_autograds():
    layer, z = layer_and_logits()

    def loss(flat):
        return layer.losses(torch.softmax(flat.view(z.shape), -1)).mean()

    flat = z.flatten()
    full = torch.autograd.functional.hessian(loss, flat)
    weights = torch.softmax(z, -1)
    assert layer.trace(weights) == pytest.approx(full.trace().item(), rel=1e-9)
    slopes = torch.autograd.functional.jacobian(loss, flat)
    torch.testing.assert_close(layer.slopes(weights).flatten(), slopes)


def test_the_expansion_meets_monte_carlo_at_high_tau_and_not_at_low():
    layer, z = layer_and_logits()
    sizes = hessian.measured(layer, z, (0.1, 64.0), 3000)
    ratios = {tau: hessian.expansion(layer, z, tau) / sizes[tau][0] for tau in sizes}
    assert ratios[64.0] == pytest.approx(1, abs=0.1) and abs(ratios[0.1] - 1) > 0.3


def test_monte_carlo_without_its_control_has_the_same_mean():
    layer, z = layer_and_logits()
    tau, draws = 1.0, 4000
    mean, error = hessian.measured(layer, z, (tau,), draws)[tau]
    noise = torch.from_numpy(np.random.default_rng(1).gumbel(size=(draws, *z.shape)))
    plain = torch.stack([layer.losses(torch.softmax((z + n) / tau, -1)).mean() for n in noise])
    plain -= layer.losses(torch.softmax(z / tau, -1)).mean()
    assert abs(plain.mean() - mean) < 5 * (plain.std() / draws**0.5 + error)


def test_on_single_nodes_the_expansion_is_right_from_tau_16_on():
    ratios = {term.tau: term.expansion / term.measured for term in single_nodes.hessian_terms()}
    assert all(abs(ratio - 1) < 0.04 for tau, ratio in ratios.items() if tau >= 16)
    assert all(abs(ratio - 1) > 0.08 for tau, ratio in ratios.items() if tau <= 2)


def test_the_last_layer_is_the_networks_own(data):
    net = hw.LogicNetwork(data.inputs, data.classes, 100, 2, method="soft-mix", tau=0.5, seed=0)
    measured = hessian.measure(net, data)
    assert {name.split(".", 1)[1].rsplit(".", 1)[1] for name in measured} == {"measured", "error", "expansion"}
    x, y = data.test.batch(slice(hessian.ROWS))
    h = x.unpack(torch.float64)
    for level in net.stack().levels[:-1]:
        w = F.one_hot(level.logits.argmax(-1), 16).double() @ torch.tensor(COEFFICIENTS, dtype=torch.float64)
        a, b = h[:, level.wires[0]], h[:, level.wires[1]]
        h = w[:, 0] + w[:, 1] * a + w[:, 2] * b + w[:, 3] * a * b
    level = net.stack().levels[-1]
    temperature = net.group_sum.temperature_for(100)
    layer = hessian.LastLayer(h[:, level.wires[0]], h[:, level.wires[1]], y, 10, temperature)
    z = level.logits.detach().double()
    assert measured["hessian.2.expansion"] == pytest.approx(hessian.expansion(layer, z, 2.0))
    deployed = layer.losses(F.one_hot(z.argmax(-1), 16).double()).mean()
    torch.testing.assert_close(deployed.float(), F.cross_entropy(net.eval()(x), y).detach())


def test_gradients_are_a_training_steps_and_the_network_is_left_alone(data):
    net = hw.LogicNetwork(data.inputs, data.classes, 60, 3, method="hard-st", tau=0.7, seed=1)
    before = {name: value.clone() for name, value in net.state_dict().items()}
    x, y = data.train.batch(slice(50))
    measured = gradients.by_level(net, x, y)
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    F.cross_entropy(net.train()(x), y).backward()
    sizes = [level.logits.grad.double().square().mean().sqrt().item() for level in net.stack().levels]
    assert measured["gradient"] == pytest.approx(sizes) and len(measured["gradient_median"]) == 3


def test_both_noisy_passes_share_their_draws(data):
    """At a tiny temperature a mixture of noisy logits is its largest: then both passes are one."""
    net = hw.LogicNetwork(data.inputs, data.classes, 100, 2, method="soft-gumbel", tau=1e-4, seed=0)
    measured = forwards.measure(net, data)
    assert measured["forward.soft-gumbel"] == measured["forward.gumbel-st"] != measured["forward.argmax"]
    assert (
        measured["forward.hard-st"]
        == measured["forward.argmax"]
        == pytest.approx(measured["forward.soft-mix"], abs=0.01)
    )


def test_the_pass_of_hard_methods_does_not_depend_on_tau_and_a_pass_that_does_is_noticed(data, monkeypatch):
    net = hw.LogicNetwork(data.inputs, data.classes, 100, 2, method="gumbel-st", seed=0)
    assert forwards.measure(net, data)["decoupled.difference"] == 0
    soft = hw.LogicNetwork(data.inputs, data.classes, 100, 2, method="soft-mix", seed=0)
    assert forwards._change(soft, data.test.x[:8]) > 0


def test_an_evaluation_has_training_accuracy_gradients_and_cages_average(data):
    net = hw.LogicNetwork(data.inputs, data.classes, 60, 2, method="hard-st", cage=True, seed=0)
    hw.fit(net, data, 3, 32, evaluate_every=3, progress=False)
    measured = Measures(data.train)(net, data.test)
    assert measured["train_deploy"] == hw.measure_gap(net, data.train).deploy == measured["train_method"]
    assert measured["ema"] == net.selector.temperature.confidence.item() != measured["confidence"]
    assert len(measured["gradient"]) == 2
