"""The native engine on every kind of level against the reference engine: candidates, shared rows, fixed gates, padding;
and convolutions, which it runs as one, against the levels that they mean."""

from dataclasses import replace

import pytest
import torch
from cases import METHODS, needs_native, property_test
from hypothesis import given
from hypothesis import strategies as st

import hardwire as hw
from hardwire.engine import native, reference
from hardwire.engine.functions import Choose, Entries, Fixed
from hardwire.engine.stack import FORMULA, MAXIMUM, Head, Level, Request, Rule, Stack, TauSnapshot
from hardwire.gates import GATES
from hardwire.noise import NoiseKey
from hardwire.selection import INPUT_GRADIENTS, SURROGATES, get_method

pytestmark = needs_native

OR = next(gate.index for gate in GATES if gate.name == "OR")


def draw_level(draw, generator, inputs, neurons):
    """A level of any kind, with parameters that need gradients."""
    kind = draw(st.sampled_from(["plain", "learned", "fixed", "pooling", "table", "learned table", "fixed table"]))
    padded, shared = draw(st.booleans()), draw(st.booleans())
    k = draw(st.integers(2, 40)) if kind.startswith("learned") else None
    arity = draw(st.integers(2, 6)) if kind.endswith("table") else 2
    shape = (arity, neurons) if k is None else (arity, neurons, k)
    wires = torch.randint(-1 if padded else 0, inputs, shape, generator=generator, dtype=torch.int32)
    options = {"padded": padded}
    if kind in ("fixed", "pooling"):
        gate = OR if kind == "pooling" else draw(st.integers(0, 15))
        return Level(
            inputs, neurons, wires, Fixed.of_gate(gate), gradient=MAXIMUM if kind == "pooling" else FORMULA, **options
        )
    if kind == "fixed table":
        table = torch.randint(0, 2, (2**arity,), generator=generator).tolist()
        return Level(inputs, neurons, wires, Fixed(tuple(table)), **options)
    rows = draw(st.integers(1, 2 * neurons)) if shared else neurons
    if shared:
        options["rows"] = torch.randint(0, rows, (neurons,), generator=generator, dtype=torch.int32)
    columns = 2**arity if kind.endswith("table") else 16
    logits = torch.randn(rows, columns, generator=generator).requires_grad_()
    over = None if k is None else torch.randn(arity, rows, k, generator=generator).requires_grad_()
    function = Entries(logits) if kind.endswith("table") else Choose(logits)
    return Level(inputs, neurons, wires, function, over, **options)


@st.composite
def stacks(draw):
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    inputs, levels = draw(st.integers(1, 90)), []
    classes = draw(st.integers(0, 5))
    widths = draw(st.lists(st.integers(1, 70), max_size=3))
    for width in [*widths, (classes or 1) * draw(st.integers(1, 9))]:
        levels.append(draw_level(draw, generator, levels[-1].neurons if levels else inputs, width))
    return Stack(tuple(levels), Head(classes, 1.7) if classes else None), generator


@st.composite
def rules(draw):
    method, wire_method = (get_method(draw(st.sampled_from(METHODS))) for _ in range(2))
    seed = draw(st.integers(0, 2**50))
    tau, wire_tau = (TauSnapshot(torch.tensor(draw(st.sampled_from([0.3, 1.0, 2.0])))) for _ in range(2))
    wires, *inputs = (draw(st.sampled_from(INPUT_GRADIENTS)) for _ in range(3))  # levels of one tree may differ, too
    mode = draw(st.sampled_from(["method", "method", "method", "argmax", "deploy"]))
    noise = NoiseKey(seed, draw(st.integers(0, 9)), draw(st.integers(0, 3)), draw(st.booleans()))
    surrogate = draw(st.sampled_from(SURROGATES))

    def rule(stream):
        gradients = wires, inputs[stream % 2], surrogate
        return Rule(mode, method, tau, wire_method, wire_tau, noise, stream, *gradients)

    return rule


def gradients(engine, stack, rule, x, upstream, **options):
    """Of one step in which temperatures move between choosing and running, as CAGE moves those of hard methods."""
    for z in stack.parameters():
        z.grad = None
    if isinstance(x, torch.Tensor):
        x = x.clone().requires_grad_()
    request = Request(stack, [rule(stream) for stream in range(len(stack.levels))], x)
    on_bits = isinstance(x, hw.Bits) or request.mode == "deploy" or bool((x == x.round()).all())
    tables = any(isinstance(level.function, Entries) or level.arity > 2 for level in stack.levels)
    assert engine.supports(request) == (engine is reference or not tables or (on_bits and request.hard))
    if not engine.supports(request):
        return None, None  # look-up tables run on bits alone
    prepared = engine.prepare(stack, None, **options)
    choice, confidences = engine.select(request, prepared, True)
    taus = (request.rules[0].tau, request.rules[0].wire_tau)
    before = [tau.tau for tau in taus]
    if request.hard:
        for tau in taus:
            tau.refresh(1.7 * tau.tau)
    out = engine.run(request, prepared, choice)
    results = [out.detach()]
    if request.mode == "method" and out.requires_grad:
        out.backward(upstream[:, : out.shape[1]])
        results += [z.grad for z in stack.parameters()] + ([x.grad] if isinstance(x, torch.Tensor) else [])
    for tau, value in zip(taus, before, strict=True):
        tau.refresh(value)
    return results, confidences


def assert_same(one, other, upstream):
    rounding = 1e-6 * upstream.abs().sum().item() + 5e-6  # sums may cancel, and what is left is rounding
    for a, b in zip(one, other, strict=True):
        a = torch.zeros_like(b) if a is None else a
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4 * b.abs().max().item() + rounding)


@property_test
@given(stacks(), rules(), st.integers(1, 200), st.sampled_from(["floats", "binary", "packed"]), st.integers(1, 3))
def test_levels_of_every_kind_run_as_the_reference_engine_runs_them(given_stack, rule, rows, kind, threads):
    stack, generator = given_stack
    x = torch.rand(rows, stack.inputs, generator=generator)
    x = x if kind == "floats" else x.round()
    upstream = torch.randn(rows, stack.columns, generator=generator)
    x = hw.Bits.pack(x) if kind == "packed" else x
    torch.set_num_threads(threads)
    try:
        (ours, confidences), (theirs, expected) = (
            gradients(engine, stack, rule, x, upstream) for engine in (native, reference)
        )
    finally:
        torch.set_num_threads(1)
    if ours is None:
        return
    assert_same(ours, theirs, upstream)
    for one, other in zip(confidences, expected, strict=True):
        for a, b in ((one.functions, other.functions), (one.wires, other.wires)):
            assert (a is None and b is None) or float(a) == pytest.approx(float(b), rel=1e-5)


@st.composite
def convolutions(draw):
    """A convolution or two of random trees, with pooling or without, and perhaps a flat layer below or above."""
    side, channels, seed = draw(st.integers(3, 9)), draw(st.integers(1, 4)), draw(st.integers(0, 99))
    layers, shape = [], (channels, side, side)
    if draw(st.booleans()):
        layers.append(hw.LogicLayer(20, channels * side * side, seed=seed))
    for _ in range(draw(st.integers(1, 2))):
        size, depth = draw(st.integers(2, 3)), draw(st.integers(1, 4))
        if size > min(shape[1:]) or 2**depth > size * size * min(shape[0], 2):
            depth, size = 1, min(2, *shape[1:])
        if 2**depth > size * size * min(shape[0], 2):
            break
        conv = hw.LogicConv2d(
            shape,
            kernels=draw(st.integers(1, 5)),
            kernel_size=size,
            tree_depth=depth,
            padding=draw(st.integers(0, size - 1)),
            stride=draw(st.integers(1, 2)),
            start=draw(st.sampled_from(["normal", "tree"])),
            seed=seed,
        )
        layers.append(conv)
        shape = conv.output_shape
        pool = draw(st.integers(1, 3))
        if 1 < pool <= min(shape[1:]):
            gradient = draw(st.sampled_from([MAXIMUM, MAXIMUM, FORMULA]))
            layers.append(hw.OrPool2d(pool, stride=draw(st.integers(1, 2)), shape=shape, gradient=gradient))
            shape = layers[-1].output_shape
    if draw(st.booleans()):
        layers.append(hw.LogicLayer(layers[-1].neurons, draw(st.integers(1, 40)), seed=seed))
    return Stack(tuple(level for layer in layers for level in layer.levels()))


def by_formula(stack):
    """The same stack with another gradient of pooling. On floats rounding decides which of equals is the larger."""
    return replace(stack, levels=tuple(replace(level, gradient=FORMULA) for level in stack.levels))


@property_test
@given(convolutions(), rules(), st.integers(1, 200), st.sampled_from(["floats", "binary", "packed"]))
def test_a_convolution_that_runs_as_one_is_the_levels_that_it_means(stack, rule, rows, kind):
    x = torch.rand(rows, stack.inputs, generator=torch.Generator().manual_seed(rows))
    x = x if kind == "floats" else x.round()
    if kind == "floats" or not rule(0).hard:
        stack = by_formula(stack)
    upstream = torch.randn(rows, stack.columns, generator=torch.Generator().manual_seed(rows))
    x = hw.Bits.pack(x) if kind == "packed" else x
    fused, _ = gradients(native, stack, rule, x, upstream)
    plain, _ = gradients(native, stack, rule, x, upstream, fuse=False)
    judged, _ = gradients(reference, stack, rule, x, upstream)
    assert_same(plain, judged, upstream)
    assert_same(fused, judged, upstream)


def test_a_convolution_with_its_pooling_is_one_stage():
    layers = [
        hw.LogicConv2d((3, 8, 8), 4, tree_depth=3, padding=1, seed=0),
        hw.OrPool2d(2, shape=(4, 8, 8)),
        hw.LogicConv2d((4, 4, 4), 6, tree_depth=2, seed=1),
        hw.OrPool2d(2, shape=(6, 2, 2), gradient=FORMULA),
        hw.LogicLayer(6, 10, seed=2),
    ]
    stack = Stack(tuple(level for layer in layers for level in layer.levels()))
    assert len(stack.levels) == 10
    assert native.prepare(stack, None).native.stages == 5  # a pooling of another gradient stays two levels
    assert native.prepare(stack, None, fuse=False).native.stages == 10
