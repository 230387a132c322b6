"""One Verilog module under construction, combinational or pipelined, for verilog_parts.py.

Every signal costs some levels of logic, and a stage of a pipeline has a budget of them: what would come too late moves
to the next stage, and whoever reads a signal in a later stage gets it through as many registers as stages lie between.
Surprising: a module need not end in a register; the next one goes on in the same stage if the budget allows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(eq=False)
class Signal:
    """width in bits; stage: registers before it; time: levels of logic since the last of them; constants are there in
    every stage."""

    name: str
    width: int
    stage: int = 0
    time: float = 0
    constant: bool = False
    entering: bool = False  # it comes from outside of the module
    delays: int = 0  # registers that follow it


@dataclass
class Module:
    """budget: levels of a stage, None without a pipeline; start: levels that its inputs have behind them; far: levels
    that the wires into it cost; gated: whether registers wait for ce; registered: whether outputs end in registers;
    preamble: functions it uses."""

    name: str
    inputs: dict[str, int]
    widths: dict[str, int]  # of the outputs
    budget: float | None = None
    start: float = 0
    gated: bool = False
    registered: bool = False
    far: float = 0
    preamble: str = ""
    outputs: dict[str, list[Signal]] = field(default_factory=dict)
    wires: list[tuple[Signal, str, list[Signal]]] = field(default_factory=list)
    pieces: dict[str, Signal] = field(default_factory=dict)  # bits and ranges of inputs and of wires

    def port(self, name: str, bits: int | str) -> Signal:
        """A bit or a range of an input."""
        high, _, low = str(bits).partition(":")
        text = f"{name}[{bits}]"
        return self.pieces.setdefault(
            text, Signal(text, int(high) - int(low or high) + 1, time=self.start, entering=True)
        )

    def bit(self, signal: Signal, place: int) -> Signal:
        text = f"{signal.name}[{place}]"
        return self.pieces.setdefault(text, Signal(text, 1, signal.stage, signal.time))

    def constant(self, value: int, width: int = 1) -> Signal:
        return Signal(f"{width}'d{value}", width, constant=True)

    def wire(self, name: str, width: int, expression: str, reads: Sequence[Signal], cost: float = 1) -> Signal:
        """`expression` with {0}, {1}, ... for the signals it reads; cost: its levels of logic."""
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
        """Registers on every way through the module."""
        if self.budget is None:
            return 0
        return max((signal.stage for signal in self._results), default=0) + self.registered

    @property
    def end(self) -> float:
        """Levels that its outputs have behind them."""
        return max((signal.time for signal in self._results if signal.stage == self.latency), default=0)

    def _at(self, signal: Signal, stage: int) -> str:
        """What `signal` is called in a stage; notes the registers that takes."""
        behind = 0 if signal.constant or self.budget is None else stage - signal.stage
        if behind <= 0:
            return signal.name
        signal.delays = max(signal.delays, behind)
        return _delayed(signal, behind)

    def text(self) -> str:
        body = []
        for signal, expression, reads in self.wires:
            operands = [self._at(read, signal.stage) for read in reads]
            body.append(f"  wire {_range(signal.width)}{signal.name} = {expression.format(*operands)};")
        for port, signals in self.outputs.items():
            parts = ", ".join(self._at(signal, self.latency) for signal in reversed(signals))
            body.append(f"  assign {port} = {{{parts}}};")
        registers, moves = self._registers()
        # registers first, because a name must be declared before it is read; what feeds them is declared by then too
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
    """An input of which some or all may not be read."""
    return [f"/* verilator lint_off UNUSEDSIGNAL */ input {port} /* verilator lint_on UNUSEDSIGNAL */"]


def _range(width: int) -> str:
    return f"[{width - 1}:0] " if width > 1 else ""


def _delayed(signal: Signal, stages: int) -> str:
    """x[7:0] two stages later is x_7_0_d2."""
    return signal.name.replace("[", "_").replace(":", "_").replace("]", "") + f"_d{stages}"
