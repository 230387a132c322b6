"""Runs an exported WebAssembly file in wasmtime, an optional dependency, for `verify` and the tests.

The module gets no imports, so it can compute and nothing else; its memory and instructions are limited.
"""

import contextlib
from collections.abc import Iterator, Sequence
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
_MISUSED = (AttributeError, IndexError, KeyError, TypeError, ValueError)  # an export is missing, or is something else
FUEL = 10**7  # instructions for loading a file, and for a call of a small circuit; they take milliseconds


class Module:
    """A module loaded in wasmtime, with limits.

    Args:
        path: The file.
        functions: What it must export beside its memory; `exports` has them.
        constants: Numbers that it must export as well; `sizes` has them.
        fuel: Instructions for loading it, and for each block of `running`.
    """

    def __init__(self, path: Path, functions: Sequence[str], constants: Sequence[str], fuel: int = FUEL):
        try:
            import wasmtime
        except ImportError:
            raise HardwireError("running WebAssembly needs wasmtime; run: pip install wasmtime") from None
        self.path, self.fuel = path, fuel
        self._failures = (wasmtime.WasmtimeError, wasmtime.Trap, *_MISUSED)
        if path.stat().st_size > MOST_BYTES:
            raise HardwireError(f"cannot read {path}: it has more than {MOST_BYTES:,} bytes")
        config = wasmtime.Config()
        config.consume_fuel = True
        self.store = wasmtime.Store(wasmtime.Engine(config))
        self.store.set_limits(memory_size=MOST_MEMORY, table_elements=1_000, instances=1, tables=1, memories=1)
        with self.running():
            module = wasmtime.Module.from_file(self.store.engine, str(path))
            exports = wasmtime.Instance(self.store, module, []).exports(self.store)
            self.exports: dict[str, Any] = {name: exports[name] for name in ("memory", *functions, *constants)}
            self.sizes = {name: int(self.exports[name].value(self.store)) for name in constants}

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Gives the block its fuel; what fails in it is one error that names the file."""
        self.store.set_fuel(self.fuel)
        try:
            yield
        except self._failures as error:
            cause = (str(error).strip() or type(error).__name__).splitlines()[-1]  # a backtrace comes before it
            raise HardwireError(f"cannot run {self.path}: {cause.strip():.200}") from None

    def read(self, place: int, length: int) -> bytes:
        """Bytes of its memory; to be called while `running`."""
        content = bytes(self.exports["memory"].read(self.store, place, place + length))
        if len(content) != length:
            raise IndexError("its words lie outside of its memory")
        return content


class WebAssembly:
    """A loaded module with the exports of ours; `sizes` are its constants.

    Args:
        path: The file.
        circuit: The model; a call may take a few times the instructions that an export of it takes.
    """

    def __init__(self, path: Path, circuit: Circuit):
        self.module = Module(path, ("predict", "scores"), CONSTANTS)
        self.sizes = self.module.sizes
        block = self.sizes["block"]
        if not 1 <= block <= MOST_IMAGES:
            raise HardwireError(f"{path} reads blocks of {block} images; 1 to {MOST_IMAGES} are possible")
        # measured: up to 25 for each bit of an image, 21 for each bit of its sums, 15 for each byte of code
        values = block * (circuit.inputs + circuit.classes * circuit.group.bit_length()) + path.stat().st_size
        self.module.fuel = FUEL + 64 * values

    def call(self, name: str, rows: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """Calls `predict`, which returns [n, 1], or `scores`, [n, classes], on rows of the file's type."""
        block, place = self.sizes["block"], "labels" if name == "predict" else "sums"
        columns = 1 if name == "predict" else self.sizes["classes"]
        parts = [self._block(name, place, columns, rows[start : start + block]) for start in range(0, len(rows), block)]
        return np.concatenate(parts)

    def _block(self, name: str, place: str, columns: int, rows: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        module = self.module
        with module.running():
            module.exports["memory"].write(module.store, np.ascontiguousarray(rows).tobytes(), self.sizes["raw"])
            module.exports[name](module.store, len(rows))
            answers = module.read(self.sizes[place], 4 * len(rows) * columns)
            return np.frombuffer(answers, "<i4").reshape(len(rows), columns)
