"""Every pass keeps the function; together they reach a fixed point; `equivalent` says how it knows."""

from dataclasses import replace

import numpy as np
import pytest
from circuit_oracle import random_circuit
from hypothesis import given, settings
from hypothesis import strategies as st

import hardwire as hw
from hardwire.circuit import Circuit, Netlist, equivalence
from hardwire.circuit.builder import Builder
from hardwire.circuit.equivalence import netlists_equal
from hardwire.circuit.passes import PASSES, simplify
from hardwire.circuit.passes.rewrite import find_exclusive_ors, rewrite_aig
from hardwire.circuit.speed import random_circuit as large_circuit
from hardwire.circuit.tools import Limits
from hardwire.gates import GATES, algebra


def test_the_tables_of_gate_numbers_agree_with_the_truth_tables():
    for a in (0, 1):
        for b in (0, 1):
            for gate in range(16):
                hard = GATES[gate].hard
                assert GATES[algebra.SWAPPED[gate]].hard(a, b) == hard(b, a)
                assert GATES[algebra.NEGATED_FIRST[gate]].hard(a, b) == hard(1 - a, b)
                assert GATES[algebra.NEGATED_SECOND[gate]].hard(a, b) == hard(a, 1 - b)
                for known in (0, 1):
                    assert GATES[algebra.FIRST_IS[known][gate]].hard(a, b) == hard(known, b)
                    assert GATES[algebra.SECOND_IS[known][gate]].hard(a, b) == hard(a, known)
                assert GATES[algebra.SAME[gate]].hard(a, b) == hard(a, a)
                assert GATES[algebra.NEGATED[gate]].hard(a, b) == 1 - hard(a, b)
                text = algebra.expression(gate, "a", "b")
                assert eval(text, {"a": a, "b": b}) & 1 == hard(a, b)
                if gate in algebra.AS_AND:
                    not_a, not_b, not_result = algebra.AS_AND[gate]
                    assert ((a ^ not_a) & (b ^ not_b)) ^ not_result == hard(a, b)


@pytest.mark.parametrize("name", PASSES)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_a_pass_keeps_the_function(name, seed):
    netlist = random_circuit(seed, inputs=seed % 9 + 1).netlist
    for prepare in [lambda same: same, PASSES["wires"], PASSES["hashing"]]:  # passes meet each other's results
        before = prepare(netlist)
        answer = netlists_equal(netlist, PASSES[name](before))
        assert answer.equal, answer
        assert answer.proof == "exhaustive"


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_simplifying_leaves_nothing_to_simplify(seed):
    circuit, report = simplify(random_circuit(seed))
    again, _ = simplify(circuit)
    assert len(again.netlist.gate) == len(circuit.netlist.gate)
    numbers = circuit.statistics()
    assert numbers.dead == 0
    assert report.proof.exact
    gate, first, second = circuit.netlist.gate, circuit.netlist.first, circuit.netlist.second
    assert not np.isin(gate, [algebra.A, algebra.B, algebra.NOT_B]).any()
    two = ~np.isin(gate, [*algebra.CONSTANTS, algebra.NOT_A])
    assert (first[two] != second[two]).all()


def simplified_gates(gate, first, second, outputs, inputs=2):
    return Circuit(Netlist(inputs, gate, first, second, outputs), classes=1).simplify().netlist


def test_what_each_pass_is_for():
    # XOR(a, a) is false, and OR with it is a wire: nothing is left
    assert len(simplified_gates([6, 7], [0, 2], [0, 1], [3]).gate) == 0
    # NOR(NOT a, NOT b) is AND(a, b)
    assert simplified_gates([12, 10, 8], [0, 0, 2], [0, 1, 3], [4]).gate.tolist() == [1]
    # OR(a, b) and NOR(b, a): one gate, and an inverter, because both are outputs
    assert sorted(simplified_gates([7, 8], [0, 1], [1, 0], [2, 3]).gate.tolist()) == [7, 12]
    # NOT of a gate that no output wants plain is pushed into the gate
    assert simplified_gates([1, 12], [0, 2], [1, 2], [3]).gate.tolist() == [14]


def test_a_network_of_48000_gates_is_simplified_and_proven():
    circuit = large_circuit(784, 8000, 6, 10)
    simplified, report = simplify(circuit)
    assert report.gates[0] == ("as built", 48_000)
    assert report.gates[-1][1] == len(simplified.netlist.gate) < 20_000
    assert report.proof.proof == "SAT"


@pytest.mark.parametrize("seed", range(6))
def test_aig_rewriting_keeps_the_function_and_never_adds_gates(seed):
    circuit = random_circuit(seed, inputs=20, layers=5)
    plain, rewritten = circuit.simplify(), circuit.simplify(rewrite=True)
    assert len(rewritten.netlist.gate) <= len(plain.netlist.gate)
    assert circuit.equivalent(rewritten).proof in ("SAT", "exhaustive")  # of 20 inputs some are not read
    assert netlists_equal(circuit.netlist, rewrite_aig(circuit.netlist)).equal


def test_exclusive_ors_are_found_among_ands():
    # x = AND(a, b), y = NOR(a, b); NOR(x, y) is XOR(a, b)
    netlist = find_exclusive_ors(Netlist(2, [1, 8, 8], [0, 1, 2], [1, 0, 3], [4]))
    assert (netlist.gate[2], {netlist.first[2], netlist.second[2]}) == (6, {0, 1})


def test_a_changed_gate_is_found_with_an_input_that_shows_it():
    circuit = random_circuit(4, inputs=25, layers=2, classes=3, group=9)
    gate = circuit.netlist.gate.copy()
    gate[-1] = 15 - gate[-1]
    other = replace(circuit, netlist=replace(circuit.netlist, gate=gate))
    answer = circuit.equivalent(other)
    assert not answer
    bits = answer.counterexample[None]
    assert not np.array_equal(circuit.scores(bits), other.scores(bits))
    assert "found on a random vector" in str(answer)


def conjunction(inputs):
    """True on one input in 2**inputs."""
    nodes = np.arange(inputs, 2 * inputs - 1)
    return Netlist(inputs, [1] * (inputs - 1), np.r_[0, nodes[:-1]], np.arange(1, inputs), [nodes[-1]])


def test_sat_finds_the_one_input_that_random_vectors_miss():
    never = Netlist(40, [0], [0], [0], [40])
    answer = netlists_equal(conjunction(40), never, vectors=64, seed=1)
    assert (answer.equal, answer.proof) == (False, "SAT")
    assert answer.counterexample.tolist() == [1] * 40
    missed = netlists_equal(conjunction(40), never, vectors=64, seed=1, sat=False)
    assert missed.equal
    assert not missed.exact
    assert "evidence and not a proof" in str(missed)


def test_few_inputs_are_simulated_exhaustively():
    answer = netlists_equal(conjunction(16), Netlist(16, [0], [0], [0], [16]))
    assert (answer.equal, answer.proof, answer.vectors) == (False, "exhaustive", 65_536)
    assert answer.counterexample.tolist() == [1] * 16


def test_without_the_solver_the_answer_says_random(monkeypatch):
    monkeypatch.setattr(equivalence, "has_abc", lambda: False)
    circuit = random_circuit(4, inputs=25)
    assert circuit.equivalent(circuit.simplify(check=False)).proof == "random"


def product(x, y):
    """The bits of a product of two numbers, by long multiplication; x and y: the inputs that hold them."""
    builder = Builder(len(x) + len(y))
    total = [builder.constant(False)] * (len(x) + len(y))
    for i, factor in enumerate(y):
        carry = builder.constant(False)
        for k, bit in enumerate(x, start=i):
            term, before = builder.gate(algebra.AND, bit, factor), total[k]
            half = builder.gate(algebra.XOR, before, term)
            total[k] = builder.gate(algebra.XOR, half, carry)
            both = builder.gate(algebra.AND, before, term)
            carry = builder.gate(algebra.OR, both, builder.gate(algebra.AND, half, carry))
        total[i + len(x)] = carry
    return builder.netlist(total)


@pytest.mark.skipif(not equivalence.has_abc(), reason="needs ABC: pip install pyosys")
def test_a_solver_that_does_not_keep_to_its_time_is_ended_and_proves_nothing(monkeypatch):
    """Two ways round a product are what solvers take for ever for; ABC looks at the clock too seldom there."""
    monkeypatch.setattr(equivalence, "SAT_LIMITS", Limits(memory=1 << 30, seconds=1))
    left, right = range(16), range(16, 32)
    assert netlists_equal(product(left, right), product(right, left)).proof == "random"


def test_inputs_that_nothing_reads_cost_nothing_and_are_part_of_a_counterexample(monkeypatch):
    """A file of a few bytes can declare a million of them."""
    monkeypatch.setattr(equivalence, "_solve", None)
    inputs, last = 1 << 20, (1 << 20) - 1
    conjunction, disjunction = (Circuit(Netlist(inputs, [gate], [last], [3], [inputs]), 1) for gate in (1, 7))
    assert conjunction.equivalent(conjunction.simplify()).proof == "exhaustive"
    answer = conjunction.equivalent(disjunction)
    assert not answer
    wrong = np.flatnonzero(answer.counterexample).tolist()
    assert len(answer.counterexample) == inputs
    assert wrong in ([3], [last])


def test_samples_show_differences_beside_inputs_that_nothing_reads():
    samples = np.array([[0, 0], [1 << 39, 1 << 6]], np.uint64)
    both = Netlist(90, [1], [39], [70], [90])
    answer = netlists_equal(both, Netlist(90, [0], [0], [0], [90]), samples=samples)
    assert (answer.proof, np.flatnonzero(answer.counterexample).tolist()) == ("samples", [39, 70])


def test_samples_are_looked_at_first():
    samples = np.array([[(1 << 40) - 1]], np.uint64)
    answer = netlists_equal(conjunction(40), Netlist(40, [0], [0], [0], [40]), samples=samples)
    assert (answer.equal, answer.proof) == (False, "samples")


def test_circuits_of_other_shapes_are_not_compared():
    with pytest.raises(hw.HardwireError, match="cannot be compared"):
        netlists_equal(conjunction(4), conjunction(5))
    with pytest.raises(hw.HardwireError, match="1 classes and the other 2"):
        Circuit(Netlist(1, [], [], [], [0, 0]), 1).equivalent(Circuit(Netlist(1, [], [], [], [0, 0]), 2))


def test_a_pass_that_changes_the_function_is_caught(monkeypatch):
    def broken(netlist):
        return replace(netlist, outputs=np.roll(netlist.outputs, 1))

    monkeypatch.setattr("hardwire.circuit.passes.PASSES", {"broken": broken})
    monkeypatch.setattr("hardwire.circuit.passes._same", lambda a, b: True)
    with pytest.raises(hw.HardwireError, match="simplification changed the function"):
        simplify(Circuit(Netlist(2, [1], [0], [1], [2, 0]), classes=2))
