"""Circuits with state: how they run, lose registers, are saved, exported, read back and proven."""

import ctypes
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
import torch
from cells import life, life_cell

import hardwire as hw
from hardwire.circuit import Grid, Netlist, State
from hardwire.circuit.equivalence import netlists_equal
from hardwire.circuit.sequential.bounded import bounded
from hardwire.circuit.sequential.files import FORMATS
from hardwire.circuit.sequential.grid import on_grid
from hardwire.circuit.sequential.state import unrolled
from hardwire.circuit.tools import has_abc, has_yosys
from hardwire.gates import algebra


def loop_network(outputs="last", initial="zeros", classes=2, steps=4, seed=0):
    cell = [hw.LogicLayer(6 + 3, 16, seed=seed), hw.LogicLayer(16, 6 + 4, seed=seed + 1)]
    loop = hw.Recurrent(cell, steps, 6, initial=initial, outputs=outputs, seed=seed)
    return hw.LogicNetwork(layers=[loop], classes=classes, seed=0).eval()


def sequences(rows=50, steps=4, seed=0):
    return np.random.default_rng(seed).integers(0, 2, (rows, steps, 3), np.uint8)


def by_steps(circuit, xs):
    """The answers of a circuit, one gate after another."""
    answers = []
    for row in xs.tolist():
        state, made = list(circuit.state.initial), []
        for x in row:
            nodes = state + x
            for gate, a, b in circuit.netlist.rows():
                nodes.append(hw.GATES[gate].hard(nodes[a], nodes[b]))
            out = [nodes[node] for node in circuit.netlist.outputs.tolist()]
            state, out = out[: len(state)], out[len(state) :]
            sums = [sum(out[c * circuit.group :][: circuit.group]) for c in range(circuit.classes)]
            made.append(sums.index(max(sums)) if circuit.classes > 1 else out)
        answers.append(made)
    return np.array(answers)


@pytest.mark.parametrize("initial", ["zeros", "learned", [1, 0, 1, 1, 0, 0]])
def test_a_circuit_runs_as_its_loop_does_before_and_after_simplification(initial):
    net, xs = loop_network(initial=initial), sequences()
    circuit = hw.Circuit.from_loop(net)
    smaller = circuit.simplify()
    expected = net.predict(torch.from_numpy(xs).float().flatten(1)).numpy()
    assert (circuit.run(xs)[:, -1] == expected).all()
    assert (circuit.run(xs) == by_steps(circuit, xs)).all() and (smaller.run(xs) == circuit.run(xs)).all()
    state, answer = circuit.step([circuit.state.initial], xs[:1, 0])
    assert answer == circuit.run(xs)[0, 0] and state.shape == (1, 6)


def registers():
    """Five registers: one stays 0, two are always equal, one nobody reads, one counts."""
    x = 5
    nodes = [(algebra.AND, 0, x), (algebra.XOR, 4, x), (algebra.AND, 1, 2)]  # nodes 6, 7, 8
    outputs = [6, x, x, 3, 7, 8, 7]
    gates, first, second = zip(*nodes, strict=True)
    return hw.Circuit(Netlist(6, gates, first, second, outputs), 1, state=State(5, (0, 1, 1, 1, 0)))


def test_constant_equal_and_unread_registers_go():
    circuit = registers()
    smaller = circuit.simplify()
    assert smaller.state.bits == 2 and smaller.state.initial == (1, 0)
    xs = np.random.default_rng(0).integers(0, 2, (20, 6, 1))
    assert (smaller.run(xs) == circuit.run(xs)).all() and smaller.run(xs).any()


def test_a_circuit_whose_registers_all_stay_as_they_are_keeps_one():
    board = replace(on_grid(life_cell(), (2, 3)), state=State(6))  # from an empty board
    assert board.simplify().state.bits == 1 and not board.simplify().run(np.zeros((1, 3, 0))).any()


def test_unrolled_steps_are_the_unrolled_network():
    loop = hw.Recurrent([hw.LogicLayer(5, 6, seed=3)], 3, 4, initial=[1, 0, 0, 1], outputs="all", seed=0)
    net = hw.LogicNetwork(layers=[loop], classes=6, seed=0)
    whole = hw.Circuit.from_network(net).netlist
    assert netlists_equal(unrolled(hw.Circuit.from_loop(loop), 3), whole).exact


@pytest.mark.parametrize("suffix", [*FORMATS, ".circuit"])
@pytest.mark.parametrize("classes", [1, 2])
def test_files_are_proven_equal_and_differences_found(suffix, classes, tmp_path):
    if suffix == ".blif" and not has_abc():
        pytest.skip("BLIF is read by ABC: pip install pyosys")
    if suffix == ".wasm":
        pytest.importorskip("wasmtime")
    source = loop_network(initial=[1, 0, 1, 1, 0, 0], seed=4)
    circuit = hw.Circuit.from_loop(source if classes == 2 else source.layers[0]).simplify()
    path = tmp_path / f"loop{suffix}"
    circuit.export(path)
    verdict = circuit.verify(path)
    assert verdict and "proven" in verdict.how
    first, *rest = circuit.state.initial
    other_start = replace(circuit, state=State(circuit.state.bits, (1 - first, *rest)))
    assert "register 0" in other_start.verify(path).counterexample
    outputs = circuit.netlist.outputs.copy()
    outputs[0] = next(node for node in range(circuit.netlist.nodes) if node != outputs[0])
    rows = circuit.netlist
    other = hw.Circuit(
        Netlist(rows.inputs, rows.gate, rows.first, rows.second, outputs), circuit.classes, state=circuit.state
    )
    assert not other.verify(path)


@pytest.mark.parametrize("suffix", [".v", ".c"])
def test_what_a_reader_does_not_understand_is_refused(suffix, tmp_path):
    circuit, path = registers(), tmp_path / f"loop{suffix}"
    circuit.export(path)
    text = path.read_text()
    for wrong in (
        text.replace("n8", "n9", 1),
        text.replace("x[0]", "x[7]"),
        text + "\nmore",
        "",
        text.replace("[5", "[6", 1),
        text.replace("[1-1:0] x", f"[{'9' * 5_000}-1:0] x").replace("x[1],", f"x[{'9' * 5_000}],"),
    ):
        path.write_text(wrong)
        with pytest.raises(hw.HardwireError, match="cannot read"):
            circuit.verify(path)
    path.write_text(text.replace("s[0]", "s[1]"))
    assert not circuit.verify(path)


@pytest.mark.parametrize("suffix", [".v", ".c"])
@pytest.mark.parametrize(
    "hidden", ["{} \x0b{}", "{} \x0c{}", "{} \x85{}", "{} \u2028{}", "{} \r{}", "{} \\\n{}", "{} off\n{}"]
)
def test_a_comment_cannot_take_a_line_away_from_a_compiler(suffix, hidden, tmp_path):
    """The register keeps what it had, though every line of the export is in the file."""
    circuit, path = hw.Circuit.from_loop(loop_network()), tmp_path / f"loop{suffix}"
    circuit.export(path)
    assert circuit.verify(path, steps=0)
    lines = path.read_text().split("\n")
    update = next(i for i, line in enumerate(lines) if "s <= d;" in line or "= d[i];" in line)
    lines[update] = hidden.format("// " if suffix == ".v" else "/// ", lines[update])
    path.write_bytes("\n".join(lines).encode())
    with pytest.raises(hw.HardwireError, match="cannot read"):
        circuit.verify(path, steps=0)


@pytest.mark.parametrize("bits", [(float("inf"), 0), (float("nan"), 0), (0.5, 0), ("1", 0), (2, 0)])
def test_bits_that_are_neither_0_nor_1_are_one_error(bits):
    with pytest.raises(hw.HardwireError, match="each 0 or 1"):
        State(2, bits)
    with pytest.raises(hw.HardwireError, match="the bits of a seed"):
        Grid(3, seed=bits)
    with pytest.raises(hw.HardwireError, match="is at most 999, not a int too large to show"):
        Grid(10**5000)


def test_a_file_that_lost_a_line_of_its_registers_is_refused(tmp_path):
    circuit, path = hw.Circuit.from_loop(loop_network()), tmp_path / "loop.v"
    circuit.export(path)
    lines = [line for line in path.read_text().split("\n") if "y[" not in line and "d[3] =" not in line]
    path.write_text("\n".join(lines))
    with pytest.raises(hw.HardwireError, match="it has 6 registers and 5 of their next values"):
        circuit.verify(path, steps=0)


@pytest.mark.skipif(not has_yosys(), reason="needs yosys: pip install pyosys")
@pytest.mark.parametrize("initial", [[1, 0, 1, 1, 0, 0], "zeros"])
def test_yosys_and_abc_read_the_same_circuit_through_five_steps_from_reset(initial, tmp_path):
    circuit = hw.Circuit.from_loop(loop_network(initial=initial, seed=4)).simplify()
    for suffix in (".v", ".blif", ".aig", ".aag"):
        path = tmp_path / f"loop{suffix}"
        circuit.export(path)
        reader = "yosys" if suffix == ".v" else "ABC"
        verdict = circuit.verify(path, steps=5)
        assert verdict and f"the first 5 steps as {reader} reads the file: equal, proven" in verdict.how
        assert "the first" not in circuit.verify(path, steps=0).how


@pytest.mark.skipif(not has_yosys(), reason="needs yosys: pip install pyosys")
@pytest.mark.parametrize("suffix", [".v", ".aig"])
def test_a_difference_that_only_time_shows_is_found_in_time(suffix, tmp_path):
    circuit = hw.Circuit.from_loop(loop_network().layers[0])
    other = replace(circuit, state=State(circuit.state.bits, (1,) * circuit.state.bits))
    other.export(tmp_path / f"loop{suffix}")
    steps, answer = bounded(circuit, tmp_path / f"loop{suffix}", 4)
    assert steps == 4 and not answer.equal


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_the_c_file_runs_64_circuits_at_once(tmp_path):
    circuit = hw.Circuit.from_loop(loop_network().layers[0]).simplify()
    circuit.export(tmp_path / "loop.c")
    call = ["cc", "-shared", "-fPIC", "-Wall", "-Werror", "-O1", "-o", tmp_path / "loop.so", tmp_path / "loop.c"]
    subprocess.run(call, check=True)
    library, words = ctypes.CDLL(tmp_path / "loop.so"), ctypes.c_uint64
    xs = sequences(64)
    state, y = (words * circuit.state.bits)(), (words * 4)()
    library.loop_reset(state)
    for t in range(xs.shape[1]):
        x = (words * 3)(*(sum(int(bit) << n for n, bit in enumerate(column)) for column in xs[:, t].T))
        library.loop_step(state, x, y)
        made = [[y[i] >> n & 1 for i in range(4)] for n in range(64)]
        assert (np.array(made) == circuit.run(xs)[:, t]).all()


def test_a_cell_on_a_grid_lives_as_the_rule_says(tmp_path):
    now = np.random.default_rng(0).integers(0, 2, (3, 5))
    for border in ("periodic", "zero"):
        board = on_grid(life_cell().simplify(), (3, 5), border).simplify()
        for generation in board.run(np.zeros((1, 9, 0)), state=now.ravel())[0]:
            now = life(now, border)
            assert (generation == now.ravel()).all()
    board.export(tmp_path / "board.v")
    assert board.verify(tmp_path / "board.v")


BAD = [
    (lambda path: on_grid(registers().step_circuit(), (4, 4)), "an odd square of bits"),
    (lambda path: on_grid(life_cell(), (4, 4), "wall"), "periodic or zero"),
    (lambda path: on_grid(life_cell(), (0, 4)), "height"),
    (lambda path: registers().export(path / "a.svg"), "cannot hold a circuit with state"),
    (lambda path: registers().verify(path, steps=1), "no such file"),
    (lambda path: hw.Circuit(registers().netlist, 7).verify(path, steps=1), "no steps to compare"),
    (lambda path: registers().export(path / "a.v", raw="bits"), "no option 'raw'"),
    (lambda path: registers().predict([[0] * 6]), "step by step"),
    (lambda path: registers().run(np.zeros((2, 3))), "n, steps, 1"),
    (lambda path: registers().step(np.zeros((2, 4)), np.zeros((2, 1))), "states .n, 5"),
    (lambda path: registers().step([[2] * 5], [[0]]), "zeros and ones"),
    (lambda path: hw.Circuit.from_loop(hw.LogicLayer(4, 4, seed=0)), "made of a Recurrent"),
    (lambda path: hw.Circuit(registers().netlist, 1, state=State(7)), "7 bits of state"),
    (lambda path: State(2, (0, 2)), "each 0 or 1"),
    (lambda path: hw.Circuit(registers().netlist, 7).run([[[0]]]), "has no state"),
]


@pytest.mark.parametrize(("wrong", "says"), BAD)
def test_wrong_use_is_one_line(wrong, says, tmp_path):
    with pytest.raises(hw.HardwireError, match=says) as caught:
        wrong(tmp_path)
    assert "\n" not in str(caught.value)


def test_loops_of_tables_become_circuits_too():
    cell = [hw.LutLayer(5, 8, 4, seed=0), hw.LutLayer(8, 7, 4, seed=1)]
    loop = hw.Recurrent(cell, 3, 4, outputs="all", seed=2).eval()
    circuit, xs = hw.Circuit.from_loop(loop), np.random.default_rng(0).integers(0, 2, (30, 3, 1))
    expected = loop(torch.from_numpy(xs).float()).view(30, 3, 3).numpy()
    assert (circuit.run(xs) == expected).all() and (circuit.simplify().run(xs) == expected).all()
    automaton = hw.CellularAutomaton((3, 4), 2, steps=2, widths=[3], arity=4, votes=3, seed=0).eval()
    grid = np.random.default_rng(1).integers(0, 2, (9, 24))
    made = hw.Circuit.from_loop(automaton).simplify(check=False).run(np.zeros((9, 2, 0)), state=grid)[:, -1]
    assert (made == automaton(torch.from_numpy(grid).float()).numpy()).all()
