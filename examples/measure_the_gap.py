"""Two ways to train the same network on handwritten digits, and what each loses when it becomes a circuit.

Soft-Mix trains a mixture of gates. Hard-ST trains the circuit itself, so its selection gap is zero at every evaluation.
"""

import hardwire as hw

data = hw.data.load("digits")
for method, tau in (("soft-mix", 2.0), ("hard-st", 1.0)):
    net = hw.LogicNetwork(data.inputs, data.classes, width=400, depth=2, method=method, tau=tau, seed=0)
    history = hw.fit(net, data, iterations=200, batch_size=100, lr=0.02, evaluate_every=40)
    gap = hw.measure_gap(net, data.test)
    print(
        f"{method}: {gap.method:.1%} in training, {gap.deploy:.1%} as a circuit; "
        f"selection gap {100 * gap.selection:+.1f} points, at most {100 * history.peak('selection'):+.1f} in training"
    )
    assert (history.peak("selection") == 0) == (method == "hard-st")
