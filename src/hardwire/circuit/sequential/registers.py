"""Simplification of registers: those that stay constant, those that are always equal, and those that nobody reads.

Registers that start equal and, as long as they are equal, become equal, are equal for ever: induction. So all that
start equal are assumed equal, and a class is split until its next-state functions are the same under the assumption.
Surprising: constants need no rule of their own; they are two more registers, which keep their value.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from hardwire.circuit.aiger import and_inverter_graph
from hardwire.circuit.builder import Builder
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.equivalence import netlists_equal
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.passes import simplify
from hardwire.circuit.sequential.state import State, gates_of, state_of
from hardwire.errors import HardwireError

Same = list[int]  # for each register the one that it equals, -1 for constant 0 and -2 for constant 1


def simplify_with_state(circuit: Circuit, **options: Any) -> Circuit:
    """The circuit with fewer gates and registers; for the options see `Circuit.simplify`."""
    while True:
        circuit = simplify(circuit, **options)[0]
        smaller = simplify_registers(circuit, options.get("check", True))
        if smaller is circuit:
            return circuit
        circuit = smaller


def simplify_registers(circuit: Circuit, check: bool = True) -> Circuit:
    """The same circuit with fewer registers; its outputs are the same in every step from reset.

    check: prove the induction: that registers which are equal now are equal one step later.
    """
    state, netlist = state_of(circuit), gates_of(circuit)
    if state.grid is not None:  # neighbours read the registers of a cell too
        return circuit
    same = equal_registers(netlist, state)
    netlist = substituted(netlist, state.bits, same)
    if check:
        _prove(netlist, same)
    kept = _read(netlist, state.bits) or [0]  # a state has a bit at least
    if len(kept) == state.bits:
        return circuit
    builder = Builder(netlist.inputs - state.bits + len(kept))
    inputs = [0] * state.bits + list(range(len(kept), builder.inputs))
    for place, register in enumerate(kept):
        inputs[register] = place
    made = builder.embed(netlist, inputs)
    outputs = [made[register] for register in kept] + made[state.bits :]
    smaller = State(len(kept), tuple(state.initial[register] for register in kept), state.steps, state.given)
    return replace(circuit, netlist=builder.netlist(outputs), state=smaller)


def equal_registers(netlist: Netlist, state: State) -> Same:
    """For each register the first one that it always equals, perhaps itself, or the constant that it stays."""
    if state.given:
        return list(range(state.bits))
    classes = [-2 if bit else -1 for bit in state.initial]  # all that start alike; the constants stand for their class
    while True:
        following = _next_literals(netlist, state.bits, classes)
        members: dict[tuple[int, int], int] = {(-1, 0): -1, (-2, 1): -2}  # of a class, by what they become
        split = []
        for register, (old, literal) in enumerate(zip(classes, following, strict=True)):
            split.append(members.setdefault((old, literal), register))
        if split == classes:
            return classes
        classes = split


def _prove(netlist: Netlist, same: Same) -> None:
    """Raises unless each register becomes what the one that it equals becomes; netlist: with them substituted."""
    builder = Builder(netlist.inputs)
    made = builder.embed(netlist, range(netlist.inputs))
    constants = {-1: builder.constant(False), -2: builder.constant(True)}
    others = [made[there] if there >= 0 else constants[there] for there in same]
    proof = netlists_equal(builder.netlist(made[: len(same)]), builder.netlist(others))
    if not proof.equal:
        raise HardwireError(f"registers were merged that differ, which is a bug in hardwire: {proof}")


def _next_literals(netlist: Netlist, bits: int, same: Same) -> list[int]:
    """What each register becomes, as literals that are equal only if the functions are."""
    ands, outputs = and_inverter_graph(netlist)
    known: dict[tuple[int, int], int] = {}
    literals = [0]  # by variable
    for i in range(netlist.inputs):
        there = same[i] if i < bits else i
        literals.append({-1: 0, -2: 1}.get(there, 2 * (there + 1)))
    fresh = 2 * (netlist.inputs + 1)

    def of(literal: int) -> int:
        return literals[literal // 2] ^ literal & 1

    for left, right in ands:
        a, b = sorted((of(left), of(right)))
        if a == 0 or a ^ b == 1:
            literals.append(0)
        elif a in (1, b):
            literals.append(b)
        else:
            literals.append(known.setdefault((a, b), fresh + 2 * len(known)))
    return [of(literal) for literal in outputs[:bits]]


def substituted(netlist: Netlist, bits: int, same: Same) -> Netlist:
    """The netlist with each register read from the one that it equals."""
    if all(register == there for register, there in enumerate(same)):
        return netlist
    builder = Builder(netlist.inputs)
    constants = {-1: builder.constant(False), -2: builder.constant(True)}
    inputs = [constants.get(there, there) for there in same] + list(range(bits, netlist.inputs))
    return builder.netlist(builder.embed(netlist, inputs))


def _read(netlist: Netlist, bits: int) -> list[int]:
    """The registers that an output depends on, through any number of steps."""
    netlist = simplify(Circuit(netlist, 1), check=False)[0].gates
    reads = netlist.reads()
    outputs, seen = netlist.outputs.tolist(), np.zeros(netlist.nodes, bool)
    stack = outputs[bits:]
    while stack:
        node = stack.pop()
        if seen[node]:
            continue
        seen[node] = True
        if node < bits:
            stack.append(outputs[node])
        elif node >= netlist.inputs:
            stack += reads[node - netlist.inputs]
    return np.flatnonzero(seen[:bits]).tolist()
