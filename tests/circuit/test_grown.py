"""The learned cells of the examples, proven: Life, and a heart that is right in all that damage can leave of it."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cells import life_cell
from circuit_oracle import random_circuit

import hardwire as hw
from hardwire.circuit import as_cell, equivalence
from hardwire.circuit.sequential.cell import generations, reads, start_board
from hardwire.circuit.sequential.state import without_state
from hardwire.circuit.tools import has_abc

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", autouse=True)
def benchmarks():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield
    sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture(scope="module")
def taught(benchmarks):
    import growth_taught

    return growth_taught


@pytest.fixture(scope="module")
def searched(benchmarks):
    import growth_searched

    return growth_searched


def test_the_heart_is_right_in_all_neighbourhoods_grows_and_heals(taught):
    cell = hw.Circuit.load(ROOT / "examples" / "heart.circuit")
    x, y = taught.pairs()
    assert x.shape == (1731, 45)
    place = {(bit, *near): number * 9 + bit for number, near in enumerate(taught.NEAR) for bit in range(9)}
    columns = [place.get(read) for read in reads(cell)]
    corners = np.random.default_rng(0).integers(0, 2, (len(x), len(columns)))  # which the rule must not read
    rows = np.stack([corners[:, i] if at is None else x[:, at] for i, at in enumerate(columns)], axis=1)
    assert (cell.step(rows[:, :9], rows[:, 9:])[0] == y).all()
    grown = generations(cell, start_board(cell), 9)
    assert (grown[0] == taught.HEART).all() and (generations(cell, grown) == grown).all()
    damaged = grown.copy()
    damaged[:, 3:, :8] = 0
    assert (generations(cell, damaged, 12) == grown).all()


def test_a_searched_board_heals_as_fast_as_it_grew_from_any_bits_that_are_left_with_the_seed(searched):
    rule, _ = searched.search(2)
    final, rng, middle = searched.grown(rule), np.random.default_rng(0), searched.MIDDLE
    for share in (0.0, 0.3, 0.7):
        board = final & (rng.random(final.shape) < share)
        board[:, middle, middle] = True
        for _ in range(searched.SETTLED):
            board = searched.after(rule, board)
        assert (board == final).all()
    assert searched.fault(rule)[0] == 0


def test_the_learned_rule_of_life_is_proven_on_all_512_neighbourhoods():
    cell = hw.Circuit.load(ROOT / "examples" / "life.circuit")
    every = (np.arange(512)[:, None] >> np.arange(9) & 1).astype(np.uint8)  # the cell comes first
    alive = every[:, 1:].sum(axis=1)
    assert (cell.step(every[:, :1], every[:, 1:])[0][:, 0] == ((alive == 3) | (alive == 2) & (every[:, 0] == 1))).all()


@pytest.mark.skipif(not has_abc(), reason="needs ABC: pip install pyosys or aigverse")
def test_the_learned_rule_of_life_is_proven_by_sat_to_be_the_one_written_by_hand(monkeypatch):
    monkeypatch.setattr(equivalence, "EXHAUSTIVE_INPUTS", 0)
    learned = without_state(hw.Circuit.load(ROOT / "examples" / "life.circuit"))
    by_hand = without_state(as_cell(life_cell()))
    proven = learned.equivalent(by_hand)
    assert proven and proven.proof == "SAT"
    no_births = without_state(as_cell(hw.Circuit(replace(life_cell().netlist, outputs=np.array([4])), 1)))
    assert not learned.equivalent(no_births)


def test_exact_shrinking_keeps_all_rows_right(taught):
    from exact import output_bits, shrunk, voted

    circuit = random_circuit(3, inputs=9, classes=4)
    rows = (np.arange(512)[:, None] >> np.arange(9) & 1).astype(np.uint8)
    scores = circuit.scores(rows).reshape(512, 2, 2)
    wanted = (scores[:, :, 1] > scores[:, :, 0]).astype(np.uint8)
    netlist = voted(circuit, rows, wanted)
    assert (output_bits(netlist, rows) == wanted).all()
    smaller = shrunk(netlist, rows, seconds=1)
    assert (output_bits(smaller, rows) == wanted).all() and smaller.size <= netlist.size
