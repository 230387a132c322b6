"""The oracle: the paper's mathematics once more, in plain loops over Python floats, written from the paper alone.

It shares no code, no library and no trick with hardwire: 16 gate outputs are computed one by one, derivatives are
differences of a gate's corners, a batch is a loop. What two programs that differ this much agree on is probably right.
"""

import math

# The paper's table of all 16 gates: the soft column ...
SOFT = [
    lambda a, b: 0.0,
    lambda a, b: a * b,
    lambda a, b: a * (1 - b),
    lambda a, b: a,
    lambda a, b: (1 - a) * b,
    lambda a, b: b,
    lambda a, b: a + b - 2 * a * b,
    lambda a, b: a + b - a * b,
    lambda a, b: 1 - a - b + a * b,
    lambda a, b: 1 - a - b + 2 * a * b,
    lambda a, b: 1 - b,
    lambda a, b: 1 - b + a * b,
    lambda a, b: 1 - a,
    lambda a, b: 1 - a + a * b,
    lambda a, b: 1 - a * b,
    lambda a, b: 1.0,
]
# ... and the Boolean column, on truth values.
BOOLEAN = [
    lambda a, b: False,
    lambda a, b: a and b,
    lambda a, b: a and not b,
    lambda a, b: a,
    lambda a, b: not a and b,
    lambda a, b: b,
    lambda a, b: a != b,
    lambda a, b: a or b,
    lambda a, b: not (a or b),
    lambda a, b: a == b,
    lambda a, b: not b,
    lambda a, b: a or not b,
    lambda a, b: not a,
    lambda a, b: not a or b,
    lambda a, b: not (a and b),
    lambda a, b: True,
]
HARD_METHODS = ("hard-st", "gumbel-st")
NOISY_METHODS = ("soft-gumbel", "gumbel-st")


def soft_gate(index, a, b):
    return SOFT[index](a, b)


def hard_gate(index, a, b):
    return 1.0 if BOOLEAN[index](a > 0.5, b > 0.5) else 0.0


def slope_a(index, b):
    """The derivative of a soft gate by a: gates are straight lines in a, so a difference of two points is exact."""
    return soft_gate(index, 1.0, b) - soft_gate(index, 0.0, b)


def slope_b(index, a):
    return soft_gate(index, a, 1.0) - soft_gate(index, a, 0.0)


def argmax(values):
    """The place of the largest value, the lowest place among equals."""
    best = 0
    for i in range(len(values)):
        if values[i] > values[best]:
            best = i
    return best


def one_hot(place, count):
    return [1.0 if i == place else 0.0 for i in range(count)]


def softmax(z, tau=1.0):
    largest = max(z)
    powers = [math.exp((value - largest) / tau) for value in z]
    return [power / sum(powers) for power in powers]


def with_noise(method, z, noise):
    return [z[i] + noise[i] for i in range(len(z))] if method in NOISY_METHODS else list(z)


def method_weights(method, z, tau, noise=None):
    """The weights of the forward pass of one node under one of the four methods."""
    z = with_noise(method, z, noise)
    return one_hot(argmax(z), len(z)) if method in HARD_METHODS else softmax(z, tau)


def node(method, z, outputs, tau, noise=None):
    """One node's output for the candidates' outputs."""
    weights = method_weights(method, z, tau, noise)
    return sum(weights[i] * outputs[i] for i in range(len(z)))


def surrogate_weights(method, z, tau, noise=None, surrogate="noisy"):
    """The weights of the backward pass: "noisy" with the noise of the forward pass, "clean" (hard methods) without."""
    clean = surrogate == "clean" and method in HARD_METHODS
    return softmax(z if clean else with_noise(method, z, noise), tau)


def logit_gradient(method, z, outputs, tau, delta, noise=None, surrogate="noisy"):
    """The gradient proposition: dL/dz_j = delta / tau * w_j * (g_j - sum_i w_i g_i)."""
    w = surrogate_weights(method, z, tau, noise, surrogate)
    mixture = sum(w[i] * outputs[i] for i in range(len(z)))
    return [delta / tau * w[j] * (outputs[j] - mixture) for j in range(len(z))]


def pass_weights(logits, mode, method, tau, noise):
    """Forward weights, [layer][neuron][gate]. mode: method (A^M), argmax (A^soft) or deploy (A^hard)."""
    result = []
    for layer in range(len(logits)):
        rows = []
        for n in range(len(logits[layer])):
            z = logits[layer][n]
            if mode == "method":
                rows.append(method_weights(method, z, tau, noise[layer][n] if noise else None))
            else:
                rows.append(one_hot(argmax(z), len(z)))
        result.append(rows)
    return result


def activations(sample, wirings, weights, mode):
    """All activations of one sample, the sample first: [layer + 1][neuron]."""
    gate = hard_gate if mode == "deploy" else soft_gate
    result = [list(sample)]
    for layer in range(len(wirings)):
        below, first, second = result[-1], wirings[layer][0], wirings[layer][1]
        out = []
        for n in range(len(first)):
            a, b = below[first[n]], below[second[n]]
            out.append(sum(weights[layer][n][i] * gate(i, a, b) for i in range(16)))
        result.append(out)
    return result


def group_temperature(classes, k):
    """The paper's alpha(C) * sqrt(k)."""
    return 1.42 / (math.log(classes - 1) + 0.7) * math.sqrt(k)


def class_scores(last, classes):
    k = len(last) // classes
    return [sum(last[c * k : (c + 1) * k]) / group_temperature(classes, k) for c in range(classes)]


def scores(batch, logits, wirings, classes, mode, method="hard-st", tau=1.0, noise=None):
    """The scores of each sample: [sample][class]."""
    weights = pass_weights(logits, mode, method, tau, noise)
    return [class_scores(activations(sample, wirings, weights, mode)[-1], classes) for sample in batch]


def gradients(
    batch, logits, wirings, classes, method, tau, upstream, noise=None, input_gradient="chosen", surrogate="noisy"
):
    """Of sum(upstream * scores) in the method's own pass: by the logits, [layer][neuron][gate], and by the input.

    The input gradient of a node follows its forward pass: the soft derivative of the mixture, or of the gate picked;
    where input_gradient is "mixture", of a picked gate too that of the mixture.
    """
    weights = pass_weights(logits, "method", method, tau, noise)
    by_logits = [[[0.0] * 16 for _ in rows] for rows in logits]
    by_input = []
    for s in range(len(batch)):
        h = activations(batch[s], wirings, weights, "method")
        k = len(h[-1]) // classes
        delta = [upstream[s][n // k] / group_temperature(classes, k) for n in range(len(h[-1]))]
        for layer in reversed(range(len(logits))):
            below = [0.0] * len(h[layer])
            for n in range(len(logits[layer])):
                first, second = wirings[layer][0][n], wirings[layer][1][n]
                a, b, w = h[layer][first], h[layer][second], weights[layer][n]
                outputs = [soft_gate(i, a, b) for i in range(16)]
                drawn = noise[layer][n] if noise else None
                if input_gradient == "mixture":
                    w = surrogate_weights(method, logits[layer][n], tau, drawn, surrogate)
                by_gate = logit_gradient(method, logits[layer][n], outputs, tau, delta[n], drawn, surrogate)
                for j, value in enumerate(by_gate):
                    by_logits[layer][n][j] += value
                below[first] += delta[n] * sum(w[i] * slope_a(i, b) for i in range(16))
                below[second] += delta[n] * sum(w[i] * slope_b(i, a) for i in range(16))
            delta = below
        by_input.append(delta)
    return by_logits, by_input


def confidence(logits):
    """CAGE's c: the mean over all nodes of the largest softmax probability."""
    nodes = [max(softmax(z)) for layer in logits for z in layer]
    return sum(nodes) / len(nodes)


def cage(confidences, choices=16, tau_max=3.0, tau_min=0.5, beta=0.99):
    """The temperature of each step, for the confidence measured in each step."""
    average, taus = 1 / choices, []
    for c in confidences:
        average = beta * average + (1 - beta) * c
        taus.append(tau_max - (tau_max - tau_min) * (average - 1 / choices) / (1 - 1 / choices))
    return taus


def philox(counter, key):
    """Philox4x32-10 (Salmon et al., 2011) on Python's unbounded integers."""
    x, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [(p1 >> 32) ^ x[1] ^ k[0], p1 % 2**32, (p0 >> 32) ^ x[3] ^ k[1], p0 % 2**32]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return x


def uniform(seed, step, layer, neuron, choice, draw=0, evaluation=False):
    """A number between 0 and 1; a counter gives four words, one for each of four neighbouring choices."""
    counter = [neuron, choice // 4 + draw * 2**16, step, layer + (2**31 if evaluation else 0)]
    word = philox(counter, [seed % 2**32, seed // 2**32])[choice % 4]
    return (word // 2**9 + 0.5) / 2**23


def gumbel(*counter):
    """One Gumbel variable."""
    return -math.log(-math.log(uniform(*counter)))


def race(seed, step, layer, neuron, sample, evaluation, z):
    """The Gumbel noise of one sample for logits z, drawn as a race: first who wins, then when each one arrives."""
    shares = softmax(z)
    draw = uniform(seed, step, layer, neuron // 4, len(z) + neuron % 4, sample, evaluation)
    winner = 0
    while draw >= sum(shares[: winner + 1]):
        winner += 1
    own = [-math.log(uniform(seed, step, layer, neuron, k, sample, evaluation)) for k in range(len(z))]
    times = [own[winner] + (own[k] / shares[k] if k != winner else 0.0) for k in range(len(z))]
    return [-math.log(times[k]) - z[k] for k in range(len(z))]


def network_noise(seed, step, widths, draw=0, evaluation=False):
    """[layer][neuron][gate]."""
    return [
        [[gumbel(seed, step, layer, n, i, draw, evaluation) for i in range(16)] for n in range(widths[layer])]
        for layer in range(len(widths))
    ]


def thermometer(raw, thresholds):
    """One row of raw values, thresholds [raw value][level] -> bits, the levels of a value side by side."""
    return [1 if raw[r] > level else 0 for r in range(len(raw)) for level in thresholds[r]]


def words(bits):
    """Bits as 64-bit integers, bit j of the row being bit j % 64 of word j // 64."""
    result = [0] * ((len(bits) + 63) // 64)
    for j, bit in enumerate(bits):
        result[j // 64] += bit << (j % 64)
    return result
