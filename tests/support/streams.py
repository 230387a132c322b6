"""Whether tensors that should be independent share random numbers."""

import itertools


def shared_values(tensors):
    """Pairs of names of float tensors that hold the same random numbers, plain, scaled or shifted.

    Tensors that were drawn from one stream agree from the start on, whatever their shapes are: then they have most of
    their values in common, or correlate where one of them was scaled. Independent ones do neither by chance.
    """
    flat = {name: centred(z) for name, z in tensors.items() if z.is_floating_point() and z.unique().numel() > 1}
    pairs = []
    for (one, (a, plain)), (two, (b, other)) in itertools.combinations(flat.items(), 2):
        size = min(len(a), len(b))
        scale = a[:size].norm() * b[:size].norm()
        correlation = (a[:size] @ b[:size] / scale).abs() if size >= 64 else 0.0
        common = len(plain & other)
        if correlation > 0.6 or common > 0.05 * size + 1:
            pairs.append((one, two))
    return pairs


def centred(z):
    """The numbers of a tensor less the mean of their column, which a bonus on one gate moves; and the set of them."""
    z = z.detach().double()
    columns = z - z.flatten(0, -2).mean(0) if z.ndim > 1 and len(z) > 1 else z - z.mean()
    return columns.flatten(), set(z.flatten().tolist())
