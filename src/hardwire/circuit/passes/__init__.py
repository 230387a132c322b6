"""Simplification: passes from netlist to netlist that keep the function, run in order until nothing changes.

Each pass is a function in a short file of its own; PASSES is the order. Tables have passes of their own. Every
simplification is compared with the original circuit, and the report says what kind of proof that was."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.equivalence import Equivalence, circuits_equal, netlists_equal
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.passes.constants import fold_constants
from hardwire.circuit.passes.dead import remove_dead
from hardwire.circuit.passes.hashing import merge_equal
from hardwire.circuit.passes.inverters import push_inverters
from hardwire.circuit.passes.rewrite import rewrite_aig
from hardwire.circuit.passes.sweep import restrict_to_code, sweep, thermometer_orders
from hardwire.circuit.passes.tables import simplify_tables
from hardwire.circuit.passes.wires import absorb_wires
from hardwire.circuit.table_netlist import AnyNetlist, TableNetlist
from hardwire.errors import HardwireError

Progress = Callable[[str], object] | None  # called with the name of each step before it runs

PASSES = {
    "constants": fold_constants,
    "wires": absorb_wires,
    "hashing": merge_equal,
    "wires again": absorb_wires,  # hashing leaves wires where it merged
    "inverters": push_inverters,
    "dead": remove_dead,
}


@dataclass(frozen=True)
class PassReport:
    """What simplification did.

    Attributes:
        gates: (step, number of gates or tables after it), starting with ("as built", n).
        proof: The proof that the last circuit equals the first, if it was checked.
    """

    gates: list[tuple[str, int]]
    proof: Equivalence | None


def simplify(
    circuit: Circuit,
    *,
    rewrite: bool = False,
    dont_cares: bool = False,
    check: bool = True,
    progress: Progress = None,
) -> tuple[Circuit, PassReport]:
    """Returns the simplified circuit and a report; for the arguments see `Circuit.simplify`."""
    netlist = circuit.netlist
    if rewrite and isinstance(netlist, TableNetlist):
        raise HardwireError("AIG rewriting works on two-input gates; leave it out, or rewrite circuit.as_gates()")
    history = [("as built", netlist.size)]
    netlist = _settle(netlist, history, progress)
    if rewrite and isinstance(netlist, Netlist):
        _report(progress, "AIG rewriting")
        rewritten = _settle(rewrite_aig(netlist), [], progress)
        if rewritten.size < netlist.size:
            netlist = rewritten
        history.append(("AIG rewriting", netlist.size))
    simplified = replace(circuit, netlist=netlist)
    proof = None
    if dont_cares:
        _report(progress, "don't-cares of the encoder")
        simplified, proof = _without_dont_cares(circuit, simplified, progress)
        history.append(("don't-cares of the encoder", simplified.netlist.size))
    if check and proof is None:
        _report(progress, "equivalence")
        proof = circuits_equal(circuit, simplified)
        if not proof.equal:
            raise HardwireError(f"simplification changed the function, which is a bug in hardwire: {proof}")
    return simplified, PassReport(history, proof)


def _without_dont_cares(
    circuit: Circuit, simplified: Circuit, progress: Progress
) -> tuple[Circuit, Equivalence | None]:
    """Merges gates that are equal on every possible input, and proves the result against the circuit as built."""
    merged, proof = sweep(simplified)
    smaller = replace(simplified, netlist=_settle(merged, [], progress))
    if proof is None or smaller.netlist.size >= simplified.netlist.size:
        return simplified, None
    orders = thermometer_orders(circuit)
    proof = netlists_equal(restrict_to_code(circuit.gates, orders), restrict_to_code(smaller.gates, orders))
    return (smaller, proof) if proof.equal and proof.exact else (simplified, None)


def _settle(netlist: AnyNetlist, history: list[tuple[str, int]], progress: Progress) -> AnyNetlist:
    """Repeats all passes until a round changes nothing."""
    if isinstance(netlist, TableNetlist):
        _report(progress, "tables")
        smaller = simplify_tables(netlist)
        history.append(("tables", smaller.size))
        return smaller
    while True:
        before = netlist
        for name, run in PASSES.items():
            _report(progress, name)
            netlist = run(netlist)
            if netlist.size != before.size:
                history.append((f"{name}, round {len(history)}", netlist.size))
        if _same(netlist, before):
            return netlist


def _same(a: Netlist, b: Netlist) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("gate", "first", "second", "outputs"))


def _report(progress: Progress, step: str) -> None:
    if progress is not None:
        progress(step)
