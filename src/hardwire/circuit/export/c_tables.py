"""The gates of a circuit as tables that a short loop walks: what a compiler reads in seconds, however large.

The order and the slots are those of the native engine (schedule.py), grouped by gate, so that the loop branches once a
group and not once a gate.
"""

from hardwire.circuit import algebra
from hardwire.circuit.export.c_template import fill, numbers
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.schedule import schedule

TABLES = """\
/* One row a gate: where its result goes and where its operands are. */
static const @index@ gates[][3] = {
    @rows@};

/* Gate number (its truth table, f(1,1) lowest) and how many rows in a row are that gate. */
static const uint32_t runs[][2] = {
    @runs@};

static void run_gates(const uint64_t *bits, uint64_t *v)
{
    const @index@ (*g)[3] = gates;
    for (int i = 0; i < @NAME@_INPUTS; ++i)
        v[i] = bits[i];
    for (int run = 0; run < @run_count@; ++run) {
        const @index@ (*const end)[3] = g + runs[run][1];
        switch (runs[run][0]) {
@cases@
        }
    }
}

"""


def tables(netlist: Netlist) -> tuple[str, int, list[int]]:
    """C text with run_gates, the number of slots, and the slot of each output."""
    plan = schedule(netlist)
    cases = []
    for gate, expression in enumerate(algebra.EXPRESSIONS):
        text = expression.format(a="v[(*g)[1]]", b="v[(*g)[2]]", zero="0", one="~(uint64_t)0")
        cases.append(f"        case {gate}: for (; g != end; ++g) v[(*g)[0]] = {text}; break;")
    values = {
        "index": "uint16_t" if plan.slots <= 1 << 16 else "uint32_t",
        "rows": numbers([f"{{{t}, {a}, {b}}}" for t, a, b in plan.operations.tolist()] or ["{0, 0, 0}"]),
        "runs": numbers([f"{{{gate}, {count}}}" for gate, count in plan.runs.tolist()] or ["{3, 1}"]),
        "run_count": len(plan.runs),
        "cases": "\n".join(cases),
    }
    return fill(TABLES, values), plan.slots, plan.outputs.tolist()
