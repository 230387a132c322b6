"""Candidates of learned wires that are drawn anew during training."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import hardwire as hw
from hardwire.engine.stack import frozen_wires
from hardwire.randomness import generator
from hardwire.training.redraw import _distinct_numbers, exchange


def learned(seed=0, candidates=6, **options):
    return hw.LogicNetwork(320, 10, widths=[60, 100], wiring="learned", candidates=candidates, seed=seed, **options)


def digits():
    return hw.data.load("digits")


def run(net, checkpoint=None, iterations=40, **options):
    redraw = hw.RedrawWires(every=5, until=0.8)
    hw.fit(
        net, digits(), iterations, 64, callbacks=[redraw, *options.pop("more", ())], checkpoint=checkpoint, **options
    )
    return net


@settings(max_examples=60, deadline=None)
@given(
    inputs=st.integers(4, 40), neurons=st.integers(1, 9), part=st.floats(0.1, 0.9), share=st.floats(0.1, 1.0),
    seed=st.integers(0, 1000),
)  # fmt: skip
def test_an_exchange_keeps_the_others_and_offers_only_inputs_that_were_not_offered(inputs, neurons, part, share, seed):
    candidates = max(2, int(part * inputs))
    offered = hw.LogicLayer(inputs, neurons, wiring="learned", candidates=candidates, seed=seed).wiring
    count = min(max(1, int(share * candidates)), inputs - candidates)
    lost = torch.rand(2, neurons, candidates, generator=torch.Generator().manual_seed(seed)).topk(count, 2).indices
    readable = torch.arange(inputs, dtype=torch.int32)
    result = torch.from_numpy(exchange(offered.numpy(), lost.numpy(), readable.numpy(), generator(seed, "test")))
    stays = torch.ones_like(offered, dtype=torch.bool).scatter_(2, lost, False)
    assert torch.equal(result[stays], offered[stays])
    assert all(len(set(wire.tolist())) == candidates for wire in result.flatten(0, 1))
    assert result.min() >= 0 and result.max() < inputs
    for old, new, gone in zip(offered.flatten(0, 1), result.flatten(0, 1), lost.flatten(0, 1), strict=True):
        assert not set(new[gone].tolist()) & set(old.tolist())  # neither kept nor just lost


@settings(max_examples=40, deadline=None)
@given(
    inputs=st.integers(4, 40), neurons=st.integers(1, 6), candidates=st.integers(1, 20), subset=st.booleans(),
    distinct=st.booleans(), seed=st.integers(0, 1000),
)  # fmt: skip
def test_an_exchange_offers_the_free_inputs_whose_numbers_were_drawn(
    inputs, neurons, candidates, subset, distinct, seed
):
    rng = np.random.default_rng(seed)
    readable = np.arange(0, inputs, 2 if subset else 1, dtype=np.int32)
    candidates = min(candidates, len(readable) - 1)
    count = rng.integers(1, min(candidates, len(readable) - candidates) + 1)
    pool = readable if distinct else np.arange(inputs, dtype=np.int32)  # given by hand: repeated, or not readable
    offered = np.stack([rng.choice(pool, candidates, replace=not distinct) for _ in range(2 * neurons)])
    offered = offered.astype(np.int32).reshape(2, neurons, candidates)
    lost = np.argsort(rng.random(offered.shape), axis=2)[..., :count]
    result = exchange(offered, lost, readable, generator(seed, "test"))
    numbers = _distinct_numbers(len(readable) - candidates, lost.shape, generator(seed, "test"))
    for wire in np.ndindex(2, neurons):
        free = [place for place in readable if place not in offered[wire]]
        expected = offered[wire].copy()
        expected[lost[wire]] = [free[number] for number in numbers[wire]]
        assert result[wire].tolist() == expected.tolist()


def test_every_input_that_was_not_offered_is_drawn_equally_often():
    offered = np.tile(np.array([1, 4, 5], np.int32), (2, 20_000, 1))
    lost = np.tile(np.array([0, 2]), (2, 20_000, 1))
    readable = np.array([0, 1, 2, 4, 5, 7, 8], np.int32)
    drawn = exchange(offered, lost, readable, generator(0, "test"))[..., [0, 2]]
    counts = {int(k): n for k, n in zip(*np.unique(drawn, return_counts=True), strict=True)}
    assert set(counts) == {0, 2, 7, 8} and stats.chisquare(list(counts.values())).pvalue > 1e-3
    pairs = np.unique(np.sort(drawn, axis=2).reshape(-1, 2), axis=0, return_counts=True)[1]
    assert len(pairs) == 6 and stats.chisquare(pairs).pvalue > 1e-3


def test_wires_given_by_hand_that_repeat_or_leave_the_subset_are_exchanged_too():
    offered = np.array([[[3, 3, 9]], [[0, 2, 0]]], np.int32)
    result = exchange(offered, np.array([[[2]], [[0]]]), np.array([0, 2, 3, 5], np.int32), generator(0, "test"))
    assert result[0, 0, :2].tolist() == [3, 3] and result[0, 0, 2] in (0, 2, 5)
    assert result[1, 0, 1:].tolist() == [2, 0] and result[1, 0, 0] in (3, 5)


@pytest.mark.parametrize("arity", [2, 4])
@pytest.mark.parametrize("below", [1e-9, 1.0])
@pytest.mark.parametrize("spread", [0.0, 1e-6, 1.0, 1e6])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_the_deployed_network_is_the_same_before_and_after_an_exchange(below, spread, dtype, arity):
    net, data = learned(arity=arity).to(dtype), digits()
    with torch.no_grad():
        for layer in net.layers:
            layer.wire_logits.mul_(spread)  # all equal at 0: the first is deployed
            layer.wire_logits.clamp_(-6e4, 6e4)
    before, chosen = net.eval()(data.test.x).clone(), [frozen_wires(part.level) for part in net.parts()]
    offered = [layer.wiring.clone() for layer in net.layers]
    optimizer = torch.optim.Adam(net.parameters())
    for layer in net.layers:
        hw.RedrawWires(below=below).redraw(layer, optimizer, generator(1, "test"))
    assert all((layer.wiring != old).float().mean() > 0.3 for layer, old in zip(net.layers, offered, strict=True))
    assert all(torch.equal(frozen_wires(part.level), old) for part, old in zip(net.parts(), chosen, strict=True))
    assert torch.equal(net.eval()(data.test.x), before)


def test_layers_of_one_size_draw_different_inputs_at_the_same_moment():
    net = hw.LogicNetwork(60, 2, widths=[60, 60, 60], wiring="learned", candidates=6, seed=0)
    with torch.no_grad():
        for layer in net.layers:
            layer.wiring.copy_(net.layers[0].wiring)
            layer.wire_logits.copy_(net.layers[0].wire_logits)
    redraw = hw.RedrawWires(every=1, until=1.0)
    redraw.on_step(SimpleNamespace(net=net, optimizer=torch.optim.Adam(net.parameters()), iteration=1, iterations=1))
    drawn = [layer.wiring for layer in net.layers]
    assert not any(torch.equal(a, b) for n, a in enumerate(drawn) for b in drawn[:n])


def test_new_candidates_start_below_the_highest_and_take_the_mean_of_the_optimizers_memory():
    layer = learned().layers[0]
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.1)
    layer.wire_logits.grad = torch.randn(layer.wire_logits.shape)
    optimizer.step()
    logits, memory = layer.wire_logits.detach().clone(), optimizer.state[layer.wire_logits]["exp_avg_sq"].clone()
    hw.RedrawWires(share=0.5, below=1.5).redraw(layer, optimizer, generator(0, "test"))
    for side in range(2):
        for neuron in range(layer.neurons):
            order = logits[side, neuron].argsort()
            lost, kept = order[:3], order[3:]
            now = layer.wire_logits[side, neuron].detach()
            assert torch.equal(now[kept], logits[side, neuron, kept])
            assert torch.allclose(now[lost], logits[side, neuron].max() - 1.5)
            after = optimizer.state[layer.wire_logits]["exp_avg_sq"][side, neuron]
            assert torch.allclose(after[lost], memory[side, neuron, kept].mean())


def test_inputs_that_the_layer_must_not_read_stay_out():
    input_subset = list(range(0, 320, 3))
    net = run(learned(input_subset=input_subset))
    assert set(net.layers[0].wiring.unique().tolist()) <= set(input_subset)


def test_a_stopped_run_goes_on_to_the_same_wires_and_logits(tmp_path):
    class StopAt(hw.Callback):
        def on_step(self, run):
            if run.iteration == 17:
                raise InterruptedError

    whole = run(learned())
    with pytest.raises(InterruptedError):
        run(learned(), tmp_path / "c", checkpoint_every=17, evaluate_every=4, more=[StopAt()])
    resumed = run(learned(), tmp_path / "c", checkpoint_every=17, evaluate_every=4)
    for one, two in zip(whole.state_dict().values(), resumed.state_dict().values(), strict=True):
        assert torch.equal(one, two)


def test_the_largest_seed_of_a_network_will_do_here_too():
    net = learned()
    before = net.layers[0].wiring.clone()
    hw.fit(net, digits(), 10, 64, callbacks=[hw.RedrawWires(every=5, seed=2**63 - 1)])
    assert not torch.equal(net.layers[0].wiring, before)


def test_a_wire_that_chooses_among_all_inputs_keeps_them():
    layer = hw.LogicLayer(8, 5, wiring="learned", candidates=8, seed=0)
    before = layer.wiring.clone()
    hw.RedrawWires().redraw(layer, torch.optim.Adam(layer.parameters()), generator(0, "test"))
    assert torch.equal(layer.wiring, before)


def test_a_redrawn_network_is_saved_and_becomes_the_same_circuit(tmp_path):
    net = run(learned())
    hw.save(net, tmp_path / "net.safetensors")
    again = hw.load(tmp_path / "net.safetensors")
    x = digits().test.x
    assert torch.equal(again.predict(x), net.predict(x))
    assert (hw.Circuit.from_network(net).predict(x) == net.predict(x).numpy()).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"every": 0}, "every"),
        ({"share": 0.0}, "share"),
        ({"share": 1.5}, "share"),
        ({"until": -1}, "until"),
        ({"below": 0.0}, "below"),
        ({"below": float("nan")}, "below"),
    ],
)
def test_numbers_without_meaning_are_named(arguments, message):
    with pytest.raises(hw.HardwireError, match=message):
        hw.RedrawWires(**arguments)


def test_a_network_with_fixed_wires_has_nothing_to_redraw():
    with pytest.raises(hw.HardwireError, match="learned"):
        hw.fit(hw.LogicNetwork(320, 10, 100, 1, seed=0), digits(), 5, callbacks=[hw.RedrawWires()])


def test_settings_take_it_for_learned_wires_alone(tmp_path):
    options = {"width": 50, "iterations": 20, "redraw": 4, "candidates": 4, "wiring": "learned"}
    job = hw.training.Settings("digits", **options).prepare(tmp_path / "net.safetensors")
    before = job.net.layers[0].wiring.clone()
    job.run()
    assert not torch.equal(job.net.layers[0].wiring, before)
    assert "redraw4" in hw.training.Settings("digits", **options).file_name(10)
    with pytest.raises(hw.HardwireError, match="learned"):
        hw.training.Settings("digits", redraw=4)
    with pytest.raises(hw.HardwireError, match=r"not 'x{30,80}\.\.\.$"):
        hw.training.Settings("digits", redraw=4, wiring="x" * 3000)
