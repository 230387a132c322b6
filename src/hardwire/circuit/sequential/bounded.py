"""A bounded model check: a file of a circuit with state, read by another program and run for some steps from reset.

Proofs of one step trust our own reader of the file and what it takes for a register. Here yosys (Verilog) or ABC (BLIF,
AIGER) reads the file, and all answers of the first steps are compared with those of the circuit, for all inputs.
Surprising: in Verilog the first clock is a reset, in which the registers may hold anything.
"""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hardwire.circuit.builder import Builder
from hardwire.circuit.equivalence import Equivalence, netlists_equal
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.read_aiger import MOST_BYTES, parse
from hardwire.circuit.sequential import latches
from hardwire.circuit.sequential.state import State, answering, state_of, unrolled
from hardwire.circuit.tools import Limits, has_abc, has_yosys, run_abc, run_yosys
from hardwire.errors import HardwireError

if TYPE_CHECKING:
    from hardwire.circuit.circuit import Circuit

STEPS = 8
MOST_GATES = 50_000  # of all steps, where nobody asked for a number of steps
MOST_PROVEN = 20_000  # gates of all steps that the solver is asked about; beyond them it is random inputs


def bounded(circuit: "Circuit", path: Path, steps: int | None) -> tuple[int, Equivalence] | None:
    """Compares the first steps of a file with those of a circuit; None where no program can read it.

    steps: how many; None for as many as are cheap, and 0 for none.
    """
    can_read = {".v": has_yosys(), ".blif": has_abc(), ".aig": has_abc(), ".aag": has_abc()}
    size = max(1, answering(circuit).size)
    if path.suffix not in can_read:
        if steps:
            raise HardwireError(f"steps are checked in {', '.join(can_read)} files, which yosys or ABC reads")
        return None
    if steps is None:
        steps = min(STEPS, MOST_GATES // size) if can_read[path.suffix] and path.stat().st_size <= MOST_BYTES else 0
    if steps == 0 or not state_of(circuit).bits:
        return None
    with tempfile.TemporaryDirectory() as folder:
        made = _by_yosys(circuit, path, steps, folder) if path.suffix == ".v" else _by_abc(path, steps, folder)
    if made.inputs == 0:  # what `unrolled` has where a step reads nothing
        builder = Builder(1)
        made = builder.netlist(builder.embed(made, []))
    return steps, netlists_equal(made, unrolled(circuit, steps), sat=steps * size <= MOST_PROVEN)


def _by_yosys(circuit: "Circuit", path: Path, steps: int, folder: str) -> Netlist:
    Path(folder, "source.v").write_bytes(path.read_bytes())
    script = ["read_verilog source.v", "prep -flatten", "techmap", "dfflegalize -cell $_DFF_P_ x", "aigmap"]
    run_yosys([*script, "write_aiger -zinit -symbols read.aig"], folder, _limits(path))
    data = Path(folder, "read.aig").read_bytes()
    said = parse(data).input_names
    names = [said.get(i, "") for i in range(len(said))]
    netlist, registers = latches.from_aiger(data, path)
    given = circuit.netlist.inputs - state_of(circuit).bits
    return _run(netlist, registers, names, given, steps)


def _run(netlist: Netlist, registers: State, names: list[str], given: int, steps: int) -> Netlist:
    """The answers of all steps after a clock of reset."""
    builder = Builder(max(1, steps * given))
    no, yes = builder.constant(False), builder.constant(True)
    now, answers = [no] * registers.bits, []
    for clock in range(steps + 1):
        inputs = {"clk": no, "rst": yes if clock == 0 else no, "ce": yes}
        inputs |= {f"x[{i}]": given * max(clock - 1, 0) + i for i in range(given)}
        inputs |= {"x": given * max(clock - 1, 0)} if given == 1 else {}  # how yosys calls a port of one bit
        made = builder.embed(netlist, [*now, *(inputs.get(name, no) for name in names)])
        now = made[: registers.bits]
        answers += made[registers.bits :] if clock else []
    return builder.netlist(answers)


def _by_abc(path: Path, steps: int, folder: str) -> Netlist:
    """A file as ABC reads it and unrolls it from its latches' first values."""
    from hardwire.circuit.read_aiger import read_aiger

    source = Path(folder, f"source{'.blif' if path.suffix == '.blif' else '.aig'}")
    if path.suffix == ".aag":  # ABC reads the binary kind alone
        netlist, state = latches.from_aiger(path.read_bytes(), path)
        source.write_bytes(latches.to_aiger(netlist, state, False, []))
    else:
        source.write_bytes(path.read_bytes())
    target = Path(folder, "frames.aig")
    read = "read_blif" if path.suffix == ".blif" else "read_aiger"
    run_abc(f"{read} {source.name}; strash; frames -i -F {steps}; write_aiger -s {target.name}", folder, _limits(path))
    if not target.is_file():
        raise HardwireError(f"cannot read {path}: ABC cannot run it for {steps} steps")
    return read_aiger(target)[0]


def _limits(path: Path) -> Limits:
    size = path.stat().st_size
    return Limits(memory=(2 << 30) + 2_000 * size, seconds=30 + size // 5_000)
