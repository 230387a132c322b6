"""An image that grows from one seed cell, given nothing but the image: hidden bits by search, reading trained.

    python benchmarks/growth_searched.py [--seeds 3] [--save heart.circuit]

A cell has a bit that it shows and eight hidden ones. A hidden bit becomes 1 where one gate, AND or OR, of two hidden
bits of the neighbourhood is 1, and then stays. Such rules are drawn at random and changed a little as long as that
helps: after nine steps nothing may change any more, and cells that must show different things must have different
neighbourhoods. What a neighbourhood shows is then trained (hard-st). Surprising: such a board heals. AND and OR never
fall where a bit rises, so whatever part of the grown board is left around the seed, its future lies between that of
the seed alone and the grown board itself, and both become the grown board.
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
from hardwire.gates import algebra

HIDDEN, SIDE, SETTLED, DRAWN, MOST_TRIES = 8, 3, 9, 300, 100_000
WIDTH, DEPTH, CANDIDATES, RATE, MOST_ITERATIONS = 400, 4, 8, 0.05, 2000
DAMAGES, LATER, MIDDLE = 20, 1000, SIZE // 2
READ = HIDDEN * SIDE**2  # bits of a neighbourhood, [hidden, row, column]


def around(board):
    """The neighbourhoods of a board [hidden, height, width]: [72, height, width]."""
    padded = np.pad(board, ((0, 0), (1, 1), (1, 1)))
    views = np.lib.stride_tricks.sliding_window_view(padded, (SIDE, SIDE), axis=(1, 2))
    return views.transpose(0, 3, 4, 1, 2).reshape(READ, SIZE, SIZE)


def after(rule, board):
    first, second, either = rule
    seen = around(board)
    a, b = seen[first], seen[second]
    return board | np.where(either[:, None, None], a | b, a & b)


def grown(rule):
    """The board that the seed becomes, or None if it still changes after the steps that it has."""
    board = np.zeros((HIDDEN, SIZE, SIZE), bool)
    board[:, MIDDLE, MIDDLE] = True
    for _ in range(SETTLED + 1):
        before, board = board, after(rule, board)
        if (before == board).all():
            return board
    return None


def fault(rule):
    """How bad a rule is: cells that no reading gets right, and then how few neighbourhoods differ."""
    board = grown(rule)
    if board is None:
        return math.inf, 0
    seen = np.packbits(around(board).reshape(READ, -1), axis=0).T
    kinds, kind = np.unique(seen, axis=0, return_inverse=True)
    ones, cells = np.bincount(kind.ravel(), HEART.ravel()), np.bincount(kind.ravel())
    return int(np.minimum(ones, cells - ones).sum()), -len(kinds)


def draw(rng):
    return rng.integers(0, READ, HIDDEN), rng.integers(0, READ, HIDDEN), rng.random(HIDDEN) < rng.random()


def changed(rule, rng):
    """The rule with one to three of its wires or gates drawn again."""
    first, second, either = (part.copy() for part in rule)
    for _ in range(rng.integers(1, 4)):
        bit, part = rng.integers(HIDDEN), rng.integers(3)
        if part == 2:
            either[bit] = not either[bit]
        else:
            (first, second)[part][bit] = rng.integers(READ)
    return first, second, either


def search(seed):
    """A rule under which every cell can know what to show, and how many were tried."""
    rng = np.random.default_rng(seed)
    best, rule = min(((fault(rule), rule) for rule in (draw(rng) for _ in range(DRAWN))), key=lambda one: one[0])
    for tries in range(DRAWN, MOST_TRIES):
        if best[0] == 0:
            return rule, tries
        other = changed(rule, rng)
        if (faults := fault(other)) <= best:
            best, rule = faults, other
    raise SystemExit(f"no rule after {MOST_TRIES:,} tries")


def trained(x, y, seed):
    """A network of two classes that is right on all rows; returns it and its iterations."""
    sizes = [READ] + [WIDTH] * DEPTH
    layers = [
        hw.LogicLayer(a, b, wiring="learned", candidates=CANDIDATES, seed=10 * seed + number)
        for number, (a, b) in enumerate(itertools.pairwise(sizes))
    ]
    net = hw.LogicNetwork(layers=layers, classes=2, method="hard-st+cage", seed=seed)
    given, wanted = hw.Bits.pack(torch.from_numpy(x).bool()), torch.from_numpy(y[:, 0]).long()
    optimizer = torch.optim.Adam(net.parameters(), lr=RATE)
    for iteration in range(MOST_ITERATIONS):
        scores = net(given)
        if (net.predict(given) == wanted).all():
            return net, iteration
        loss = torch.nn.functional.cross_entropy(scores, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    raise SystemExit(f"not all cells are right after {MOST_ITERATIONS} iterations")


def cell_of(rule, reading):
    """The circuit of a cell: its first bit is what it shows, the others are hidden."""
    builder = Builder((1 + HIDDEN) * SIDE**2)
    seen = range(SIDE**2, builder.inputs)  # the shown bits of the neighbourhood are not read
    hidden = []
    for bit, (first, second, either) in enumerate(zip(*rule, strict=True)):
        made = builder.gate(algebra.OR if either else algebra.AND, seen[first], seen[second])
        hidden.append(builder.gate(algebra.OR, seen[bit * SIDE**2 + SIDE**2 // 2], made))
    outputs = builder.embed(reading, seen) + hidden
    seed = [1] * (1 + HIDDEN)
    return as_cell(hw.Circuit(builder.netlist(outputs), 1), "zero", (SIZE, SIZE), seed)


def heals_in(cell, final, seed):
    """The most steps that it takes to heal one of some damages that leave the seed."""
    rng, slowest, (down, right) = np.random.default_rng(seed), 0, np.mgrid[:SIZE, :SIZE]
    for _ in range(DAMAGES):
        row, column, radius = rng.integers(0, SIZE), rng.integers(0, SIZE), rng.integers(2, 6)
        erased = np.hypot(down - row, right - column) <= radius
        erased[MIDDLE, MIDDLE] = False
        board, taken = final * ~erased, 0
        while not (board == final).all():
            board, taken = generations(cell, board), taken + 1
            assert taken <= 4 * SIZE, "it did not heal"
        slowest = max(slowest, taken)
    return slowest


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--save", type=Path, help="a file for the circuit of a cell, the first")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for seed in range(arguments.seeds):
        start = time.process_time()
        rule, tries = search(seed)
        searched = time.process_time() - start
        x, y = around(grown(rule)).reshape(READ, -1).T.astype(np.uint8), HEART.reshape(-1, 1).astype(np.uint8)
        net, iterations = trained(x, y, seed)
        took = time.process_time() - start
        reading = shrunk(voted(hw.Circuit.from_network(net), x, y), x)
        assert (output_bits(reading, x) == y).all()
        cell = cell_of(rule, reading).simplify()
        final = generations(cell, start_board(cell), SETTLED + 1)
        assert (final[0] == HEART).all(), "it did not grow"
        assert (generations(cell, final) == final).all(), "it did not stay"  # so it stays for ever
        assert (generations(cell, final, LATER) == final).all()
        slowest = heals_in(cell, final, seed)
        print(
            f"seed {seed}: {tries:,} rules in {searched:.1f} s, the reading after {iterations} iterations, {took:.0f} "
            f"s in all; {cell.gates.size:,} gates; the heart after {SETTLED + 1} steps, unchanged after {LATER:,} "
            f"more; {DAMAGES} damages healed in at most {slowest} steps",
            flush=True,
        )
        if arguments.save and seed == 0:
            cell.save(arguments.save)


if __name__ == "__main__":
    main()
