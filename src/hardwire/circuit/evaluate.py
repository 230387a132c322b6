"""Running a circuit: native and bit-parallel, or the same schedule in numpy where the native module was not built.

No compile step: a schedule is made once (milliseconds) and any number of images goes through it, as packed words or
as 0 and 1; raw bytes are compared with their thresholds inside the engine. Surprising: numbers other than 0 and 1 are
refused rather than thresholded; raw values need `raw=True`.
"""

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.bits import Encoder, check_words, pack, transpose, unpack, word_count
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.schedule import Schedule, schedule, single
from hardwire.errors import HardwireError
from hardwire.gates import GATES, THRESHOLD, algebra

try:
    from hardwire import _native
except ImportError:  # installed without a compiler
    _native = None

CACHE_BYTES = 1 << 20  # what a tile may fill: half of a usual second-level cache
NUMPY_TILE = 1 << 15  # images
THREAD_IMAGES = 4096  # fewer images than this a thread are not worth starting one


class Program:
    """A scheduled netlist with its class groups, ready to run."""

    def __init__(self, netlist: Netlist, classes: int):
        self.inputs, self.classes = netlist.inputs, classes
        self.schedule = schedule(netlist)
        # words in a slot: as many as keep the tile in cache, at least one cache line
        self.lanes = next((lanes for lanes in (32, 16) if self.schedule.slots * lanes * 8 <= CACHE_BYTES), 8)
        self._thresholds: dict[tuple[float, float], Any] = {}
        self.native = None if _native is None else _native_program(netlist, classes, self.schedule)

    def byte_thresholds(self, encoder: Encoder, units: tuple[float, float]) -> Any:
        """Those of an encoder for bytes in these units, kept."""
        if units not in self._thresholds:
            self._thresholds[units] = byte_thresholds(encoder.scaled(units))
        return self._thresholds[units]

    def run(self, rows: npt.NDArray[Any], threads: int, scores: bool, thresholds: Any = None) -> npt.NDArray[Any]:
        """rows: packed words, uint8 [rows, inputs], or raw bytes where there are thresholds (of `byte_thresholds`).
        Scores int32 [rows, classes], or classes int64 [rows]."""
        if self.native is None:
            sums = _numpy_scores(self, rows if rows.dtype == np.uint64 else pack(rows))
            return sums if scores else sums.argmax(axis=1)
        out = np.empty((len(rows), self.classes), np.int32) if scores else np.empty(len(rows), np.int64)
        (self.native.scores if scores else self.native.predict)(rows, out, self.lanes, threads, thresholds)
        return out


def byte_thresholds(thresholds: npt.NDArray[np.float32]) -> Any:
    """Thresholds [columns, levels] as the native engine compares bytes with them: at least this, if any byte is."""
    least = np.maximum(np.floor(thresholds.T.astype(np.float64)) + 1, 0)
    possible = pack((least <= 255).astype(np.uint8))
    return _native.byte_thresholds(np.ascontiguousarray(np.minimum(least, 255).astype(np.uint8)), possible)


def _native_program(netlist: Netlist, classes: int, plan: Schedule) -> Any:
    alone = single(netlist)
    many = (netlist.inputs, plan.slots, classes, plan.operations, plan.runs, plan.outputs)
    return _native.circuit_program(*many, alone.slots, alone.operations, alone.runs)


def run(circuit: Circuit, images: Any, raw: bool, threads: int | None, scores: bool) -> npt.NDArray[Any]:
    program, thresholds = circuit.program, None
    if raw and program.native is not None and circuit.encoder is not None and _is_bytes(images):
        rows = np.ascontiguousarray(images)
        thresholds = program.byte_thresholds(circuit.encoder, circuit.encoder.check(rows))
    else:
        rows = as_rows(circuit, images, raw)
    if threads is None:
        threads = min(os.cpu_count() or 1, 1 + len(rows) // THREAD_IMAGES)
    elif threads < 1:
        raise HardwireError(f"threads {threads} leaves nobody to work; use at least 1")
    return program.run(rows, threads, scores, thresholds)


def _is_bytes(images: Any) -> bool:
    return isinstance(images, np.ndarray) and images.dtype == np.uint8 and images.ndim == 2 and len(images) > 0


def test_set(data: Any) -> tuple[Any, npt.NDArray[Any]]:
    """A dataset's test images as a network's eval() reads them, continuous ones as bits, and their labels."""
    x = data.test.x
    return (x if hasattr(x, "features") else x.numpy() > THRESHOLD), data.test.y.numpy()


def how_well(circuit: Circuit, said: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> str:
    """The accuracy of classes, or R^2 of numbers, in words."""
    if circuit.number is None:
        return f"accuracy {(said == wanted).mean():.4f}"
    return f"R^2 {1 - ((said - wanted) ** 2).mean() / wanted.var():.4f}"


def as_rows(circuit: Circuit, images: Any, raw: bool = False) -> npt.NDArray[Any]:
    """What the engine reads: packed words uint64 [rows, words] or uint8 [rows, inputs] of 0 and 1."""
    if hasattr(images, "features"):  # Bits, recognised by its shape because its own room needs torch
        if images.features != circuit.inputs:
            raise HardwireError(f"images have {images.features} bits but the circuit reads {circuit.inputs}")
        images = images.numpy()
    images = np.asarray(images)
    if len(images.shape) != 2 or images.shape[0] == 0:
        raise HardwireError(f"images are a matrix of at least one row, not an array of shape {list(images.shape)}")
    if raw:
        if circuit.encoder is None:
            raise HardwireError(
                "this circuit has no encoder for raw values; give bits, or build it from a model with one"
            )
        return circuit.encoder.encode(images)
    if images.dtype == np.uint64 and images.shape[1] == word_count(circuit.inputs):
        check_words(images, circuit.inputs)
        return np.ascontiguousarray(images)
    return _plain_rows(circuit, images)


def _plain_rows(circuit: Circuit, images: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    if images.shape[1] != circuit.inputs:
        raise HardwireError(
            f"images have shape {list(images.shape)}; this circuit reads [images, {circuit.inputs}] of 0 and 1, "
            f"or uint64 [images, {word_count(circuit.inputs)}] of packed bits"
        )
    if images.dtype != bool and not ((images == 0) | (images == 1)).all():
        way_out = "pass raw=True to use the encoder" if circuit.encoder else "threshold them first, such as x > 0.5"
        raise HardwireError(f"images hold values other than 0 and 1; they were never binarised: {way_out}")
    return np.ascontiguousarray(images, dtype=None if images.dtype == bool else np.uint8).view(np.uint8)


def _numpy_scores(program: Program, words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
    tiles = [_numpy_tile(program, words[start : start + NUMPY_TILE]) for start in range(0, len(words), NUMPY_TILE)]
    return np.concatenate(tiles)


def _numpy_tile(program: Program, words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
    plan = program.schedule
    slots = np.zeros((plan.slots, word_count(len(words))), np.uint64)
    slots[: program.inputs] = transpose(words, program.inputs)
    start = 0
    for gate, count in plan.runs:
        target, first, second = plan.operations[start : start + count].T
        slots[target] = word_gate(int(gate), slots[first], slots[second])
        start += count
    bits = unpack(transpose(slots[plan.outputs], len(words) + -len(words) % 64), len(plan.outputs))[: len(words)]
    sums: npt.NDArray[np.int32] = bits.reshape(len(words), program.classes, -1).sum(axis=2, dtype=np.int32)
    return sums


def word_gate(gate: int, a: npt.NDArray[np.uint64], b: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """One gate on words of any shape: where one of the inputs is that makes it true."""
    terms = [(a if i else ~a) & (b if j else ~b) for i, j in algebra.PAIRS if GATES[gate].hard(i, j)]
    return np.bitwise_or.reduce(terms, axis=0) if terms else np.zeros_like(a)
