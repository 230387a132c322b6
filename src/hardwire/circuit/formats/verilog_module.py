"""One Verilog module under construction, combinational or pipelined, for verilog.py.

A signal knows its level; with a pipeline, level decides in which stage it is computed, and whoever reads it in a later
stage gets it through as many registers as stages lie between. All outputs leave together, after the last register.
"""

from dataclasses import dataclass, field


@dataclass(eq=False)
class Signal:
    """width in bits; level: gates, adders or comparisons on the longest way to it; constants are at every level."""

    name: str
    width: int
    level: int = 0
    constant: bool = False
    delays: int = 0  # registers that follow it


@dataclass
class Module:
    name: str
    inputs: dict[str, int]
    widths: dict[str, int]  # of the outputs
    pipeline: int | None
    outputs: dict[str, list[Signal]] = field(default_factory=dict)
    wires: list[tuple[Signal, str, list[Signal]]] = field(default_factory=list)
    ports: dict[str, Signal] = field(default_factory=dict)

    def port(self, name: str, bits: int | str) -> Signal:
        """A bit or a range of an input."""
        bits = str(bits)
        high, _, low = bits.partition(":")
        text = f"{name}[{bits}]"
        return self.ports.setdefault(text, Signal(text, int(high) - int(low or high) + 1))

    def constant(self, value: int, width: int = 1) -> Signal:
        return Signal(f"{width}'d{value}", width, constant=True)

    def wire(self, name: str, width: int, expression: str, reads: list[Signal]) -> Signal:
        """`expression` with {0}, {1}, ... for the signals it reads."""
        signal = Signal(name, width, 1 + max(read.level for read in reads))
        self.wires.append((signal, expression, reads))
        return signal

    @property
    def depth(self) -> int:
        return max((signal.level for signals in self.outputs.values() for signal in signals), default=0)

    @property
    def latency(self) -> int:
        return -(-self.depth // self.pipeline) if self.pipeline else 0

    def _stage(self, signal: Signal) -> int:
        """The number of registers before the logic of `signal`; an input is there before the first."""
        return max(0, signal.level - 1) // self.pipeline if self.pipeline else 0

    def _at(self, signal: Signal, stage: int) -> str:
        """What `signal` is called in a stage; notes the registers that takes."""
        behind = 0 if signal.constant else stage - self._stage(signal)
        if behind <= 0:
            return signal.name
        signal.delays = max(signal.delays, behind)
        return _delayed(signal, behind)

    def text(self) -> str:
        body = []
        for signal, expression, reads in self.wires:
            operands = [self._at(read, self._stage(signal)) for read in reads]
            body.append(f"  wire {_range(signal.width)}{signal.name} = {expression.format(*operands)};")
        for port, signals in self.outputs.items():
            parts = ", ".join(self._at(signal, self.latency) for signal in reversed(signals))
            body.append(f"  assign {port} = {{{parts}}};")
        ports = ["input clk"] if self.pipeline else []
        ports += [f"input [{width - 1}:0] {port}" for port, width in self.inputs.items()]
        ports += [f"output [{width - 1}:0] {port}" for port, width in self.widths.items()]
        registers, moves = self._registers()
        # registers first, because a name must be declared before it is read; what feeds them is declared by then too
        return "\n".join([f"module {self.name} ({', '.join(ports)});", *registers, *body, *moves, "endmodule", ""])

    def _registers(self) -> tuple[list[str], list[str]]:
        declared, moves = [], []
        for signal in [*self.ports.values(), *(wire[0] for wire in self.wires)]:
            before = signal.name
            for stage in range(1, signal.delays + 1):
                declared.append(f"  reg {_range(signal.width)}{_delayed(signal, stage)};")
                moves.append(f"    {_delayed(signal, stage)} <= {before};")
                before = _delayed(signal, stage)
        return declared, ["  always @(posedge clk) begin", *moves, "  end"] if moves else []


def _range(width: int) -> str:
    return f"[{width - 1}:0] " if width > 1 else ""


def _delayed(signal: Signal, stages: int) -> str:
    """x[7:0] two stages later is x_7_0_d2."""
    return signal.name.replace("[", "_").replace(":", "_").replace("]", "") + f"_d{stages}"
