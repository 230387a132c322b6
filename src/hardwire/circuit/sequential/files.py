"""The file formats that can hold a state, and how a file is proven equal to a circuit.

What a file does in time follows from three things that are compared one by one: the registers after reset, the next
state and the answers of one step. The last two are combinational, so SAT proves them for every state at once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hardwire.circuit.equivalence import netlists_equal
from hardwire.circuit.file import is_circuit_file, load
from hardwire.circuit.formats.names import name_for
from hardwire.circuit.formats.text import read_text
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.read_aiger import MOST_BYTES
from hardwire.circuit.sequential import latches, text, wasm
from hardwire.circuit.sequential.bounded import bounded
from hardwire.circuit.sequential.state import State, answering, state_of
from hardwire.circuit.verify import Verification
from hardwire.errors import HardwireError, whole_number
from hardwire.files import write_together

if TYPE_CHECKING:
    from hardwire.circuit.circuit import Circuit

Content = tuple[Netlist, State]


@dataclass(frozen=True)
class StateFormat:
    """A format that holds a state: (netlist, state, name, comment) -> content of the file, and its reader; None where a
    file is run instead."""

    write: Callable[[Netlist, State, str, list[str]], str | bytes]
    read: Callable[[Path], Content] | None


def _of_language(language: text.Language) -> StateFormat:
    def write(netlist: Netlist, state: State, name: str, comment: list[str]) -> str:
        return "".join(f"{language.comment}{line}\n" for line in comment) + text.to_text(netlist, state, name, language)

    return StateFormat(write, lambda path: text.from_text(read_text(path), path, language))


def _aiger(ascii: bool) -> StateFormat:
    return StateFormat(
        lambda netlist, state, name, comment: latches.to_aiger(netlist, state, ascii, comment),
        lambda path: latches.from_aiger(_bytes(path), path),
    )


FORMATS = {
    ".v": _of_language(text.VERILOG),
    ".c": _of_language(text.C),
    ".blif": StateFormat(latches.to_blif, lambda path: latches.from_blif(read_text(path), path)),
    ".aig": _aiger(False),
    ".aag": _aiger(True),
    ".wasm": StateFormat(lambda netlist, state, name, comment: wasm.step_wasm(netlist, state, comment), None),
}


def format_with_state(suffix: str) -> StateFormat:
    """The format of a suffix; raises if it cannot hold a state."""
    if suffix not in FORMATS:
        raise HardwireError(
            f"{suffix} files cannot hold a circuit with state; use {', '.join([*FORMATS, '.circuit'])}, or export one "
            "step: circuit.step_circuit()"
        )
    return FORMATS[suffix]


def write(circuit: "Circuit", path: Path, suffix: str, options: dict[str, object]) -> list[Path]:
    """Writes a circuit with state to a file."""
    chosen = format_with_state(suffix)
    name = options.pop("name", None)
    if options:
        raise HardwireError(f"{suffix} files of circuits with state have no option {min(options)!r}; theirs is: name")
    state = state_of(circuit)
    comment = [
        f"Made by hardwire: circuit {circuit.digest}, {state.bits} bits of state.",
        "Each step reads the state s and the inputs x, and makes the next state and the answer y, lowest bit first.",
    ]
    content = chosen.write(answering(circuit), state, name_for(path, None if name is None else str(name)), comment)
    files: dict[Path, str | bytes] = {path: content}
    if suffix == ".wasm":
        files[path.with_suffix(".mjs")] = wasm.to_javascript(circuit, path.name, comment)
    write_together(files)
    return list(files)


def verify(circuit: "Circuit", path: Path, sat: bool = True, steps: int | None = None) -> Verification:
    """Compares a file with a circuit with state: the registers after reset, one step by proof, and the first steps as
    another program reads the file; see `Circuit.verify`."""
    if not path.is_file():
        raise HardwireError(f"cannot read {path}: no such file")
    if steps is not None and steps != 0:
        whole_number("steps", steps)
    if path.suffix == ".wasm":
        from hardwire.circuit.sequential.wasm_run import verify as verify_by_running

        return verify_by_running(circuit, path)
    netlist, state = _read(path)
    own, model = state_of(circuit), answering(circuit)
    if (state.bits, netlist.inputs, len(netlist.outputs)) != (own.bits, model.inputs, len(model.outputs)):
        raise HardwireError(
            f"{path} has {state.bits} registers, {netlist.inputs - state.bits} inputs and "
            f"{len(netlist.outputs) - state.bits} outputs; the circuit has {own.bits}, {model.inputs - own.bits} and "
            f"{len(model.outputs) - own.bits}"
        )
    if state.initial != own.initial:
        wrong = next(i for i, bit in enumerate(state.initial) if bit != own.initial[i])
        return Verification(
            False, "found at reset", 0, f"register {wrong} starts as {state.initial[wrong]} in the file"
        )
    answer = netlists_equal(model, netlist, sat=sat)
    if answer.counterexample is None:
        return _checked_in_time(circuit, path, f"the same after reset; next state and answers {answer}", steps)
    ones = [i for i, bit in enumerate(answer.counterexample.tolist()) if bit]
    return Verification(False, answer.how, 0, f"state and inputs that are 1: {', '.join(map(str, ones)) or 'none'}")


def _checked_in_time(circuit: "Circuit", path: Path, how: str, steps: int | None) -> Verification:
    """The verdict on a file whose single step is right."""
    checked = bounded(circuit, path, steps)
    if checked is None:
        return Verification(True, how, 0)
    count, answer = checked
    reader = "yosys" if path.suffix == ".v" else "ABC"
    if answer.counterexample is None:
        return Verification(True, f"{how}; the first {count} steps as {reader} reads the file: {answer}", 0)
    ones = [i for i, bit in enumerate(answer.counterexample.tolist()) if bit]
    told = f"inputs of the first {count} steps that are 1: {', '.join(map(str, ones)) or 'none'}"
    return Verification(False, f"in the first {count} steps as {reader} reads the file, {answer.how}", 0, told)


def _read(path: Path) -> Content:
    if not is_circuit_file(path):
        read = format_with_state(path.suffix).read
        assert read is not None  # files that are run were sorted out before
        return read(path)
    circuit = load(path)
    return answering(circuit), state_of(circuit)


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise HardwireError(f"cannot read {path}: {error.strerror or error}") from None
