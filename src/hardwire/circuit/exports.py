"""The methods of a `Circuit` that write it in other formats, or as a package for a small machine."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from hardwire.circuit.circuit import Circuit

_Path = str | PathLike[str]


class Exports:
    """Base class of `Circuit`."""

    def export(self, path: _Path, *, suffix: str | None = None, **options: Any) -> list[Path]:
        """Writes the circuit in the format named by the file's suffix.

        Args:
            path: The file to write: .c .wasm .v .aig .aag .blif .svg .dot .circuit, or a registered suffix.
            suffix: The format, if the path's own suffix does not name it.
            **options: Those of the format's writer; see `hardwire.circuit.formats`.

        Returns:
            Every file written.

        Example:
            >>> circuit.export("digits.c", main=True)  # doctest: +SKIP
            [PosixPath('digits.c'), PosixPath('digits.h')]
        """
        suffix = Path(path).suffix if suffix is None else suffix
        circuit = cast("Circuit", self)
        if circuit.state is not None and suffix != ".circuit":
            from hardwire.circuit.sequential.files import write as write_with_state

            return write_with_state(circuit, Path(path).expanduser(), suffix, options)
        from hardwire.circuit.formats import write

        return write(circuit, Path(path).expanduser(), suffix, options)

    def package(self, folder: _Path, kind: str, **options: Any) -> list[Path]:
        """Writes the circuit as a package for small machines: C or Python for one row, and what goes around it.

        Args:
            folder: The folder to write.
            kind: "arduino", "zephyr" or "micropython".
            **options: Those of `hardwire.circuit.packages.write_package`.

        Returns:
            Every file written.

        Example:
            >>> circuit.package("digits", "arduino", flash=16_000)  # doctest: +SKIP
        """
        from hardwire.circuit.packages import write_package

        return write_package(cast("Circuit", self), folder, kind, **options)

    def to_c(self, path: _Path, **options: Any) -> list[Path]:
        """Exports one C99 file and its header; options: `hardwire.circuit.formats.c.write`."""
        return self.export(path, suffix=".c", **options)

    def to_verilog(self, path: _Path, **options: Any) -> list[Path]:
        """Exports synthesizable Verilog; options: `hardwire.circuit.formats.verilog.write`."""
        return self.export(path, suffix=".v", **options)

    def to_aiger(self, path: _Path, **options: Any) -> list[Path]:
        """Exports AIGER, ASCII if the suffix is .aag; options: `hardwire.circuit.formats.aiger.write`."""
        return self.export(path, suffix=".aag" if Path(path).suffix == ".aag" else ".aig", **options)

    def to_blif(self, path: _Path, **options: Any) -> list[Path]:
        """Exports BLIF; options: `hardwire.circuit.formats.blif.write`."""
        return self.export(path, suffix=".blif", **options)

    def to_dot(self, path: _Path, **options: Any) -> list[Path]:
        """Exports a Graphviz drawing of a small circuit or a cone."""
        return self.export(path, suffix=".dot", **options)

    def to_svg(self, path: _Path, **options: Any) -> list[Path]:
        """Exports an SVG drawing of a small circuit or a cone."""
        return self.export(path, suffix=".svg", **options)
