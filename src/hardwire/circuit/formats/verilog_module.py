"""One Verilog module under construction, combinational or pipelined, for verilog_parts.py.

Every signal costs some levels of logic, and a stage of a pipeline has a budget of them. A signal that would exceed the
budget moves to the next stage, and a later stage reads a signal through one register per stage in between. Surprising:
a module need not end in a register; the next module continues in the same stage if the budget allows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(eq=False)
class Signal:
    """A wire, a constant or a part of a port.

    Attributes:
        name: As written in Verilog.
        width: In bits.
        stage: Registers before it.
        time: Levels of logic since the last register.
        constant: Constants are available in every stage.
        entering: Whether it comes from outside of the module.
        delays: Registers that follow it.
    """

    name: str
    width: int
    stage: int = 0
    time: float = 0
    constant: bool = False
    entering: bool = False
    delays: int = 0


@dataclass
class VerilogModule:
    """A module under construction.

    Attributes:
        name: Of the module.
        inputs: Width of each input port.
        widths: Width of each output port.
        budget: Levels of logic in a stage; None without a pipeline.
        start: Levels of logic before its inputs.
        gated: Whether registers have a clock enable, ce.
        registered: Whether outputs end in registers.
        far: Levels that the wires into the module cost.
        least_latency: Registers on its paths at least.
        preamble: Verilog functions it uses.
        outputs: The signals of each output port, lowest bit first.
        wires: Signals with their expression and operands.
        pieces: Bits and ranges of inputs and wires.
    """

    name: str
    inputs: dict[str, int]
    widths: dict[str, int]
    budget: float | None = None
    start: float = 0
    gated: bool = False
    registered: bool = False
    far: float = 0
    least_latency: int = 0
    preamble: str = ""
    outputs: dict[str, list[Signal]] = field(default_factory=dict)
    wires: list[tuple[Signal, str, list[Signal]]] = field(default_factory=list)
    pieces: dict[str, Signal] = field(default_factory=dict)

    def port(self, name: str, bits: int | str) -> Signal:
        """Returns a bit or a range of an input port."""
        high, _, low = str(bits).partition(":")
        text = f"{name}[{bits}]"
        return self.pieces.setdefault(
            text, Signal(text, int(high) - int(low or high) + 1, time=self.start, entering=True)
        )

    def bit(self, signal: Signal, place: int) -> Signal:
        """Returns one bit of a signal."""
        text = f"{signal.name}[{place}]"
        return self.pieces.setdefault(text, Signal(text, 1, signal.stage, signal.time))

    def constant(self, value: int, width: int = 1) -> Signal:
        """Returns a constant."""
        return Signal(f"{width}'d{value}", width, constant=True)

    def wire(self, name: str, width: int, expression: str, reads: Sequence[Signal], cost: float = 1) -> Signal:
        """Adds a wire.

        Args:
            name: Of the wire.
            width: In bits.
            expression: Verilog with {0}, {1}, ... for the operands.
            reads: The operands.
            cost: Levels of logic.
        """
        stage = max(read.stage for read in reads)
        if all(read.entering for read in reads):
            cost += self.far
        start = max((read.time for read in reads if read.stage == stage and not read.constant), default=0)
        if self.budget is not None and start > 0 and start + cost > self.budget:
            stage, start = stage + 1, 0
        signal = Signal(name, width, stage, start + cost)
        self.wires.append((signal, expression, list(reads)))
        return signal

    @property
    def _results(self) -> list[Signal]:
        return [signal for signals in self.outputs.values() for signal in signals if not signal.constant]

    @property
    def latency(self) -> int:
        """Registers on every path through the module."""
        if self.budget is None:
            return 0
        own = max((signal.stage for signal in self._results), default=0) + self.registered
        return max(own, self.least_latency)

    @property
    def end(self) -> float:
        """Levels of logic before its outputs, since the last register."""
        return max((signal.time for signal in self._results if signal.stage == self.latency), default=0)

    def _at(self, signal: Signal, stage: int) -> str:
        """Returns the name of `signal` in a stage, and notes the registers needed for it."""
        behind = 0 if signal.constant or self.budget is None else stage - signal.stage
        if behind <= 0:
            return signal.name
        signal.delays = max(signal.delays, behind)
        return _delayed(signal, behind)

    def text(self) -> str:
        """Returns the module in Verilog."""
        body = []
        for signal, expression, reads in self.wires:
            operands = [self._at(read, signal.stage) for read in reads]
            body.append(f"  wire {_range(signal.width)}{signal.name} = {expression.format(*operands)};")
        for port, signals in self.outputs.items():
            parts = ", ".join(self._at(signal, self.latency) for signal in reversed(signals))
            body.append(f"  assign {port} = {{{parts}}};")
        registers, moves = self._registers()
        # registers come first, because a name must be declared before it is read
        lines = [f"module {self.name} ({', '.join(self._ports())});", *registers, *body, *moves, "endmodule", ""]
        return "\n".join(lines[:1] + ([self.preamble.rstrip()] if self.preamble else []) + lines[1:])

    def _ports(self) -> list[str]:
        clock = [] if self.budget is None else [*_quiet("clk"), *(_quiet("ce") if self.gated else [])]
        values = [port for name, width in self.inputs.items() for port in _quiet(f"[{width - 1}:0] {name}")]
        return [*clock, *values, *(f"output [{width - 1}:0] {port}" for port, width in self.widths.items())]

    def _registers(self) -> tuple[list[str], list[str]]:
        declared, moves = [], []
        for signal in [*self.pieces.values(), *(wire[0] for wire in self.wires)]:
            before = signal.name
            for stage in range(1, signal.delays + 1):
                declared.append(f"  reg {_range(signal.width)}{_delayed(signal, stage)};")
                moves.append(f"    {_delayed(signal, stage)} <= {before};")
                before = _delayed(signal, stage)
        when = "  always @(posedge clk) if (ce) begin" if self.gated else "  always @(posedge clk) begin"
        return declared, [when, *moves, "  end"] if moves else []


def _quiet(port: str) -> list[str]:
    """Declares an input that may not be read completely."""
    return [f"/* verilator lint_off UNUSEDSIGNAL */ input {port} /* verilator lint_on UNUSEDSIGNAL */"]


def _range(width: int) -> str:
    return f"[{width - 1}:0] " if width > 1 else ""


def _delayed(signal: Signal, stages: int) -> str:
    """Returns the name some stages later: x[7:0] becomes x_7_0_d2 after two."""
    return signal.name.replace("[", "_").replace(":", "_").replace("]", "") + f"_d{stages}"
