"""Runs an exported WebAssembly file in wasmtime, an optional dependency, for `verify` and the tests.

The module gets no imports, so it can compute and nothing else; its memory and instructions are limited.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.circuit.circuit import Circuit
from hardwire.errors import HardwireError

CONSTANTS = ("block", "values", "classes", "raw", "labels", "sums")
MOST_BYTES = 1 << 25
MOST_MEMORY = 1 << 28
MOST_IMAGES = 1024  # of a block; ours have 128
FUEL = 10**7  # instructions for loading a file, and for a call of a small circuit; they take milliseconds


class WebAssembly:
    """A loaded module with the exports of ours; `sizes` are its constants.

    Args:
        path: The file.
        circuit: The model; a call may take a few times the instructions that an export of it takes.
    """

    def __init__(self, path: Path, circuit: Circuit):
        try:
            import wasmtime
        except ImportError:
            raise HardwireError("running WebAssembly needs wasmtime; run: pip install wasmtime") from None
        self.path, self.failures = path, (wasmtime.WasmtimeError, wasmtime.Trap)
        if path.stat().st_size > MOST_BYTES:
            raise HardwireError(f"cannot read {path}: it has more than {MOST_BYTES:,} bytes")
        config = wasmtime.Config()
        config.consume_fuel = True
        self.store = wasmtime.Store(wasmtime.Engine(config))
        self.store.set_limits(memory_size=MOST_MEMORY, table_elements=1_000, instances=1, tables=1, memories=1)
        self.store.set_fuel(FUEL)
        try:
            module = wasmtime.Module.from_file(self.store.engine, str(path))
            exports = wasmtime.Instance(self.store, module, []).exports(self.store)
            self.exports: dict[str, Any] = {name: exports[name] for name in ("memory", "predict", "scores", *CONSTANTS)}
            self.sizes = {name: int(self.exports[name].value(self.store)) for name in CONSTANTS}
        except (*self.failures, KeyError, AttributeError) as error:
            raise self._failed(error) from None
        block = self.sizes["block"]
        if not 1 <= block <= MOST_IMAGES:
            raise HardwireError(f"{path} reads blocks of {block} images; 1 to {MOST_IMAGES} are possible")
        # measured: up to 25 for each bit of an image, 21 for each bit of its sums, 15 for each byte of code
        values = block * (circuit.inputs + circuit.classes * circuit.group.bit_length()) + path.stat().st_size
        self.fuel = FUEL + 64 * values

    def call(self, name: str, rows: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """Calls `predict`, which returns [n, 1], or `scores`, [n, classes], on rows of the file's type."""
        block, place = self.sizes["block"], "labels" if name == "predict" else "sums"
        columns = 1 if name == "predict" else self.sizes["classes"]
        parts = [self._block(name, place, columns, rows[start : start + block]) for start in range(0, len(rows), block)]
        return np.concatenate(parts)

    def _block(self, name: str, place: str, columns: int, rows: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        memory, start = self.exports["memory"], self.sizes[place]
        self.store.set_fuel(self.fuel)
        try:
            memory.write(self.store, np.ascontiguousarray(rows).tobytes(), self.sizes["raw"])
            self.exports[name](self.store, len(rows))
            answers = memory.read(self.store, start, start + 4 * len(rows) * columns)
            return np.frombuffer(bytes(answers), "<i4").reshape(len(rows), columns)
        except (*self.failures, AttributeError, IndexError, TypeError, ValueError) as error:
            raise self._failed(error) from None

    def _failed(self, error: BaseException) -> HardwireError:
        cause = (str(error).strip() or type(error).__name__).splitlines()[-1]  # a backtrace comes before it
        return HardwireError(f"cannot run {self.path}: {cause.strip():.200}")
