"""The three accuracies and what surrounds them, against loops over all 16 gates."""

import math

import numpy as np
import oracle
import pytest
import torch
from small_runs import METHOD_VARIANTS, digits, small_net
from torch import nn

import hardwire as hw
from hardwire.engine import MODES
from hardwire.measure import Gap, nodes
from hardwire.noise import NoiseKey, gumbel

TAUS = (0.05, 0.1, 0.5, 1.0, 2.0)


def steps(net, data, count=5, lr=0.1):
    optimizer = torch.optim.Adam(net.parameters(), lr)
    for i in range(count):
        x, y = data.train.batch(torch.arange(i * 64, i * 64 + 64))
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()


def sequential(net, method="soft-mix", tau=1.0):
    """LogicLayers with the parameters of a LogicNetwork."""
    layers = [hw.LogicLayer(layer.inputs, layer.neurons, method, tau, seed=i) for i, layer in enumerate(net.layers)]
    for layer, source in zip(layers, net.layers, strict=True):
        layer.load_state_dict(source.state_dict(), strict=False)
    return nn.Sequential(*layers, hw.GroupSum(net.classes))


def oracle_node_gaps(net, x):
    """Plain numpy over samples x nodes x 16 gates, for one LogicNetwork and float64 rows."""
    method, tau = net.selector.method, net.selector.temperature.tau.item()
    h, gaps = np.asarray(x, np.float64), []
    for index, layer in enumerate(net.layers):
        z = layer.logits.detach().double().numpy()
        key = NoiseKey(net.seed, int(net.selector.steps), 0, True)
        noise = gumbel(key, index, *z.shape, like=torch.empty(0, dtype=torch.float64)).numpy() if method.noisy else 0
        a, b = h[:, layer.wiring[0].numpy()], h[:, layer.wiring[1].numpy()]
        g = np.stack([gate.soft(a, b) + 0 * a for gate in hw.GATES], -1)
        soft, star = _softmax((z + noise) / tau), z.argmax(-1)
        picked = np.eye(16)[(z + noise).argmax(-1)]
        weights = {"soft-mix": soft, "soft-gumbel": soft, "hard-st": picked, "gumbel-st": _softmax(z)}[method.name]
        g_star = np.take_along_axis(g, np.broadcast_to(star[:, None], (*g.shape[:2], 1)), -1)
        w_star = np.take_along_axis(weights, star[:, None], -1)[:, 0]
        gaps.append((np.abs((weights * (g - g_star)).sum(-1)), (1 - w_star) * np.abs(g - g_star).max(-1)))
        h = ((picked if method.hard else soft) * g).sum(-1)
    return gaps


def _softmax(z):
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_the_decomposition_adds_up():
    gap = Gap(method=0.75, argmax=0.5, deploy=0.25, samples=4)
    assert (gap.selection, gap.computation, gap.total) == (0.25, 0.25, 0.5)
    data = digits(binary=False)
    measured = hw.measure_gap(small_net("soft-mix", inputs=64, tau=2.0), data.test)
    assert math.isclose(measured.selection + measured.computation, measured.total, abs_tol=1e-12)
    assert measured.samples == len(data.test)


@pytest.mark.parametrize("binary", [True, False])
def test_the_accuracies_are_those_of_the_three_passes_with_ties_to_the_lowest_class(binary):
    data = digits(binary)
    net = small_net("soft-mix", inputs=320 if binary else 64)
    steps(net, data)
    measured = hw.measure_gap(net, data.test, batch_size=64)
    for mode in MODES:
        with torch.no_grad(), hw.selection_mode(net, mode):
            scores = net(data.test.x).numpy()
        assert getattr(measured, mode) == float(np.mean(scores.argmax(1) == data.test.y.numpy()))


@pytest.mark.parametrize("tau", TAUS)
def test_hard_st_has_exactly_zero_selection_gap_on_binary_data_at_every_tau(tau):
    data = digits()
    net = small_net("hard-st", tau=tau)
    steps(net, data)
    passes = []
    for mode in MODES:
        with torch.no_grad(), hw.selection_mode(net, mode):
            passes.append(net(data.test.x))
    assert torch.equal(passes[0], passes[1]) and torch.equal(passes[1], passes[2])
    measured = hw.measure_gap(net, data.test)
    assert measured.selection == 0.0 and measured.computation == 0.0 and measured.total == 0.0


@pytest.mark.parametrize("name", METHOD_VARIANTS)
def test_measuring_moves_nothing_and_gives_the_same_numbers_again(name):
    data = digits()
    net = small_net(name)
    steps(net, data, count=2)
    before = {key: value.clone() for key, value in net.state_dict().items()}
    gradient = net.layers[0].logits.grad.clone()
    first = hw.measure_gap(net, data.test, batch_size=100)
    hw.node_gaps(net, data.test.x[:20])
    hw.loss_bound(net, data.test)
    assert hw.measure_gap(net, data.test, batch_size=100) == first
    assert net.training and all(torch.equal(before[key], value) for key, value in net.state_dict().items())
    assert torch.equal(net.layers[0].logits.grad, gradient)


def test_any_model_of_choosing_layers_is_measured_and_its_other_modules_stay_untouched():
    data = digits()
    net = small_net("soft-mix")
    norm = nn.BatchNorm1d(10)
    model = nn.Sequential(sequential(net), norm)
    model[0][1].eval()
    mean = norm.running_mean.clone()
    measured = hw.measure_gap(model, (data.test.x, data.test.y))
    # fresh BatchNorm in eval mode scales all classes alike, up to its eps
    assert measured == hw.measure_gap(net, data.test)
    assert torch.equal(norm.running_mean, mean) and norm.training and not model[0][1].training and model[0][0].training


def test_commitment_and_gate_usage_by_hand():
    net = small_net()
    with torch.no_grad():
        net.layers[0].logits.zero_()  # a tie of all 16: commitment 1/16, gate FALSE
        net.layers[1].logits.zero_()
        net.layers[1].logits[:25, 6] = 100.0
    assert hw.commitment(net) == pytest.approx([1 / 16, (1 + 1 / 16) / 2])
    usage = hw.gate_usage(net)
    assert usage.shape == (2, 16) and torch.equal(usage.sum(1), torch.ones(2, dtype=torch.float64))
    assert usage[0, 0] == 1 and usage[1, 0] == 0.5 and usage[1, 6] == 0.5
    assert hw.commitment(sequential(net)) == hw.commitment(net)
    assert torch.equal(hw.gate_usage(sequential(net)), usage)


@pytest.mark.parametrize("tau", [0.1, 2.0])
@pytest.mark.parametrize("method", ["soft-mix", "soft-gumbel", "hard-st", "gumbel-st"])
def test_node_gaps_agree_with_a_loop_over_16_gates_and_keep_their_bound(method, tau, monkeypatch):
    x = digits(binary=False).test.x[:30]
    net = small_net(method, inputs=64, tau=tau)
    monkeypatch.setattr(nodes, "_CHUNK", 7 * 60)  # chunks of 7 rows must add up to the same
    for gap, (actual, bound) in zip(hw.node_gaps(net, x), oracle_node_gaps(net, x), strict=True):
        expected = (actual.mean(), actual.max(), bound.mean(), bound.max())
        measured = (gap.actual_mean, gap.actual_max, gap.bound_mean, gap.bound_max)
        # the oracle's 1 - w loses digits where w is nearly 1
        assert measured == pytest.approx(expected, rel=1e-9, abs=1e-14)
        assert gap.violations == 0
        if method == "hard-st":
            assert measured == (0, 0, 0, 0)


def test_node_gaps_take_few_rows_at_a_time_where_the_input_is_wider_than_the_layers(monkeypatch):
    rows = []
    monkeypatch.setattr(nodes, "_CHUNK", 1000)
    monkeypatch.setattr(nodes, "_node_tallies", lambda model, x, draw: rows.append(len(x)) or [])
    hw.node_gaps(hw.LogicNetwork(500, 2, 10, 1), torch.zeros(5, 500))
    assert rows == [2, 2, 1]


@pytest.mark.parametrize("method", ["soft-gumbel", "gumbel-st"])
@pytest.mark.parametrize("split", [False, True])
def test_node_gaps_measure_every_sample_with_its_own_draw(method, split, monkeypatch):
    net = hw.LogicNetwork(5, 2, widths=[6, 4], seed=3, method=method, tau=0.5, noise="sample")
    x = torch.rand(5, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    monkeypatch.setattr(nodes, "_CHUNK", 2 * 6 * 16)  # two samples at a time, each two with a draw of their own
    model, streams = net, [(3, 0), (3, 1)]
    if split:  # each layer with a seed and a count of its own
        layers = [
            hw.LogicLayer(*sizes, method, 0.5, seed=n, noise="sample") for n, sizes in enumerate([(5, 6), (6, 4)])
        ]
        for layer, source in zip(layers, net.layers, strict=True):
            layer.load_state_dict(source.state_dict(), strict=False)
        model, streams = nn.Sequential(*layers, hw.GroupSum(2)), [(0, 0), (1, 0)]
    gaps = [[], []]
    for start in range(0, 5, 2):
        for sample, row in enumerate(x[start : start + 2]):
            for level, gap in enumerate(oracle_sample_gaps(net, row.tolist(), streams, sample, draw=start // 2)):
                gaps[level] += gap
    for measured, pairs in zip(hw.node_gaps(model, x), gaps, strict=True):
        actual, bound = np.array(pairs).T
        expected = (actual.mean(), actual.max(), bound.mean(), bound.max())
        numbers = (measured.actual_mean, measured.actual_max, measured.bound_mean, measured.bound_max)
        assert numbers == pytest.approx(expected, rel=1e-5) and measured.violations == 0


def oracle_sample_gaps(net, row, streams, sample, draw):
    """[level][neuron] of (gap, bound) for one sample, whose noise is its own."""
    method, tau, levels, h = net.method, net.tau, [], row
    for layer, (seed, stream) in zip(net.layers, streams, strict=True):
        pairs, out = [], []
        for n, z in enumerate(layer.logits.detach().double().tolist()):
            noise = oracle.race(seed, 0, stream + 2**29 + draw * 2**12, n, sample, True, z)
            a, b = (h[wire] for wire in layer.wiring[:, n].tolist())
            outputs = [oracle.soft_gate(i, a, b) for i in range(16)]
            effective = oracle.softmax(z) if method == "gumbel-st" else oracle.method_weights(method, z, tau, noise)
            star = oracle.argmax(z)
            gap = abs(sum(w * (g - outputs[star]) for w, g in zip(effective, outputs, strict=True)))
            pairs.append((gap, (1 - effective[star]) * max(abs(g - outputs[star]) for g in outputs)))
            out.append(oracle.node(method, z, outputs, tau, noise))
        levels.append(pairs)
        h = out
    return levels


@pytest.mark.parametrize("method", ["soft-gumbel", "gumbel-st"])
def test_the_loss_bound_speaks_of_every_samples_own_draw(method):
    """The bound by the most uncommitted class, sample by sample, for noise of each sample and one batch."""
    net = hw.LogicNetwork(5, 2, widths=[6, 4], seed=3, method=method, tau=0.5, noise="sample")
    x, y = torch.rand(6, 5, generator=torch.Generator().manual_seed(0)), torch.tensor([0, 1, 0, 1, 1, 0])
    with torch.no_grad(), hw.selection_mode(net, "argmax"):
        slope = 2 * (1 - torch.softmax(net(x).double(), -1).gather(1, y.unsqueeze(1)).squeeze(1))
    total = 0.0
    for sample in range(6):
        uncommitted = []
        for n, z in enumerate(net.layers[1].logits.detach().double().tolist()):
            noise = oracle.race(net.seed, 0, 1 + 2**29, n, sample, True, z)
            weights = oracle.softmax(z) if method == "gumbel-st" else oracle.method_weights(method, z, 0.5, noise)
            uncommitted.append(1 - weights[oracle.argmax(z)])
        total += slope[sample].item() * max(sum(uncommitted[:2]), sum(uncommitted[2:]))
    expected = total / 6 / net.group_sum.temperature_for(4)
    assert hw.loss_bound(net, (x, y)).nodes_mean == pytest.approx(expected, rel=1e-5)


def test_node_gaps_of_layers_in_a_sequential_are_those_of_the_network():
    net = small_net("soft-mix")
    x = digits().test.x[:20]
    for alone, stacked in zip(hw.node_gaps(sequential(net), x), hw.node_gaps(net, x), strict=True):
        assert alone.actual_mean == pytest.approx(stacked.actual_mean, rel=1e-6)
        assert alone.bound_max == pytest.approx(stacked.bound_max, rel=1e-6)


def test_the_loss_bound_by_hand_and_zero_for_hard_st():
    data = digits()
    x, y = data.test.x[:1], data.test.y[:1]
    net = small_net("soft-mix", tau=0.5)
    scores = {}
    for mode in ("method", "deploy"):
        with torch.no_grad(), hw.selection_mode(net, mode):
            scores[mode] = net(x)[0].double().numpy()
    probability = {mode: _softmax(s)[y.item()] for mode, s in scores.items()}
    uncommitted = 1 - _softmax(net.layers[1].logits.detach().double().numpy() / 0.5).max(-1)
    slope = 2 * (1 - probability["deploy"])
    bound = hw.loss_bound(net, (x, y))
    assert bound.actual_mean == pytest.approx(abs(math.log(probability["deploy"] / probability["method"])))
    assert bound.holder_mean == pytest.approx(slope * np.abs(scores["method"] - scores["deploy"]).max())
    group = uncommitted.reshape(10, 5).sum(1).max() / net.group_sum.temperature_for(50)
    assert bound.nodes_mean == pytest.approx(slope * group)
    exact = hw.loss_bound(small_net("hard-st"), data.test)
    assert exact.actual_max == exact.holder_mean == exact.nodes_mean == exact.holder_exceeded == 0


def test_on_continuous_inputs_the_loss_bound_names_the_computation_gap_and_leaves_it_out_of_the_node_bound():
    hard = hw.loss_bound(small_net("hard-st", inputs=64), digits(binary=False).test)
    assert hard.selection_mean == hard.nodes_mean == hard.nodes_exceeded == 0
    assert hard.computation_mean == hard.actual_mean > 0 and hard.nodes_exceeded_in_all > 0.99
    binary = hw.loss_bound(small_net("soft-mix"), digits().test)
    assert binary.computation_mean == 0 and binary.selection_mean == binary.actual_mean
    assert binary.nodes_exceeded == binary.nodes_exceeded_in_all


def test_the_node_bound_of_a_noisy_mixture_uses_the_weights_of_each_batchs_own_draw():
    net, rows = small_net("soft-gumbel"), digits().test
    together = hw.loss_bound(net, (rows.x[:20], rows.y[:20]), batch_size=10)
    level = net.stack().levels[-1]
    z = level.logits.detach().double()
    expected = []
    for draw in (0, 1):
        noise = gumbel(NoiseKey(net.seed, net.selector.steps, draw, evaluation=True), 1, *z.shape, like=z)
        w = torch.softmax(z + noise, -1).gather(1, z.argmax(-1, keepdim=True)).squeeze(1)
        expected.append((1 - w).view(10, 5).sum(1).max().item() / net.group_sum.temperature_for(50))
    assert expected[0] != pytest.approx(expected[1], rel=1e-3)
    with torch.no_grad(), hw.selection_mode(net, "argmax"):
        sigma = torch.softmax(net(rows.x[:20]).double(), -1)[range(20), rows.y[:20]]
    by_hand = 2 * (1 - sigma) * torch.tensor(expected).double().repeat_interleave(10)
    assert together.nodes_mean == pytest.approx(by_hand.mean().item(), rel=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x, y: (x, y + 1), "labels from 1 to 10 do not fit 10 classes"),
        (lambda x, y: (x, y - 1), "labels from -1"),
        (lambda x, y: (x[:0], y[:0]), "empty"),
        (lambda x, y: (x[:5], y), "5 rows but 450 labels"),
        (lambda x, y: (x, y.float()), "int64"),
        (lambda x, y: (x.unpack().numpy(), y), "not ndarray"),
        (lambda x, y: (x.unpack()[:, :100], y), "reads \\[batch, 320\\]"),
    ],
)
def test_unusable_data_is_refused(change, message):
    test = digits().test
    with pytest.raises(hw.HardwireError, match=message):
        hw.measure_gap(small_net(), change(test.x, test.y))


def test_unusable_models_and_batch_sizes_are_refused():
    test = digits().test
    with pytest.raises(hw.HardwireError, match="no gap to measure"):
        hw.measure_gap(nn.Linear(320, 10), test)
    with pytest.raises(hw.HardwireError, match="no layer of gates"):
        hw.commitment(nn.Linear(320, 10))
    with pytest.raises(hw.HardwireError, match="batch_size 0"):
        hw.measure_gap(small_net(), test, batch_size=0)
    with pytest.raises(hw.HardwireError, match="empty"):
        hw.node_gaps(small_net(), test.x[:0])
    with pytest.raises(hw.HardwireError, match="not of Linear"):
        hw.loss_bound(nn.Linear(320, 10), test)
    net = small_net()
    with torch.no_grad():
        net.layers[1].logits[0, 0] = float("nan")
    with pytest.raises(hw.HardwireError, match="NaN"):
        hw.measure_gap(net, test)
