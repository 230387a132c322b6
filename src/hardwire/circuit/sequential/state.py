"""`State`: the registers of a circuit, and how it runs in time.

A circuit with state stays a combinational netlist: its first outputs are fed back to its first inputs. So everything
that is done to netlists, and every proof about them, is about one step. Surprising: nothing here knows a clock; a step
is one evaluation of the netlist.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hardwire.circuit.builder import Builder
from hardwire.circuit.evaluate import Program
from hardwire.circuit.lower import argmax, count_ones
from hardwire.circuit.netlist import Netlist
from hardwire.errors import HardwireError, shown, whole_number

if TYPE_CHECKING:
    from hardwire.circuit.circuit import Circuit

Bits = npt.NDArray[np.uint8]
MOST_SIDE = 999  # of a neighbourhood


@dataclass(frozen=True)
class Grid:
    """How the cell of an automaton lies among others: its other inputs are the bits of its neighbours.

    Attributes:
        side: The height and width of the neighbourhood, with the cell in the middle.
        border: "periodic", where opposite edges of a board meet, or "zero".
        shape: (height, width) of the board that it was trained on, if there is one.
        seed: The bits of the single cell that an automaton starts from in the middle of a board; none for random ones.

    Example:
        >>> from hardwire.circuit import Grid
        >>> Grid(3, "zero").seed
        ()
    """

    side: int
    border: str = "periodic"
    shape: tuple[int, int] | None = None
    seed: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if whole_number("side", self.side) > MOST_SIDE:
            raise HardwireError(f"the side of a neighbourhood is at most {MOST_SIDE}, not {shown(self.side)}")
        if self.side % 2 == 0:
            raise HardwireError(f"a neighbourhood of {self.side} x {self.side} has no middle; use an odd side")
        if self.border not in ("periodic", "zero"):
            raise HardwireError(f"border {self.border!r:.40} is not periodic or zero")
        if self.shape is not None:
            height, width = self.shape
            object.__setattr__(self, "shape", (whole_number("height", height), whole_number("width", width)))
        if not all(bit in (0, 1) for bit in self.seed):
            raise HardwireError("the bits of a seed are 0 or 1")
        object.__setattr__(self, "seed", tuple(int(bit) for bit in self.seed))


@dataclass(frozen=True)
class State:
    """The registers of a circuit.

    Attributes:
        bits: How many of its first outputs are fed back to as many first inputs.
        initial: The bits of the registers after reset.
        steps: For how many steps the circuit was trained; None if that is not known.
        given: Whether each run is given a state of its own to start in, as a board is; nothing then follows from the
            state after reset.
        grid: For the cell of an automaton, how it lies among others.

    Example:
        >>> from hardwire.circuit import State
        >>> State(3).initial
        (0, 0, 0)
    """

    bits: int
    initial: tuple[int, ...] = ()
    steps: int | None = None
    given: bool = False
    grid: Grid | None = None

    def __post_init__(self) -> None:
        whole_number("bits", self.bits)
        initial = tuple(self.initial) or (0,) * self.bits
        if len(initial) != self.bits or not all(bit in (0, 1) for bit in initial):
            raise HardwireError(f"the initial state is {self.bits} bits, each 0 or 1, not {self.initial!r:.60}")
        object.__setattr__(self, "initial", tuple(int(bit) for bit in initial))
        if self.steps is not None:
            whole_number("steps", self.steps)

    def check(self, circuit: "Circuit") -> None:
        """Raises unless the netlist of a circuit has this state and at least one output beside it."""
        netlist = circuit.netlist
        if circuit.encoder is not None or circuit.number is not None:
            raise HardwireError("a circuit with state reads bits and answers bits or a class; leave out the encoder")
        if netlist.inputs < self.bits or len(netlist.outputs) <= self.bits:
            raise HardwireError(
                f"a circuit with {self.bits} bits of state reads them and makes them and at least one output; this one "
                f"has {netlist.inputs} inputs and {len(netlist.outputs)} outputs"
            )
        if self.grid is not None:
            around = self.bits * self.grid.side**2
            if (netlist.inputs, len(netlist.outputs), circuit.classes) != (around, 2 * self.bits, 1):
                raise HardwireError(
                    f"a cell of {self.bits} bits reads {around} of its neighbourhood and makes its own twice; this "
                    f"circuit reads {netlist.inputs} and makes {len(netlist.outputs)}"
                )
            if self.grid.seed and len(self.grid.seed) != self.bits:
                raise HardwireError(f"a seed of {len(self.grid.seed)} bits is none of a cell of {self.bits}")


def from_loop(net: Any) -> "Circuit":
    """The circuit of one step of a loop, with the loop's state; see `Circuit.from_loop`."""
    from hardwire.circuit.circuit import Circuit
    from hardwire.circuit.from_layers import frozen_netlist
    from hardwire.engine.stack import Stack
    from hardwire.layers import NumberSum, Recurrent

    layers = list(getattr(net, "layers", [net]))
    if len(layers) != 1 or not isinstance(layers[0], Recurrent):
        raise HardwireError(
            "a circuit with state is made of a Recurrent, or of a network that has nothing else; "
            "hw.Circuit.from_network unrolls other networks"
        )
    (loop,) = layers
    summed = getattr(net, "group_sum", None)
    if isinstance(summed, NumberSum):
        raise HardwireError("a network of numbers has no circuit with state; hw.Circuit.from_network unrolls it")
    if summed is not None and loop.outputs == "all":
        raise HardwireError("class sums over all steps side by side are not those of a step; use outputs='sum'")
    cell = frozen_netlist(Stack(tuple(loop.one_step())))
    made = cell.outputs.tolist()
    outputs = made[loop.state :] or made
    netlist = replace(cell, outputs=np.array(made[: loop.state] + outputs))
    state = State(loop.state, loop.initial_bits(), loop.steps, loop.initial == "input")
    return Circuit(netlist, 1 if summed is None else net.classes, state=state)


def state_of(circuit: "Circuit") -> State:
    """The state of a circuit; raises if it has none."""
    if circuit.state is None:
        raise HardwireError("this circuit has no state; hw.Circuit.from_loop makes one that has")
    return circuit.state


def gates_of(circuit: "Circuit") -> Netlist:
    """The netlist of one step as two-input gates."""
    return circuit.gates


def step(circuit: "Circuit", state: npt.ArrayLike, x: npt.ArrayLike) -> tuple[Bits, npt.NDArray[Any]]:
    """One step of many circuits at once: states [n, bits] and inputs [n, inputs] to the next states and answers."""
    registers = state_of(circuit)
    x, state = np.atleast_2d(np.asarray(x)), np.atleast_2d(np.asarray(state))
    given = circuit.netlist.inputs - registers.bits
    if state.shape != (len(x), registers.bits) or x.shape[1] != given:
        raise HardwireError(
            f"a step reads states [n, {registers.bits}] and inputs [n, {given}], not {list(state.shape)} and "
            f"{list(x.shape)}"
        )
    bits = np.concatenate([state, x], axis=1)
    if bits.size and not np.isin(bits, (0, 1)).all():
        raise HardwireError("states and inputs are zeros and ones")
    made = _program(circuit).answer(bits.astype(np.uint8), False, None, scores=True).astype(np.uint8)
    outputs = made[:, registers.bits :]
    if circuit.classes > 1:
        outputs = outputs.reshape(len(x), circuit.classes, -1).sum(2, dtype=np.int32).argmax(1)
    return made[:, : registers.bits], outputs


@lru_cache(maxsize=8)
def _program(circuit: "Circuit") -> Program:
    """What evaluates each output of the netlist by itself; circuits do not change, so it stays right."""
    return Program(gates_of(circuit), len(gates_of(circuit).outputs))


def run(circuit: "Circuit", xs: npt.ArrayLike, state: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
    """The answers after each step, from sequences [n, steps, inputs]; state: to start in, by default that of reset."""
    registers, xs = state_of(circuit), np.asarray(xs)
    given = circuit.netlist.inputs - registers.bits
    if xs.ndim != 3 or xs.shape[2] != given or xs.shape[1] < 1:
        raise HardwireError(f"sequences are zeros and ones [n, steps, {given}], not {list(xs.shape)}")
    now = np.tile(np.array(registers.initial, np.uint8), (len(xs), 1)) if state is None else np.atleast_2d(state)
    answers = []
    for t in range(xs.shape[1]):
        now, answer = step(circuit, now, xs[:, t])
        answers.append(answer)
    return np.stack(answers, axis=1)


def sequences(circuit: "Circuit", rows: Any) -> Bits:
    """Rows of bits, `Bits` or an array [n, steps * inputs], as sequences [n, steps, inputs] of a circuit."""
    given = circuit.netlist.inputs - state_of(circuit).bits
    if given == 0:
        raise HardwireError("this circuit reads nothing but its state, so there are no sequences to run it on")
    width = rows.shape[1]
    if width % given:
        raise HardwireError(
            f"rows of {width} bits are no whole number of steps of {given} bits, which this circuit reads"
        )
    bits = rows.unpack().numpy() if hasattr(rows, "unpack") else np.asarray(rows)
    return bits.astype(np.uint8).reshape(len(bits), width // given, given)


def answering(circuit: "Circuit") -> Netlist:
    """One step as gates alone: from [state, x] to [next state, answer], the class as bits, lowest first.

    A circuit of a single group answers with its outputs as they are.
    """
    registers, gates = state_of(circuit), gates_of(circuit)
    if circuit.classes == 1:
        return gates
    builder = Builder(gates.inputs)
    made = builder.embed(gates, range(gates.inputs))
    outputs, group = made[registers.bits :], circuit.group
    sums = [count_ones(builder, outputs[start : start + group]) for start in range(0, len(outputs), group)]
    return builder.netlist(made[: registers.bits] + argmax(builder, sums))


def unrolled(circuit: "Circuit", steps: int) -> Netlist:
    """`steps` steps from reset as one netlist, from the inputs of all steps to the answers of all."""
    registers, netlist = state_of(circuit), answering(circuit)
    given = netlist.inputs - registers.bits
    builder = Builder(max(1, whole_number("steps", steps) * given))
    now = [builder.constant(bool(bit)) for bit in registers.initial]
    answers: list[int] = []
    for number in range(steps):
        made = builder.embed(netlist, [*now, *range(number * given, (number + 1) * given)])
        now = made[: registers.bits]
        answers += made[registers.bits :]
    return builder.netlist(answers)


def without_state(circuit: "Circuit") -> "Circuit":
    """One step as a circuit without registers, whose inputs and outputs begin with the state."""
    return replace(circuit, netlist=gates_of(circuit), classes=1, state=None)
