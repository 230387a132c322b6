"""Layers of look-up tables: passes and gradients against loops, their files, starts and wirings, wrong arguments."""

import itertools

import oracle_tables
import pytest
import torch
from cases import ENGINES_HERE, METHODS, close, needs_native, property_test
from hypothesis import given
from hypothesis import strategies as st

import hardwire as hw
from hardwire.engine.functions import Choose
from hardwire.engine.stack import MODES, Level, Stack, freeze
from hardwire.errors import HardwireError
from hardwire.layers import Selector
from hardwire.selection import INPUT_GRADIENTS, STRAIGHT_THROUGH

WIRINGS = [{}, {"wiring": "structured"}, {"wiring": "learned", "candidates": 3}]


@st.composite
def layers(draw):
    """A layer of tables with any method and variant; the reference engine in float64."""
    arity, engine = draw(st.integers(2, 6)), draw(st.sampled_from(ENGINES_HERE))
    inputs, tables, seed = draw(st.integers(arity, 9)), draw(st.integers(1, 3)), draw(st.integers(0, 2**40))
    options = draw(st.sampled_from(WIRINGS)) if inputs > 2 else {}
    layer = hw.LutLayer(inputs, tables, arity, seed=seed, engine="auto", **options)
    layer.selector = Selector(
        draw(st.sampled_from(METHODS)),
        draw(st.sampled_from([0.5, 1.0, 2.0])),
        seed=seed,
        choices=2,
        straight_through=draw(st.sampled_from(list(STRAIGHT_THROUGH))),
        wire_gradient=draw(st.sampled_from(INPUT_GRADIENTS)),
    )
    if engine == "reference":
        layer.engine = engine
        layer.double()
    return layer


def plain(layer):
    learned = None if layer.wire_logits is None else layer.wire_logits.tolist()
    return {"wires": layer.wiring.tolist(), "logits": layer.logits.tolist(), "wire_logits": learned}


def drawn(layer, evaluation=False):
    noisy = layer.selector.method.noisy
    return oracle_tables.noise_of(plain(layer), layer.selector.seed, 0, evaluation) if noisy else None


def rows_of(layer, batch, binary):
    x = torch.rand(batch, layer.inputs, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    return x.round() if binary else x


@property_test
@given(layers(), st.integers(1, 3), st.booleans())
def test_outputs_and_gradients_of_a_training_step_are_the_oracles(layer, batch, binary):
    x, selector = rows_of(layer, batch, binary).requires_grad_(), layer.selector
    method, tau, noise = selector.method.name, selector.temperature.tau.item(), drawn(layer)
    out = layer(x)
    expected = [oracle_tables.forward(plain(layer), row, "method", method, tau, noise) for row in x.tolist()]
    close(out, expected, 1e-4)
    upstream = torch.randn(out.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    out.backward(upstream.to(out.dtype))
    by_mixture = selector.wire_gradient == "mixture", selector.input_gradient == "mixture"
    by_logits, by_wires, by_input = oracle_tables.gradients(
        plain(layer), x.tolist(), method, tau, upstream.tolist(), noise, by_mixture, selector.surrogate
    )
    close(layer.logits.grad, by_logits, 1e-3)
    close(x.grad, by_input, 1e-3)
    if by_wires is not None:
        close(layer.wire_logits.grad, by_wires, 1e-3)


@property_test
@given(layers(), st.integers(1, 3), st.booleans(), st.sampled_from(MODES))
def test_the_three_measured_passes_are_the_oracles(layer, batch, binary, mode):
    x, selector = rows_of(layer, batch, binary), layer.selector
    method, tau, noise = selector.method.name, selector.temperature.tau.item(), drawn(layer, evaluation=True)
    with torch.no_grad(), hw.selection_mode(layer.eval(), mode):
        out = layer(x)
    close(out, [oracle_tables.forward(plain(layer), row, mode, method, tau, noise) for row in x.tolist()], 1e-4)


@pytest.mark.parametrize("arity", range(2, 7))
def test_gradients_of_a_mixture_of_tables_are_those_of_finite_differences(arity):
    layer = hw.LutLayer(7, 2, arity, "soft-mix", wiring="learned", candidates=3, seed=arity).double()

    def run(logits, wire_logits, x):
        given = {"logits": logits, "wire_logits": wire_logits}
        return torch.func.functional_call(layer, given, (x,))

    x = torch.rand(2, 7, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(run, (layer.logits, layer.wire_logits, x), fast_mode=True)


@pytest.mark.parametrize("seed", range(3))
def test_a_frozen_table_of_two_inputs_is_the_gate_with_the_same_truth_table(seed):
    tables = hw.LutLayer(20, 40, arity=2, seed=seed)
    (level,) = tables.levels()
    at_00, at_10, at_01, at_11 = (tables.logits.detach() > 0).int().unbind(1)  # the first input is the lowest bit
    truth = torch.stack([at_00, at_01, at_10, at_11], dim=1).tolist()
    gates = [next(gate.index for gate in hw.GATES if list(gate.truth_table) == row) for row in truth]
    logits = torch.nn.functional.one_hot(torch.tensor(gates), 16).float()
    chosen = Level(20, 40, level.wires, Choose(logits))
    (one,), (other,) = freeze(Stack((level,))), freeze(Stack((chosen,)))
    assert (one.tables == other.tables).all() and one.gates.tolist() == gates


@pytest.mark.parametrize("arity", range(2, 7))
def test_a_residual_start_deploys_the_first_input(arity):
    layer = hw.LutLayer(30, 50, arity, start="residual", seed=1).eval()
    x = torch.rand(9, 30).round()
    assert torch.equal(layer(x), x[:, layer.wiring[0].long()])


def mixed(**options):
    layers = [hw.LutLayer(320, 60, arity=6, seed=1, wiring="learned", candidates=4)]
    layers += [hw.LogicLayer(60, 60, seed=2), hw.LutLayer(60, 40, arity=3, seed=3)]
    return hw.LogicNetwork(classes=10, layers=layers, seed=0, cage=True, **options)


def test_a_network_of_gates_and_tables_of_several_sizes_trains_measures_saves_and_loads(tmp_path):
    data, net = hw.data.load("digits"), mixed()
    history = hw.fit(net, data, 20, 64, lr=0.05, callbacks=[hw.RedrawWires(every=5)], progress=False)
    assert history.final.selection == history.final.computation == 0
    assert len(history.final.commitment) == 3 and len(history.final.gate_usage) == 1
    taus = {k: net.selector.function_temperature(k).tau.item() for k in (2, 16)}
    assert taus[2] != taus[16] != 3.0  # each kind of choice has a confidence of its own, and both have moved
    hw.save(net, tmp_path / "net.safetensors")
    again = hw.load(tmp_path / "net.safetensors")
    assert [layer.kind for layer in again.layers] == ["lut", "logic", "lut"]
    assert torch.equal(again(data.test.x), net.eval()(data.test.x))
    assert [table.shape for table in net.tables()] == [(60, 64), (60, 4), (40, 8)]
    assert all(gap.violations == 0 for gap in hw.node_gaps(net, data.test.x[:8]))
    assert hw.loss_bound(net, data.test).actual_max == 0
    with pytest.raises(HardwireError, match="tables of 6 inputs are not gates"):
        net.gates()
    with pytest.raises(HardwireError, match="gate usage is for neurons of two inputs"):
        hw.gate_usage(hw.LogicNetwork(8, 2, width=4, depth=1, arity=3))


def test_an_interrupted_run_of_tables_ends_with_the_same_bits(tmp_path):
    class StopAt(hw.Callback):
        def on_step(self, run):
            if run.iteration == 9:
                raise InterruptedError

    def run(*more, **options):
        net, redraw = mixed(method="gumbel-st"), hw.RedrawWires(every=4, until=1.0)
        options |= {"batch_size": 16, "evaluate_every": 8, "progress": False}
        hw.fit(net, hw.data.load("digits"), 12, callbacks=[redraw, *more], **options)
        return net.state_dict()

    whole, checkpoint = run(), {"checkpoint": tmp_path / "run", "checkpoint_every": 5}
    with pytest.raises(InterruptedError):
        run(StopAt(), **checkpoint)
    resumed = run(**checkpoint)
    assert all(torch.equal(resumed[name], whole[name]) for name in whole)


def test_arity_of_a_network_makes_every_layer_of_tables():
    net = hw.LogicNetwork(30, 5, widths=[20, 15], arity=4, wiring="structured", seed=0, cage=True)
    assert [(layer.kind, layer.arity) for layer in net.layers] == [("lut", 4)] * 2
    assert net.selector.choices == 2 and net.tau == 3.0
    one, two = (hw.LogicNetwork(30, 5, widths=[20, 15], arity=4, seed=s) for s in (0, 0))
    assert torch.equal(one.layers[0].wiring, two.layers[0].wiring)


@pytest.mark.parametrize(("wiring", "arity"), list(itertools.product(["random", "structured"], [2, 3, 6])))
@pytest.mark.parametrize("inputs", [6, 7, 12, 90])
def test_wirings_give_a_table_different_inputs_and_use_each_equally_often(wiring, arity, inputs):
    for options in [{}] + ([{"layer": 1}, {"layer": 2}] if wiring == "structured" else []):
        wires = hw.LutLayer(inputs, 60, arity, wiring=wiring, seed=3, **options).wiring
        assert wires.shape == (arity, 60)
        assert all(len(set(column)) == arity for column in wires.T.tolist())
        first = wires[0] if wiring == "structured" else wires  # partners are near, and need not be balanced
        counts = torch.bincount(first.flatten(), minlength=inputs)
        assert counts.max() - counts.min() <= 1


def test_structured_wiring_of_tables_reads_near_pixels_and_never_two_thresholds_of_one():
    shape = {"levels": 3, "shape": (1, 9, 9), "radius": 1}
    wires = hw.LutLayer(243, 200, arity=4, wiring="structured", seed=0, **shape).wiring // 3
    rows, columns = wires // 9, wires % 9
    assert ((rows - rows[0]).abs() <= 1).all() and ((columns - columns[0]).abs() <= 1).all()
    assert all(len(set(column)) == 4 for column in wires.T.tolist())


def chain(inputs, neurons, seed, groups):
    return torch.stack([torch.arange(neurons) % inputs] * 2).int()


@needs_native
def test_the_native_engine_says_which_tables_it_does_not_run():
    layer = hw.LutLayer(9, 4, arity=3, method="soft-mix", engine="native", seed=0)
    with pytest.raises(HardwireError, match="look-up tables take hard methods and inputs that are 0 or 1"):
        layer(torch.zeros(2, 9))


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("arity 7 is not from 2 to 6", lambda: hw.LutLayer(9, 4, arity=7)),
        ("arity 1 is not from 2 to 6", lambda: hw.LogicNetwork(9, 2, width=4, depth=1, arity=1)),
        ("arity", lambda: hw.LutLayer(9, 4, arity="six")),
        ("tables of 6 inputs read different ones, and there are 5; use arity=5 or less", lambda: hw.LutLayer(5, 4)),
        ("there are 3; use arity=3", lambda: hw.LutLayer(9, 4, input_subset=[1, 4, 5])),
        ("wires are int32 .3, 4.", lambda: hw.LutLayer(9, 4, arity=3, wires=torch.zeros(2, 4, dtype=torch.int32))),
        ("10 candidates for each wire", lambda: hw.LutLayer(9, 4, arity=3, wiring="learned", candidates=10)),
        ("wiring 'twos' makes wires for 2 inputs, not 6", lambda: hw.LutLayer(9, 4, wiring="twos")),
        ("gives a neuron 4 different values, and there are 3", lambda: hw.LutLayer(
            9, 4, arity=4, wiring="structured", levels=3)),
        ("layers, or inputs and widths", lambda: hw.LogicNetwork(classes=2, layers=[hw.LutLayer(6, 4)], arity=6)),
        ("noise='sample' is for two-input gates", lambda: hw.LogicNetwork(
            9, 2, width=4, depth=1, arity=3, method="gumbel-st", noise="sample")),
        ("normalised for 16 choices, not 2", lambda: hw.LutLayer(9, 4, tau=hw.CAGE())),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_one_line_that_says_what_to_do(message, make, monkeypatch):
    monkeypatch.setitem(hw.wiring.WIRINGS, "twos", chain)
    with pytest.raises(HardwireError, match=message) as error:
        make()
    assert "\n" not in str(error.value)
