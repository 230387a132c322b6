"""Streams of random numbers: one for each tensor, and no two with anything in common."""

import hashlib

import numpy as np
import pytest
import torch
from cases import property_test
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from streams import shared_values
from torch import nn

import hardwire as hw
from hardwire.engine.reference import choose_functions
from hardwire.layers import LAYERS
from hardwire.noise import NoiseKey, gumbel
from hardwire.randomness import check_seed, child_seed, generator, normal
from hardwire.training.order import BatchOrder
from hardwire.wiring import candidate_wiring, random_wiring, structured_wiring

OPERATIONS = ("zero", "skip", "avg3", "max3", lambda channels: nn.Identity())
SEEDS = st.integers(0, 2**63 - 1)
PATHS = st.text(st.characters(codec="utf-8"), max_size=20)


@property_test
@given(SEEDS, PATHS, SEEDS, PATHS)
def test_another_seed_or_another_path_is_another_stream(seed, path, other_seed, other_path):
    assume((seed, path) != (other_seed, other_path))
    one, two = generator(seed, path).integers(2**63, size=4), generator(other_seed, other_path).integers(2**63, size=4)
    assert not np.isin(one, two).any()
    assert child_seed(seed, path) != child_seed(other_seed, other_path)


@pytest.mark.parametrize(("seed", "path", "other_seed", "other_path"), [(1, "1 a", 11, "a"), (1, "2", 12, "")])
def test_where_the_seed_ends_and_the_path_starts_is_part_of_the_stream(seed, path, other_seed, other_path):
    assert generator(seed, path).random() != generator(other_seed, other_path).random()


@property_test
@given(SEEDS, PATHS)
def test_streams_and_seeds_are_what_the_documentation_says(seed, path):
    """Philox keyed by a BLAKE2b digest; a change here changes the numbers of every fixed seed."""
    text = f"{seed} {path}".encode()
    key = int.from_bytes(hashlib.blake2b(text, digest_size=16, person=b"stream").digest(), "little")
    assert generator(seed, path).bit_generator.state["state"]["key"].tolist() == [key % 2**64, key >> 64]
    word = int.from_bytes(hashlib.blake2b(text, digest_size=8, person=b"seed").digest(), "little")
    assert child_seed(seed, path) == word >> 1


def test_a_generator_starts_anew_each_time_it_is_asked_for():
    assert torch.equal(normal(3, "a", 4, 5), normal(3, "a", 4, 5))
    assert torch.equal(normal(3, "a", 7), normal(3, "a", 5, 7).flatten()[:7])


def test_normal_numbers_have_the_distribution_of_their_name():
    numbers = normal(0, "test", 50_000)
    assert numbers.dtype == torch.float32
    assert stats.kstest(numbers.double().numpy(), "norm").pvalue > 1e-3


@pytest.mark.parametrize("seed", [-1, 0.5, "0", None, True])
def test_what_is_no_seed_is_named(seed):
    with pytest.raises(hw.HardwireError, match="whole number"):
        generator(seed, "a")


def test_unseeded_modules_follow_torchs_generator():
    seeds = []
    for _ in range(2):
        torch.manual_seed(4)
        seeds.append([check_seed(None) for _ in range(3)])
    assert seeds[0] == seeds[1] and len(set(seeds[0])) == 3 and max(seeds[0]) >= 2**32


@pytest.mark.parametrize(
    "make", [random_wiring, candidate_wiring, structured_wiring, "batches", "logits", "tables", "noise"]
)
def test_a_seed_above_2_32_differs_from_its_low_bits(make):
    def draw(seed):
        if make == "batches":
            return torch.stack([BatchOrder(50, 50, seed).indices(number) for number in range(3)])
        if make == "noise":
            return gumbel(NoiseKey(seed, 0), 0, 8, 16, torch.zeros(()))
        if make == "tables":
            return hw.LutLayer(50, 40, seed=seed).logits
        return hw.LogicLayer(50, 40, seed=seed).logits if make == "logits" else make(50, 40, seed)

    low, high, very_high = draw(7), draw(7 + 2**32), draw(7 + 2**62)
    assert not (torch.equal(low, high) or torch.equal(low, very_high) or torch.equal(high, very_high))


def test_the_batches_of_a_seed_above_2_32_are_not_a_later_epoch_of_a_lower_seed():
    """Two words of one seed and the words of a seed and an epoch are the same list of numbers."""
    assert not torch.equal(BatchOrder(50, 50, 2**32).permutation(0), BatchOrder(50, 50, 0).permutation(1))


def convolutions(seed):
    """Convolutions with neighbouring seeds, and a layer with the next one, in one network."""
    layers = [
        hw.LogicConv2d((3, 9, 9), 8, tree_depth=3, candidates=16, seed=seed, channels_per_kernel=3),
        hw.LogicConv2d((8, 7, 7), 8, tree_depth=3, start="residual", seed=seed + 1),
        hw.LogicConv2d((8, 5, 5), 8, tree_depth=2, start="normal", seed=seed + 2),
        hw.LogicLayer(72, 40, seed=seed + 3, wiring="learned", candidates=16),
        hw.LogicLayer(40, 40, seed=seed + 4),
    ]
    return hw.LogicNetwork(classes=2, layers=layers, seed=seed)


def tables(seed):
    """Layers of tables and of gates, wires with as many candidates as a gate and as a table has logits."""
    learned = {"wiring": "learned", "candidates": 16}
    layers = [hw.LutLayer(40, 60, 4, **learned), hw.LutLayer(60, 60, 4, **learned), hw.LogicLayer(60, 40, **learned)]
    layers += [hw.LutLayer(40, 40, 6, start="residual"), hw.LutLayer(40, 40, 2, seed=seed)]
    return hw.LogicNetwork(classes=2, layers=layers, seed=seed)


def convolutions_of_tables(seed):
    """Kernels of tables with neighbouring seeds, one of them two tables deep, and layers with a kernel a place."""
    layers = [
        hw.LogicConv2d((3, 9, 9), 8, arity=4, seed=seed),
        hw.LogicConv2d((8, 7, 7), 8, arity=4, tree_depth=2, start="residual", candidates=16, seed=seed + 1),
        hw.LocalLayer((8, 5, 5), 8, arity=4, seed=seed + 2),
        hw.LocalLayer((8, 5, 5), 8, arity=6, candidates=16, seed=seed),
        hw.LogicLayer(200, 40, seed=seed + 3, wiring="learned", candidates=16),
    ]
    return hw.LogicNetwork(classes=2, layers=layers, seed=seed)


def loops(seed):
    """A loop with learned initial bits and a cellular automaton, all with one seed."""
    cell = [hw.LogicLayer(60, 40, seed=seed), hw.LogicLayer(40, 50, seed=seed + 1)]
    loop = hw.Recurrent(cell, steps=2, state=40, initial="learned", seed=seed)
    grid = hw.CellularAutomaton((8, 8), channels=2, widths=[32, 16], steps=2, seed=seed)
    local = hw.LocalLayer((1, 8, 8), 40, candidates=8, seed=seed)
    return nn.ModuleList([loop, grid, local])


def systems(seed):
    experts = [hw.LogicNetwork(8, 2, widths=[20, 10], seed=seed + n) for n in range(3)]
    quantizer, search = (
        hw.VectorQuantizer(40, 8, seed=seed),
        hw.SearchNetwork(1, 2, cells=3, nodes=5, operations=OPERATIONS, seed=seed),
    )
    cells = nn.ModuleList(hw.SearchCell(2, 5, OPERATIONS, seed=seed + n) for n in range(3))
    return nn.ModuleList([hw.MixtureOfExperts(8, experts, seed=seed), quantizer, search.cells, cells])


NETWORKS = {
    "flat": lambda seed: hw.LogicNetwork(40, 10, width=100, depth=6, seed=seed),
    "residual": lambda seed: hw.LogicNetwork(40, 10, width=100, depth=6, start="residual", seed=seed),
    "structured": lambda seed: hw.LogicNetwork(40, 10, width=100, depth=4, wiring="structured", seed=seed),
    "learned": lambda seed: hw.LogicNetwork(40, 10, width=100, depth=6, wiring="learned", candidates=16, seed=seed),
    "tables": lambda seed: hw.LogicNetwork(40, 10, width=100, depth=4, arity=4, seed=seed),
    "tables, learned": tables,
    "loops": loops,
    "convolutions": convolutions,
    "convolutions of tables": convolutions_of_tables,
    "sequential": lambda seed: nn.Sequential(
        *[hw.LogicLayer(40, 40, seed=seed + n, wiring="learned", candidates=16) for n in range(4)], hw.GroupSum(2)
    ),
    "systems": systems,
}


@pytest.mark.parametrize("seed", [0, 1, 2**40])
@pytest.mark.parametrize("name", NETWORKS)
def test_no_two_tensors_of_a_network_share_values(name, seed):
    torch.manual_seed(0)
    network = NETWORKS[name](seed)
    assert shared_values(dict(network.named_parameters())) == []


def test_the_networks_above_have_every_kind_of_layer():
    """A new kind has to be added to them, so that it cannot share a stream with another."""
    kinds = {type(module) for make in NETWORKS.values() for module in make(0).modules()}
    own = {kind for kind in LAYERS.values() if kind.__module__.startswith("hardwire.")}
    assert {kind for kind in own if kind.learns} <= kinds


@pytest.mark.parametrize("name", ["flat", "learned"])
def test_networks_with_neighbouring_seeds_share_no_values(name):
    tensors = {}
    for seed in (0, 1, 2, 1009, 1010, 2**32):
        tensors |= {f"{seed} {path}": z for path, z in NETWORKS[name](seed).named_parameters()}
    assert shared_values(tensors) == []


def test_the_check_sees_streams_that_are_shared_plain_or_scaled():
    numbers = normal(0, "test", 2000)
    tensors = {"a": numbers, "b": 0.3 * numbers[:800].view(50, 16), "c": numbers[100:900], "d": normal(1, "test", 2000)}
    assert shared_values(tensors) == [("a", "b"), ("a", "c")]


def test_wires_and_logits_of_a_layer_are_independent_of_each_other():
    """A tree's root gates were once drawn from the stream of its logits."""
    layer = hw.LogicConv2d((2, 30, 30), 4000, kernel_size=2, tree_depth=1, bonus=0.0, seed=0)
    plain = layer.logits[0].detach()
    with_bonus = hw.LogicConv2d((2, 30, 30), 4000, kernel_size=2, tree_depth=1, bonus=100.0, seed=0).logits[0].detach()
    roots = (with_bonus - plain).argmax(-1)
    for gate in roots.unique():
        assert plain[roots == gate].mean(0).abs().max() < 0.1


def test_layers_with_a_seed_of_their_own_do_not_share_noise_with_their_network_or_each_other():
    layers = [hw.LogicLayer(30, 30, "gumbel-st", seed=0), hw.LogicLayer(30, 30, seed=1)]
    layers += [hw.LogicLayer(30, 30, "gumbel-st", tau=0.5, seed=0), hw.LogicLayer(30, 30, seed=2)]
    net = hw.LogicNetwork(classes=2, layers=layers, method="gumbel-st", seed=0)
    rules = [part.selector.next_pass("method", True) for part in net.parts()]
    noises = {}
    for number, (one, part) in enumerate(zip(rules, net.parts(), strict=True)):
        stream = sum(other.selector is part.selector for other in net.parts()[:number])
        noises[str(number)] = gumbel(one.noise, stream, 30, 16, torch.zeros(()))
    assert shared_values(noises) == []
    with torch.no_grad():
        for layer in layers:
            layer.logits.zero_()  # so that the noise alone chooses
    x = torch.rand(50, 30).round()
    chosen = [choose_functions(level, level.logits, rule).hard for level, rule in measured(net)]
    assert all(not torch.equal(a, b) for n, a in enumerate(chosen) for b in chosen[:n])
    assert net(x).shape == (50, 2)


def measured(net):
    from hardwire.layers.base import Passes

    parts = net.parts()
    return [(part.level, rule) for part, rule in zip(parts, Passes(parts, "method", True).rules(), strict=True)]


def test_a_saved_network_goes_on_with_the_noise_of_its_layers(tmp_path):
    layers = [hw.LogicLayer(30, 30, "gumbel-st", seed=0), hw.LogicLayer(30, 30, seed=1)]
    net = hw.LogicNetwork(classes=2, layers=layers, method="gumbel-st", seed=0)
    hw.save(net, tmp_path / "net")
    x = torch.rand(50, 30).round()
    assert torch.equal(hw.load(tmp_path / "net").train()(x), net(x))
    model = nn.Sequential(hw.LogicLayer(30, 30, "gumbel-st", seed=0), hw.GroupSum(2))
    hw.save(model, tmp_path / "fused")
    assert torch.equal(hw.load(tmp_path / "fused").train()(x), model(x))
