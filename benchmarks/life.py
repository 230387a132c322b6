"""Conway's Game of Life, learned from pairs of random boards, proven, and put on a board of its own.

    python benchmarks/life.py [--seeds 3] [--width 384] [--export life.v] [--save life.circuit]

A network of gates is trained on the neighbourhoods of a few random boards and on what became of their middle cells.
Then the deployed circuit is compared with the rule on all 512 neighbourhoods, which is a proof, and its gates are
counted, as they are and after exact shrinking (`exact.py`). The circuit of a whole board (a register for each cell)
runs 100 generations beside numpy.
"""

import argparse
import itertools
import time
from pathlib import Path

import numpy as np
import torch
from exact import shrunk, voted

import hardwire as hw
from hardwire.circuit import as_cell
from hardwire.circuit.sequential.grid import on_grid

SIDE, BOARDS, CANDIDATES, DEPTH, RATE = 64, 8, 8, 6, 0.05
NEAR = list(itertools.product((-1, 0, 1), repeat=2))


def neighbourhoods(boards):
    """[boards, height, width] -> [cells, 9], row by row."""
    shifted = [np.roll(boards, (-down, -right), (1, 2)) for down, right in NEAR]
    return np.stack(shifted, axis=-1).reshape(-1, 9)


def life(boards):
    """The next generation of boards whose edges meet."""
    around = neighbourhoods(boards).sum(1).reshape(boards.shape) - boards
    return ((around == 3) | (around == 2) & (boards == 1)).astype(np.uint8)


def train(x, y, width, seed, most):
    """Trains until the circuit is right on all that it was given; returns the network and the iterations."""
    net = hw.LogicNetwork(
        9, 2, width=width, depth=DEPTH, wiring="learned", candidates=CANDIDATES, method="hard-st+cage", seed=seed
    )
    optimizer = torch.optim.Adam(net.parameters(), lr=RATE)
    for iteration in range(most):
        if iteration % 25 == 0 and torch.equal(net.predict(x), y):
            return net, iteration
        loss = torch.nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return net, most


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--most", type=int, default=1500, help="iterations")
    parser.add_argument("--export", type=Path, help="a file for the circuit of a board of 8 x 8")
    parser.add_argument("--save", type=Path, help="a file for the circuit of a cell, as the playground takes it")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    boards = np.random.default_rng(0).integers(0, 2, (BOARDS, SIDE, SIDE), np.uint8)
    pairs = np.unique(np.column_stack([neighbourhoods(boards), life(boards).ravel()]), axis=0)
    x, y = hw.Bits.pack(torch.from_numpy(pairs[:, :9]).bool()), torch.from_numpy(pairs[:, 9]).long()
    every = (np.arange(512)[:, None] >> np.arange(9) & 1).astype(np.uint8)
    rule = (every.sum(1) == 3) | ((every.sum(1) == 4) & (every[:, 4] == 1))
    print(f"{len(pairs)} different neighbourhoods in {BOARDS} pairs of boards")
    for seed in range(arguments.seeds):
        start = time.process_time()
        net, iterations = train(x, y, arguments.width, seed, arguments.most)
        seconds = time.process_time() - start
        circuit = hw.Circuit.from_network(net).simplify()
        right = int((circuit.predict(every) == rule).sum())
        gates = len(circuit.netlist.gate)
        print(
            f"seed {seed}: {right} of 512 after {iterations} iterations, {seconds:.0f} s of one thread; {gates} gates",
            flush=True,
        )
        if right < 512:
            continue
        smaller = hw.Circuit(shrunk(voted(circuit, every, rule[:, None]), every, seconds=20), 1).simplify(rewrite=True)
        assert (smaller.scores(every)[:, 0] == rule).all()
        print(f"  {smaller.gates.size} gates after exact shrinking, right on all 512", flush=True)
        circuit = smaller
        if arguments.save:
            as_cell(circuit).save(arguments.save)
        board = on_grid(circuit, (8, 8))
        now = boards[0, :8, :8]
        made = board.run(np.zeros((1, 100, 0)), state=now.reshape(1, -1))[0]
        for generation in made:
            now = life(now[None])[0]
            assert (generation == now.ravel()).all()
        print("  a board of 8 x 8 in registers: 100 generations as numpy has them")
        if arguments.export:
            board.export(arguments.export)
            print(f"  {arguments.export}: {board.verify(arguments.export)}")


if __name__ == "__main__":
    main()
