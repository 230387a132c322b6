"""Circuits of look-up tables end to end: from a stack, through simplification and files, to exports, against loops."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import hardwire as hw
from hardwire.bits import pack
from hardwire.circuit import truth
from hardwire.circuit.evaluate import Program
from hardwire.circuit.passes import simplify
from hardwire.circuit.table_netlist import TableBuilder, TableNetlist
from hardwire.circuit.table_rows import minimal
from hardwire.circuit.tools import has_abc, has_yosys
from hardwire.engine.functions import Choose, Entries
from hardwire.engine.stack import Head, Level, Stack
from hardwire.errors import HardwireError
from hardwire.files import arrays as arrayfile

needs_abc = pytest.mark.skipif(not has_abc(), reason="ABC comes with pyosys; pip install 'hardwire[fpga]'")
needs_yosys = pytest.mark.skipif(not has_yosys(), reason="pip install pyosys")


def stack_of(arities, widths, inputs, classes, seed=0, distinct=True):
    """Levels of tables with random entries and wires; of a table they are distinct, unless that is not asked for."""
    generator = torch.Generator().manual_seed(seed)
    levels, before = [], inputs
    for arity, width in zip(arities, widths, strict=True):
        wires = torch.randint(0, before, (arity, width), generator=generator, dtype=torch.int32)
        if distinct:
            several = [torch.randperm(before, generator=generator)[:arity] for _ in range(width)]
            wires = torch.stack(several, 1).to(torch.int32)
        levels.append(Level(before, width, wires, Entries(torch.randn(width, 1 << arity, generator=generator))))
        before = width
    return Stack(tuple(levels), Head(classes, 1.0))


def loop_scores(stack, images):
    """Class sums, sample by sample and neuron by neuron, from the logits themselves."""
    result = []
    for image in images:
        values = [int(value) for value in image]
        for level in stack.levels:
            entries = level.function.logits.numpy() > 0
            addresses = [
                sum(values[wire] << j for j, wire in enumerate(level.wires[:, i].tolist()))
                for i in range(level.neurons)
            ]
            values = [int(entries[i, address]) for i, address in enumerate(addresses)]
        group = len(values) // stack.head.classes
        result.append([sum(values[start : start + group]) for start in range(0, len(values), group)])
    return result


def random_images(count, inputs, seed=0):
    return np.random.default_rng(seed).integers(0, 2, (count, inputs), np.uint8)


@settings(deadline=None, max_examples=12, derandomize=True)
@given(st.lists(st.integers(2, 6), min_size=1, max_size=3), st.integers(0, 1000))
def test_a_circuit_of_tables_is_its_stack(arities, seed):
    stack = stack_of(arities, [12] * len(arities), 9, 3, seed, distinct=False)
    circuit = hw.Circuit.from_stack(stack)
    images = random_images(40, 9, seed)
    expected = loop_scores(stack, images)
    assert circuit.scores(images).tolist() == expected
    assert circuit.as_gates().scores(images).tolist() == expected
    smaller, report = simplify(circuit)
    assert smaller.scores(images).tolist() == expected
    assert report.proof is not None and report.proof.proof == "exhaustive"
    assert smaller.netlist.size <= circuit.netlist.size


def test_tables_of_two_inputs_are_gates_as_before():
    logits = torch.randn(10, 16, generator=torch.Generator().manual_seed(0))
    wires = torch.arange(20, dtype=torch.int32).reshape(2, 10) % 8
    by_choice = Stack((Level(8, 10, wires, Choose(logits)),), Head(2, 1.0))
    circuit = hw.Circuit.from_stack(by_choice)
    assert circuit.netlist.made_of == "gates" and circuit.gates is circuit.netlist
    entries = [truth.variable(2, 0) if table < 0 else table for table in TableNetlist.of_gates(circuit.netlist).table]
    logits = torch.tensor([[2.0 * (int(table) >> a & 1) - 1 for a in range(4)] for table in entries])
    by_entries = hw.Circuit.from_stack(Stack((Level(8, 10, wires, Entries(logits)),), Head(2, 1.0)))
    assert by_entries.netlist.gate.tolist() == circuit.netlist.gate.tolist()


def test_from_network_takes_layers_of_different_arity():
    stack = stack_of([2, 5], [12, 10], 7, 2)
    circuit = hw.Circuit.from_stack(stack)
    assert sorted(set(circuit.netlist.arity.tolist())) == [2, 5]
    numbers = circuit.statistics()
    assert numbers.made_of == "tables" and numbers.gates == 22 and numbers.two_input == circuit.gates.size
    assert numbers.by_type == {"table of 5 inputs": 10, "table of 2 inputs": 12}
    assert repr(circuit) == "Circuit(inputs=7, tables=22, classes=2)"


def test_a_circuit_file_of_tables_comes_back_as_it_was(tmp_path):
    circuit = hw.Circuit.from_stack(stack_of([6, 3], [20, 8], 14, 4)).simplify()
    circuit.save(tmp_path / "tables.circuit")
    again = hw.Circuit.load(tmp_path / "tables.circuit")
    assert again.digest == circuit.digest and again.netlist.rows() == circuit.netlist.rows()
    again.save(tmp_path / "again.circuit")
    assert (tmp_path / "again.circuit").read_bytes() == (tmp_path / "tables.circuit").read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arity": np.array([7], np.uint8)}, "has 7 inputs; the most are 6"),
        ({"arity": np.array([255], np.uint8)}, "has 255 inputs"),
        ({"reads": np.array([0], np.int32)}, "2 inputs in all, and it lists 1"),
        ({"reads": np.array([0, 2], np.int32)}, "does not come before it"),
        ({"reads": np.array([0, -1], np.int32)}, "does not come before it"),
        ({"table": np.array([16], np.uint64)}, "more entries than its inputs can address"),
        ({"table": np.array([8], np.int64)}, "is int64, not a list of uint64"),
        ({"table": np.array([8, 8], np.uint64)}, "equally long"),
        ({"outputs": np.array([3], np.int32)}, "dangling wire"),
        ({"arity": None}, "'arity' is missing"),
    ],
)
def test_a_hostile_file_of_tables_is_refused_in_one_line(tmp_path, change, message):
    arrays = {
        "table": np.array([8], np.uint64),
        "arity": np.array([2], np.uint8),
        "reads": np.array([0, 1], np.int32),
        "outputs": np.array([2], np.int32),
    } | change
    header = '{"inputs": 2, "classes": 1, "about": {}}'
    path = tmp_path / "hostile.circuit"
    kept = {name: array for name, array in arrays.items() if array is not None}
    arrayfile.write(path, "hardwire-circuit", 3, kept, {"circuit": header})
    with pytest.raises(HardwireError, match=message):
        hw.Circuit.load(path)


@needs_abc
@pytest.mark.parametrize("suffix", [".c", ".v", ".blif", ".aag", ".wasm", ".circuit"])
def test_exports_of_tables_are_verified(tmp_path, suffix):
    if suffix == ".v" and not has_yosys():
        pytest.skip("pip install pyosys")
    circuit = hw.Circuit.from_stack(stack_of([6, 4], [14, 9], 20, 3))
    images = random_images(64, 20)
    path = tmp_path / f"tables{suffix}"
    circuit.export(path)
    verdict = circuit.verify(path, images)
    assert verdict.equal and (suffix == ".wasm" or "proven by SAT" in verdict.how)
    table = int(circuit.netlist.table[0])
    rows = [(table ^ 1 << 13, circuit.netlist.rows()[0][1]), *circuit.netlist.rows()[1:]]
    wrong = TableNetlist(
        20, [row[0] for row in rows], circuit.netlist.arity, circuit.netlist.wires, circuit.netlist.outputs
    )
    other = hw.Circuit(wrong, 3)
    if not other.equivalent(circuit):
        assert not other.verify(path, images)


def test_verilog_and_blif_keep_each_table(tmp_path):
    circuit = hw.Circuit.from_stack(stack_of([6], [30], 40, 3))
    circuit.to_verilog(tmp_path / "t.v")
    text = (tmp_path / "t.v").read_text()
    assert text.count("= lut6(64'h") == 30 and "look-up tables of up to 6 inputs" in text
    circuit.to_blif(tmp_path / "t.blif")
    names = [line.split() for line in (tmp_path / "t.blif").read_text().splitlines() if line.startswith(".names")]
    assert sum(len(line) == 8 for line in names) == 30


@needs_yosys
def test_n_tables_take_n_luts_after_synthesis():
    from hardwire.circuit.estimate import Estimate, estimate

    circuit = hw.Circuit.from_stack(stack_of([6], [30], 40, 3))
    assert estimate(circuit)[0] == Estimate("tables", 30, 0)


def test_drawings_show_tables_by_their_entries(tmp_path):
    circuit = hw.Circuit.from_stack(stack_of([6, 2], [4, 2], 8, 2))
    circuit.to_svg(tmp_path / "t.svg")
    circuit.to_dot(tmp_path / "t.dot")
    for name in ("t.svg", "t.dot"):
        entries, _ = minimal(*circuit.netlist.rows()[0])
        assert f"{entries:016x}" in (tmp_path / name).read_text()


def test_a_table_and_its_opposite_are_made_once():
    wires = np.array([[0, 0, 1], [1, 1, 2], [2, 2, 0]])
    parity = TableNetlist.from_layers(3, [np.array([0b10010110, 0b01101001, 0b10010110], np.uint64)], [wires])
    assert hw.Circuit(parity, 1).simplify().netlist.size == 2  # both are outputs


def test_thresholds_that_imply_each_other_shrink_tables():
    encoder = hw.Encoder(np.float32([[50, 100, 150]]), "bytes")
    both, parity = 0b10000000, 0b10010110
    tables = [np.array([both, parity], np.uint64)]
    circuit = hw.Circuit(TableNetlist.from_layers(3, tables, [np.array([[0, 0], [1, 1], [2, 2]])]), 2, encoder)
    small = circuit.simplify(dont_cares=True)
    raw = np.arange(256, dtype=np.uint8)[:, None]
    assert small.netlist.size == 1  # all three together are the highest alone
    assert np.array_equal(small.scores(raw, raw=True), circuit.scores(raw, raw=True))
    assert circuit.statistics().thresholds == 3


def test_shrinking_tables_keeps_the_training_accuracy():
    data = hw.data.load("digits")
    circuit = hw.Circuit.from_stack(stack_of([4], [60], data.inputs, data.classes, seed=3), encoder=data.encoder)
    small, report = circuit.shrink(data, tolerance=0.02)
    assert small.netlist.made_of == "tables" and report.gates[1] < report.gates[0]
    before, after = report.accuracies["train"]
    assert after >= before - 0.02


def test_rewriting_tables_is_refused_with_a_way_out():
    circuit = hw.Circuit.from_stack(stack_of([3], [4], 5, 2))
    with pytest.raises(HardwireError, match="as_gates"):
        circuit.simplify(rewrite=True)


def test_a_stack_without_sums_needs_classes():
    stack = Stack(stack_of([3], [4], 5, 2).levels)
    with pytest.raises(HardwireError, match="give the number of classes"):
        hw.Circuit.from_stack(stack)
    assert hw.Circuit.from_stack(stack, classes=2).classes == 2


@pytest.mark.parametrize("rows", [1, 2, 130, 700])
def test_native_numpy_and_gates_give_the_same_scores(rows):
    circuit = hw.Circuit.from_stack(stack_of([6, 3, 5], [40, 30, 24], 70, 4, seed=rows, distinct=False))
    images = random_images(rows, 70, seed=rows)
    words = pack(images)
    expected = circuit.as_gates().scores(images)
    assert np.array_equal(circuit.scores(images), expected) and np.array_equal(circuit.scores(words), expected)
    assert np.array_equal(circuit.predict(words), expected.argmax(axis=1))
    alone = Program(circuit.netlist, circuit.classes)
    alone.native = None
    assert np.array_equal(alone.answer(images, raw=False, threads=1, scores=True), expected)


def test_outputs_may_be_shared_inputs_or_constants():
    rows = [(0b0110, (0, 1)), (1, ()), (0b01, (3,)), (0b10, (2,))]
    builder = TableBuilder(3)
    for row in rows:
        builder.table(*row)
    circuit = hw.Circuit(builder.netlist([3, 3, 4, 5, 6, 0, 4, 2]), 8)
    images = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], np.uint8)
    expected = [[a ^ b, a ^ b, 1, 1 - (a ^ b), c, a, 1, c] for a, b, c in images.tolist()]
    assert circuit.scores(images).tolist() == expected
    assert [circuit.scores(image[None])[0].tolist() for image in images] == expected
    assert circuit.simplify().scores(images).tolist() == expected


@needs_yosys
@needs_abc
@pytest.mark.parametrize("options", [{}, {"pipeline": 1, "scores": True}])
def test_class_sums_leave_out_constants_and_count_repeated_outputs_once(options, tmp_path):
    stack = stack_of([6], [12], 20, 3)
    netlist = hw.Circuit.from_stack(stack).netlist
    builder = TableBuilder(20)
    nodes = builder.embed(netlist, range(20))
    zero = builder.table(0, ())
    uneven = [*nodes[:6], nodes[6], nodes[6], nodes[6], nodes[7], nodes[7], zero, *[zero] * 5, nodes[8]]
    circuit = hw.Circuit(builder.netlist(uneven), 3)
    circuit.export(tmp_path / "t.v", **options)
    verdict = circuit.verify(tmp_path / "t.v", random_images(64, 20))
    assert verdict.equal and "proven by SAT" in verdict.how
    assert "t_count2 count2" in (tmp_path / "t.v").read_text()
    even = hw.Circuit(builder.netlist([*nodes, *nodes[:6]]), 3)
    assert class_sums(circuit) < class_sums(even)


def class_sums(circuit):
    from hardwire.circuit.estimate import estimate

    return next(row.luts for row in estimate(circuit) if row.part == "class sums")


def test_only_thresholds_that_are_read_are_built(tmp_path):
    encoder = hw.Encoder.uniform(8, 4, 255)
    builder = TableBuilder(32)
    circuit = hw.Circuit(builder.netlist([builder.table(6, (0, 9)), builder.table(6, (9, 17))]), 2, encoder)
    circuit.export(tmp_path / "t.v")
    assert (tmp_path / "t.v").read_text().count(" > 8'd") == 3
