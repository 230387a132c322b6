"""Smaller circuits that stay right on every row that can occur, where all of these rows are known.

Votes that no answer needs go first, then gates that are equal on all rows are merged, and last each gate is tried as
one of its operands or as a constant. What is left is right on all rows: a proof where the rows are all there are.
"""

import time

import numpy as np

import hardwire as hw
from hardwire.circuit import Netlist
from hardwire.circuit.builder import Builder
from hardwire.circuit.lower import count_ones, greater_than
from hardwire.circuit.passes.sweep import node_values, replaced
from hardwire.circuit.table_rows import Known
from hardwire.gates import algebra

ROUNDS, TRIES = 3, 8


def output_bits(netlist, rows):
    """uint8 [rows, outputs]."""
    words = node_values(netlist, rows)[netlist.outputs]
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, : len(rows)].T


def needed_votes(votes, on, wanted, rng):
    """Which votes [rows, n] are enough: a row is 1 where more of those `on` are true than of the others."""
    signs, best = np.where(on, 1, -1), np.arange(len(on))
    for _ in range(TRIES):
        kept, margin = set(range(len(on))), votes @ signs
        for vote in rng.permutation(len(on)).tolist():
            without = margin - votes[:, vote] * signs[vote]
            if ((without > 0) == wanted).all():
                margin = without
                kept.remove(vote)
        best = min(best, np.array(sorted(kept), int), key=len)
    return best


def voted(circuit, rows, wanted, seed=0):
    """A netlist that answers `wanted` [rows, bits] from a circuit whose classes are pairs: votes for 0 and for 1."""
    rng, netlist = np.random.default_rng(seed), circuit.gates
    values = output_bits(netlist, rows).astype(np.int64)
    builder = Builder(netlist.inputs)
    made, group, answers = builder.embed(netlist, range(netlist.inputs)), circuit.group, []
    for bit in range(circuit.classes // 2):
        place = slice(2 * bit * group, 2 * (bit + 1) * group)
        on = np.arange(2 * group) >= group
        kept = needed_votes(values[:, place], on, wanted[:, bit] == 1, rng)
        if not len(kept):  # no vote is the majority of none, and so 0
            answers.append(builder.constant(False))
            continue
        nodes = [made[place][vote] for vote in kept]
        for number in np.flatnonzero(~on[kept]).tolist():
            nodes[number] = builder.gate(algebra.NOT_A, nodes[number], nodes[number])
        answers.append(greater_than(builder, count_ones(builder, nodes), int((~on[kept]).sum())))
    return builder.netlist(answers)


def shrunk(netlist, rows, seconds=10):
    """A smaller netlist with the same outputs on all rows; seconds: of processor time for trying gates one by one."""
    wanted, netlist = output_bits(netlist, rows), _simple(netlist)
    end = time.process_time() + seconds
    for _ in range(ROUNDS):
        before = netlist.size
        netlist = _simple(_merged(netlist, rows))
        netlist = _simple(_tried(netlist, rows, wanted, end))
        if netlist.size == before:
            break
    return netlist


def _simple(netlist: Netlist) -> Netlist:
    return hw.Circuit(netlist, 1).simplify(check=False).gates


def _clean(netlist, rows):
    """Values of all nodes in all rows, with the same bits behind the last row everywhere."""
    return node_values(netlist, np.concatenate([rows, rows[:1].repeat(-len(rows) % 64, axis=0)]))


def _merged(netlist, rows):
    values, first, becomes = _clean(netlist, rows), {}, {}
    for node, value in enumerate(values):
        same, opposite = first.get(value.tobytes()), first.get((~value).tobytes())
        if node < netlist.inputs or (same is None and opposite is None):
            first.setdefault(value.tobytes(), node)
        else:
            becomes[node] = Known(opposite, True) if same is None else Known(same)
    return replaced(netlist, becomes)


def _tried(netlist, rows, wanted, end):
    """Each gate as one of its operands or a constant, those that differ least first, many at once."""
    values = _clean(netlist, rows)
    options = []
    for node, reads in enumerate(netlist.reads(), start=netlist.inputs):
        for known, like in [(Known(None), 0 * values[node]), *((Known(read), values[read]) for read in set(reads))]:
            differs = int(np.bitwise_count(values[node] ^ like).sum())
            most = 64 * values.shape[1]
            options.append((differs, node, known))
            options.append((most - differs, node, Known(known.node, True)))
    options.sort(key=lambda option: option[0])
    best = {}
    for differs, node, known in options:
        best.setdefault(node, (differs, node, known))
    becomes = {}

    def attempt(part):
        if time.process_time() > end:
            return
        more = becomes | {node: known for _, node, known in part}
        if (output_bits(replaced(netlist, more), rows) == wanted).all():
            becomes.update(more)
        elif len(part) > 1:
            attempt(part[: len(part) // 2])
            attempt(part[len(part) // 2 :])

    order = sorted(best.values(), key=lambda option: option[0])
    for start in range(0, len(order), 32):
        attempt(order[start : start + 32])
    return replaced(netlist, becomes)
