"""The oracle for levels: wires that are chosen among candidates, rows of parameters that neurons share, fixed gates,
padding; and a convolution as one would explain it at a blackboard. Loops over Python floats, written from the
definitions.

A level is a dictionary: `wires`, [2][neuron] or with candidates [2][neuron][K] (-1 is the constant 0); `rows`, the row
of each neuron; `gates`, logits [row][16], or None with `gate`, the one gate of all; `wire_logits`, [2][row][K] or
None; `gradient`, "formula" or "maximum".
"""

import oracle


def read(h, wire):
    return 0.0 if wire < 0 else h[wire]


def choice_weights(z, mode, method, tau, noise):
    if mode != "method":
        return oracle.one_hot(oracle.argmax(z), len(z))
    return oracle.method_weights(method, z, tau, noise)


def level_noise(level, seed, step, noise_stream, evaluation=False):
    """(of gates [row][16], of wires [2][row][K]); the wires of a level draw from a stream of their own, 2**30 on."""
    gates = wires = None
    if level["gates"] is not None:
        count = len(level["gates"])
        gates = [
            [oracle.gumbel(seed, step, noise_stream, r, i, 0, evaluation) for i in range(16)] for r in range(count)
        ]
    if level["wire_logits"] is not None:
        rows, k = len(level["wire_logits"][0]), len(level["wire_logits"][0][0])
        wires = [
            [
                [oracle.gumbel(seed, step, noise_stream + 2**30, s * rows + r, i, 0, evaluation) for i in range(k)]
                for r in range(rows)
            ]
            for s in range(2)
        ]
    return gates, wires


def inputs_of(level, h, n, mode, method, tau, noise):
    """What the two inputs of a neuron read, and for each side the candidates' values and the weights over them."""
    values, sides = [], []
    for side in range(2):
        wires = level["wires"][side][n]
        if level["wire_logits"] is None:
            values.append(read(h, wires))
            sides.append(([read(h, wires)], [1.0], [wires]))
            continue
        row = level["rows"][n]
        z, drawn = level["wire_logits"][side][row], noise[1][side][row] if noise else None
        weights = choice_weights(z, mode, method, tau, drawn)
        candidates = [read(h, wire) for wire in wires]
        values.append(sum(weights[k] * candidates[k] for k in range(len(z))))
        sides.append((candidates, weights, wires))
    return values, sides


def gate_weights_of(level, n, mode, method, tau, noise):
    if level["gates"] is None:
        return oracle.one_hot(level["gate"], 16)
    row = level["rows"][n]
    return choice_weights(level["gates"][row], mode, method, tau, noise[0][row] if noise else None)


def forward(levels, sample, mode, method="hard-st", tau=1.0, noises=None, wire_tau=None):
    """All activations of one sample, the sample first."""
    gate = oracle.hard_gate if mode == "deploy" else oracle.soft_gate
    result = [list(sample)]
    for place, level in enumerate(levels):
        noise = noises[place] if noises else None
        out = []
        for n in range(len(level["wires"][0])):
            (a, b), _ = inputs_of(level, result[-1], n, mode, method, wire_tau or tau, noise)
            weights = gate_weights_of(level, n, mode, method, tau, noise)
            out.append(sum(weights[i] * gate(i, a, b) for i in range(16)))
        result.append(out)
    return result


def slopes_of(weights, a, b):
    """The derivatives of a mixture of gates by its two inputs."""
    return (
        sum(weights[i] * oracle.slope_a(i, b) for i in range(16)),
        sum(weights[i] * oracle.slope_b(i, a) for i in range(16)),
    )


def gradients(
    levels, batch, method, tau, upstream, noises=None, wire_tau=None, by_mixture=(False, False), surrogate="noisy"
):
    """Of sum(upstream * outputs of the last level) in the method's pass.

    By gate logits [level][row][16], by wire logits [level][2][row][K] (None where there are none) and by the input. The
    proposition serves both choices: delta / tau * w_j * (value_j - sum_i w_i value_i), where a wire's delta is the
    gradient of the gate's input, and its value what the candidate wire reads. The chosen wires carry that delta down.
    by_mixture: whether the wires' delta, and whether all that goes down and theirs too, is of the mixture of gates.
    """
    wire_tau = wire_tau or tau
    by_gates = [None if level["gates"] is None else [[0.0] * 16 for _ in level["gates"]] for level in levels]
    by_wires = [
        None if level["wire_logits"] is None else [[[0.0] * len(z) for z in side] for side in level["wire_logits"]]
        for level in levels
    ]
    by_input = []
    for s in range(len(batch)):
        h = forward(levels, batch[s], "method", method, tau, noises, wire_tau)
        delta = list(upstream[s])
        for place in reversed(range(len(levels))):
            level, noise = levels[place], noises[place] if noises else None
            below = [0.0] * len(h[place])
            for n in range(len(delta)):
                (a, b), sides = inputs_of(level, h[place], n, "method", method, wire_tau, noise)
                weights = gate_weights_of(level, n, "method", method, tau, noise)
                if level["gates"] is not None:
                    row, outputs = level["rows"][n], [oracle.soft_gate(i, a, b) for i in range(16)]
                    drawn = noise[0][row] if noise else None
                    z = level["gates"][row]
                    for j, value in enumerate(
                        oracle.logit_gradient(method, z, outputs, tau, delta[n], drawn, surrogate)
                    ):
                        by_gates[place][row][j] += value
                    mixed = oracle.surrogate_weights(method, z, tau, drawn, surrogate)
                else:
                    mixed = weights
                slopes = slopes_of(mixed if by_mixture[1] else weights, a, b)
                if level.get("gradient") == "maximum":
                    slopes = (1.0, 0.0) if a >= b else (0.0, 1.0)
                learning = slopes_of(mixed, a, b) if any(by_mixture) else slopes
                for side in range(2):
                    arriving = delta[n] * slopes[side]
                    candidates, over, wires = sides[side]
                    if level["wire_logits"] is not None:
                        row = level["rows"][n]
                        z, drawn = level["wire_logits"][side][row], noise[1][side][row] if noise else None
                        steps = oracle.logit_gradient(
                            method, z, candidates, wire_tau, delta[n] * learning[side], drawn, surrogate
                        )
                        for k, value in enumerate(steps):
                            by_wires[place][side][row][k] += value
                    for k, wire in enumerate(wires):
                        if wire >= 0:
                            below[wire] += over[k] * arriving
            delta = below
        by_input.append(delta)
    return by_gates, by_wires, by_input


def convolution(image, leaves, tree_levels, stride, padding, rows, columns):
    """One kernel on one image. image [channel][y][x] of 0 and 1; leaves, a list of (channel, dy, dx), 2**depth of them;
    tree_levels, the gates of each tree level of the tree, or tables by their entries, from the leaves to the root ->
    [rows][columns]."""
    height, width = len(image[0]), len(image[0][0])

    def pixel(channel, y, x):
        return image[channel][y][x] if 0 <= y < height and 0 <= x < width else 0

    def apply(node, read):
        if isinstance(node, int):
            return oracle.hard_gate(node, *read)
        return node[sum(int(bit) << j for j, bit in enumerate(read))]

    def answer(top, left):
        values = [pixel(channel, top + dy, left + dx) for channel, dy, dx in leaves]
        for gates in tree_levels:
            n = len(values) // len(gates)
            values = [apply(node, values[n * i : n * i + n]) for i, node in enumerate(gates)]
        (root,) = values
        return root

    return [[answer(y * stride - padding, x * stride - padding) for x in range(columns)] for y in range(rows)]


def pool(image, size, stride):
    """The largest value of every window: image [channel][y][x] -> the same, smaller."""
    height, width = len(image[0]), len(image[0][0])
    rows, columns = (height - size) // stride + 1, (width - size) // stride + 1
    return [
        [
            [
                max(plane[y * stride + dy][x * stride + dx] for dy in range(size) for dx in range(size))
                for x in range(columns)
            ]
            for y in range(rows)
        ]
        for plane in image
    ]
