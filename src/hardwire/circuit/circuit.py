"""`Circuit`: a classifier as a netlist whose outputs are counted class by class, with the encoder of raw values.

A class score is the number of true outputs in its group; the highest wins, ties go to the lowest class. A circuit of
one group may say a `Number` instead. The methods are one line each: what they do lies in the module they name, and is
loaded when they are called.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hardwire.bits import Columns, Encoder
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.number import Number
from hardwire.errors import HardwireError

if TYPE_CHECKING:
    from hardwire.circuit.equivalence import Equivalence
    from hardwire.circuit.evaluate import Program
    from hardwire.circuit.shrink import Shrinking
    from hardwire.circuit.statistics import Statistics


@dataclass(frozen=True)
class About:
    """What is known of where a circuit comes from, which every export says: the digest of the model file, the dataset
    that it was trained on, the accuracy on that dataset's test set, or on that of another."""

    model: str | None = None
    dataset: str | None = None
    accuracy: float | None = None
    tested_on: str | None = None  # if not on `dataset`

    def __post_init__(self) -> None:
        texts = all(text is None or isinstance(text, str) for text in (self.model, self.dataset, self.tested_on))
        number = self.accuracy is None or (isinstance(self.accuracy, float) and 0 <= self.accuracy <= 1)
        if not texts or not number:
            raise HardwireError(f"a model and datasets are texts and an accuracy is from 0 to 1, not {self}")

    def measured(self, accuracy: float | None, dataset: str) -> "About":
        """The same with an accuracy on the test set of a dataset, which is that of the training if none was known."""
        known = self.dataset or dataset
        return replace(self, dataset=known, accuracy=accuracy, tested_on=None if dataset == known else dataset)


@dataclass(frozen=True, eq=False)
class Circuit:
    """A classifier: `netlist`, whose outputs are `classes` contiguous equal groups, the encoder of raw values, and what
    is known of its origin. number: what one group stands for, instead of a class. columns: what raw values and classes
    are called in a table."""

    netlist: Netlist
    classes: int
    encoder: Encoder | None = None
    about: About = About()
    number: Number | None = None
    columns: Columns | None = None

    def __post_init__(self) -> None:
        outputs = len(self.netlist.outputs)
        if self.classes < 1 or outputs % self.classes:
            raise HardwireError(
                f"{outputs} outputs cannot be split into {self.classes} equal classes; use a multiple of the classes"
            )
        if self.encoder is not None and self.encoder.features != self.inputs:
            raise HardwireError(f"the encoder makes {self.encoder.features} bits but the circuit reads {self.inputs}")
        if self.number is not None and self.classes != 1:
            raise HardwireError(f"a number is the sum of one group, not of {self.classes}")

    @classmethod
    def from_layers(
        cls,
        inputs: int,
        gates: Sequence[npt.ArrayLike],
        wirings: Sequence[npt.ArrayLike],
        classes: int,
        encoder: Encoder | None = None,
    ) -> "Circuit":
        """From layers as plain arrays: gates, uint8 [neurons] a layer; wirings, integers [2, neurons] a layer, indices
        into the layer before (the inputs, for the first). The last layer's neurons are the outputs."""
        return cls(Netlist.from_layers(inputs, gates, wirings), classes, encoder)

    @classmethod
    def from_network(cls, net: Any, about: About | None = None) -> "Circuit":
        """The deployed circuit of a network of ours, or of an nn.Sequential of our layers: argmax gates and wires. A
        Binarize before them is its encoder."""
        from hardwire.engine.stack import freeze
        from hardwire.network import fuse

        gates, encoder = _split(net)
        net = fuse(gates)
        levels = freeze(net.stack())
        gates, wirings = [level.gates for level in levels], [level.wires for level in levels]
        netlist, number = Netlist.from_layers(net.inputs, gates, wirings), Number.of(net.group_sum, net.widths[-1])
        return cls(netlist, net.classes, encoder or net.encoder, about or About(), number, net.columns)

    @property
    def inputs(self) -> int:
        return self.netlist.inputs

    @property
    def group(self) -> int:
        """Outputs of each class; a score lies between 0 and this."""
        return len(self.netlist.outputs) // self.classes

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that change with anything the circuit computes."""
        from hardwire.circuit.file import function_digest

        return function_digest(self)

    def tested(self, data: Any, name: str | None = None) -> "Circuit":
        """The same circuit with its accuracy on the test set of a dataset noted, for the files that are made of it; of
        a number, with the dataset alone."""
        from hardwire.circuit.evaluate import test_set

        images, labels = test_set(data)
        accuracy = float((self.predict(images) == labels).mean()) if self.number is None else None
        return replace(self, about=self.about.measured(accuracy, name or self.about.dataset or data.name))

    @cached_property
    def program(self) -> "Program":
        """The schedule that `predict` and `scores` run, made on first use."""
        from hardwire.circuit.evaluate import Program

        return Program(self.netlist, self.classes, self.encoder)

    def __getstate__(self) -> dict[str, Any]:
        """For pickle: a schedule is made again."""
        return {name: value for name, value in vars(self).items() if name != "program"}

    def scores(self, images: Any, *, raw: bool = False, threads: int | None = None) -> npt.NDArray[np.int32]:
        """Class sums, int32 [images, classes]. images: Bits, packed words uint64 [images, words] or 0 and 1
        [images, inputs]; with raw=True raw values [images, raw_features], which the encoder turns into bits."""
        return self.program.answer(images, raw, threads, scores=True)

    def predict(self, images: Any, *, raw: bool = False, threads: int | None = None) -> npt.NDArray[Any]:
        """Classes, int64 [images], ties to the lowest class, or numbers, float64; takes what `scores` takes."""
        if self.number is not None:
            return self.answers(self.scores(images, raw=raw, threads=threads)) * self.number.step
        return self.program.answer(images, raw, threads, scores=False)

    def answers(self, scores: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        """What an export says of class sums: the class, or the whole number of steps."""
        return scores.argmax(axis=1) if self.number is None else scores[:, 0].astype(np.int64) + self.number.offset

    @property
    def answer_width(self) -> int:
        """Bits of an answer: of a class at least one, of a number its sign among them."""
        return max(1, (self.classes - 1).bit_length()) if self.number is None else self.number.width(self.group)

    def statistics(self) -> "Statistics":
        """Gates by type, depth, fan-out, dead gates."""
        from hardwire.circuit.statistics import statistics

        return statistics(self)

    def simplify(
        self,
        *,
        rewrite: bool = False,
        dont_cares: bool = False,
        check: bool = True,
        progress: Callable[[str], object] | None = None,
    ) -> "Circuit":
        """The same function with fewer gates; see `hardwire.circuit.passes.simplify`."""
        from hardwire.circuit.passes import simplify

        return simplify(self, rewrite=rewrite, dont_cares=dont_cares, check=check, progress=progress)[0]

    def shrink(
        self, data: Any, *, tolerance: float = 0.001, progress: Callable[[str], object] = lambda step: None
    ) -> tuple["Circuit", "Shrinking"]:
        """Fewer gates for a little accuracy, and what it costs on each split; see `hardwire.circuit.shrink`."""
        from hardwire.circuit.shrink import shrink

        return shrink(self, data, tolerance=tolerance, progress=progress)

    def equivalent(self, other: "Circuit", **options: Any) -> "Equivalence":
        """Whether both give the same outputs on every input, which is more than the same class sums, and which kind of
        proof says so."""
        from hardwire.circuit.equivalence import circuits_equal

        return circuits_equal(self, other, **options)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes a circuit file, which loads and runs without torch."""
        from hardwire.circuit.file import save

        save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Circuit":
        """Reads a circuit file, every array of which is checked, or the circuit of a model file, which needs torch."""
        from hardwire.circuit.file import load

        return load(path)

    def export(self, path: str | PathLike[str], *, suffix: str | None = None, **options: Any) -> list[Path]:
        """Writes `path` in the format that its ending names (.c .v .aig .aag .blif .svg .dot ..., or `suffix`), and
        gives every file it wrote; the options are those of the format's writer in `hardwire.circuit.formats`."""
        from hardwire.circuit.formats import write

        return write(self, Path(path).expanduser(), suffix, options)

    def to_c(self, path: str | PathLike[str], **options: Any) -> list[Path]:
        """One C99 file and its header; see `hardwire.circuit.formats.c`."""
        return self.export(path, suffix=".c", **options)

    def to_verilog(self, path: str | PathLike[str], **options: Any) -> list[Path]:
        """Synthesizable Verilog; see `hardwire.circuit.formats.verilog`."""
        return self.export(path, suffix=".v", **options)

    def to_aiger(self, path: str | PathLike[str], **options: Any) -> list[Path]:
        """AIGER, ASCII for .aag and binary otherwise; see `hardwire.circuit.formats.aiger`."""
        return self.export(path, suffix=".aag" if Path(path).suffix == ".aag" else ".aig", **options)

    def to_blif(self, path: str | PathLike[str], **options: Any) -> list[Path]:
        """Berkeley logic interchange format; see `hardwire.circuit.formats.blif`."""
        return self.export(path, suffix=".blif", **options)

    def to_dot(self, path: str | PathLike[str], **options: Any) -> list[Path]:
        """A Graphviz drawing of a small circuit or a cone; see `hardwire.circuit.formats.drawing`."""
        return self.export(path, suffix=".dot", **options)

    def to_svg(self, path: str | PathLike[str], **options: Any) -> list[Path]:
        """A drawing that needs no other program; see `hardwire.circuit.formats.drawing`."""
        return self.export(path, suffix=".svg", **options)

    def __repr__(self) -> str:
        return f"Circuit(inputs={self.inputs}, gates={len(self.netlist.gate)}, classes={self.classes})"


def _split(net: Any) -> tuple[Any, Encoder | None]:
    """Gates, and the encoder before them where an nn.Sequential begins with a Binarize."""
    from torch import nn

    from hardwire.layers import Binarize

    if not (isinstance(net, nn.Sequential) and len(net) > 1 and isinstance(net[0], Binarize)):
        return net, None
    gates = net[1] if len(net) == 2 else net[1:]
    return gates, net[0].encoder()
