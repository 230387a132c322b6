"""The oracle for look-up tables: loops over addresses, samples and candidates, written from the definitions.

A layer is a dictionary: `wires`, [n][table] or with candidates [n][table][K]; `logits`, [table][2**n]; `wire_logits`,
[n][table][K] or None. Input j of a table is bit j of an address.
"""

import math

import oracle
import oracle_levels


def sigmoid(z):
    return 1 / (1 + math.exp(-z)) if z > 0 else math.exp(z) / (1 + math.exp(z))


def share(address, x):
    """How much of the corner `address` x is: the product of x_j where bit j is set, and of 1 - x_j elsewhere."""
    product = 1.0
    for j in range(len(x)):
        product *= x[j] if address >> j & 1 else 1 - x[j]
    return product


def output(values, x):
    return sum(values[address] * share(address, x) for address in range(len(values)))


def slope(values, x, j):
    """The derivative by input j; a table is a straight line in it."""
    ends = [list(x), list(x)]
    ends[0][j], ends[1][j] = 0.0, 1.0
    return output(values, ends[1]) - output(values, ends[0])


def noise_of(layer, seed, step, evaluation=False):
    """(logistic noise of the entries [table][2**n], Gumbel noise of the wires [n][table][K] or None)."""

    def logistic(table, entry):
        u = oracle.uniform(seed, step, 0, table, entry, 0, evaluation)
        return math.log(u / (1 - u))

    entries = [[logistic(t, e) for e in range(len(row))] for t, row in enumerate(layer["logits"])]
    level = {"gates": None, "wire_logits": layer["wire_logits"]}
    if level["wire_logits"] is None:
        return entries, None
    n, tables, k = len(level["wire_logits"]), len(level["wire_logits"][0]), len(level["wire_logits"][0][0])
    return entries, [
        [[oracle.gumbel(seed, step, 2**30, j * tables + t, i, 0, evaluation) for i in range(k)] for t in range(tables)]
        for j in range(n)
    ]


def values_of(z, mode, method, tau, drawn):
    """The entries of one table in a pass: 0 and 1, or probabilities."""
    noisy = [z[e] + drawn[e] for e in range(len(z))] if mode == "method" and method in oracle.NOISY_METHODS else z
    if mode != "method" or method in oracle.HARD_METHODS:
        return [1.0 if value > 0 else 0.0 for value in noisy]
    return [sigmoid(value / tau) for value in noisy]


def read(layer, h, t, mode, method, tau, noise):
    """What the inputs of a table read, and for each its candidates' values, the weights over them and their wires."""
    values, sides = [], []
    for j in range(len(layer["wires"])):
        wires = layer["wires"][j][t]
        if layer["wire_logits"] is None:
            candidates, weights, wires = [h[wires]], [1.0], [wires]
        else:
            drawn = noise[1][j][t] if noise else None
            weights = oracle_levels.choice_weights(layer["wire_logits"][j][t], mode, method, tau, drawn)
            candidates = [h[wire] for wire in wires]
        values.append(sum(w * c for w, c in zip(weights, candidates, strict=True)))
        sides.append((candidates, weights, wires))
    return values, sides


def forward(layer, h, mode, method, tau, noise=None):
    """The outputs of all tables for one sample h."""
    out = []
    for t, z in enumerate(layer["logits"]):
        x, _ = read(layer, h, t, mode, method, tau, noise)
        if mode == "deploy":
            x = [1.0 if value > 0.5 else 0.0 for value in x]
        out.append(output(values_of(z, mode, method, tau, noise[0][t] if noise else None), x))
    return out


def gradients(layer, batch, method, tau, upstream, noise, by_mixture, surrogate):
    """Of sum(upstream * outputs): by the logits, by the wire logits (or None) and by the input.

    An entry is a choice between 0 and 1, so its gradient is delta * share * p (1 - p) / tau. by_mixture: whether the
    wires' delta, and whether all that goes down, is that of the probabilities instead of the chosen table.
    """
    by_logits = [[0.0] * len(z) for z in layer["logits"]]
    learned = layer["wire_logits"]
    by_wires = None if learned is None else [[[0.0] * len(z) for z in side] for side in learned]
    by_input = []
    for s, h in enumerate(batch):
        below = [0.0] * len(h)
        for t, z in enumerate(layer["logits"]):
            drawn, delta = noise[0][t] if noise else None, upstream[s][t]
            x, sides = read(layer, h, t, "method", method, tau, noise)
            clean = surrogate == "clean" and method in oracle.HARD_METHODS
            soft = [sigmoid(v / tau) for v in (z if clean else oracle.with_noise(method, z, drawn))]
            for e, p in enumerate(soft):
                by_logits[t][e] += delta * share(e, x) * p * (1 - p) / tau
            chosen = values_of(z, "method", method, tau, drawn)
            for j, (candidates, weights, wires) in enumerate(sides):
                arriving = delta * slope(soft if by_mixture[1] else chosen, x, j)
                learning = delta * slope(soft if any(by_mixture) else chosen, x, j)
                if learned is not None:
                    own = noise[1][j][t] if noise else None
                    steps = oracle.logit_gradient(method, learned[j][t], candidates, tau, learning, own, surrogate)
                    for k, value in enumerate(steps):
                        by_wires[j][t][k] += value
                for w, wire in zip(weights, wires, strict=True):
                    below[wire] += w * arriving
        by_input.append(below)
    return by_logits, by_wires, by_input
