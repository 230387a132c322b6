"""Simplification: passes from netlist to netlist that keep the function, run in order until nothing changes.

A pass is a function of its own short file; PASSES is the order. Every simplification is checked against the circuit
it came from, and the report says by which kind of proof.
"""

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
from hardwire.circuit.passes.sweep import behind_the_code, code_orders, sweep
from hardwire.circuit.passes.wires import absorb_wires
from hardwire.errors import HardwireError

Progress = Callable[[str], object] | None  # told the name of each step before it runs

PASSES = {
    "constants": fold_constants,
    "wires": absorb_wires,
    "hashing": merge_equal,
    "wires again": absorb_wires,  # hashing leaves wires where it merged
    "inverters": push_inverters,
    "dead": remove_dead,
}


@dataclass(frozen=True)
class Report:
    """gates: after each step, from ("as built", n) on; proof: that the last circuit equals the first, if checked."""

    gates: list[tuple[str, int]]
    proof: Equivalence | None


def simplify(
    circuit: Circuit,
    *,
    rewrite: bool = False,
    dont_cares: bool = False,
    check: bool = True,
    progress: Progress = None,
) -> tuple[Circuit, Report]:
    """The simplified circuit and a report. rewrite: AIG rewriting by aigverse as well; dont_cares: merge what is equal
    on all inputs that its encoder makes, on others it may then differ; check: prove it equal."""
    netlist = circuit.netlist
    history = [("as built", len(netlist.gate))]
    netlist = _settle(netlist, history, progress)
    if rewrite:
        _say(progress, "AIG rewriting")
        rewritten = _settle(rewrite_aig(netlist), [], progress)
        if len(rewritten.gate) < len(netlist.gate):
            netlist = rewritten
        history.append(("AIG rewriting", len(netlist.gate)))
    simplified = replace(circuit, netlist=netlist)
    proof = None
    if dont_cares:
        _say(progress, "don't-cares of the encoder")
        simplified, proof = _without_dont_cares(circuit, simplified, progress)
        history.append(("don't-cares of the encoder", len(simplified.netlist.gate)))
    if check and proof is None:
        _say(progress, "equivalence")
        proof = circuits_equal(circuit, simplified)
        if not proof.equal:
            raise HardwireError(f"simplification changed the function, which is a defect of hardwire: {proof}")
    return simplified, Report(history, proof)


def _without_dont_cares(
    circuit: Circuit, simplified: Circuit, progress: Progress
) -> tuple[Circuit, Equivalence | None]:
    """Smaller on the inputs that can occur, and the proof of that against the circuit as it was built."""
    merged, proof = sweep(simplified)
    smaller = replace(simplified, netlist=_settle(merged, [], progress))
    if proof is None or len(smaller.netlist.gate) >= len(simplified.netlist.gate):
        return simplified, None
    orders = code_orders(circuit)
    proof = netlists_equal(behind_the_code(circuit.netlist, orders), behind_the_code(smaller.netlist, orders))
    return (smaller, proof) if proof.equal and proof.exact else (simplified, None)


def _settle(netlist: Netlist, history: list[tuple[str, int]], progress: Progress) -> Netlist:
    """Rounds of all passes until one changes nothing."""
    while True:
        before = netlist
        for name, run in PASSES.items():
            _say(progress, name)
            netlist = run(netlist)
            if len(netlist.gate) != len(before.gate):
                history.append((f"{name}, round {len(history)}", len(netlist.gate)))
        if _same(netlist, before):
            return netlist


def _same(a: Netlist, b: Netlist) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("gate", "first", "second", "outputs"))


def _say(progress: Progress, step: str) -> None:
    if progress is not None:
        progress(step)
