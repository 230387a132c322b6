"""The order in which a program computes look-up tables, and the memory slot of each value.

As in schedule.py: level by level, tables with equally many inputs together, a slot free again after its value's last
reader. One image alone has a slot for every value, and its outputs lie together behind the inputs.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.circuit import truth
from hardwire.circuit.schedule import FOREVER, level_groups, outputs_after_inputs
from hardwire.circuit.table_netlist import MOST_INPUTS, TableBuilder, TableNetlist
from hardwire.circuit.table_rows import minimal

Numbers = npt.NDArray[np.int32]
COPY = truth.variable(1, 0)


@dataclass(frozen=True)
class TableSchedule:
    """Tables in the order they run. Input i starts in slot i.

    Attributes:
        rows: int32 [tables, 7], the slot that each table writes, and those that it reads; 0 past its inputs.
        entries: uint64 [tables]; bit `address` is the output where input j is bit j of the address.
        runs: int32 [runs, 2], a number of inputs and a count, dividing the tables.
        outputs: int32 [outputs], slots.
        slots: How many slots are used.
    """

    rows: Numbers
    entries: npt.NDArray[np.uint64]
    runs: Numbers
    outputs: Numbers
    slots: int


def minimal_tables(netlist: TableNetlist) -> TableNetlist:
    """The same netlist in which each table reads different nodes, and only those that it depends on."""
    builder = TableBuilder(netlist.inputs)
    builder.rows = [minimal(*row) for row in netlist.rows()]
    return builder.netlist(netlist.outputs)


def table_schedule(netlist: TableNetlist) -> TableSchedule:
    """Schedules the live tables of a netlist of `minimal_tables` for a batch of images."""
    groups = _groups(netlist)
    last = _last_readers(netlist, groups)
    slot = np.zeros(netlist.nodes, np.int32)
    slot[: netlist.inputs] = np.arange(netlist.inputs)
    free = np.flatnonzero(last[: netlist.inputs] < 0)[::-1].tolist()
    slots = netlist.inputs
    for position, group in enumerate(groups):
        missing = max(0, len(group) - len(free))
        free = list(range(slots + missing - 1, slots - 1, -1)) + free
        slots += missing
        targets = free[len(free) - len(group) :][::-1]
        del free[len(free) - len(group) :]
        order = group[np.argsort(slot[netlist.wires[group, 0]], kind="stable")]
        slot[netlist.inputs + order] = targets
        group[:] = order
        # what is read here is still in its slot: targets were free before
        read = np.unique(netlist.wires[group, : netlist.arity[group[0]]])
        free += slot[read[last[read] == position]].tolist()[::-1]
    return _schedule(netlist, groups, slot, slot[netlist.outputs], slots)


def single_schedule(netlist: TableNetlist) -> TableSchedule:
    """Schedules the tables for one image, whose outputs follow the inputs in their order; no slot is used again."""
    groups = _groups(netlist)
    slot, wanted, copied, slots = outputs_after_inputs(netlist, np.concatenate([*groups, np.zeros(0, np.intp)]))
    made = _schedule(netlist, groups, slot, wanted, slots)
    if not len(copied):
        return made
    rows = np.zeros((len(copied), 1 + MOST_INPUTS), np.int32)
    rows[:, 0], rows[:, 1] = wanted[copied], slot[netlist.outputs[copied]]
    entries = np.full(len(copied), COPY, np.uint64)
    runs = np.concatenate([made.runs, np.array([[1, len(copied)]], np.int32)])
    return TableSchedule(
        np.concatenate([made.rows, rows]), np.concatenate([made.entries, entries]), runs, made.outputs, made.slots
    )


def _groups(netlist: TableNetlist) -> list[npt.NDArray[np.intp]]:
    """Returns the live tables level by level, and by their number of inputs within a level."""
    return level_groups(netlist, netlist.arity, MOST_INPUTS + 1)


def _last_readers(netlist: TableNetlist, groups: list[npt.NDArray[np.intp]]) -> Numbers:
    """Returns int32 [nodes]: the group that reads each node last; outputs are read after all groups."""
    last = np.full(netlist.nodes, -1, np.int32)
    for position, group in enumerate(groups):
        last[netlist.wires[group, : netlist.arity[group[0]]]] = position
    last[netlist.outputs] = FOREVER
    return last


def _schedule(
    netlist: TableNetlist, groups: list[npt.NDArray[np.intp]], slot: npt.NDArray[Any], outputs: Any, slots: int
) -> TableSchedule:
    order = np.concatenate([*groups, np.zeros(0, np.intp)])
    reads = np.arange(MOST_INPUTS) < netlist.arity[order][:, None]
    rows = np.concatenate(
        [slot[netlist.inputs + order][:, None], np.where(reads, slot[netlist.wires[order]], 0)], axis=1
    )
    runs = np.array([(netlist.arity[group[0]], len(group)) for group in groups], np.int32).reshape(-1, 2)
    outputs = np.asarray(outputs, np.int32)
    return TableSchedule(np.ascontiguousarray(rows, np.int32), netlist.table[order], runs, outputs, slots)
