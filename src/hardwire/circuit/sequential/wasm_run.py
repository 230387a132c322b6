"""Runs a WebAssembly file of a circuit with state in wasmtime, an optional dependency, and compares the two.

The module gets no imports, so it can compute and nothing else; its memory and instructions are limited.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hardwire.circuit.formats.wasm_run import FUEL, Module
from hardwire.circuit.sequential.state import answering, state_of
from hardwire.circuit.verify import Verification
from hardwire.errors import HardwireError

if TYPE_CHECKING:
    from hardwire.circuit.circuit import Circuit

Bits = npt.NDArray[np.uint8]
CONSTANTS = ("block", "bits", "inputs", "outputs", "state", "x", "y")
SIDE_BY_SIDE, WORD = 128, 16  # circuits in a word, and its bytes
BLOCKS, STEPS = 16, 32  # of random states; from reset
MOST_TRIED = 16  # bits of state and inputs of which all combinations are tried


class Machine:
    """A loaded module, whose 128 circuits are read and written as bits [128, n]."""

    def __init__(self, path: Path, gates: int):
        self.module = Module(path, ("reset", "step"), CONSTANTS, FUEL + 64 * gates)
        self.sizes = self.module.sizes

    def call(self, name: str) -> None:
        with self.module.running():
            self.module.exports[name](self.module.store)

    def write(self, name: str, bits: Bits) -> None:
        """Puts bits [128, n] to the words at a constant."""
        words = np.packbits(bits.T, axis=1, bitorder="little")
        with self.module.running():
            self.module.exports["memory"].write(self.module.store, words.tobytes(), self.sizes[name])

    def read(self, name: str, count: int) -> Bits:
        with self.module.running():
            words = self.module.read(self.sizes[name], count * WORD)
        packed = np.frombuffer(words, np.uint8).reshape(count, WORD)
        return np.unpackbits(packed, axis=1, bitorder="little").T


def verify(circuit: "Circuit", path: Path) -> Verification:
    """Compares a file with a circuit: the state after reset, single steps from random states, and steps from reset."""
    state, netlist = state_of(circuit), answering(circuit)
    machine = Machine(path, netlist.size)
    given, answers = netlist.inputs - state.bits, len(netlist.outputs) - state.bits
    sizes = tuple(machine.sizes[name] for name in ("block", "bits", "inputs", "outputs"))
    if sizes != (SIDE_BY_SIDE, state.bits, given, answers):
        raise HardwireError(
            f"{path} is of another circuit: circuits side by side, bits of state, inputs and outputs are {sizes}, and "
            f"of the circuit {(SIDE_BY_SIDE, state.bits, given, answers)}"
        )
    machine.call("reset")
    wrong = np.flatnonzero((machine.read("state", state.bits) != np.array(state.initial, np.uint8)).any(axis=0))
    if len(wrong):
        return Verification(False, "found at reset", 0, f"register {wrong[0]} starts as another bit in the file")
    differs = _first_difference(machine, type(circuit)(netlist, 1, state=state), given, answers)
    if differs is not None:
        ones = ", ".join(map(str, np.flatnonzero(differs).tolist())) or "none"
        return Verification(False, "found by running it", 0, f"state and inputs that are 1: {ones}")
    if state.bits + given <= MOST_TRIED:
        tried = f"proven by running all {1 << state.bits + given:,} states and inputs"
        return Verification(True, f"the same after reset; next state and answers equal, {tried}", 0)
    count = SIDE_BY_SIDE * (STEPS + BLOCKS)
    how = f"the same after reset; next state and answers equal in {count:,} random steps, {STEPS} in a row from reset, "
    return Verification(True, how + "which is evidence and not a proof", 0)


def _first_difference(machine: Machine, circuit: "Circuit", given: int, answers: int) -> Bits | None:
    """State and inputs on which the module and the circuit differ."""
    bits = state_of(circuit).bits
    for states, x in _tried(bits, given):
        if states is not None:
            machine.write("state", states)
        before = machine.read("state", bits)
        machine.write("x", x)
        machine.call("step")
        following, answer = circuit.step(before, x)
        wrong = (machine.read("state", bits) != following).any(axis=1)
        wrong |= (machine.read("y", answers) != answer).any(axis=1)
        if wrong.any():
            row = int(np.argmax(wrong))
            return np.concatenate([before[row], x[row]])
    return None


def _tried(bits: int, given: int) -> Iterator[tuple[Bits | None, Bits]]:
    """Blocks of states and inputs: None for the state that the module is in, then all states, or random ones."""
    rng = np.random.default_rng(0)
    for _ in range(STEPS):
        yield None, rng.integers(0, 2, (SIDE_BY_SIDE, given), np.uint8)
    if bits + given <= MOST_TRIED:
        every = np.arange(max(SIDE_BY_SIDE, 1 << bits + given))[:, None] >> np.arange(bits + given) & 1
        for block in np.split(every.astype(np.uint8), len(every) // SIDE_BY_SIDE):
            yield block[:, :bits], block[:, bits:]
        return
    for _ in range(BLOCKS):
        both = rng.integers(0, 2, (SIDE_BY_SIDE, bits + given), np.uint8)
        yield both[:, :bits], both[:, bits:]
