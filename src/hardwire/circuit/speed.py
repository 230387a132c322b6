"""How fast a circuit runs: the engine and the C export on the same images and one core, class sums included.

Both are measured in processor time, best of several rounds, which a busy machine disturbs less. The C export is
compiled with -O2 around a loop without input or output.
"""

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.circuit import truth
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats.c_words import c_timing
from hardwire.circuit.input_format import DTYPES, input_format_of
from hardwire.circuit.table_netlist import TableNetlist
from hardwire.circuit.tools import compile_c, run
from hardwire.errors import HardwireError

ROUNDS = 7


@dataclass(frozen=True)
class Speed:
    """A measurement.

    Attributes:
        what: What was measured.
        images_per_second: Throughput.
        latency: Microseconds for a single image.
        preparation: Seconds before the first image: scheduling for the engine, writing and compiling for C.
    """

    what: str
    images_per_second: float
    latency: float
    preparation: float


def random_tables(inputs: int, tables: int, classes: int, arity: int = 6, seed: int = 0) -> Circuit:
    """Makes a layer of uniformly random look-up tables with random wires."""
    if not 2 <= arity <= truth.MOST_INPUTS or min(tables, classes) < 1 or inputs < arity:
        raise HardwireError(f"{tables} tables of {arity} of {inputs} inputs cannot be made; use 2 to 6 of the inputs")
    generator = np.random.default_rng(seed)
    entries = generator.integers(0, 1 << 64, tables, dtype=np.uint64) & np.uint64(truth.full(arity))
    wires = np.argpartition(generator.random((tables, inputs)), arity, axis=1)[:, :arity].T
    return Circuit(TableNetlist.from_layers(inputs, [entries], [wires]), classes)


def random_circuit(inputs: int, width: int | Sequence[int], depth: int | None, classes: int, seed: int = 0) -> Circuit:
    """Makes layers of uniformly random gates; the wiring uses every node of the previous layer equally often.

    Args:
        inputs: Number of input bits.
        width: Gates of every layer, or of each.
        depth: Number of layers; None if `width` lists them.
        classes: Number of classes.
        seed: Of gates and wires.
    """
    widths = [width] * (depth or 0) if isinstance(width, int) else list(width)
    if min(inputs, len(widths), classes, *widths) < 1:
        raise HardwireError(f"sizes {inputs}, {width}, {depth} and {classes} must all be at least 1")
    generator = np.random.default_rng(seed)
    gates, wirings = [], []
    for before, width in zip([inputs, *widths], widths, strict=False):
        wires = [generator.permutation(before) for _ in range(-(-2 * width // before))]
        wirings.append(generator.permutation(np.concatenate(wires)[: 2 * width]).reshape(2, width))
        gates.append(generator.integers(0, 16, width, np.uint8))
    return Circuit.from_layers(inputs, gates, wirings, classes)


def measure_engine(circuit: Circuit, images: npt.NDArray[Any], threads: int = 1, raw: bool = False) -> Speed:
    """Measures the engine on images as for `Circuit.predict`."""
    start = time.perf_counter()
    _ = circuit.program
    preparation = time.perf_counter() - start
    clock = time.process_time if threads == 1 else time.perf_counter
    whole = _best(lambda: circuit.predict(images, raw=raw, threads=threads), clock)
    one, calls = images[:1], 200
    single = _best(lambda: [circuit.predict(one, raw=raw, threads=1) for _ in range(calls)], clock) / calls
    name = "hardwire" if threads == 1 else f"hardwire, {threads} threads"
    return Speed(name, len(images) / whole, single * 1e6, preparation)


def measure_c(circuit: Circuit, images: npt.NDArray[Any], form: str | None = None, raw: str = "bits") -> Speed:
    """Measures the C export on images [n, values] of the kind `raw`, n a multiple of 64."""
    input_format = input_format_of(circuit, raw)
    with tempfile.TemporaryDirectory() as folder:
        source, program, data = Path(folder, "circuit.c"), Path(folder, "program"), Path(folder, "images")
        start = time.perf_counter()
        circuit.to_c(source, form=form, raw=raw)
        timing = source.with_name("timing.c")
        timing.write_text(c_timing(circuit, "circuit", input_format, len(images) // 64, ROUNDS))
        compile_c([source, timing], program, "-O2")
        preparation = time.perf_counter() - start
        images.astype(DTYPES[raw]).tofile(data)
        whole, single = map(float, run([str(program), str(data)], "the C export", folder).split())
    name = "C export -O2" + (f", {form}" if form else "")
    # a clock in microseconds may not have advanced
    return Speed(name, len(images) // 64 * 64 / max(whole, 1e-6), single * 1e6, preparation)


def _best(work: Callable[[], object], clock: Callable[[], float]) -> float:
    seconds = []
    for _ in range(ROUNDS):
        start = clock()
        work()
        seconds.append(clock() - start)
    return min(seconds)


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """Keeps this process and the programs it starts on one core, where the system supports it."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
