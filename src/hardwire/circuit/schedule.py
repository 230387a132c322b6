"""The order in which a program computes the gates, and the memory slot of each value.

Gates run level by level, grouped by type (one loop per group, no branch per gate) and sorted by the slot of their first
operand within a group. A slot is free again after its value's last reader, and the slot freed last is reused first.
So a tile of images needs memory for the values alive at one time instead of every gate, which keeps it in cache.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.circuit.netlist import Integers, Netlist
from hardwire.circuit.statistics import fan_out, live_nodes
from hardwire.circuit.table_netlist import AnyNetlist
from hardwire.gates import GATES, algebra

Slots = npt.NDArray[np.int64]
FOREVER = np.iinfo(np.int32).max
WORD, LINE = 64, 512  # bits
MIXED = 8 * LINE  # outputs of several classes may be interleaved within this many bits


@dataclass(frozen=True)
class GateSchedule:
    """Gates in the order they run. Input i starts in slot i.

    Attributes:
        operations: int32 [gates, 3], the target, first and second slot.
        runs: int32 [runs, 2], gate number and count, dividing the operations by type.
        outputs: int32 [outputs], slots.
        slots: How many slots are used.
    """

    operations: npt.NDArray[np.int32]
    runs: npt.NDArray[np.int32]
    outputs: npt.NDArray[np.int32]
    slots: int

    @property
    def gates(self) -> npt.NDArray[np.uint8]:
        """uint8 [gates]: the gate number of each operation."""
        return np.repeat(self.runs[:, 0], self.runs[:, 1]).astype(np.uint8)


def schedule(netlist: Netlist) -> GateSchedule:
    """Schedules the live gates for a batch of images."""
    groups = _groups(netlist)
    slot, operations, slots = _assign(netlist, groups)
    runs = [(netlist.gate[group[0]], len(group)) for group in groups]
    return GateSchedule(operations, np.array(runs, np.int32).reshape(-1, 2), slot[netlist.outputs], slots)


def _groups(netlist: Netlist) -> list[npt.NDArray[np.intp]]:
    """Returns the live gates level by level, and by type within a level."""
    return level_groups(netlist, netlist.gate, len(GATES))


def level_groups(netlist: AnyNetlist, kind: npt.NDArray[Any], kinds: int) -> list[npt.NDArray[np.intp]]:
    """Returns the live gates or tables level by level, and by `kind` (0 to `kinds` - 1) within a level."""
    live = live_nodes(netlist)[netlist.inputs :]
    # One key for level and kind; the order inside a group is settled when the slots of its operands are known.
    key = netlist.levels[netlist.inputs :].astype(np.int64) * kinds + kind
    order = np.argsort(key, kind="stable")
    order = order[live[order]]
    cuts = np.flatnonzero(np.diff(key[order])) + 1
    return np.split(order, cuts) if len(order) else []


def byte_schedule(netlist: Netlist) -> GateSchedule:
    """Schedules the gates for one image, one byte per value; no slot is reused, since all of them fit in cache.

    The outputs follow the inputs in their own order, so that a class sum reads consecutive bytes. An output whose node
    has a slot already is copied at the end.
    """
    groups = _groups(netlist)
    gates = np.concatenate([*groups, np.zeros(0, np.intp)])
    slot, wanted, copied, slots = outputs_after_inputs(netlist, gates)
    source = slot[netlist.outputs[copied]]
    columns = [
        np.concatenate([slot[netlist.inputs + gates], wanted[copied]]),
        np.concatenate([slot[netlist.first[gates]], source]),
        np.concatenate([slot[netlist.second[gates]], source]),
    ]
    operations = np.maximum(np.stack(columns, axis=1), 0).astype(np.int32)  # an operand that is not read has no slot
    runs = [(netlist.gate[group[0]], len(group)) for group in groups] + [(algebra.A, len(copied))]
    return GateSchedule(operations, np.array(runs, np.int32), wanted.astype(np.int32), slots)


def outputs_after_inputs(netlist: AnyNetlist, order: npt.NDArray[np.intp]) -> tuple[Slots, Slots, Slots, int]:
    """Gives each value a slot of its own: the inputs first, then the outputs in their order, then all others.

    Args:
        netlist: Gates or tables.
        order: The live gates or tables in the order they run.

    Returns:
        The slot of each node, the slot of each output, which outputs are copies since their node has another slot, and
        the number of slots.
    """
    inputs = netlist.inputs
    wanted = inputs + np.arange(len(netlist.outputs))
    slot = np.full(netlist.nodes, -1, np.int64)
    slot[netlist.outputs[::-1]] = wanted[::-1]  # of equal outputs the first
    slot[:inputs] = np.arange(inputs)
    inner = order[slot[inputs + order] < 0]
    slot[inputs + inner] = wanted[-1] + 1 + np.arange(len(inner))
    copied = np.flatnonzero(slot[netlist.outputs] != wanted)
    return slot, wanted, copied, int(wanted[-1]) + 1 + len(inner)


@dataclass(frozen=True)
class BitSchedule:
    """Gates for one image with one bit per value, 64 gates at a time. Input i is bit i.

    Attributes:
        gates: int32 [64 * words, 3], a gate number and the two bits it reads.
        words: int32 [words, 2], the word that each 64 gates make and their level.
        bits: How many bits there are.
        first_output: The outputs are consecutive from this bit on.
        class_of: int32 [outputs], the class of each of them.
    """

    gates: npt.NDArray[np.int32]
    words: npt.NDArray[np.int32]
    bits: int
    first_output: int
    class_of: npt.NDArray[np.int32]


def bit_schedule(netlist: Netlist, classes: int) -> BitSchedule:
    """Schedules the gates for one image, one bit per value.

    Every level starts on its own cache line, so that no line is read while it is written. A gate read by one output and
    nothing else is computed as that output, at the end; other outputs are copies. Gates of a level, and outputs of a
    few classes, are sorted by the lines of their operands, so that 64 of them read few lines.
    """
    inputs, readers = netlist.inputs, fan_out(netlist)
    ends = np.zeros(netlist.nodes, bool)
    ends[netlist.outputs] = (readers[netlist.outputs] == 1) & (netlist.outputs >= inputs)
    inner = np.flatnonzero(live_nodes(netlist) & ~ends)
    inner = inner[inner >= inputs]
    place, begin, first_output = np.arange(netlist.nodes), _up(inputs, LINE), 0
    gates: list[npt.NDArray[np.int32]] = []
    words: list[npt.NDArray[np.intp]] = []
    levels = [inner[netlist.levels[inner] == level] for level in np.unique(netlist.levels[inner])]
    group = len(netlist.outputs) // classes
    class_of = np.arange(len(netlist.outputs)) // group
    for number, nodes in enumerate([*levels, netlist.outputs]):
        last = number == len(levels)
        rows = _rows(netlist, nodes, place, ends[nodes] | (not last))
        order = _by_lines(rows, class_of // max(1, MIXED // group) if last else np.zeros(len(nodes), np.intp))
        place[nodes[order]] = begin + np.arange(len(nodes))
        gates.append(np.pad(rows[order], [(0, -len(rows) % WORD), (0, 0)]))  # with gates that are FALSE
        targets = begin // WORD + np.arange(len(gates[-1]) // WORD)
        words.append(np.stack([targets, np.full(len(targets), number)], axis=1))
        first_output, begin = begin, _up(begin + len(nodes), LINE)
    words_and_levels = np.concatenate(words).astype(np.int32)
    return BitSchedule(np.concatenate(gates), words_and_levels, begin, first_output, class_of[order].astype(np.int32))


def _up(number: int, unit: int) -> int:
    return -(-number // unit) * unit


def _by_lines(rows: npt.NDArray[np.int32], part: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Orders gates, part by part, so that lines hardly change between neighbours: ascending and descending in turns."""
    first, second = (rows[:, 1:] // LINE).T
    first = np.where(part % 2, -first, first)
    return np.lexsort([rows[:, 1], np.where(first % 2, -second, second), first, part])


def _rows(netlist: Netlist, nodes: Integers, place: npt.NDArray[np.intp], computed: npt.NDArray[np.bool_]) -> Any:
    """Returns int32 [nodes, 3]: the gates of the nodes, or copies of nodes that are computed elsewhere.

    The operand with the lower place is the first, and an operand that is not read gets the place of the other.
    """
    gate = nodes[computed] - netlist.inputs
    number, first, second = np.full(len(nodes), algebra.A), place[nodes], place[nodes]
    number[computed], first[computed], second[computed] = (
        netlist.gate[gate],
        *(place[operand[gate]] for operand in (netlist.first, netlist.second)),
    )
    reads = np.array([algebra.READS_FIRST, algebra.READS_SECOND])[:, number]
    first, second = np.where(reads[0], first, second * reads[1]), np.where(reads[1], second, first * reads[0])
    swap = second < first
    number = np.where(swap, np.array(algebra.SWAPPED)[number], number)
    rows = np.stack([number, np.minimum(first, second), np.maximum(first, second)], axis=1)
    return rows.astype(np.int32)


def _last_readers(netlist: Netlist, groups: list[npt.NDArray[np.intp]]) -> npt.NDArray[np.int32]:
    """Returns int32 [nodes]: the group that reads each node last; outputs are read after all groups."""
    last = np.full(netlist.nodes, -1, np.int32)
    for position, group in enumerate(groups):
        if algebra.READS_FIRST[netlist.gate[group[0]]]:
            last[netlist.first[group]] = position
        if algebra.READS_SECOND[netlist.gate[group[0]]]:
            last[netlist.second[group]] = position
    last[netlist.outputs] = FOREVER
    return last


def _assign(
    netlist: Netlist, groups: list[npt.NDArray[np.intp]]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], int]:
    """Returns the slot of each node, the operations in order, and the number of slots."""
    slot = np.zeros(netlist.nodes, np.int32)
    slot[: netlist.inputs] = np.arange(netlist.inputs)
    last = _last_readers(netlist, groups)
    free = np.flatnonzero(last[: netlist.inputs] < 0)[::-1].tolist()
    slots, operations = netlist.inputs, [np.zeros((0, 3), np.int32)]
    for position, group in enumerate(groups):
        gate = netlist.gate[group[0]]
        group = group[np.argsort(slot[netlist.first[group]], kind="stable")]
        first = slot[netlist.first[group]] if algebra.READS_FIRST[gate] else np.zeros(len(group), np.int32)
        second = slot[netlist.second[group]] if algebra.READS_SECOND[gate] else np.zeros(len(group), np.int32)
        missing = max(0, len(group) - len(free))
        free = list(range(slots + missing - 1, slots - 1, -1)) + free
        slots += missing
        targets = free[len(free) - len(group) :][::-1]
        del free[len(free) - len(group) :]
        slot[netlist.inputs + group] = targets
        operations.append(np.stack([np.array(targets, np.int32), first, second], axis=1))
        read = np.unique(np.concatenate([netlist.first[group], netlist.second[group]]))
        free += slot[read[last[read] == position]].tolist()[::-1]
    return slot, np.concatenate(operations), slots
