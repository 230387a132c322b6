"""Loops: against the oracle's loops in both engines, native against reference, saved, trained and refused."""

import oracle_levels
import oracle_loop
import pytest
import torch
from cases import ENGINES_HERE, METHODS, close, needs_native
from hypothesis import given, settings
from hypothesis import strategies as st

import hardwire as hw
from hardwire.engine import Stack
from hardwire.engine.stack import Source
from hardwire.layers.recurrent import OUTPUTS
from hardwire.selection import INPUT_GRADIENTS, STRAIGHT_THROUGH

STATE, BITS, OUT = 5, 3, 4


def make_loop(method=None, engine="auto", steps=3, learned=True, initial="zeros", seed=0, **options):
    wiring = {"wiring": "learned", "candidates": 3} if learned else {}
    cell = [
        hw.LogicLayer(STATE + BITS, 7, seed=seed, **wiring),
        hw.LogicLayer(7, STATE + OUT, seed=seed + 1, **wiring),
    ]
    loop = hw.Recurrent(cell, steps, STATE, method=method, initial=initial, seed=seed, engine=engine, **options)
    return loop.double() if engine == "reference" else loop


def plain(level):
    return {
        "wires": level.wires.tolist(),
        "rows": list(range(level.neurons)),
        "gates": level.logits.tolist(),
        "wire_logits": None if level.wire_logits is None else level.wire_logits.tolist(),
    }


def random_sequences(loop, rows, binary):
    shape = rows, loop.steps, BITS
    x = torch.rand(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    return x.round() if binary else x


@settings(deadline=None, max_examples=24, derandomize=True)
@given(
    st.sampled_from(METHODS), st.sampled_from(ENGINES_HERE), st.booleans(), st.booleans(), st.sampled_from(OUTPUTS),
    st.sampled_from(list(STRAIGHT_THROUGH)), st.sampled_from(INPUT_GRADIENTS),
)  # fmt: skip
def test_outputs_and_gradients_through_time_are_the_oracles(method, engine, learned, binary, outputs, through, wires):
    initial = [1, 0, 0, 1, 1] if learned else "zeros"
    loop = make_loop(method, engine, learned=learned, outputs=outputs, initial=initial)
    loop.selector = hw.layers.Selector(method, 0.7, seed=9, straight_through=through, wire_gradient=wires)
    cell = [plain(level) for layer in loop.cell for level in layer.levels()]
    drawn = None
    if loop.selector.method.noisy:
        drawn = [oracle_levels.level_noise(level, 9, 0, stream) for stream, level in enumerate(cell)]
    start = [float(bit) for bit in initial] if learned else [0.0] * STATE
    x = random_sequences(loop, 3, binary).requires_grad_()
    out = loop(x)
    made = [oracle_loop.run(cell, start, row, "method", method, 0.7, drawn) for row in x.tolist()]
    steps = [[step[STATE:] for step in row] for row in made]
    if outputs == "sum":
        expected = [[step[bit] for bit in range(OUT) for step in row] for row in steps]
    else:
        expected = [[v for step in (row if outputs == "all" else row[-1:]) for v in step] for row in steps]
    tolerance = 1e-5 if engine == "reference" else 2e-4
    close(out, expected, tolerance)
    upstream = torch.randn(out.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    out.backward(upstream.to(out.dtype))
    gates = wire_gradients = None
    for number, row in enumerate(x.tolist()):
        up = [[0.0] * (STATE + OUT) for _ in row]
        for place, value in enumerate(upstream[number].tolist()):
            bit, step = divmod(place, 3) if outputs == "sum" else reversed(divmod(place, OUT))
            up[step if outputs != "last" else -1][STATE + bit] = value
        by_mixture = wires == "mixture", loop.selector.input_gradient == "mixture"
        g, w, by_inputs, _ = oracle_loop.gradients(
            cell, start, row, method, 0.7, up, drawn, by_mixture=by_mixture, surrogate=loop.selector.surrogate
        )
        gates, wire_gradients = oracle_loop._sum(gates, g), oracle_loop._sum(wire_gradients, w)
        close(x.grad[number], by_inputs, 10 * tolerance)
    for layer, own_gates, own_wires in zip(loop.cell, gates, wire_gradients, strict=True):
        close(layer.logits.grad, own_gates, 10 * tolerance)
        if learned:
            close(layer.wire_logits.grad, own_wires, 10 * tolerance)


def conv_loop(method, engine, steps=3):
    """A cell of convolution trees, which the native engine runs as one, between other layers."""
    conv = hw.LogicConv2d((2, 4, 4), kernels=3, tree_depth=2, padding=1, seed=0)
    cell = [conv, hw.LogicLayer(conv.neurons, 32, seed=1)]
    loop = hw.Recurrent(cell, steps, 32, initial="input", outputs="all", seed=2)
    layers = [hw.LogicLayer(9, 32, seed=3), loop, hw.LogicLayer(32 * steps, 6, seed=4)]
    return hw.LogicNetwork(layers=layers, classes=2, method=method, engine=engine, seed=5)


@needs_native
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("make", [lambda *a: hw.LogicNetwork(
    layers=[make_loop(outputs="sum", steps=5)], classes=2, method=a[0], engine=a[1], seed=3), conv_loop])  # fmt: skip
def test_the_native_engine_runs_loops_as_the_reference_engine_does(make, method, binary):
    results = []
    for engine in ("native", "reference"):
        net = make(method, engine)
        x = torch.rand(150, net.inputs, generator=torch.Generator().manual_seed(2))
        x = (x.round() if binary else x).requires_grad_()
        out = net(x)
        out.backward(torch.linspace(-1, 1, out.numel()).view_as(out))
        with torch.no_grad():
            deployed = net.eval()(x)
        results.append([out, deployed, x.grad, *(p.grad for p in net.parameters() if p.grad is not None)])
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-3)


def test_hard_st_has_no_gap_through_time_and_cage_moves_once_for_a_step():
    net = hw.LogicNetwork(layers=[make_loop(steps=9)], classes=2, method="hard-st", cage=True, seed=1)
    x = torch.rand(64, net.inputs, generator=torch.Generator().manual_seed(0)).round()
    labels = torch.arange(64) % 2
    assert hw.measure_gap(net, (x, labels)).total == 0
    net(x).sum().backward()
    assert int(net.selector.steps) == 1 and net.tau != 1.0
    assert len(hw.commitment(net)) == 2  # of the cell's layers, however many steps there are


def test_a_learned_start_is_learned_and_a_given_one_is_read():
    given, zeros = make_loop(initial=[1] * STATE), make_loop()
    x = torch.rand(40, zeros.inputs, generator=torch.Generator().manual_seed(0)).round()
    assert not torch.equal(given(x), zeros(x))
    learned = make_loop(initial="learned")
    with torch.no_grad():
        learned.initial_logits.fill_(3.0)
    assert torch.equal(learned(x), given(x))
    learned(x).sum().backward()
    assert learned.initial_logits.grad.shape == (STATE, 1) and learned.initial_logits.grad.any()


def test_a_loop_is_trained_saved_and_loaded(tmp_path):
    generator = torch.Generator().manual_seed(1)
    x = torch.randint(0, 2, (512, 6, 1), generator=generator).float()
    y = x[:, :, 0].sum(1).long() % 2  # parity
    cell = [hw.LogicLayer(17, 64, seed=0, start="residual", bonus=2.0), hw.LogicLayer(64, 36, seed=1)]
    net = hw.LogicNetwork(layers=[hw.Recurrent(cell, 6, 16, seed=2)], classes=2, cage=True, seed=3)
    history = hw.fit(net, (x.flatten(1), y), iterations=5, batch_size=64, lr=0.05, progress=False, seed=0)
    assert history is not None
    hw.save(net, tmp_path / "loop.safetensors")
    again = hw.load(tmp_path / "loop.safetensors")
    assert torch.equal(again(x.flatten(1)), net.eval()(x.flatten(1)))
    circuit = hw.Circuit.from_network(net).simplify()
    assert torch.equal(torch.from_numpy(circuit.predict(x.flatten(1).numpy())), net.predict(x.flatten(1)))


@pytest.mark.parametrize("engine", ENGINES_HERE)
def test_soft_values_stay_in_their_range_through_many_steps(engine):
    """OR(x, x) = 2x - x * x doubles an error below 0 in each step, so a hundred of them would reach infinity. Layers
    accept such errors at their input, since those before them may leave [0, 1] by rounding."""
    cell = hw.LogicLayer(2, 2, seed=0, wires=torch.tensor([[0, 1], [0, 1]], dtype=torch.int32))
    with torch.no_grad():
        cell.logits.fill_(-40.0)[:, 7] = 40.0  # OR
    loop = hw.Recurrent([cell], 300, 2, initial="input", method="soft-mix", engine=engine)
    out = loop(torch.full((64, 2), -1e-7))
    assert torch.isfinite(out).all() and out.min() >= 0 and out.max() <= 1


BAD = [
    (lambda: make_loop(steps=0), "steps"),
    (lambda: hw.Recurrent([hw.LogicLayer(4, 9, seed=0)], 2, 5), "a state of 5 bits reads and makes at least 5"),
    (lambda: make_loop(initial="ones"), "initial"),
    (lambda: make_loop(initial=[1, 0]), "5 bits"),
    (lambda: make_loop(outputs="first"), "outputs"),
    (lambda: hw.Recurrent([], 2, 5), "at least one layer"),
    (lambda: hw.Recurrent([hw.LogicLayer(5, 5, seed=0)], 2, 5), "initial='input'"),
    (lambda: hw.Recurrent([hw.LogicLayer(6, 5, method="soft-mix", seed=0)], 2, 5), "give them to the loop"),
    (lambda: hw.Recurrent([make_loop()], 2, 5), "cannot be in a cell"),
    (lambda: make_loop()(torch.zeros(2, 4, BITS)), "this loop reads"),
    (lambda: make_loop()([torch.zeros(4, BITS), torch.zeros(3, BITS)]), "one tensor"),
]


@pytest.mark.parametrize(("wrong", "says"), BAD)
def test_wrong_loops_are_one_line(wrong, says):
    with pytest.raises(hw.HardwireError, match=says) as caught:
        wrong()
    assert "\n" not in str(caught.value)


def test_levels_that_repeat_or_read_what_is_not_there_are_refused():
    level = hw.LogicLayer(4, 4, seed=0).levels()[0]
    from dataclasses import replace

    other = hw.LogicLayer(4, 4, seed=1).levels()[0]
    for wrong, says in [
        (replace(level, repeats=0), "no earlier level"),
        (replace(level, reads=(Source(0, 0, 4),)), "not an earlier one"),
    ]:
        with pytest.raises(hw.HardwireError, match=says):
            hw.engine.ENGINES["reference"].prepare(Stack((wrong,)), None)
    for wrong, says in [
        (replace(other, repeats=0), "others"),
        (replace(level, repeats=0, reads=(Source(0, 0, 3),)), "given 3"),
        (replace(level, repeats=0, reads=(Source(0, 2, 6),)), "values 2 to 6"),
    ]:
        with pytest.raises(hw.HardwireError, match=says):
            hw.engine.ENGINES["reference"].prepare(Stack((level, wrong)), None)
