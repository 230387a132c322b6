"""Every kind of level, on every engine that takes it, against the oracle's loops."""

import itertools

import oracle
import oracle_levels
import pytest
import torch
from cases import ENGINES_HERE, METHODS, close, property_test
from hypothesis import given
from hypothesis import strategies as st

import hardwire as hw
from hardwire.engine import ENGINES, MODES, Level, Request, Stack
from hardwire.engine.functions import Choose, Fixed
from hardwire.engine.stack import CONST_ZERO, freeze
from hardwire.layers import GateLayer, Selector, register_layer
from hardwire.layers.size import LayerSize
from hardwire.selection import INPUT_GRADIENTS, STRAIGHT_THROUGH

OR = 7


class Levels(GateLayer):
    """Levels of any form as a module."""

    kind = "levels"

    def __init__(self, levels, selector, engine):
        super().__init__(engine)
        self.input_shape, self.output_shape = (levels[0].inputs,), (levels[-1].neurons,)
        self.given, self.selector = levels, selector
        selector.prepare_for(levels)

    def levels(self):
        return self.given


@st.composite
def level(draw, inputs, neurons, dtype, seed):
    generator = torch.Generator().manual_seed(seed)
    k = draw(st.sampled_from([None, 2, 3, 5]))
    k = None if k is None or k > inputs else k
    padded = draw(st.booleans())
    shape = (2, neurons) if k is None else (2, neurons, k)
    wires = torch.randint(CONST_ZERO if padded else 0, inputs, shape, generator=generator, dtype=torch.int32)
    if k is None and draw(st.integers(0, 3)) == 0:
        gradient = draw(st.sampled_from(["formula", "maximum"]))
        return Level(inputs, neurons, wires, Fixed.of_gate(OR), padded=padded, gradient=gradient)
    shared = draw(st.booleans())
    count = draw(st.integers(1, neurons)) if shared else neurons
    rows = torch.randint(0, count, (neurons,), generator=generator, dtype=torch.int32) if shared else None

    def logits(*shape):
        z = torch.randn(shape, generator=generator, dtype=torch.float64)
        return (z.round() if ties else z).to(dtype).requires_grad_()

    ties = draw(st.booleans())
    wire_logits = None if k is None else logits(2, count, k)
    return Level(inputs, neurons, wires, Choose(logits(count, 16)), wire_logits, rows, padded=padded)


@st.composite
def modules(draw, methods=METHODS):
    engine = draw(st.sampled_from(ENGINES_HERE))
    dtype = torch.float64 if engine == "reference" else torch.float32
    widths = draw(st.lists(st.integers(1, 7), min_size=2, max_size=4))
    levels = [
        draw(level(inputs, neurons, dtype, draw(st.integers(0, 9999))))
        for inputs, neurons in itertools.pairwise(widths)
    ]
    selector = Selector(
        draw(st.sampled_from(methods)),
        draw(st.sampled_from([0.3, 1.0, 2.0])),
        seed=draw(st.integers(0, 99)),
        wire_gradient=draw(st.sampled_from(INPUT_GRADIENTS)),
        straight_through=draw(st.sampled_from(list(STRAIGHT_THROUGH))),
    )
    return Levels(levels, selector, engine if engine == "reference" else "auto")


def plain(level: Level) -> dict:
    """A level as the oracle's dictionary."""
    return {
        "wires": level.wires.tolist(),
        "rows": list(range(level.neurons)) if level.rows is None else level.rows.tolist(),
        "gates": None if level.logits is None else level.logits.tolist(),
        "gate": level.function.gate if isinstance(level.function, Fixed) else None,
        "wire_logits": None if level.wire_logits is None else level.wire_logits.tolist(),
        "gradient": level.gradient,
    }


def noises(module, evaluation=False):
    if not module.selector.method.noisy:
        return None
    noises, stream = [], 0
    for one in module.levels():
        noises.append(oracle_levels.level_noise(plain(one), module.selector.seed, 0, stream, evaluation))
        stream += bool(one.parameters())
    return noises


def rows_of(module, batch, binary):
    x = torch.rand(batch, module.inputs, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    return x.round() if binary else x


def tolerance(module):
    return 1e-5 if module.engine == "reference" else 1e-4


@property_test
@given(modules(), st.integers(1, 4), st.booleans())
def test_outputs_and_gradients_of_a_training_step_are_the_oracles(module, batch, binary):
    x = rows_of(module, batch, binary).requires_grad_()
    levels, drawn = [plain(one) for one in module.levels()], noises(module)
    method, tau = module.selector.method.name, module.selector.temperature.tau.item()
    out = module(x)
    close(
        out,
        [oracle_levels.forward(levels, row, "method", method, tau, drawn)[-1] for row in x.tolist()],
        tolerance(module),
    )
    upstream = torch.randn(out.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    out.backward(upstream.to(out.dtype))
    by_mixture = module.selector.wire_gradient == "mixture", module.selector.input_gradient == "mixture"
    by_gates, by_wires, by_input = oracle_levels.gradients(
        levels,
        x.tolist(),
        method,
        tau,
        upstream.tolist(),
        drawn,
        by_mixture=by_mixture,
        surrogate=module.selector.surrogate,
    )
    for one, gates, wires in zip(module.levels(), by_gates, by_wires, strict=True):
        if gates is not None:
            close(one.logits.grad, gates, 10 * tolerance(module))
        if wires is not None:
            close(one.wire_logits.grad, wires, 10 * tolerance(module))
    close(x.grad, by_input, 10 * tolerance(module))


@property_test
@given(modules(), st.integers(1, 4), st.booleans(), st.sampled_from(MODES))
def test_the_three_measured_passes_are_the_oracles(module, batch, binary, mode):
    x = rows_of(module, batch, binary)
    levels, drawn = [plain(one) for one in module.levels()], noises(module, evaluation=True)
    method, tau = module.selector.method.name, module.selector.temperature.tau.item()
    with torch.no_grad(), hw.selection_mode(module.eval(), mode):
        out = module(x)
    expected = [oracle_levels.forward(levels, row, mode, method, tau, drawn)[-1] for row in x.tolist()]
    close(out, expected, tolerance(module))


@property_test
@given(modules(methods=["hard-st"]), st.integers(1, 4))
def test_hard_st_has_exactly_no_selection_gap_on_bits_with_both_choices_learned(module, batch):
    x = rows_of(module, batch, binary=True)
    trained = module(x)
    for mode in ("argmax", "deploy"):
        with torch.no_grad(), hw.selection_mode(module, mode):
            assert torch.equal(module(x), trained.detach())


@property_test
@given(modules(), st.integers(1, 4))
def test_a_frozen_stack_is_the_deployed_pass(module, batch):
    x = rows_of(module, batch, binary=True)
    with torch.no_grad(), hw.selection_mode(module, "deploy"):
        expected = module(x)
    for row, out in zip(x.tolist(), expected.tolist(), strict=True):
        h = row
        for frozen in freeze(module.stack()):
            read = [*h, 0.0]  # -1 is the constant
            h = [oracle.hard_gate(g, read[a], read[b]) for g, a, b in zip(frozen.gates, *frozen.wires, strict=True)]
        assert h == out


@pytest.mark.parametrize(
    "method", ["soft-mix", "soft-gumbel"]
)  # straight-through gradients are not those of the forward
def test_the_reference_engine_passes_gradcheck_for_soft_choices_of_gates_and_wires(method):
    generator = torch.Generator().manual_seed(2)
    wires = torch.randint(0, 5, (2, 4, 3), generator=generator, dtype=torch.int32)
    gates = torch.randn(2, 16, dtype=torch.float64, generator=generator, requires_grad=True)
    over = torch.randn(2, 2, 3, dtype=torch.float64, generator=generator, requires_grad=True)
    x = torch.rand(3, 5, dtype=torch.float64, generator=generator, requires_grad=True)
    selector = Selector(method, 0.7, seed=4)
    rows = torch.tensor([0, 1, 1, 0], dtype=torch.int32)
    selector.prepare_for([Level(5, 4, wires, Choose(gates), over, rows)])

    def run(x, gates, over):
        one = Level(5, 4, wires, Choose(gates), over, rows)
        selector.draws = 0
        rules = [selector.next_pass("method", training=False).begin().rule(0, one)]
        request = Request(Stack((one,)), rules, x)
        engine = ENGINES["reference"]
        return engine.run(request, None, engine.select(request, None, False)[0])

    assert torch.autograd.gradcheck(run, (x, gates, over))


def test_confidences_of_gates_and_wires_move_a_cage_of_their_own_once_a_step():
    net = hw.LogicNetwork(20, 2, widths=[12, 8], wiring="learned", candidates=5, method="hard-st+cage", seed=1)
    x = torch.rand(6, 20).round()
    logits = [layer.logits.tolist() for layer in net.layers]
    wires = [[z for side in layer.wire_logits.tolist() for z in side] for layer in net.layers]
    net(x)
    selector = net.selector
    assert selector.temperature.tau.item() == pytest.approx(oracle.cage([oracle.confidence(logits)])[0], rel=1e-6)
    expected = oracle.cage([oracle.confidence(wires)], choices=5)[0]
    assert selector.wire_temperature(5).tau.item() == pytest.approx(expected, rel=1e-6)
    assert int(selector.steps) == 1


def test_a_layer_kind_from_outside_needs_only_its_levels_and_its_size():
    @register_layer
    class Swap(GateLayer):
        """Pairs of inputs, exchanged: the gate B and the gate A over the same wires."""

        kind = "test-swap"
        selector = None

        def __init__(self, inputs):
            super().__init__()
            self.input_shape = self.output_shape = (inputs,)

        def levels(self):
            order = torch.arange(self.inputs, dtype=torch.int32).view(-1, 2).flip(1).flatten()
            return [Level(self.inputs, self.inputs, torch.stack([order, order]), Fixed.of_gate(3))]

        def config(self):
            return {"inputs": self.inputs}

        @classmethod
        def size_of(cls, config):
            return LayerSize(0, 2 * config["inputs"])

    net = hw.LogicNetwork(classes=2, layers=[hw.LogicLayer(6, 8, seed=1), Swap(8)], seed=0)
    x = torch.rand(5, 6).round()
    circuit = hw.Circuit.from_network(net)
    assert circuit.predict(x.numpy()).tolist() == net.predict(x).tolist()
    assert net.parts()[1].selector is None
