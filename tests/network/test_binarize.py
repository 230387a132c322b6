import numpy as np
import pytest
import torch
from small_runs import digits
from torch import nn

import hardwire as hw
from hardwire.bits import unpack


def test_what_goes_on_are_bits_exactly_and_thresholds_are_strict():
    layer = hw.Binarize(2, 2, thresholds=[[0.0, 1.0], [0.3, 0.3]])
    x = torch.tensor([[0.0, 0.3], [0.5, 0.31], [2.0, -1.0]])
    expected = [[0, 0, 0, 0], [1, 0, 1, 1], [1, 1, 0, 0]]
    assert layer(x).tolist() == expected
    with torch.no_grad():
        assert layer(x).tolist() == expected
    noise = torch.randn(1000, 2, requires_grad=True)
    assert set(layer(noise).unique().tolist()) == {0, 1}


def test_the_gradient_is_that_of_a_soft_step_of_width_tau():
    layer = hw.Binarize(3, 4, tau=0.7)
    x = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(5, 12, dtype=torch.float64)
    layer.double()
    (layer(x) * weights).sum().backward()
    gradients = x.grad.clone(), layer.thresholds.grad.clone()
    x.grad = layer.thresholds.grad = None
    (torch.sigmoid((x.unsqueeze(2) - layer.thresholds) / 0.7).flatten(1) * weights).sum().backward()
    torch.testing.assert_close((x.grad, layer.thresholds.grad), gradients)


def test_thresholds_start_as_quantiles_of_the_normal_distribution():
    x = torch.randn(20_000, 1, generator=torch.Generator().manual_seed(0))
    shares = hw.Binarize(1, 3)(x).mean(0)
    torch.testing.assert_close(shares, torch.tensor([0.75, 0.5, 0.25]), atol=0.02, rtol=0)


def test_float_features_train_together_with_gates_and_the_gates_become_a_circuit():
    data = digits()
    x_train, x_test = (torch.from_numpy(data.raw(split)).float() / 16 for split in ("train", "test"))
    torch.manual_seed(0)
    features = nn.Sequential(nn.Linear(64, 32), nn.BatchNorm1d(32), hw.Binarize(32, 2))
    gates = nn.Sequential(
        hw.LogicLayer(64, 200, cage=True, seed=0), hw.LogicLayer(200, 200, cage=True, seed=1), hw.GroupSum(10)
    )
    model = nn.Sequential(features, gates)
    before = features[0].weight.detach().clone()
    history = hw.fit(
        model, ((x_train, data.train.y), (x_test, data.test.y)), 150, 100, lr=0.02, evaluate_every=150, progress=False
    )
    assert history.final.deploy > 0.7 and history.final.total == 0
    assert not torch.equal(before, features[0].weight)
    with torch.no_grad():
        bits = features.eval()(x_test).numpy() > 0.5
        expected = model.eval()(x_test).argmax(1).numpy()
    assert np.array_equal(hw.Circuit.from_network(gates).predict(bits), expected)


def test_learned_thresholds_on_raw_values_are_an_encoder():
    layer = hw.Binarize(3, 5)
    raw = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    encoder = layer.encoder()
    assert np.array_equal(unpack(encoder.encode(raw), 15), layer(torch.from_numpy(raw)).detach().numpy())


@pytest.mark.parametrize(
    ("action", "rule"),
    [
        (lambda: hw.Binarize(0), "features 0"),
        (lambda: hw.Binarize(3, tau=0), "tau 0"),
        (lambda: hw.Binarize(3, thresholds=[[1.0]]), r"\[3, 1\]"),
        (lambda: hw.Binarize(2)(torch.zeros(4, 2, 2)), "nn.Flatten"),
    ],
)
def test_misuse_is_refused(action, rule):
    with pytest.raises(hw.HardwireError, match=rule):
        action()


@pytest.mark.parametrize("nested", [False, True])
def test_a_binarize_before_gates_is_the_encoder_of_their_circuit(nested):
    torch.manual_seed(0)
    gates = [hw.LogicLayer(12, 30, seed=0), hw.LogicLayer(30, 20, seed=1), hw.GroupSum(4)]
    first = hw.Binarize(4, 3, thresholds=torch.randn(4, 3))  # in no order, as training may leave them
    model = nn.Sequential(first, nn.Sequential(*gates)) if nested else nn.Sequential(first, *gates)
    raw = torch.randn(100, 4)
    expected = model.eval()(raw).argmax(1)
    circuit = hw.Circuit.from_network(model).simplify()
    assert np.array_equal(circuit.predict(raw.numpy(), raw=True), expected) and len(expected.unique()) > 1
