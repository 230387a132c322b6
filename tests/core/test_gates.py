import itertools

import numpy as np
import oracle
import pytest

from hardwire.gates import COEFFICIENTS, GATE_NAMES, GATES

GRID = [0.0, 0.2, 0.5, 0.50001, 0.9, 1.0]


@pytest.mark.parametrize("gate", GATES, ids=GATE_NAMES)
def test_a_gate_has_the_papers_soft_and_hard_formula(gate):
    for a, b in itertools.product(GRID, GRID):
        assert gate.soft(a, b) == pytest.approx(oracle.soft_gate(gate.index, a, b), abs=1e-15)
        assert gate.hard(a, b) == oracle.hard_gate(gate.index, a, b)


@pytest.mark.parametrize("gate", GATES, ids=GATE_NAMES)
def test_the_printed_formula_of_a_gate_is_the_one_it_computes(gate):
    formula = gate.formula.replace("ab", "a*b").replace("2a", "2*a").replace(")b", ")*b").replace("a(", "a*(")
    for a, b in itertools.product(GRID, GRID):
        assert eval(formula, {"a": a, "b": b}) == pytest.approx(gate.soft(a, b), abs=1e-15)


def test_truth_tables_are_all_16_and_list_the_outputs_of_00_01_10_11():
    assert len({gate.truth_table for gate in GATES}) == 16
    for gate in GATES:
        assert gate.truth_table == tuple(oracle.hard_gate(gate.index, a, b) for a in (0, 1) for b in (0, 1))


def test_gates_work_on_arrays():
    a, b = np.meshgrid(GRID, GRID)
    for gate in GATES:
        np.testing.assert_allclose(gate.soft(a, b), np.vectorize(gate.soft)(a, b))
        np.testing.assert_array_equal(gate.hard(a, b), np.vectorize(gate.hard)(a, b))


def test_a_mixture_of_gates_is_the_mixture_of_their_coefficients():
    weights = np.random.default_rng(0).dirichlet(np.ones(16))
    c0, c1, c2, c3 = weights @ COEFFICIENTS
    for a, b in itertools.product(GRID, GRID):
        mixture = sum(weights[i] * oracle.soft_gate(i, a, b) for i in range(16))
        assert c0 + c1 * a + c2 * b + c3 * a * b == pytest.approx(mixture, abs=1e-12)


def test_the_coefficient_matrix_cannot_be_written():
    with pytest.raises(ValueError, match="read-only"):
        COEFFICIENTS[0, 0] = 1
