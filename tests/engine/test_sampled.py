"""Noise for each sample apart: every sample is the oracle's with a draw of its own."""

from dataclasses import replace

import oracle
import pytest
import torch
from cases import close, logits_of, needs_native, property_test, wirings_of
from hypothesis import given
from hypothesis import strategies as st

import hardwire as hw
from hardwire.noise import NoiseKey, sample_race
from hardwire.selection import STRAIGHT_THROUGH, get_method, get_straight_through

PER_SAMPLE = 2**29


def make(method, widths, inputs, seed, tau=1.0, **options):
    return hw.LogicNetwork(
        inputs, 2, widths=widths, method=method, tau=tau, seed=seed, noise="sample", **options
    ).double()


def noise_of(net, sample, step=0, draw=0, evaluation=False):
    """[layer][neuron][gate] of one sample: its number stands where a draw's would, the draw's number with the layer."""
    return [
        [
            oracle.race(net.seed, step, layer + PER_SAMPLE + draw * 2**12, n, sample, evaluation, z)
            for n, z in enumerate(logits)
        ]
        for layer, logits in enumerate(logits_of(net))
    ]


@property_test
@given(
    st.sampled_from(["soft-gumbel", "gumbel-st"]),
    st.lists(st.integers(1, 5), max_size=2),
    st.integers(1, 5),
    st.integers(0, 2**40),
    st.sampled_from([0.3, 1.0]),
    st.sampled_from(list(STRAIGHT_THROUGH)),
)
def test_scores_and_gradients_are_the_oracles_for_every_sample(method, widths, inputs, seed, tau, name):
    net = make(method, [*widths, 4], inputs, seed, tau, straight_through=name)
    estimator = get_straight_through(get_method(method), name)
    x = torch.rand(3, inputs, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).requires_grad_()
    scores = net(x)
    upstream = torch.randn(scores.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    scores.backward(upstream)
    case = logits_of(net), wirings_of(net), 2
    total = [torch.zeros_like(layer.logits) for layer in net.layers]
    for s, row in enumerate(x.tolist()):
        noise = noise_of(net, s)
        close(scores[s], oracle.scores([row], *case, "method", method, tau, noise)[0], 1e-5)
        by_logits, by_input = oracle.gradients(
            [row], *case, method, tau, [upstream[s].tolist()], noise, estimator.input_gradient, estimator.surrogate
        )
        total = [so_far + torch.tensor(gradient) for so_far, gradient in zip(total, by_logits, strict=True)]
        close(x.grad[s], by_input[0], 1e-4)
    for layer, expected in zip(net.layers, total, strict=True):
        close(layer.logits.grad, expected, 1e-4)


@needs_native
@property_test
@given(
    st.sampled_from(["soft-gumbel", "gumbel-st", "gumbel-st+cage"]),
    st.integers(1, 40),
    st.integers(1, 70),
    st.integers(0, 2**40),
    st.booleans(),
    st.sampled_from([1, 10, 1000]),
    st.sampled_from(list(STRAIGHT_THROUGH)),
)
def test_both_engines_draw_the_same_and_learn_the_same(method, width, batch, seed, binary, spread, name):
    x = torch.rand(batch, 7, generator=torch.Generator().manual_seed(seed % 1000))
    by_engine = []
    for engine in ("reference", "native"):
        options = {"method": method, "seed": seed, "noise": "sample", "engine": engine, "straight_through": name}
        net = hw.LogicNetwork(7, 2, widths=[width, 6], **options)
        with torch.no_grad():
            for layer in net.layers:
                layer.logits.mul_(spread)  # far apart, most gates have no chance against the noise
        given = hw.Bits.pack(x > 0.5) if binary else x.clone().requires_grad_()
        scores = net(given)
        scores.square().sum().backward()
        gradients = [layer.logits.grad for layer in net.layers]
        by_engine.append([scores.detach(), *gradients, *([] if binary else [given.grad])])
    for ours, theirs in zip(*by_engine, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-3, atol=1e-4)


def test_evaluations_draw_for_each_sample_and_again_for_each_batch():
    net = make("gumbel-st", [6, 4], 5, seed=3)
    x = torch.rand(2, 5, dtype=torch.float64)
    case = logits_of(net), wirings_of(net), 2
    with torch.no_grad(), hw.selection_mode(net, "method"):
        for draw in range(2):
            for s, scores in enumerate(net(x)):
                noise = noise_of(net, s, draw=draw, evaluation=True)
                close(scores, oracle.scores([x[s].tolist()], *case, "method", "gumbel-st", 1.0, noise)[0], 1e-5)


def test_the_kind_of_noise_is_part_of_the_model_file(tmp_path):
    net = hw.LogicNetwork(5, 2, widths=[6, 4], method="gumbel-st", seed=3, noise="sample")
    hw.save(net, tmp_path / "net")
    loaded = hw.load(tmp_path / "net")
    x = torch.rand(4, 5)
    assert loaded.selector.noise == "sample"
    assert torch.equal(loaded.train()(x), net(x))


def test_an_unknown_kind_of_noise_and_learned_wires_are_refused():
    with pytest.raises(hw.HardwireError, match="unknown noise 'smple'; did you mean sample"):
        hw.LogicNetwork(5, 2, widths=[4], noise="smple")
    learned = {"noise": "sample", "wiring": "learned", "candidates": 2}
    for options in ({}, {"wire_gradient": "mixture"}, {"wire_method": "hard-st"}):
        with pytest.raises(hw.HardwireError, match="noise='sample' is for fixed wires; use noise='pass'"):
            hw.LogicNetwork(5, 2, widths=[4], method="gumbel-st", **learned, **options)
    with pytest.raises(hw.HardwireError, match="fixed wires"):
        hw.LogicNetwork(5, 2, widths=[4], method="hard-st", wire_method="gumbel-st", **learned)
    with pytest.raises(hw.HardwireError, match="fixed wires"):
        hw.LogicLayer(5, 4, method="gumbel-st", **learned)
    hw.LogicNetwork(5, 2, widths=[4], method="hard-st", **learned)(torch.rand(2, 5))  # where nothing is noisy


def test_the_wires_method_makes_no_noise_where_wires_are_fixed():
    net = hw.LogicNetwork(5, 2, widths=[4], method="hard-st", wire_method="gumbel-st", noise="sample", seed=0)
    assert net(torch.rand(2, 5)).shape == (2, 2)


@pytest.mark.parametrize("method", ["soft-gumbel", "gumbel-st", "gumbel-st+cage"])
@pytest.mark.parametrize("engine", ["reference", "native"])
def test_the_micro_batches_of_a_step_draw_for_their_own_samples(method, engine):
    net = hw.LogicNetwork(5, 2, widths=[30, 20], method=method, noise="sample", seed=3, engine=engine)
    x = torch.rand(4, 5).round()
    case = logits_of(net), wirings_of(net), 2
    for step in range(2):
        with hw.one_step(net):
            for number in range(3):
                scores = net(x)
                for s in range(4):
                    noise = noise_of(net, s, step, draw=number)
                    expected = oracle.scores([x[s].tolist()], *case, "method", net.method, 1.0, noise)[0]
                    close(scores[s], expected, 1e-4)
        assert int(net.selector.steps) == step + 1


def test_rows_that_choose_draw_anew_in_every_micro_batch_and_shared_choices_do_not():
    rows = hw.Choice(6, "gumbel-st", seed=0, noise="sample")
    edges = hw.Choice(6, "gumbel-st", seed=0)
    logits = torch.zeros(200, 6)
    for choice, same in ((rows, False), (edges, True)):
        with hw.one_step(choice):
            first, second = choice(logits), choice(logits)
        assert torch.equal(first, second) == same
        assert torch.equal(choice(logits), second) is False  # the next step
    for module in (hw.MixtureOfExperts(4, [torch.nn.Identity()] * 3), hw.VectorQuantizer(3, 4), hw.TopExperts(
        4, [torch.nn.Identity()] * 3), hw.ExpertChoice(4, [torch.nn.Identity()] * 3), hw.SoftMoE(
        4, [torch.nn.Identity()] * 3)):  # fmt: skip
        assert module.choice.selector.noise == "sample"


def test_draws_past_their_field_wrap_and_too_many_levels_are_named():
    key = NoiseKey(1, 5, per_sample=True)
    logits, nodes = torch.zeros(3, 16), torch.arange(3)
    draws = [sample_race(replace(key, draw=n), 0, nodes, 4, logits)[1] for n in (7, 2**17 + 7, 2**40 + 7)]
    assert torch.equal(draws[0], draws[1]) and torch.equal(draws[0], draws[2])
    with pytest.raises(hw.HardwireError, match="at most 4096 levels"):
        sample_race(key, 4096, nodes, 4, logits)
