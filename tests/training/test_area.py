"""Prices of hardware in training: what they add to gradients, against loops, and what they move."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_runs import same_state

import hardwire as hw
from hardwire.circuit import Circuit
from hardwire.circuit.counting import output_weights
from hardwire.training import TrainingRun
from hardwire.training.area import threshold_luts
from hardwire.training.recipe_settings import recipe_of, settings_of


def network(seed=0, arity=4, tables=30, **options):
    return hw.LogicNetwork(320, 10, widths=[tables], arity=arity, wiring="learned", candidates=6, seed=seed, **options)


def priced_gradients(net, **prices):
    """What the prices add to gradients that are 0."""
    for parameter in net.parameters():
        parameter.grad = torch.zeros_like(parameter)
    price, run = hw.AreaPrice(**prices), TrainingRun(net, torch.optim.Adam(net.parameters()), 10)
    price.on_start(run)
    price.on_gradient(run)
    return net.layers[0].wire_logits.grad, net.layers[0].logits.grad


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), price=st.floats(1e-6, 1.0))
def test_a_threshold_is_paid_by_all_wires_that_choose_it(seed, price):
    encoder = hw.Encoder(np.random.default_rng(seed).integers(0, 255, (64, 5)) + 0.5, kind="bytes", maximum=255)
    net = network(seed, tables=10, encoder=encoder)
    layer, costs = net.layers[0], threshold_luts(encoder)
    got, entries = priced_gradients(net, thresholds=price)
    chosen = [
        [wire[int(z.argmax())].item() for wire, z in zip(wires, logits, strict=True)]
        for wires, logits in zip(layer.wiring, layer.wire_logits.detach(), strict=True)
    ]
    every = [bit for side in chosen for bit in side]
    for side in range(4):
        for table in range(10):
            weights = torch.softmax(layer.wire_logits[side, table].detach().double(), 0).tolist()
            paid = []
            for bit in layer.wiring[side, table].tolist():
                others = every.count(bit) - (chosen[side][table] == bit)
                paid.append(price * costs[bit] / (others + 1))
            mean = sum(w * p for w, p in zip(weights, paid, strict=True))
            wanted = [w * (p - mean) for w, p in zip(weights, paid, strict=True)]
            assert np.allclose(got[side, table].numpy(), wanted, rtol=1e-4, atol=1e-6 * price)
    assert not entries.any()


def test_an_entry_pays_for_being_one():
    net = network()
    wires, got = priced_gradients(net, tables=0.5)
    for z, slope in zip(net.layers[0].logits.flatten().tolist(), got.flatten().tolist(), strict=True):
        p = 1 / (1 + math.exp(-z))
        assert slope == pytest.approx(0.5 / 16 * p * (1 - p), rel=1e-4)
    assert not wires.any()


@pytest.mark.parametrize(
    ("kind", "thresholds", "luts"),
    [
        ("bytes", [127.5, 63.75, 191.25, 100.5, 31.5, 254.5, 0.5], [0, 1, 1, 2, 1, 2, 2]),
        ("int8", [-0.5, 63.5, 0.5], [0, 1, 2]),
        ("floats", [0.25], [7]),
    ],
)
def test_a_comparison_costs_as_many_tables_as_the_bits_it_looks_at_need(kind, thresholds, luts):
    assert threshold_luts(hw.Encoder(np.array([thresholds]), kind=kind)).tolist() == luts


def test_prices_save_thresholds_and_tables():
    data = hw.data.load("digits")

    def trained(*callbacks):
        net = network(cage=True, arity=6, tables=100)
        hw.fit(net, data, iterations=150, batch_size=100, lr=0.1, evaluate_every=150, callbacks=callbacks)
        return Circuit.from_network(net).simplify(check=False)

    free, cheap = trained(), trained(hw.AreaPrice(thresholds=3e-3))
    sparse = trained(hw.AreaPrice(tables=3e-1))
    assert cheap.statistics().thresholds < 0.8 * free.statistics().thresholds
    assert sparse.netlist.size < free.netlist.size
    assert (cheap.predict(data.test.x) == data.test.y.numpy()).mean() > 0.6
    left_out = sum(weight == 0 for own in output_weights(sparse.netlist, 10) for weight in own)
    assert left_out > 0  # neither tables nor parts of a sum


def test_a_priced_run_that_is_cut_off_ends_with_the_same_bits(tmp_path):
    data = hw.data.load("digits")

    class Stop(hw.Callback):
        def on_step(self, run):
            if run.iteration == 13:
                raise KeyboardInterrupt

    def run(net, *more, **options):
        callbacks = [hw.RedrawWires(every=5, until=0.8), hw.AreaPrice(thresholds=1e-3, tables=1e-3), *more]
        hw.fit(net, data, 30, 64, evaluate_every=10, callbacks=callbacks, **options)
        return net

    whole, part = run(network()), network()
    with pytest.raises(KeyboardInterrupt):
        run(part, Stop(), checkpoint=tmp_path / "c", checkpoint_every=6)
    resumed = run(network(), checkpoint=tmp_path / "c")
    assert same_state(whole, resumed)


def test_a_recipe_holds_its_prices(tmp_path):
    recipe = hw.recipes.load("mnist-lut-2k", area={"thresholds": 1e-5})
    (tmp_path / "priced.toml").write_text(recipe.text())
    chosen = settings_of(hw.recipes.load(str(tmp_path / "priced.toml")))
    assert chosen.area == {"thresholds": 1e-5} == recipe_of(chosen, 10).area


@pytest.mark.parametrize(
    ("prices", "message"),
    [
        ({}, "area has no price"),
        ({"thresholds": -1}, "the price of thresholds is -1; use a number of at least 0"),
        ({"tables": "much"}, "the price of tables is 'much'"),
        ({"thresholds": float("nan")}, "the price of thresholds is nan"),
    ],
)
def test_a_wrong_price_is_one_line(prices, message):
    with pytest.raises(hw.HardwireError, match=message):
        hw.AreaPrice(**prices)


def test_what_has_no_price_is_named():
    for net, prices, message in (
        (hw.LogicNetwork(320, 10, 20, 1, seed=0), {"thresholds": 1e-3}, 'wiring="learned"'),
        (hw.LogicNetwork(320, 10, 20, 1, seed=0), {"tables": 1e-3}, "arity=2 to 6"),
    ):
        with pytest.raises(hw.HardwireError, match=message):
            hw.fit(net, hw.data.load("digits"), 2, 10, callbacks=[hw.AreaPrice(**prices)])
    with pytest.raises(hw.HardwireError, match=r"area cannot be built: .*treshold"):
        hw.train("digits", arity=4, wiring="learned", candidates=4, iterations=2, area={"tresholds": 1})
    with pytest.raises(hw.HardwireError, match="area is 3; it must be a table of prices"):
        hw.training.Settings("digits", area=3)
