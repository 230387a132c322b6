"""The gates of a circuit as C functions of limited length, called one after the other on an array of slots.

Compilers are worse than linear in the length of a function. Gates are taken
cone by cone (each after what it reads), so that most values live and die inside one function, as local constants that
the compiler keeps in registers; only values that another function reads have a slot, and slots are used again.
"""

from hardwire.circuit import algebra
from hardwire.circuit.export.c_template import fill, numbers
from hardwire.circuit.netlist import Netlist

PART = 64  # gates in a function: short enough to compile fast, long enough that calls cost nothing


RUN_GATES = """\
/* Called through a table, so that no compiler inlines them all into one endless function. */
static void (*const parts[])(uint64_t *) = {
    @parts@};

static void run_gates(const uint64_t *bits, uint64_t *v)
{
    for (int i = 0; i < @NAME@_INPUTS; ++i)
        v[i] = bits[i];
    for (int i = 0; i < @part_count@; ++i)
        parts[i](v);
}

"""


def parts(netlist: Netlist) -> tuple[str, int, list[int]]:
    """C text with run_gates, the number of slots, and the slot of each output. Input i starts in slot i."""
    order = cone_order(netlist)
    cut = [order[start : start + PART] for start in range(0, len(order), PART)]
    slot, slots = _slots(netlist, cut)
    functions = [_function(netlist, number, part, slot) for number, part in enumerate(cut)]
    names = numbers([f"part_{number}" for number in range(len(cut))] or ["0"])  # wires alone have no part
    text = "".join(functions) + fill(RUN_GATES, {"parts": names, "part_count": len(cut)})
    return text, slots, [slot[node] for node in netlist.outputs.tolist()]


def _reads(netlist: Netlist) -> list[tuple[int, ...]]:
    """The nodes that each gate really depends on."""
    rows = zip(netlist.gate.tolist(), netlist.first.tolist(), netlist.second.tolist(), strict=True)
    return [(a,) * algebra.READS_FIRST[gate] + (b,) * algebra.READS_SECOND[gate] for gate, a, b in rows]


def cone_order(netlist: Netlist) -> list[int]:
    """Live gates (as nodes), each after what it reads, output cone by output cone."""
    reads, order = _reads(netlist), []
    done = bytearray(netlist.nodes)
    done[: netlist.inputs] = b"\1" * netlist.inputs
    for output in netlist.outputs.tolist():
        stack = [output]
        while stack:
            node = stack[-1]
            waiting = [] if done[node] else [child for child in reads[node - netlist.inputs] if not done[child]]
            if waiting:
                stack += waiting
                continue
            stack.pop()
            if not done[node]:
                done[node] = 1
                order.append(node)
    return order


def _slots(netlist: Netlist, parts: list[list[int]]) -> tuple[dict[int, int], int]:
    """The slot of every input and of every value that leaves its part. A slot is taken again by a later part than the
    last one that reads it, so within a part no slot changes its meaning."""
    reads = _reads(netlist)
    last = {node: -1 for node in range(netlist.inputs)}
    home = {}
    for number, part in enumerate(parts):
        for node in part:
            home[node] = last[node] = number
            last.update(dict.fromkeys(reads[node - netlist.inputs], number))
    last.update(dict.fromkeys(netlist.outputs.tolist(), len(parts)))
    free_after: list[list[int]] = [[] for _ in range(len(parts) + 2)]
    slot = {node: node for node in range(netlist.inputs)}
    for node in range(netlist.inputs):
        free_after[last[node]].append(node)  # an unused input goes to the end of the list, which nobody takes from
    free, slots = [], netlist.inputs
    for number, part in enumerate(parts):
        for node in part:
            if last[node] > number:
                slot[node] = free.pop() if free else slots
                slots += slot[node] == slots
                free_after[last[node]].append(slot[node])
        free += free_after[number]
    return slot, slots


def _function(netlist: Netlist, number: int, part: list[int], slot: dict[int, int]) -> str:
    here: set[int] = set()
    lines = []
    for node in part:
        index = node - netlist.inputs
        a, b = (
            f"n{operand}" if operand in here else f"v[{slot.get(operand, 0)}]"
            for operand in (int(netlist.first[index]), int(netlist.second[index]))
        )
        text = algebra.EXPRESSIONS[netlist.gate[index]].format(a=a, b=b, zero="0", one="~(uint64_t)0")
        lines.append(f"    const uint64_t n{node} = {text};\n")
        if node in slot:
            lines.append(f"    v[{slot[node]}] = n{node};\n")
        here.add(node)
    return f"static void part_{number}(uint64_t *v)\n{{\n{''.join(lines)}}}\n\n"
