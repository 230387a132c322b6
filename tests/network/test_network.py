import oracle
import pytest
import torch
from cases import METHODS, logits_of, networks, property_test, random_input, wirings_of
from hypothesis import given

import hardwire as hw
from hardwire.temperature import Cosine


def small(**settings):
    return hw.LogicNetwork(6, 2, width=10, depth=2, **{"seed": 0, **settings})


X = torch.rand(4, 6, generator=torch.Generator().manual_seed(0))


@property_test
@given(networks())
def test_predictions_are_the_oracles_with_ties_to_the_lowest_class(net):
    x = random_input(net, 5)
    scores = oracle.scores(x.tolist(), logits_of(net), wirings_of(net), net.classes, "deploy")
    assert net.predict(x).tolist() == [oracle.argmax(row) for row in scores]
    assert net.training


def test_predict_is_the_deployed_circuit_under_any_forced_mode():
    net = small(method="soft-mix")
    with hw.selection_mode(net, "method"):
        assert torch.equal(net.predict(X), net.eval().predict(X))


@property_test
@given(networks())
def test_the_deployed_gates_are_the_first_largest_logits(net):
    expected = [[oracle.argmax(z) for z in layer] for layer in logits_of(net)]
    assert [gates.tolist() for gates in net.gates()] == expected


def test_the_seed_decides_wiring_logits_and_noise():
    one, same, other = (small(method="gumbel-st", seed=seed) for seed in (3, 3, 4))
    assert torch.equal(one(X), same(X))
    for a, b in zip(one.layers, other.layers, strict=True):
        assert not torch.equal(a.logits, b.logits)
        assert not torch.equal(a.wiring, b.wiring)
    assert not torch.equal(one.layers[0].logits, one.layers[1].logits)


@pytest.mark.parametrize("method", ["soft-gumbel", "gumbel-st"])
def test_one_draw_of_noise_is_shared_by_the_batch_and_each_step_has_its_own(method):
    net = small(method=method)
    scores = net(X[:1].expand(50, 6))
    torch.testing.assert_close(scores, scores[:1].expand(50, 2))
    assert len({tuple(net(X).flatten().tolist()) for _ in range(5)}) > 1


@pytest.mark.parametrize("method", METHODS)
def test_noise_leaves_batches_alone_under_measurement_and_repeats_when_it_is_repeated(method):
    net = small(method=method).eval()

    def measure():
        with torch.no_grad(), hw.selection_mode(net, "method"):
            return torch.stack([net(X) for _ in range(4)])

    first = measure()
    assert torch.equal(first, measure())
    noisy = method in oracle.NOISY_METHODS
    assert all(torch.equal(scores, first[0]) for scores in first) != noisy


def test_a_prediction_between_two_measured_batches_does_not_repeat_their_noise():
    net = small(method="soft-gumbel").eval()
    with torch.no_grad(), hw.selection_mode(net, "method"):
        first = net(X)
        net.predict(X)
        assert not torch.equal(net(X), first)


def test_measuring_does_not_disturb_the_noise_of_training():
    quiet, measured = small(method="gumbel-st"), small(method="gumbel-st")
    for _ in range(3):
        with torch.no_grad(), hw.selection_mode(measured, "method"):
            measured(X)
        measured.predict(X)
        assert torch.equal(quiet(X), measured(X))


@property_test
@given(networks(methods=oracle.HARD_METHODS, cage=True))
def test_cage_moves_once_in_each_training_step_by_the_confidence_of_all_nodes(net):
    x, confidences = random_input(net, 2), []
    for _ in range(3):
        confidences.append(oracle.confidence(logits_of(net)))
        net(x)
        assert net.tau == pytest.approx(oracle.cage(confidences)[-1], rel=1e-5)
        with torch.no_grad():
            for layer in net.layers:
                layer.logits.mul_(1.5)


def passes_that_only_measure(net):
    with torch.no_grad():
        net(X)
    with torch.inference_mode():
        net(X)
    for mode in ("method", "argmax", "deploy"):
        with hw.selection_mode(net, mode):
            net(X)
    net.predict(X)
    net.eval()(X)
    with hw.selection_mode(net, "method"):
        net(X)
    net.train()


@pytest.mark.parametrize("settings", [{"cage": True}, {"tau": Cosine(2.0, 1.0, 10)}])
def test_neither_temperature_nor_step_count_moves_in_a_pass_that_only_measures(settings):
    net = small(method="gumbel-st", **settings)
    net(X)
    before = {name: value.clone() for name, value in net.state_dict().items()}
    passes_that_only_measure(net)
    for name, value in net.state_dict().items():
        assert torch.equal(value, before[name]), name
    net(X)
    assert net.selector.steps == before["selector.steps"] + 1
    assert net.tau != before["selector.temperature.tau"]


def test_the_network_counts_and_names_what_it_was_given():
    net = hw.LogicNetwork(6, 2, widths=[3, 5, 8], method="gumbel-st", tau=0.5, seed=7)
    assert (net.inputs, net.classes, net.widths, net.method, net.tau, net.seed) == (
        6,
        2,
        [3, 5, 8],
        "gumbel-st",
        0.5,
        7,
    )
    assert [layer.logits.shape for layer in net.layers] == [(3, 16), (5, 16), (8, 16)]


def test_a_given_group_temperature_divides_the_class_sums():
    sums = small(group_temperature=1.0).eval()(X)
    assert torch.equal(sums, sums.round())
    torch.testing.assert_close(small(group_temperature=4.0).eval()(X), sums / 4)
    torch.testing.assert_close(small().eval()(X), sums / oracle.group_temperature(2, 5))


def test_an_encoder_is_kept_if_it_makes_the_networks_inputs():
    encoder = hw.Encoder.uniform(raw_features=2, levels=3, maximum=1)
    assert small(encoder=encoder).encoder is encoder
    with pytest.raises(hw.HardwireError, match="makes 6 bits but the network reads 5"):
        hw.LogicNetwork(5, 2, width=10, depth=2, encoder=encoder)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("method", METHODS)
def test_logits_that_are_not_finite_are_refused_in_every_pass(method, bad):
    net = small(method=method)
    net.layers[1].logits.data[3, 5] = bad
    actions = [lambda: net(X), lambda: net.predict(X), net.gates]
    for action in actions:
        with pytest.raises(hw.HardwireError, match="NaN or infinity"):
            action()


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"width": 1001, "depth": 2, "classes": 10}, "width 1001 .* such as 1000"),
        ({"width": 3, "depth": 2, "classes": 10}, "such as 10"),
        ({"width": 10, "depth": 0}, "depth 0"),
        ({"width": 10, "depth": 1.5}, "depth 1.5"),
        ({"width": 0, "depth": 1}, "width 0"),
        ({"width": 10}, "width and depth"),
        ({}, "width and depth"),
        ({"widths": []}, "no layer"),
        ({"widths": [3, -2]}, "width -2"),
        ({"widths": [4.7, 2]}, "width 4.7"),
        ({"widths": [4], "depth": 2}, "not both"),
        ({"width": 10, "depth": 1, "classes": 1}, "classes 1"),
        ({"width": 10, "depth": 1, "inputs": 0}, "inputs 0"),
        ({"width": 10, "depth": 1, "method": "hard"}, "choose one of: soft-mix, soft-gumbel, hard-st, gumbel-st"),
        ({"width": 10, "depth": 1, "tau": 0.0}, "tau 0.0"),
        ({"width": 10, "depth": 1, "seed": -3}, "seed -3"),
        ({"width": 10, "depth": 1, "method": "soft-gumbel", "cage": True}, "CAGE"),
        ({"width": 10, "depth": 1, "group_temperature": -1.0}, "group temperature"),
    ],
)
def test_bad_settings_are_refused(settings, rule):
    with pytest.raises(hw.HardwireError, match=rule):
        hw.LogicNetwork(**{"inputs": 6, "classes": 2, **settings})


def test_more_layers_than_anybody_wants_are_refused_before_a_list_of_them_is_made():
    with pytest.raises(hw.HardwireError, match="depth 1000000000000 is more than 10000 layers"):
        hw.LogicNetwork(8, 2, width=4, depth=10**12)
    with pytest.raises(hw.HardwireError, match="depth 1000000000000 is more than 10000 layers"):
        hw.training.Settings("digits", width=20, depth=10**12).sizes(10)
