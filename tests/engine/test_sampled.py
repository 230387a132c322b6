"""Noise for each sample apart: every sample is the oracle's with a draw of its own."""

import oracle
import pytest
import torch
from cases import close, logits_of, property_test, wirings_of
from hypothesis import given
from hypothesis import strategies as st

import hardwire as hw
from hardwire.engine.stack import PASSAGES

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
    st.sampled_from(PASSAGES),
)
def test_scores_and_gradients_are_the_oracles_for_every_sample(method, widths, inputs, seed, tau, passage):
    net = make(method, [*widths, 4], inputs, seed, tau, input_gradient=passage)
    x = torch.rand(3, inputs, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).requires_grad_()
    scores = net(x)
    upstream = torch.randn(scores.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    scores.backward(upstream)
    case = logits_of(net), wirings_of(net), 2
    total = [torch.zeros_like(layer.logits) for layer in net.layers]
    for s, row in enumerate(x.tolist()):
        noise = noise_of(net, s)
        close(scores[s], oracle.scores([row], *case, "method", method, tau, noise)[0], 1e-5)
        by_logits, by_input = oracle.gradients([row], *case, method, tau, [upstream[s].tolist()], noise, passage)
        total = [so_far + torch.tensor(found) for so_far, found in zip(total, by_logits, strict=True)]
        close(x.grad[s], by_input[0], 1e-4)
    for layer, expected in zip(net.layers, total, strict=True):
        close(layer.logits.grad, expected, 1e-4)


@property_test
@given(
    st.sampled_from(["soft-gumbel", "gumbel-st", "gumbel-st+cage"]),
    st.integers(1, 40),
    st.integers(1, 70),
    st.integers(0, 2**40),
    st.booleans(),
    st.sampled_from([1, 10, 1000]),
    st.sampled_from(PASSAGES),
)
def test_both_engines_draw_the_same_and_learn_the_same(method, width, batch, seed, binary, spread, passage):
    x = torch.rand(batch, 7, generator=torch.Generator().manual_seed(seed % 1000))
    found = []
    for engine in ("reference", "native"):
        options = {"method": method, "seed": seed, "noise": "sample", "engine": engine, "input_gradient": passage}
        net = hw.LogicNetwork(7, 2, widths=[width, 6], **options)
        with torch.no_grad():
            for layer in net.layers:
                layer.logits.mul_(spread)  # far apart, most gates have no chance against the noise
        given = hw.Bits.pack(x > 0.5) if binary else x.clone().requires_grad_()
        scores = net(given)
        scores.square().sum().backward()
        gradients = [layer.logits.grad for layer in net.layers]
        found.append([scores.detach(), *gradients, *([] if binary else [given.grad])])
    for ours, theirs in zip(*found, strict=True):
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
    net = hw.LogicNetwork(5, 2, widths=[4], method="gumbel-st", noise="sample", wiring="learned", candidates=2)
    with pytest.raises(hw.HardwireError, match="fixed wires"):
        net(torch.rand(2, 5))
