"""An image that grows from one seed cell, stays as it is, and grows back: an automaton trained on pairs of states.

    python benchmarks/growth_taught.py [--seeds 3] [--save heart.circuit]

A cell has nine bits: the image, and four hidden bits each for where in the image it is, column and row in Gray code.
The hidden bits come from a teacher: a living cell tells its four neighbours where they are, and those inside the heart
come to life. From that follow all neighbourhoods that occur however the heart is damaged, each with its next state.
A network learns these pairs; nothing of the teacher is left in it. The deployed circuit is compared with all pairs,
so growth from the seed and from every part of the heart that is left is proven, and then it is run.
"""

import argparse
import itertools
import math
import time
from pathlib import Path

import numpy as np
import torch
from exact import output_bits, shrunk, voted
from heart import HEART, SIZE

import hardwire as hw
from hardwire.circuit import as_cell
from hardwire.circuit.builder import Builder
from hardwire.circuit.sequential.cell import generations, start_board

NEAR = [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)]  # the cell and its four neighbours
BITS, WIDTH, DEPTH, CANDIDATES, RATE = 9, 3000, 4, 8, 0.05
DAMAGES, LATER = 20, 1000


def bits_of(row, column):
    """The bits of a cell of the grown heart; zeros outside it."""
    if not (0 <= row < SIZE and 0 <= column < SIZE and HEART[row, column]):
        return np.zeros(BITS, np.uint8)
    code = [(place ^ place >> 1) >> bit & 1 for place in (column, row) for bit in range(4)]
    return np.array([1, *code], np.uint8)


def pairs():
    """All neighbourhoods [n, 5 * 9] in which any of the five cells may have been erased, and what becomes of each."""
    following = {}
    for row, column in itertools.product(range(-1, SIZE + 1), repeat=2):
        there = [bits_of(row + down, column + right) for down, right in NEAR]
        for left in itertools.product((0, 1), repeat=len(NEAR)):
            seen = np.concatenate([bits * alive for bits, alive in zip(there, left, strict=True)])
            becomes = there[0] if seen.any() else np.zeros(BITS, np.uint8)
            before = following.setdefault(seen.tobytes(), becomes)
            assert (before == becomes).all(), "two places of the heart look alike and become different"
    return np.array([np.frombuffer(seen, np.uint8) for seen in following]), np.array(list(following.values()))


def train(x, y, seed, most):
    """A network with a pair of classes for each bit; returns it, the iterations, and the bits that are wrong."""
    width = WIDTH // (2 * BITS) * 2 * BITS
    sizes = [x.shape[1]] + [width] * DEPTH
    layers = [
        hw.LogicLayer(a, b, wiring="learned", candidates=CANDIDATES, seed=10 * seed + number)
        for number, (a, b) in enumerate(itertools.pairwise(sizes))
    ]
    net = hw.LogicNetwork(layers=layers, classes=2 * BITS, method="hard-st+cage", seed=seed)
    given, wanted = hw.Bits.pack(torch.from_numpy(x).bool()), torch.from_numpy(y).long()
    optimizer = torch.optim.Adam(net.parameters(), lr=RATE)
    for iteration in range(most + 1):
        scores = net(given).view(len(x), BITS, 2)
        wrong = int((scores.argmax(2) != wanted).sum())
        if wrong == 0 or iteration == most:
            return net, iteration, wrong
        optimizer.param_groups[0]["lr"] = RATE * (0.6 + 0.4 * math.cos(math.pi * iteration / most))
        loss = torch.nn.functional.cross_entropy(scores.reshape(-1, 2), wanted.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def cell_of(netlist):
    """The circuit of a cell from a netlist over the bits of five cells: it reads [9, 3, 3], without the corners."""
    builder = Builder(BITS * 9)
    places = [bit * 9 + 3 * (1 + down) + 1 + right for down, right in NEAR for bit in range(BITS)]
    made = builder.embed(netlist, places)
    return as_cell(hw.Circuit(builder.netlist(made), 1), "zero", (SIZE, SIZE), bits_of(SIZE // 2, SIZE // 2).tolist())


def grown(cell, seed):
    """Steps from the seed cell to the heart, and the most steps to heal one of some damages; raises if it fails."""
    heart = np.stack([[bits_of(row, column) for column in range(SIZE)] for row in range(SIZE)]).transpose(2, 0, 1)
    steps, board = 0, start_board(cell)
    while not (board == heart).all():
        board, steps = generations(cell, board), steps + 1
        if steps > 4 * SIZE:
            raise SystemExit("it did not grow")
    assert (generations(cell, board, LATER) == heart).all(), f"it did not stay for {LATER} steps"
    rng, slowest = np.random.default_rng(seed), 0
    for _ in range(DAMAGES):
        row, column, radius = rng.integers(0, SIZE), rng.integers(0, SIZE), rng.integers(2, 6)
        down, right = np.mgrid[:SIZE, :SIZE]
        board = heart * (np.hypot(down - row, right - column) > radius)
        taken = 0
        while not (board == heart).all():
            board, taken = generations(cell, board), taken + 1
            assert taken <= 4 * SIZE, "it did not heal"
        slowest = max(slowest, taken)
    return steps, slowest


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--most", type=int, default=1200, help="iterations")
    parser.add_argument("--save", type=Path, help="a file for the circuit of a cell, the first that is exact")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    x, y = pairs()
    print(f"{len(x):,} neighbourhoods of {HEART.sum()} living cells")
    saved = False
    for seed in range(arguments.seeds):
        start = time.process_time()
        net, iterations, wrong = train(x, y, seed, arguments.most)
        took = f"{iterations} iterations, {time.process_time() - start:.0f} s of one thread"
        if wrong:
            print(f"seed {seed}: {wrong} bits of {y.size:,} wrong after {took}", flush=True)
            continue
        circuit = hw.Circuit.from_network(net)
        netlist = shrunk(voted(circuit, x, y), x)
        assert (output_bits(netlist, x) == y).all()  # the proof: these are all neighbourhoods that occur
        cell = cell_of(netlist).simplify()
        steps, slowest = grown(cell, seed)
        print(
            f"seed {seed}: exact after {took}; {circuit.gates.size:,} gates, {cell.gates.size:,} after simplification; "
            f"the heart after {steps} steps, unchanged after {LATER:,} more; {DAMAGES} damages healed in at most "
            f"{slowest} steps",
            flush=True,
        )
        if arguments.save and not saved:
            cell.save(arguments.save)
            saved = True


if __name__ == "__main__":
    main()
