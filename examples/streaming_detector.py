"""A detector with a state: it reads one bit a clock and says when a pattern has just passed in a noisy stream.

The stream is made here: random bits, in which a pattern of eight bits is sent now and then, and each bit is flipped
with a probability of 3%. The loop learns it on short streams first. Then it becomes a circuit with registers, Verilog
and C, both proven equal, and is compared with a matched filter, which counts how many of the last eight bits agree.

    ITERATIONS=500 python examples/streaming_detector.py    # the figures of the manual; without, a short trial
"""

import os

import numpy as np
import torch

import hardwire as hw

ITERATIONS = int(os.environ.get("ITERATIONS", "20"))  # at each length
PATTERN, FLIPS, STATE = np.array([1, 1, 0, 1, 0, 0, 1, 0]), 0.03, 20
ROWS, BITS = (4_000, 100_000) if ITERATIONS > 20 else (1_000, 10_000)
LENGTH = len(PATTERN)
rng = np.random.default_rng(0)


def noisy(bits):
    return bits ^ (rng.random(bits.shape) < FLIPS)


def streams(steps):
    """Streams [n, steps] and whether the pattern, or the end of it that fits, has just passed."""
    bits = rng.integers(0, 2, (ROWS, steps))
    sent = rng.random(ROWS) < 0.5
    seen = PATTERN[-steps:]
    near = ~sent & (rng.random(ROWS) < 0.5)  # these end in something that is nearly the pattern
    bits[sent | near, -len(seen) :] = seen
    for row in np.flatnonzero(near):
        bits[row, steps - 1 - rng.choice(len(seen), min(3, len(seen)), replace=False)] ^= 1
    return torch.from_numpy(noisy(bits)).float(), torch.from_numpy(sent.astype(np.int64))


def layer(inputs, neurons, seed):
    return hw.LogicLayer(inputs, neurons, wiring="learned", candidates=8, start="residual", bonus=2.0, seed=seed)


cell = [layer(STATE + 1, 120, 0), layer(120, 120, 1), layer(120, STATE + 80, 2)]
net = hw.LogicNetwork(layers=[hw.Recurrent(cell, steps=2, state=STATE)], classes=2, method="hard-st+cage", seed=3)
lengths = [2, 4, 6, LENGTH, 12, 16] if ITERATIONS > 20 else [2, 4]
trained = hw.curriculum(
    net, streams, lengths, ITERATIONS, lr=[0.05, 0.05, 0.04, 0.03, 0.02, 0.02][: len(lengths)], batch_size=200,
    evaluate_every=20, until=None, progress=False,
)  # fmt: skip
print("right on held-out streams, by length:", {t: round(max(h.scores()), 3) for t, h in trained.histories.items()})

circuit = hw.Circuit.from_loop(trained.net).simplify()
for name in ("detector.v", "detector.c"):
    circuit.export(name)
    verdict = circuit.verify(name)
    print(f"{name}: {verdict}")
    assert verdict

# one long stream: the pattern is sent every 20 to 60 bits
sent, ends = rng.integers(0, 2, BITS), []
place = 50
while place + LENGTH < len(sent):
    sent[place : place + LENGTH] = PATTERN
    ends.append(place + LENGTH - 1)
    place += LENGTH + int(rng.integers(12, 52))
received = noisy(sent)
truth = np.zeros(len(sent), bool)
truth[ends] = True
agree = np.lib.stride_tricks.sliding_window_view(received, LENGTH) == PATTERN
matches = np.concatenate([np.zeros(LENGTH - 1, int), agree.sum(axis=1)])
# a pattern may also come about by chance; it is none of ours, but nobody can tell
answers = {"learned circuit": circuit.run(received.reshape(100, -1, 1)).ravel() == 1}  # 100 side by side
answers |= {f"matched filter, {n} of {LENGTH}": matches >= n for n in (LENGTH, LENGTH - 1, LENGTH - 2)}
print(f"{circuit.state.bits} registers, {circuit.gates.size} gates; {len(ends):,} patterns in {len(sent):,} bits")
for who, says in answers.items():
    print(f"{who}: {says[truth].mean():.1%} detected, {1000 * says[~truth].mean():.2f} false alarms in 1,000 bits")

state, x = np.array([circuit.state.initial]), received[:64]
stepped = []
for bit in x:  # and as it would run: one bit a clock
    state, answer = circuit.step(state, [[bit]])
    stepped.append(int(answer[0]))
assert stepped == (answers["learned circuit"][:64] == 1).astype(int).tolist()
