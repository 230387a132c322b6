"""Codebooks: nearest codes against a loop, exact deployment, both gradients against closed forms, another library."""

import pytest
import torch
from torch.nn import functional as F

import hardwire as hw
from hardwire.systems import auxiliary_loss

METHODS = tuple(hw.METHODS)


def vectors(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("method", METHODS)
def test_the_deployed_codebook_equals_the_quantisers_own_hard_pass(method):
    quantizer, z = hw.VectorQuantizer(11, 4, method, gradient="softmax"), vectors(7, 5, 4)
    book = quantizer.deploy()
    assert torch.equal(quantizer.eval()(z), book(z))
    nearest = [[min(range(11), key=lambda k: (v - book.codebook[k]).square().sum()) for v in row] for row in z]
    assert book.codes(z).tolist() == nearest == quantizer.codes(z).tolist()
    assert torch.equal(book.values(book.codes(z)), book(z))


@pytest.mark.parametrize(
    "settings", [{"gradient": "copy"}, {"gradient": "softmax"}, {"gradient": "softmax", "cage": True}]
)
@pytest.mark.parametrize("codes", [2, 64, 4096])
def test_the_hard_training_pass_is_the_deployed_codebook_exactly_also_with_more_codes_than_vectors(settings, codes):
    quantizer, z = hw.VectorQuantizer(codes, 8, **settings), vectors(50, 8).requires_grad_()
    assert torch.equal(quantizer(z), quantizer.deploy()(z))


def test_the_vq_vae_copies_the_gradient_and_learns_codes_by_their_own_loss():
    quantizer, z, upstream = hw.VectorQuantizer(6, 4, commitment=0.25), vectors(20, 4), vectors(20, 4, seed=1)
    z.requires_grad_()
    out = quantizer(z)
    (gradient,) = torch.autograd.grad((out * upstream).sum(), z, retain_graph=True)
    assert torch.equal(gradient, upstream)
    auxiliary_loss(quantizer).backward()
    codes, book = quantizer.codes(z), quantizer.codebook.detach()
    difference = z.detach() - book[codes]
    torch.testing.assert_close(z.grad, 0.25 * 2 * difference / difference.numel())
    expected = torch.zeros_like(book).index_add(0, codes, -2 * difference / difference.numel())
    torch.testing.assert_close(quantizer.codebook.grad, expected)


@pytest.mark.parametrize("method", METHODS)
def test_the_softmax_gradient_is_that_of_the_weighted_codes(method):
    quantizer = hw.VectorQuantizer(6, 4, method, 0.7, seed=3, gradient="softmax", commitment=0.0).double()
    z, upstream = vectors(20, 4).double().requires_grad_(), vectors(20, 4, seed=1).double()
    (quantizer(z) * upstream).sum().backward()
    actual_z, actual_book = z.grad.clone(), quantizer.codebook.grad.clone()
    z.grad = quantizer.codebook.grad = None
    distances = (z[:, None] - quantizer.codebook).square().sum(-1)
    weights = hw.Choice(6, method, 0.7, seed=3)(-distances)
    ((weights[..., None] * quantizer.codebook).sum(1) * upstream).sum().backward()
    torch.testing.assert_close(actual_z, z.grad)
    torch.testing.assert_close(actual_book, quantizer.codebook.grad)


def test_vectors_may_lie_along_any_axis():
    channels, last = (hw.VectorQuantizer(9, 4, seed=0, axis=axis) for axis in (1, -1))
    z = vectors(2, 4, 3, 5)
    assert torch.equal(channels(z), last(z.movedim(1, -1)).movedim(-1, 1))
    assert torch.equal(channels.deploy()(z), channels(z))
    assert channels.codes(z).shape == (2, 3, 5)


def test_hard_codes_have_no_gap_and_soft_codes_have_one():
    z = vectors(100, 4)
    for method in METHODS:
        gap = hw.measure_gap(hw.VectorQuantizer(16, 4, method, seed=0, gradient="softmax"), (z, z), loss=F.mse_loss)
        assert gap.computation == 0
        assert (gap.selection == 0) == (method == "hard-st")


def test_codes_may_start_as_vectors_of_the_data():
    quantizer, z = hw.VectorQuantizer(20, 4), vectors(30, 4)
    quantizer.initialise(z, seed=1)
    rows = {tuple(row) for row in z.tolist()}
    assert len({tuple(code) for code in quantizer.codebook.tolist()} & rows) == 20


def test_codes_and_gradients_are_those_of_vector_quantize_pytorch():
    library = pytest.importorskip(
        "vector_quantize_pytorch", reason="needs its reference: pip install vector-quantize-pytorch"
    )
    ours, z = hw.VectorQuantizer(50, 8, commitment=0.25), vectors(10, 30, 8).requires_grad_()
    theirs = library.VectorQuantize(
        dim=8, codebook_size=50, learnable_codebook=True, ema_update=False, commitment_weight=1.0, rotation_trick=False
    )
    theirs._codebook.embed.data.copy_(ours.codebook.detach()[None])
    values, codes, _ = theirs(z)
    assert torch.equal(codes, ours.codes(z))
    torch.testing.assert_close(ours(z), values)
    upstream = vectors(10, 30, 8, seed=1)
    gradients = [torch.autograd.grad((out * upstream).sum(), z)[0] for out in (ours(z), theirs(z)[0])]
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: hw.VectorQuantizer(1, 4), "at least 2"),
        (lambda: hw.VectorQuantizer(4, 4, gradient="none"), "unknown gradient 'none'; choose one of: copy, softmax"),
        (lambda: hw.VectorQuantizer(4, 4, "soft-mix"), "use gradient='softmax'"),
        (lambda: hw.VectorQuantizer(4, 4, cage=True), "use gradient='softmax'"),
        (lambda: hw.VectorQuantizer(4, 4)(vectors(3, 5)), r"\[3, 5\]; this codebook reads vectors of 4"),
        (lambda: hw.VectorQuantizer(4, 4)(vectors(0, 4)), "at least one"),
        (lambda: hw.VectorQuantizer(4, 4).initialise(vectors(3, 4)), "3 vectors cannot start 4 codes"),
        (lambda: hw.VectorQuantizer(4, 4)(vectors(3, 4) * float("nan")), "NaN or infinity"),
        (lambda: hw.VectorQuantizer(4, 4).deploy()(vectors(3, 4) * float("nan")), "NaN or infinity"),
    ],
)
def test_mistakes_are_named(attempt, message):
    with pytest.raises(hw.HardwireError, match=message):
        attempt()
