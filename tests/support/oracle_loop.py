"""The oracle for loops: a cell run step by step over Python lists, and backpropagation through time as its definition
says: the gradient of a logit is the sum over the steps, and that of a state goes on to the step before.

The cell is a list of levels as in `oracle_levels`; it reads [state, input] and makes [state, output].
"""

import oracle_levels


def run(cell, start, inputs, mode, method, tau, drawn):
    """What the cell makes in every step, [step][state + output]."""
    state, made = list(start), []
    for x in inputs:
        made.append(oracle_levels.forward(cell, state + list(x), mode, method, tau, drawn)[-1])
        state = made[-1][: len(start)]
    return made


def gradients(cell, start, inputs, method, tau, upstream, drawn, **options):
    """Of sum(upstream * made), upstream [step][state + output]: by gates, by wires, by each input and by the start."""
    made, by_gates, by_wires, by_inputs = run(cell, start, inputs, "method", method, tau, drawn), None, None, []
    delta = [0.0] * len(start)
    for step in reversed(range(len(inputs))):
        state = list(start) if step == 0 else made[step - 1][: len(start)]
        arriving = [a + (delta[i] if i < len(start) else 0.0) for i, a in enumerate(upstream[step])]
        gates, wires, by_input = oracle_levels.gradients(
            cell, [state + list(inputs[step])], method, tau, [arriving], drawn, **options
        )
        by_gates, by_wires = _sum(by_gates, gates), _sum(by_wires, wires)
        delta = by_input[0][: len(start)]
        by_inputs.insert(0, by_input[0][len(start) :])
    return by_gates, by_wires, by_inputs, delta


def _sum(a, b):
    if a is None or b is None:
        return b if a is None else a
    return [_sum(x, y) for x, y in zip(a, b, strict=True)] if isinstance(b, list) else a + b
