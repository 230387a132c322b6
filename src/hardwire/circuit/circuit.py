"""`Circuit`: a classifier as a netlist whose outputs are counted class by class, with the encoder of raw values.

The netlist has gates of two inputs, or look-up tables of up to six. The score of a class is the number of true outputs
in its group; the highest score wins, and ties go to the lowest class. A circuit with a single group may stand for a
`Number` instead. Most methods are one line: the work is done in the module they import, which is loaded on the first
call."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hardwire.bits import Columns, Encoder
from hardwire.circuit.exports import Exports
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.number import Number
from hardwire.circuit.provenance import Provenance
from hardwire.circuit.table_netlist import AnyNetlist
from hardwire.errors import HardwireError

if TYPE_CHECKING:
    from hardwire.circuit.equivalence import Equivalence
    from hardwire.circuit.evaluate import Program
    from hardwire.circuit.sequential.state import State
    from hardwire.circuit.shrink import ShrinkResult
    from hardwire.circuit.statistics import Statistics
    from hardwire.circuit.verify import Verification

_Path = str | PathLike[str]


@dataclass(frozen=True, eq=False)
class Circuit(Exports):
    """A classifier made of two-input logic gates, or of look-up tables.

    Args:
        netlist: The gates, a `Netlist`, or tables of up to six inputs, a `TableNetlist`; its outputs are `classes`
            contiguous groups of equal size.
        classes: Number of classes.
        encoder: Turns raw values into the input bits; None if the inputs are bits already.
        provenance: The model and dataset the circuit comes from.
        number: What the single group stands for where the circuit predicts a number instead of a class.
        columns: Names of the raw values and classes, for circuits trained on a table.
        state: For a circuit with state, how many of the first outputs are fed back to the first inputs; the classes
            are groups of the others. A circuit of one class then answers with these outputs themselves.

    Example:
        >>> import hardwire as hw
        >>> net = hw.LogicNetwork(inputs=64, classes=10, width=200, depth=2, seed=0)
        >>> circuit = hw.Circuit.from_network(net).simplify()
        >>> circuit.predict([[0] * 64]).shape
        (1,)
    """

    netlist: AnyNetlist
    classes: int
    encoder: Encoder | None = None
    provenance: Provenance = field(default_factory=Provenance)
    number: Number | None = None
    columns: Columns | None = None
    state: "State | None" = None

    def __post_init__(self) -> None:
        outputs = len(self.netlist.outputs)
        if self.state is not None:
            self.state.check(self)
            outputs -= self.state.bits
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
        """Builds a circuit from layers given as plain arrays.

        Args:
            inputs: Number of input bits.
            gates: For each layer the gate numbers (0 to 15), uint8 [neurons].
            wirings: For each layer integers [2, neurons]: indices into the previous layer, or into the inputs for
                the first one.
            classes: Number of classes; the neurons of the last layer are the outputs.
            encoder: Turns raw values into the input bits.

        Example:
            >>> xor = Circuit.from_layers(2, gates=[[6]], wirings=[[[0], [1]]], classes=1)
            >>> xor.scores([[0, 1], [1, 1]]).ravel().tolist()
            [1, 0]
        """
        return cls(Netlist.from_layers(inputs, gates, wirings), classes, encoder)

    @classmethod
    def from_network(cls, net: Any, provenance: Provenance | None = None) -> "Circuit":
        """Builds the deployed circuit of a network: its argmax gates or tables, and wires.

        Args:
            net: A `LogicNetwork`, or an `nn.Sequential` of logic layers. A `Binarize` in front becomes the encoder.
            provenance: The model and dataset the network comes from.
        """
        from hardwire.circuit.from_layers import circuit_of_network

        return circuit_of_network(net, provenance or Provenance())

    @classmethod
    def from_stack(
        cls,
        stack: Any,
        classes: int | None = None,
        encoder: Encoder | None = None,
        provenance: Provenance | None = None,
    ) -> "Circuit":
        """Builds the deployed circuit of a `Stack`, whatever its levels compute.

        Args:
            stack: The levels.
            classes: Number of classes; by default those of its class sums.
            encoder: Turns raw values into the input bits.
            provenance: The model and dataset the stack comes from.

        Example:
            >>> import hardwire as hw
            >>> net = hw.LogicNetwork(inputs=64, classes=10, width=200, depth=2, seed=0)
            >>> hw.Circuit.from_stack(net.stack())
            Circuit(inputs=64, gates=400, classes=10)
        """
        from hardwire.circuit.from_layers import circuit_of_stack

        return circuit_of_stack(stack, classes, encoder, provenance or Provenance())

    @cached_property
    def gates(self) -> Netlist:
        """The circuit as two-input gates: its netlist, or the two-input view of its tables, proven equal."""
        from hardwire.circuit.two_input import two_input_view

        return two_input_view(self.netlist)

    def as_gates(self) -> "Circuit":
        """Returns the same circuit made of two-input gates, for what works on gates alone, such as AIG rewriting."""
        return self if self.gates is self.netlist else replace(self, netlist=self.gates)

    @classmethod
    def from_loop(cls, net: Any) -> "Circuit":
        """Builds the circuit of one step of a loop, with its state in registers.

        Args:
            net: A `Recurrent`, or a `LogicNetwork` with no other layer. Other networks are unrolled by `from_network`.

        Example:
            >>> import hardwire as hw
            >>> loop = hw.Recurrent(hw.LogicLayer(4 + 1, 4 + 2, seed=0), steps=8, state=4, seed=0)
            >>> circuit = hw.Circuit.from_loop(loop).simplify()
            >>> circuit.run([[[0], [1], [1]]]).shape
            (1, 3, 2)
        """
        from hardwire.circuit.sequential.state import from_loop

        return from_loop(net)

    @classmethod
    def from_automaton(cls, net: Any, seed: Sequence[int] = ()) -> "Circuit":
        """Builds the circuit of one cell of a `CellularAutomaton`, which runs on boards of any size.

        Args:
            net: The automaton.
            seed: The bits of the cell that it grows from, if it grows from one.

        Example:
            >>> import hardwire as hw
            >>> hw.Circuit.from_automaton(hw.CellularAutomaton((8, 8), channels=2, widths=[16, 8], seed=0))
            Circuit(inputs=18, gates=9, classes=1)
        """
        from hardwire.circuit.sequential.cell import from_automaton

        return from_automaton(net, seed)

    def step(self, state: npt.ArrayLike, x: npt.ArrayLike) -> tuple[npt.NDArray[np.uint8], npt.NDArray[Any]]:
        """Runs one step of a circuit with state.

        Args:
            state: Zeros and ones [n, bits of the state].
            x: Zeros and ones [n, inputs of a step].

        Returns:
            The next states, and the answers: classes [n], or the outputs [n, outputs] of a circuit of one class.
        """
        from hardwire.circuit.sequential.state import step

        return step(self, state, x)

    def run(self, xs: npt.ArrayLike, state: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
        """Runs a circuit with state through sequences.

        Args:
            xs: Zeros and ones [n, steps, inputs of a step].
            state: The states to start in, [n, bits]; by default those after reset.

        Returns:
            The answers of all steps: classes [n, steps], or outputs [n, steps, outputs].
        """
        from hardwire.circuit.sequential.state import run

        return run(self, xs, state)

    def step_circuit(self) -> "Circuit":
        """Returns one step of a circuit with state as a circuit without; inputs and outputs begin with the state."""
        from hardwire.circuit.sequential.state import without_state

        return without_state(self)

    @property
    def inputs(self) -> int:
        """Number of input bits."""
        return self.netlist.inputs

    @property
    def group(self) -> int:
        """Number of outputs of each class; a score lies between 0 and this."""
        return (len(self.netlist.outputs) - (self.state.bits if self.state else 0)) // self.classes

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that change with anything the circuit computes."""
        from hardwire.circuit.file import function_digest

        return function_digest(self)

    def tested(self, data: Any, name: str | None = None) -> "Circuit":
        """Returns the same circuit with its test accuracy in `provenance`, so that exported files state it.

        Args:
            data: A dataset, such as `hw.data.load` returns.
            name: The dataset's name, by default its own.
        """
        from hardwire.circuit.evaluate import with_test_accuracy

        return with_test_accuracy(self, data, name)

    @cached_property
    def program(self) -> "Program":
        """The scheduled gates that `predict` and `scores` run; made on first use."""
        from hardwire.circuit.evaluate import Program

        if self.state is not None:
            raise HardwireError("a circuit with state answers step by step; use circuit.run(sequences) or circuit.step")
        return Program(self.netlist, self.classes, self.encoder)

    def __getstate__(self) -> dict[str, Any]:
        """Leaves the program and the view out of a pickle; they are made again on first use."""
        return {name: value for name, value in vars(self).items() if name not in ("program", "gates")}

    def scores(self, images: Any, *, raw: bool = False, threads: int | None = None) -> npt.NDArray[np.int32]:
        """Counts the true outputs of every class.

        Args:
            images: `Bits`, packed words uint64 [images, words], or zeros and ones [images, inputs].
            raw: True if `images` are raw values [images, raw_features] for the encoder.
            threads: Number of threads; by default as many as pay off.

        Returns:
            int32 [images, classes].

        Raises:
            HardwireError: If `images` has the wrong shape, or holds values other than 0 and 1 without `raw=True`.
        """
        return self.program.answer(images, raw, threads, scores=True)

    def predict(self, images: Any, *, raw: bool = False, threads: int | None = None) -> npt.NDArray[Any]:
        """Predicts the class of each image, or its number.

        Args:
            images: As for `scores`.
            raw: As for `scores`.
            threads: As for `scores`.

        Returns:
            Classes, int64 [images], ties going to the lowest; or numbers, float64 [images].
        """
        if self.number is not None:
            return self.answers(self.scores(images, raw=raw, threads=threads)) * self.number.step
        return self.program.answer(images, raw, threads, scores=False)

    def answers(self, scores: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        """Turns scores into what exported files answer: the class, or the number in whole steps.

        Args:
            scores: int32 [images, classes].
        """
        return scores.argmax(axis=1) if self.number is None else scores[:, 0].astype(np.int64) + self.number.offset

    @property
    def answer_width(self) -> int:
        """Bits of an answer: at least one for a class; for a number, including its sign."""
        return max(1, (self.classes - 1).bit_length()) if self.number is None else self.number.width(self.group)

    def statistics(self) -> "Statistics":
        """Counts gates by type, depth, fan-out and dead gates."""
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
        """Returns a circuit that computes the same function with fewer gates.

        Args:
            rewrite: Also run AIG rewriting, which needs aigverse.
            dont_cares: Also merge gates that are equal on every input the encoder can produce. The result is then
                right behind its encoder only.
            check: Prove the result equal to the original.
            progress: Called with the name of each step before it runs.
        """
        if self.state is not None:
            from hardwire.circuit.sequential.registers import simplify_with_state

            return simplify_with_state(self, rewrite=rewrite, dont_cares=dont_cares, check=check, progress=progress)
        from hardwire.circuit.passes import simplify

        return simplify(self, rewrite=rewrite, dont_cares=dont_cares, check=check, progress=progress)[0]

    def shrink(
        self, data: Any, *, tolerance: float = 0.001, progress: Callable[[str], object] = lambda step: None
    ) -> tuple["Circuit", "ShrinkResult"]:
        """Trades a little accuracy for fewer gates.

        Args:
            data: The dataset whose training split decides what may go.
            tolerance: Training accuracy that may be lost, as a share.
            progress: Called with a description of each round.

        Returns:
            The smaller circuit, and its gates and accuracies before and after.
        """
        from hardwire.circuit.shrink import shrink

        return shrink(self, data, tolerance=tolerance, progress=progress)

    def equivalent(self, other: "Circuit", **options: Any) -> "Equivalence":
        """Compares two circuits output by output on every input, which is stricter than comparing class sums.

        Args:
            other: A circuit with as many inputs, outputs and classes.
            **options: Those of `hardwire.circuit.equivalence.netlists_equal`.
        """
        from hardwire.circuit.equivalence import circuits_equal

        return circuits_equal(self, other, **options)

    def verify(
        self,
        path: _Path,
        images: npt.ArrayLike | None = None,
        *,
        raw: str | None = None,
        sat: bool = True,
        steps: int | None = None,
        progress: Callable[[str], object] = lambda step: None,
    ) -> "Verification":
        """Checks that an exported file computes what this circuit computes, as `hardwire circuit verify` does.

        Args:
            path: The exported file, or a circuit file.
            images: Test images to compare as well: raw values if the circuit has an encoder, else zeros and ones.
            raw: What the file reads ("bits", "bytes", ...), if the file itself does not say.
            sat: Whether to ask the SAT solver for a proof.
            steps: For a circuit with state, how many steps from reset are compared as yosys or ABC reads the file; by
                default as many as are cheap, at most 8; 0 for none.
            progress: Called with the name of each step before it runs.

        Returns:
            The verdict: true in a condition if they are equal, with the kind of proof or a counterexample.

        Example:
            >>> circuit.to_c("digits.c")  # doctest: +SKIP
            >>> print(circuit.verify("digits.c"))  # doctest: +SKIP
            equal, proven by SAT (and 65,536 random vectors)
        """
        if self.state is not None:
            from hardwire.circuit.sequential.files import verify as verify_with_state

            if images is not None or raw is not None:
                raise HardwireError("a circuit with state is not compared on images; leave out data and raw")
            return verify_with_state(self, Path(path).expanduser(), sat=sat, steps=steps)
        if steps is not None:
            raise HardwireError("this circuit has no state, so there are no steps to compare; leave out steps")
        from hardwire.circuit.verify import verify

        return verify(self, path, images, raw=raw, sat=sat, progress=progress)

    def save(self, path: _Path) -> None:
        """Writes a circuit file, which loads and runs without torch.

        Args:
            path: The file to write, such as "digits.circuit".
        """
        from hardwire.circuit.file import save

        save(self, path)

    @classmethod
    def load(cls, path: _Path) -> "Circuit":
        """Reads a circuit file, or builds the circuit of a model file (which needs torch).

        Args:
            path: The file.

        Raises:
            HardwireError: If the file is missing, damaged or of another kind.
        """
        from hardwire.circuit.file import load

        return load(path)

    def __repr__(self) -> str:
        return f"Circuit(inputs={self.inputs}, {self.netlist.made_of}={self.netlist.size}, classes={self.classes})"
