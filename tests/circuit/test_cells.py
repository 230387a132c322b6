"""Cells of automata: one cell of a learned automaton, and boards in Python, gates and WebAssembly."""

import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
import torch
from cells import life, life_cell
from hypothesis import given, settings
from hypothesis import strategies as st

import hardwire as hw
from hardwire.circuit import Grid, State, as_cell, on_grid
from hardwire.circuit.sequential.cell import generations, start_board
from hardwire.circuit.sequential.wasm import board_wasm


def learned(side=3, border="periodic", channels=2, shape=(8, 9), **options):
    net = hw.CellularAutomaton(shape, channels, side, steps=3, widths=[20, 8], border=border, seed=1, **options)
    return net.eval()


def in_wasm(cell, board, steps):
    """A board after some steps of the module that the playground runs."""
    wasmtime = pytest.importorskip("wasmtime")
    channels, height, width = board.shape
    store = wasmtime.Store(wasmtime.Engine())
    module = wasmtime.Module(store.engine, board_wasm(cell, (height, width)))
    exports = wasmtime.Instance(store, module, []).exports(store)
    start, plane, stride = (exports[name].value(store) for name in ("board", "plane", "stride"))
    packed, after = np.packbits(board, axis=2, bitorder="little"), np.empty_like(board)
    places = [(c, y, start + c * plane + y * stride) for c in range(channels) for y in range(height)]
    for channel, row, place in places:
        exports["memory"].write(store, packed[channel, row].tobytes(), place)
    exports["step"](store, steps)
    for channel, row, place in places:
        made = np.frombuffer(bytes(exports["memory"].read(store, place, place + packed.shape[2])), np.uint8)
        after[channel, row] = np.unpackbits(made, bitorder="little")[:width]
    return after


@pytest.mark.parametrize(("side", "border"), [(3, "periodic"), (3, "zero"), (5, "zero")])
def test_the_cell_of_a_learned_automaton_does_what_the_automaton_does(side, border, tmp_path):
    automaton = learned(side, border)
    cell = hw.Circuit.from_automaton(automaton, seed=(1, 0)).simplify()
    cell.save(tmp_path / "cell.circuit")
    cell = hw.Circuit.load(tmp_path / "cell.circuit")
    assert cell.state.grid == Grid(side, border, (8, 9), (1, 0))
    board = np.random.default_rng(0).integers(0, 2, (2, 8, 9), np.uint8)
    expected = automaton(torch.from_numpy(board.reshape(1, -1)).float()).detach().numpy().reshape(board.shape)
    assert (generations(cell, board, 3) == expected).all() and (in_wasm(cell, board, 3) == expected).all()
    in_gates = on_grid(cell, (8, 9)).run(np.zeros((1, 3, 0)), state=board.ravel())[0, -1]
    assert (in_gates == expected.ravel()).all()
    seeded = start_board(cell)
    assert seeded.sum() == 1 and seeded[0, 4, 4] == 1


@given(
    st.integers(3, 9),
    st.integers(3, 200),
    st.sampled_from(["periodic", "zero"]),
    st.sampled_from([3, 5]),
    st.integers(),
)
@settings(max_examples=25, deadline=None)
def test_boards_of_any_size_run_in_webassembly_as_in_python(height, width, border, side, seed):
    cell = hw.Circuit.from_automaton(learned(side, border))
    height, width = max(height, side), max(width, side)
    board = np.random.default_rng(abs(seed)).integers(0, 2, (2, height, width), np.uint8)
    assert (in_wasm(cell, board, 3) == generations(cell, board, 3)).all()


def test_a_board_of_life_lives_as_numpy_has_it():
    cell, board = as_cell(life_cell()).simplify(), np.random.default_rng(0).integers(0, 2, (1, 40, 130), np.uint8)
    now = board[0]
    for _ in range(50):
        now = life(now)
    assert (in_wasm(cell, board, 50)[0] == now).all() and (generations(cell, board, 50)[0] == now).all()


def test_a_cell_is_exported_and_proven_like_other_circuits_with_state(tmp_path):
    cell = as_cell(life_cell()).simplify()
    for suffix in (".v", ".c"):
        cell.export(tmp_path / f"cell{suffix}")
        assert "proven" in cell.verify(tmp_path / f"cell{suffix}").how


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node: apt install nodejs")
def test_a_circuit_with_state_runs_in_javascript_step_by_step(tmp_path):
    loop = hw.Recurrent([hw.LogicLayer(7, 12, seed=0), hw.LogicLayer(12, 9, seed=1)], 4, 5, [1, 0, 1, 1, 0], seed=0)
    circuit = hw.Circuit.from_loop(loop.eval())
    circuit.export(tmp_path / "loop.wasm")
    (tmp_path / "run.mjs").write_text(
        'import { load } from "./loop.mjs"; const m = await load();'
        "console.log(JSON.stringify([[0,1],[1,1],[1,0],[0,0]].map((x) => m.step(x))), m.state.length);"
    )
    said = subprocess.run(["node", "run.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    expected = circuit.run([[[0, 1], [1, 1], [1, 0], [0, 0]]])[0].tolist()
    assert said.split() == [str(expected).replace(" ", ""), "5"]


BAD = [
    (lambda: hw.Circuit.from_automaton(hw.LogicLayer(4, 4, seed=0)), "is no hw.CellularAutomaton"),
    (lambda: hw.Circuit.from_automaton(learned(updates="random")), "random updates reads a mask"),
    (lambda: hw.Circuit.from_automaton(learned(), seed=(1,)), "a seed of 1 bits is none of a cell of 2"),
    (lambda: generations(as_cell(life_cell()), np.zeros((2, 5, 5))), r"zeros and ones \[1, height, width\]"),
    (lambda: generations(as_cell(life_cell()), np.zeros((2, 5))), "smaller than a neighbourhood"),
    (lambda: start_board(as_cell(life_cell())), "give a shape"),
    (lambda: start_board(as_cell(life_cell(), shape=(10**30, 3))), "too large; use a smaller shape"),
    (lambda: Grid(3, seed=(float("inf"),)), "0 or 1"),
    (lambda: board_wasm(as_cell(life_cell()), (1 << 14, 1 << 14)), "too large for a page"),
    (lambda: generations(hw.Circuit(life_cell().netlist, 1), np.zeros((5, 5))), "is no cell of an automaton"),
    (lambda: Grid(4), "has no middle"),
    (lambda: Grid(3, "wall"), "is not periodic or zero"),
    (
        lambda: replace(as_cell(life_cell()), state=State(1, grid=Grid(5))),
        "reads 25 of its neighbourhood and makes its own twice",
    ),
]


@pytest.mark.parametrize(("wrong", "says"), BAD)
def test_wrong_cells_are_one_line(wrong, says):
    with pytest.raises(hw.HardwireError, match=says) as caught:
        wrong()
    assert "\n" not in str(caught.value)
