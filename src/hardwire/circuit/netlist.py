"""`Netlist`, gates in topological order, and `Circuit`, a netlist whose outputs are counted class by class.

Nodes 0 .. inputs-1 are the input bits, and node inputs + i is gate i, which reads two earlier nodes: the order itself
rules out cycles. A class score is the number of true outputs in its group. Surprising: simplification keeps the list
of outputs as long as it was (an output may become an input, a constant or a node that others share), so that two
versions of a circuit can be compared output by output.
"""

from dataclasses import dataclass
from functools import cached_property
from os import PathLike

import numpy as np

from hardwire.bits import Encoder
from hardwire.circuit import algebra
from hardwire.errors import HardwireError


@dataclass(frozen=True, eq=False)
class Netlist:
    """Two-input gates over `inputs` bits.

    gate: uint8 [gates], a number of `hardwire.GATES`; first, second: int32 [gates], the nodes a gate reads;
    outputs: int32 [outputs], nodes. All are checked, and read-only afterwards.
    """

    inputs: int
    gate: np.ndarray
    first: np.ndarray
    second: np.ndarray
    outputs: np.ndarray

    def __post_init__(self):
        if self.inputs < 1:
            raise HardwireError(f"a netlist has at least 1 input, not {self.inputs}")
        for name, dtype in (("gate", np.uint8), ("first", np.int32), ("second", np.int32), ("outputs", np.int32)):
            object.__setattr__(self, name, _vector(name, getattr(self, name), dtype))
        if not len(self.gate) == len(self.first) == len(self.second):
            raise HardwireError(
                f"gate, first and second must be equally long, not {len(self.gate)}, {len(self.first)} "
                f"and {len(self.second)}"
            )
        self._check_nodes()

    def _check_nodes(self) -> None:
        if len(self.outputs) == 0:
            raise HardwireError("a netlist has at least 1 output")
        if self.gate.size and self.gate.max() > 15:
            worst = int(np.argmax(self.gate > 15))
            raise HardwireError(f"gate {worst} has number {self.gate[worst]}; the 16 gates are 0 to 15")
        own = np.arange(self.inputs, self.nodes)
        for operand in (self.first, self.second):
            self._check_range(operand, "gate {} reads")
            if (operand >= own).any():
                bad = int(np.argmax(operand >= own))
                raise HardwireError(
                    f"gate {bad} (node {own[bad]}) reads node {operand[bad]}, which does not come before it: a cycle, "
                    "or gates out of order; sort them so that each reads only earlier nodes"
                )
        self._check_range(self.outputs, "output {} is")

    def _check_range(self, nodes: np.ndarray, who: str) -> None:
        wrong = (nodes < 0) | (nodes >= self.nodes)
        if wrong.any():
            bad = int(np.argmax(wrong))
            raise HardwireError(
                f"{who.format(bad)} node {nodes[bad]}, a dangling wire: this netlist has nodes 0 to {self.nodes - 1}"
            )

    @property
    def nodes(self) -> int:
        return self.inputs + len(self.gate)

    @cached_property
    def levels(self) -> np.ndarray:
        """int32 [nodes]: inputs and constants are at 0, a gate is one above the higher of the nodes it depends on."""
        level = [0] * self.inputs
        reads = list(zip(algebra.READS_FIRST, algebra.READS_SECOND, strict=True))
        for gate, first, second in zip(self.gate.tolist(), self.first.tolist(), self.second.tolist(), strict=True):
            reads_first, reads_second = reads[gate]
            below = max(level[first] if reads_first else -1, level[second] if reads_second else -1)
            level.append(below + 1)
        return np.array(level, np.int32)

    @property
    def depth(self) -> int:
        """Gates on the longest path to an output."""
        return int(self.levels[self.outputs].max())


def _vector(name: str, values, dtype) -> np.ndarray:
    """A read-only copy of `values` as a vector of `dtype`, which must hold every value exactly."""
    values = np.asarray(values)
    if values.ndim != 1 or (values.size and not np.issubdtype(values.dtype, np.integer)):
        raise HardwireError(f"{name} is a list of integers, not {values.dtype} {list(values.shape)}")
    exact = np.array(values, dtype)
    if not np.array_equal(exact, values):
        raise HardwireError(f"{name} holds values from {values.min()} to {values.max()}, outside {np.dtype(dtype)}")
    exact.setflags(write=False)
    return exact


@dataclass(frozen=True, eq=False)
class Circuit:
    """A classifier: `netlist`, whose outputs are `classes` contiguous equal groups, and the encoder of raw values."""

    netlist: Netlist
    classes: int
    encoder: Encoder | None = None

    def __post_init__(self):
        outputs = len(self.netlist.outputs)
        if self.classes < 1 or outputs % self.classes:
            raise HardwireError(
                f"{outputs} outputs cannot be split into {self.classes} equal classes; use a multiple of the classes"
            )
        if self.encoder is not None and self.encoder.features != self.inputs:
            raise HardwireError(f"the encoder makes {self.encoder.features} bits but the circuit reads {self.inputs}")

    @classmethod
    def from_layers(cls, inputs: int, gates, wirings, classes: int, encoder: Encoder | None = None) -> "Circuit":
        """From layers as plain arrays: gates, uint8 [neurons] a layer; wirings, integers [2, neurons] a layer, indices
        into the layer before (the inputs, for the first). The last layer's neurons are the outputs."""
        if not len(gates) == len(wirings) >= 1:
            raise HardwireError(f"give as many wirings as layers, at least one, not {len(wirings)} for {len(gates)}")
        start, width, first, second = 0, inputs, [], []
        for layer, (gate, wiring) in enumerate(zip(gates, wirings, strict=True)):
            wiring = np.asarray(wiring, np.int64)
            if wiring.shape != (2, len(gate)):
                raise HardwireError(f"layer {layer} has {len(gate)} gates, so its wiring is [2, {len(gate)}]")
            if wiring.size and (wiring.min() < 0 or wiring.max() >= width):
                raise HardwireError(f"the wiring of layer {layer} must lie in 0 to {width - 1}, a dangling wire")
            first.append(wiring[0] + start)
            second.append(wiring[1] + start)
            start, width = start + width, len(gate)
        outputs = np.arange(start, start + width)
        netlist = Netlist(inputs, np.concatenate(gates), np.concatenate(first), np.concatenate(second), outputs)
        return cls(netlist, classes, encoder)

    @classmethod
    def from_network(cls, net) -> "Circuit":
        """The deployed circuit of a network of ours, or of an nn.Sequential of our layers: argmax gates and wires."""
        from hardwire.engine.stack import freeze
        from hardwire.network import fuse

        net = fuse(net)
        levels = freeze(net.stack())
        gates, wirings = [level.gates for level in levels], [level.wires for level in levels]
        return cls.from_layers(net.inputs, gates, wirings, net.classes, net.encoder)

    @property
    def inputs(self) -> int:
        return self.netlist.inputs

    @property
    def group(self) -> int:
        """Outputs of each class; a score lies between 0 and this."""
        return len(self.netlist.outputs) // self.classes

    @cached_property
    def program(self):
        """The schedule that `predict` and `scores` run, made on first use."""
        from hardwire.circuit.evaluate import Program

        return Program(self.netlist, self.classes)

    def scores(self, images, *, raw: bool = False, threads: int | None = None) -> np.ndarray:
        """Class sums, int32 [images, classes]. images: Bits, packed words uint64 [images, words] or 0 and 1
        [images, inputs]; with raw=True raw values [images, raw_features], which the encoder turns into bits."""
        from hardwire.circuit.evaluate import run

        return run(self, images, raw, threads, scores=True)

    def predict(self, images, *, raw: bool = False, threads: int | None = None) -> np.ndarray:
        """Classes, int64 [images], ties to the lowest class; takes what `scores` takes."""
        from hardwire.circuit.evaluate import run

        return run(self, images, raw, threads, scores=False)

    def statistics(self):
        """Gates by type, depth, fan-out, dead gates."""
        from hardwire.circuit.statistics import statistics

        return statistics(self)

    def simplify(self, *, rewrite: bool = False, check: bool = True, progress=None) -> "Circuit":
        """The same function with fewer gates; see `hardwire.circuit.passes.simplify`."""
        from hardwire.circuit.passes import simplify

        return simplify(self, rewrite=rewrite, check=check, progress=progress)[0]

    def equivalent(self, other: "Circuit", **options):
        """Whether both give the same scores on every input, and which kind of proof says so; an `Equivalence`."""
        from hardwire.circuit.equivalence import circuits_equal

        return circuits_equal(self, other, **options)

    def save(self, path: str | PathLike) -> None:
        """Writes a circuit file, which loads and runs without torch."""
        from hardwire.circuit.file import save

        save(self, path)

    @classmethod
    def load(cls, path: str | PathLike) -> "Circuit":
        """Reads a circuit file; every array is checked."""
        from hardwire.circuit.file import load

        return load(path)

    def to_c(self, path: str | PathLike, **options) -> None:
        """One C99 file and its header; see `hardwire.circuit.export.c`."""
        from hardwire.circuit.export.c import write_c

        write_c(self, path, **options)

    def to_verilog(self, path: str | PathLike, **options) -> None:
        """Synthesizable Verilog; see `hardwire.circuit.export.verilog`."""
        from hardwire.circuit.export.verilog import write_verilog

        write_verilog(self, path, **options)

    def to_aiger(self, path: str | PathLike, **options) -> None:
        """AIGER, binary for .aig and ASCII for .aag; see `hardwire.circuit.export.aiger`."""
        from hardwire.circuit.export.aiger import write_circuit

        write_circuit(self, path, **options)

    def to_blif(self, path: str | PathLike, **options) -> None:
        """Berkeley logic interchange format; see `hardwire.circuit.export.blif`."""
        from hardwire.circuit.export.blif import write_blif

        write_blif(self, path, **options)

    def to_dot(self, path: str | PathLike, **options) -> None:
        """A Graphviz drawing of a small circuit or a cone; see `hardwire.circuit.export.graph`."""
        from hardwire.circuit.export.graph import write_dot

        write_dot(self, path, **options)

    def to_svg(self, path: str | PathLike, **options) -> None:
        """A drawing that needs no other program; see `hardwire.circuit.export.graph`."""
        from hardwire.circuit.export.graph import write_svg

        write_svg(self, path, **options)

    def __repr__(self) -> str:
        return f"Circuit(inputs={self.inputs}, gates={len(self.netlist.gate)}, classes={self.classes})"
