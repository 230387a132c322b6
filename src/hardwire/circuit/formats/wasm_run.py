"""An exported WebAssembly file, run in wasmtime, an extra: what `verify` and the tests ask it."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.errors import HardwireError

CONSTANTS = ("block", "values", "classes", "raw", "labels", "sums")
MOST_MEMORY = 1 << 30
FUEL = 10**11  # instructions of a call, so that a damaged file ends


class WebAssembly:
    """A file that exports what ours do; `sizes` are its constants."""

    def __init__(self, path: Path):
        try:
            import wasmtime
        except ImportError:
            raise HardwireError("running WebAssembly needs wasmtime; run: pip install wasmtime") from None
        self.path, self.failures = path, (wasmtime.WasmtimeError, wasmtime.Trap)
        config = wasmtime.Config()
        config.consume_fuel = True
        self.store = wasmtime.Store(wasmtime.Engine(config))
        self.store.set_limits(memory_size=MOST_MEMORY)
        self.store.set_fuel(FUEL)
        try:
            module = wasmtime.Module.from_file(self.store.engine, str(path))
            exports = wasmtime.Instance(self.store, module, []).exports(self.store)
            self.exports: dict[str, Any] = {name: exports[name] for name in ("memory", "predict", "scores", *CONSTANTS)}
            self.sizes = {name: int(self.exports[name].value(self.store)) for name in CONSTANTS}
        except (*self.failures, KeyError, AttributeError) as error:
            raise self._failed(error) from None
        if self.sizes["block"] < 1:
            raise HardwireError(f"{path} takes blocks of {self.sizes['block']} images")

    def call(self, name: str, rows: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """What `predict`, [n, 1], or `scores`, [n, classes], says of rows in the type that the file reads."""
        block, place = self.sizes["block"], "labels" if name == "predict" else "sums"
        columns = 1 if name == "predict" else self.sizes["classes"]
        parts = [self._block(name, place, columns, rows[start : start + block]) for start in range(0, len(rows), block)]
        return np.concatenate(parts)

    def _block(self, name: str, place: str, columns: int, rows: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        memory, start = self.exports["memory"], self.sizes[place]
        self.store.set_fuel(FUEL)
        try:
            memory.write(self.store, np.ascontiguousarray(rows).tobytes(), self.sizes["raw"])
            self.exports[name](self.store, len(rows))
            found = memory.read(self.store, start, start + 4 * len(rows) * columns)
            return np.frombuffer(bytes(found), "<i4").reshape(len(rows), columns)
        except (*self.failures, IndexError, TypeError, ValueError) as error:
            raise self._failed(error) from None

    def _failed(self, error: BaseException) -> HardwireError:
        return HardwireError(f"cannot run {self.path}: {(str(error) or type(error).__name__).splitlines()[0]}")
