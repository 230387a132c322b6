"""Running a circuit: native and bit-parallel, or the same schedule in numpy where the native module was not built.

There is no compile step: a schedule is made once (milliseconds), and any number of images runs through it, as packed
words or as 0 and 1. Raw bytes are compared with their thresholds inside the engine. Surprising: numbers other than 0
and 1 are refused, not thresholded; raw values need `raw=True`.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.bits import Encoder, check_words, pack, transpose, unpack, word_count
from hardwire.build import native as _native
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.schedule import GateSchedule, bit_schedule, byte_schedule, schedule
from hardwire.circuit.table_netlist import AnyNetlist, TableNetlist
from hardwire.circuit.table_schedule import TableSchedule, minimal_tables, single_schedule, table_schedule
from hardwire.errors import HardwireError
from hardwire.gates import GATES, THRESHOLD, algebra

WORD, BOOL = np.dtype(np.uint64), np.dtype(bool)
ONE_THREAD = (None, 1)
CACHE_BYTES = 1 << 20  # what a tile may fill: half of a usual second-level cache
NUMPY_TILE = 1 << 15  # images
THREAD_IMAGES = 4096  # fewer images than this a thread are not worth starting one


class Program:
    """A scheduled netlist with its class groups and its encoder, ready to run.

    Args:
        netlist: The gates or tables.
        classes: Number of equal groups of outputs.
        encoder: For raw values.
        single_images: Whether to make the two schedules that speed up calls with one image; a comparison of netlists
            does without.
    """

    def __init__(
        self, netlist: AnyNetlist, classes: int, encoder: Encoder | None = None, *, single_images: bool = True
    ):
        self.inputs, self.classes, self.encoder = netlist.inputs, classes, encoder
        self.words = word_count(netlist.inputs)
        self.single_images = single_images
        self.one_word: tuple[int, ...] = (1, self.words) if single_images else ()  # shapes that take the shortcut
        self.one_row: tuple[int, ...] = (1, self.inputs) if single_images else ()
        if isinstance(netlist, TableNetlist):
            netlist = minimal_tables(netlist)
        self.schedule: GateSchedule | TableSchedule
        self.schedule = schedule(netlist) if isinstance(netlist, Netlist) else table_schedule(netlist)
        # words in a slot: as many as keep the tile in cache, at least one cache line
        self.lanes = next((lanes for lanes in (32, 16) if self.schedule.slots * lanes * 8 <= CACHE_BYTES), 8)
        self._thresholds: dict[tuple[float, float], Any] = {}
        self.native = None if _native is None else _native_program(netlist, classes, self.schedule, single_images)

    def answer(self, images: Any, raw: bool, threads: int | None, scores: bool) -> npt.NDArray[Any]:
        """Returns scores int32 [rows, classes], or classes int64 [rows].

        A single image takes a shortcut, because checking its type and shape takes longer than running its gates.
        """
        if self.native is not None and threads in ONE_THREAD and not (raw or scores) and type(images) is np.ndarray:
            dtype, shape = images.dtype, images.shape
            if (dtype is WORD and shape == self.one_word) or (dtype is BOOL and shape == self.one_row):
                return np.array((self.native.predict_one(_contiguous(images)),), np.int64)
        rows, thresholds = self._raw_rows(images) if raw else (self._rows(images), None)
        if threads is None:
            most = 1 + len(rows) // THREAD_IMAGES
            threads = 1 if most == 1 else min(os.cpu_count() or 1, most)
        elif threads < 1:
            raise HardwireError(f"threads {threads} is not a number of threads; use at least 1")
        if self.native is None:
            sums = _numpy_scores(self, rows if rows.dtype == WORD else pack(rows))
            return sums if scores else sums.argmax(axis=1)
        count = len(rows)
        if count % 2 and not self.single_images:
            rows = np.concatenate([rows, rows[:1]])  # the engine runs an odd last row as a single image
        out = np.empty((len(rows), self.classes), np.int32) if scores else np.empty(len(rows), np.int64)
        (self.native.scores if scores else self.native.predict)(rows, out, self.lanes, threads, thresholds)
        return out[:count]

    def _rows(self, images: Any) -> npt.NDArray[Any]:
        """Returns what the engine reads: packed words uint64 [rows, words] or bytes [rows, inputs] of 0 and 1."""
        images = _matrix(self._array(images))
        if images.dtype == WORD and images.shape[1] == self.words:
            if self.native is None:  # the native engine checks the padding itself
                check_words(images, self.inputs)
            return _contiguous(images)
        return self._plain_rows(images)

    def _array(self, images: Any) -> npt.NDArray[Any]:
        if hasattr(images, "features"):  # Bits, recognised by this attribute because its module needs torch
            if images.features != self.inputs:
                raise HardwireError(f"images have {images.features} bits but the circuit reads {self.inputs}")
            images = images.numpy()
        return np.asarray(images)

    def _plain_rows(self, images: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if images.shape[1] != self.inputs:
            raise HardwireError(
                f"images have shape {list(images.shape)}; this circuit reads [images, {self.inputs}] of 0 and 1, "
                f"or uint64 [images, {self.words}] of packed bits"
            )
        if images.dtype == BOOL:
            return _contiguous(images)
        if not ((images == 0) | (images == 1)).all():
            way_out = "pass raw=True to use the encoder" if self.encoder else "threshold them first, such as x > 0.5"
            raise HardwireError(f"images hold values other than 0 and 1; they were never binarised: {way_out}")
        return np.ascontiguousarray(images, dtype=np.uint8)

    def _raw_rows(self, images: Any) -> tuple[npt.NDArray[Any], Any]:
        """Returns bytes unchanged with the thresholds to compare them with, and anything else encoded."""
        if self.encoder is None:
            raise HardwireError(
                "this circuit has no encoder for raw values; give bits, or build it from a model with one"
            )
        images = _matrix(self._array(images))
        if images.dtype == np.uint8 and self.native is not None:
            units = self.encoder.check(images)
            if units not in self._thresholds:
                self._thresholds[units] = byte_thresholds(self.encoder.scaled(units))
            return np.ascontiguousarray(images), self._thresholds[units]
        return self.encoder.encode(images), None


def _matrix(images: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if images.ndim != 2 or images.shape[0] == 0:
        raise HardwireError(f"images are a matrix of at least one row, not an array of shape {list(images.shape)}")
    return images


def _contiguous(images: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return images if images.flags.c_contiguous else np.ascontiguousarray(images)


def byte_thresholds(thresholds: npt.NDArray[np.float32]) -> Any:
    """Converts thresholds [columns, levels] for the native engine: the least byte above each, if there is one."""
    least = np.maximum(np.floor(thresholds.T.astype(np.float64)) + 1, 0)
    possible = pack((least <= 255).astype(np.uint8))
    return _native.byte_thresholds(np.ascontiguousarray(np.minimum(least, 255).astype(np.uint8)), possible)


def _native_program(netlist: AnyNetlist, classes: int, plan: GateSchedule | TableSchedule, single_images: bool) -> Any:
    if isinstance(plan, TableSchedule):
        assert isinstance(netlist, TableNetlist)
        one = single_schedule(netlist)
        many = (netlist.inputs, plan.slots, classes, plan.rows, plan.entries, plan.runs, plan.outputs)
        return _native.table_program(*many, one.slots, one.rows, one.entries, one.runs)
    assert isinstance(netlist, Netlist)
    return _gate_program(netlist, classes, plan, single_images)


def _gate_program(netlist: Netlist, classes: int, plan: GateSchedule, single_images: bool) -> Any:
    many = (netlist.inputs, plan.slots, classes, plan.operations, plan.runs, plan.outputs)
    if not single_images:
        rows, pairs = np.zeros((0, 3), np.int32), np.zeros((0, 2), np.int32)
        return _native.circuit_program(*many, 0, rows, pairs, 0, 0, np.arange(classes, dtype=np.int32), pairs, rows)
    one, bits = byte_schedule(netlist), bit_schedule(netlist, classes)
    by_bits = (bits.bits, bits.first_output, bits.class_of, bits.words, bits.gates)
    return _native.circuit_program(*many, one.slots, one.operations, one.runs, *by_bits)


def test_set(data: Any) -> tuple[Any, npt.NDArray[Any]]:
    """Returns the test images of a dataset as bits, as a circuit reads them, and their labels."""
    return circuit_bits(data, "test"), data.test.y.numpy()


def with_test_accuracy(circuit: Circuit, data: Any, name: str | None) -> Circuit:
    """Returns the same circuit with its test accuracy in `provenance`; the accuracy of numbers is left open."""
    images, labels = test_set(data)
    accuracy = float((circuit.predict(images) == labels).mean()) if circuit.number is None else None
    dataset = name or circuit.provenance.dataset or data.name
    return replace(circuit, provenance=circuit.provenance.measured(accuracy, dataset))


def circuit_bits(data: Any, split: str) -> Any:
    """Returns the rows of a split as a circuit reads them: Bits, or an array of 0 and 1."""
    x, encoder = getattr(data, split).x, getattr(data, "encoder", None)
    if not hasattr(x, "features"):
        return x.numpy() > THRESHOLD
    if encoder is None or not encoder.categories:
        return x
    return unpack(encoder.plain_bits(x.numpy()), encoder.features)


def describe_accuracy(circuit: Circuit, predicted: npt.NDArray[Any], expected: npt.NDArray[Any]) -> str:
    """Returns the accuracy of predicted classes, or R^2 of predicted numbers, in words."""
    if circuit.number is None:
        return f"accuracy {(predicted == expected).mean():.4f}"
    return f"R^2 {1 - ((predicted - expected) ** 2).mean() / expected.var():.4f}"


def _numpy_scores(program: Program, words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
    tiles = [_numpy_tile(program, words[start : start + NUMPY_TILE]) for start in range(0, len(words), NUMPY_TILE)]
    return np.concatenate(tiles)


def _numpy_tile(program: Program, words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
    plan = program.schedule
    slots = np.zeros((plan.slots, word_count(len(words))), np.uint64)
    slots[: program.inputs] = transpose(words, program.inputs)
    start = 0
    for kind, count in plan.runs:
        here = slice(start, start + count)
        if isinstance(plan, TableSchedule):
            target, *reads = plan.rows[here, : 1 + kind].T
            slots[target] = word_tables(plan.entries[here], [slots[read] for read in reads])
        else:
            target, first, second = plan.operations[here].T
            slots[target] = word_gate(int(kind), slots[first], slots[second])
        start += count
    bits = unpack(transpose(slots[plan.outputs], len(words) + -len(words) % 64), len(plan.outputs))[: len(words)]
    sums: npt.NDArray[np.int32] = bits.reshape(len(words), program.classes, -1).sum(axis=2, dtype=np.int32)
    return sums


def word_gate(gate: int, a: npt.NDArray[np.uint64], b: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Computes one gate on words of any shape, as the union of the input pairs that make it true."""
    terms = [(a if i else ~a) & (b if j else ~b) for i, j in algebra.PAIRS if GATES[gate].hard(i, j)]
    return np.bitwise_or.reduce(terms, axis=0) if terms else np.zeros_like(a)


def word_tables(
    entries: npt.NDArray[np.uint64], inputs: Sequence[npt.NDArray[np.uint64]], address: int = 0
) -> npt.NDArray[np.uint64]:
    """Computes tables [n] of equally many inputs, each [n, words], as trees of multiplexers."""
    if not inputs:
        return -(entries >> np.uint64(address) & np.uint64(1))[:, None]
    last = len(inputs) - 1
    low, high = (word_tables(entries, inputs[:-1], address | bit << last) for bit in (0, 1))
    chosen: npt.NDArray[np.uint64] = low ^ (inputs[-1] & (low ^ high))
    return chosen
