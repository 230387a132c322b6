"""The modules of a Verilog export: encoder, gates, class sums and argmax, built signal by signal with their costs.

Costs are levels of small look-up tables: a gate costs one, a counter of six bits two, and a comparison three plus an
eighth of its width, or less where it is split to fit a stage. Pipeline registers are placed by these costs.
"""

import numpy as np
import numpy.typing as npt

from hardwire.circuit import truth
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.counting import count_plan
from hardwire.circuit.formats.verilog_module import Signal, VerilogModule
from hardwire.circuit.input_format import INFINITY, InputFormat
from hardwire.circuit.statistics import live_nodes
from hardwire.circuit.table_netlist import TableNetlist
from hardwire.circuit.table_rows import minimal
from hardwire.gates import algebra

# the entry of a table at an address, half by half: yosys takes three times as long over table_[address]
LUT2 = """\
  function lut2(input [3:0] table_, input [1:0] address);
    lut2 = address[1] ? (address[0] ? table_[3] : table_[2]) : (address[0] ? table_[1] : table_[0]);
  endfunction
"""
LUT = """\
  function lut{width}(input [{last}:0] table_, input [{top}:0] address);
    lut{width} = lut{top}(address[{top}] ? table_[{last}:{half}] : table_[{below}:0], address[{next}:0]);
  endfunction
"""
Verdict = tuple[Signal, Signal | None]  # whether some bits are greater; whether equal (None for the lowest bits)

COUNTERS = """\
  /* verilator lint_off UNUSEDSIGNAL */ // a number may have bits that are always 0
  function [1:0] add2(input a, input b);
    add2 = {a & b, a ^ b};
  endfunction
  function [1:0] add3(input a, input b, input c);
    add3 = {(a & b) | ((a ^ b) & c), a ^ b ^ c};
  endfunction
  function [2:0] add4(input a, input b, input c, input d);
    reg [1:0] s, t;
    begin s = add3(a, b, c); t = add2(d, s[0]); add4 = {add2(s[1], t[1]), t[0]}; end
  endfunction
  function [2:0] add5(input a, input b, input c, input d, input e);
    reg [1:0] s, t;
    begin s = add3(a, b, c); t = add3(d, e, s[0]); add5 = {add2(s[1], t[1]), t[0]}; end
  endfunction
  function [2:0] add6(input a, input b, input c, input d, input e, input f);
    reg [1:0] s, t, u;
    begin
      s = add3(a, b, c); t = add3(d, e, f); u = add2(s[0], t[0]); add6 = {add3(s[1], t[1], u[1]), u[0]};
    end
  endfunction
"""


def fill_gates(module: VerilogModule, circuit: Circuit, reach: float = 1) -> VerilogModule:
    """Fills in the gates of the circuit, or its tables, each a constant of up to 64 bits of which one is chosen."""
    netlist, live = circuit.netlist, live_nodes(circuit.netlist)
    if isinstance(netlist, TableNetlist):
        return _fill_tables(module, netlist, live, reach)
    signals: list[Signal] = [module.port("x", i) for i in range(netlist.inputs)]
    for node, (gate, reads) in enumerate(zip(netlist.gate.tolist(), netlist.reads(), strict=True), netlist.inputs):
        if not live[node] or gate in algebra.CONSTANTS:
            signals.append(module.constant(int(gate == algebra.TRUE)))
        else:
            expression = algebra.expression(gate, "{0}", "{1}" if len(reads) == 2 else "{0}")
            signals.append(module.wire(f"n{node}", 1, expression, [signals[read] for read in reads], reach))
    module.outputs["y"] = [signals[node] for node in netlist.outputs.tolist()]
    return module


def _fill_tables(
    module: VerilogModule, netlist: TableNetlist, live: npt.NDArray[np.bool_], reach: float
) -> VerilogModule:
    signals: list[Signal] = [module.port("x", i) for i in range(netlist.inputs)]
    widths: set[int] = set()
    for node, (table, reads) in enumerate(netlist.rows(), netlist.inputs):
        table, reads = minimal(table, reads)
        if not live[node] or not reads:
            signals.append(module.constant(table))
            continue
        width = len(reads)
        address = ", ".join(f"{{{j}}}" for j in reversed(range(width)))  # input 0 is the lowest bit of the address
        if width == 1:
            expression = "{0}" if table == truth.variable(1, 0) else "~{0}"
        else:
            expression = f"lut{width}({1 << width}'h{_hexadecimal(table, width)}, {{{{{address}}}}})"
            widths.add(width)
        signals.append(module.wire(f"n{node}", 1, expression, [signals[read] for read in reads], reach))
    module.preamble = _lut_functions(max(widths, default=0))
    module.outputs["y"] = [signals[node] for node in netlist.outputs.tolist()]
    return module


def _lut_functions(widest: int) -> str:
    """Returns the Verilog functions that look up tables of two inputs to the widest."""
    if widest < 2:
        return ""
    sizes = [
        {
            "width": n,
            "top": n - 1,
            "next": n - 2,
            "last": (1 << n) - 1,
            "half": 1 << (n - 1),
            "below": (1 << (n - 1)) - 1,
        }
        for n in range(3, widest + 1)
    ]
    return LUT2 + "".join(LUT.format(**size) for size in sizes)


def _hexadecimal(table: int, width: int) -> str:
    """Returns a table with four digits between underscores, which keeps it readable."""
    digits = f"{table:0{max(1, (1 << width) // 4)}x}"
    return "_".join(digits[start : start + 4] for start in range(0, len(digits), 4))


def fill_count(module: VerilogModule, group: int, lut: int, weights: list[int] | None = None) -> VerilogModule:
    """Fills in a counter of the ones in x, for look-up tables of `lut` inputs. weights: how often each bit counts."""
    module.preamble = COUNTERS
    bits = [module.port("x", i) for i in range(group)]
    steps, result = count_plan(group, lut, weights)
    for number, (taken, made) in enumerate(steps):
        operands = ", ".join(f"{{{k}}}" for k in range(len(taken)))
        cost = 1 if len(taken) <= 3 else 2
        wire = module.wire(f"s{number}", len(made), f"add{len(taken)}({operands})", [bits[bit] for bit in taken], cost)
        bits += [module.bit(wire, place) for place in range(len(made))]
    padded = [*result, *[None] * (group.bit_length() - len(result))]
    module.outputs["y"] = [module.constant(0) if bit is None else bits[bit] for bit in padded]
    return module


def fill_argmax(module: VerilogModule, classes: int, width: int, label_width: int) -> VerilogModule:
    """Fills in a knockout tournament: the later of two classes wins only with a higher sum, so ties go to the lower."""
    players = [
        (module.port("x", f"{(c + 1) * width - 1}:{c * width}"), module.constant(c, label_width))
        for c in range(classes)
    ]
    level = 0
    while len(players) > 1:
        level += 1
        winners = []
        for i in range(0, len(players) - 1, 2):
            (low, low_number), (high, high_number) = players[i : i + 2]
            tag = f"{level}_{i // 2}"
            more = _more(module, tag, low, high)
            final = len(players) == 2
            score = low if final else module.wire(f"best{tag}", width, "{2} ? {1} : {0}", [low, high, more])
            number = module.wire(f"number{tag}", label_width, "{2} ? {1} : {0}", [low_number, high_number, more])
            winners.append((score, number))
        players = winners + players[len(winners) * 2 :]
    module.outputs["y"] = [players[0][1]]
    return module


def _more(module: VerilogModule, tag: str, low: Signal, high: Signal) -> Signal:
    """Returns whether `high` is greater than `low`: in one comparison if a stage has room for it, else two bits at a
    time, combined in pairs with registers between them."""
    width, whole = low.width, 3 + low.width / 8
    if module.budget is None or module.budget >= whole:
        return module.wire(f"more{tag}", 1, "{1} > {0}", [low, high], whole)
    verdicts: list[Verdict] = []
    for place in range(0, width, 2):
        part = f"(({{}} >> {place}) & {width}'d{min(3, (1 << width) - 1)})"
        sides = part.format("{1}"), part.format("{0}")
        more = module.wire(f"more{tag}_{place}", 1, " > ".join(sides), [low, high])
        same = module.wire(f"same{tag}_{place}", 1, " == ".join(sides), [low, high]) if place else None
        verdicts.append((more, same))
    while len(verdicts) > 1:
        joined = [_join(module, len(verdicts), *verdicts[i : i + 2]) for i in range(0, len(verdicts) - 1, 2)]
        verdicts = joined + verdicts[len(joined) * 2 :]
    return verdicts[0][0]


def _join(module: VerilogModule, round_: int, below: Verdict, above: Verdict) -> Verdict:
    assert above[1] is not None
    more = module.wire(f"{above[0].name}_{round_}", 1, "{0} | ({1} & {2})", [above[0], above[1], below[0]])
    if below[1] is None:
        return more, None
    return more, module.wire(f"{above[1].name}_{round_}", 1, "{0} & {1}", [above[1], below[1]])


def fill_offset(module: VerilogModule, offset: int, sum_width: int, width: int) -> VerilogModule:
    """Fills in the sum plus a constant in two's complement, in place of the argmax of a classifier."""
    total = module.port("x", f"{sum_width - 1}:0")
    extended = f"{{{{{width - sum_width}'d0, {{0}}}}}}" if width > sum_width else "{0}"
    value = f"{width}'d{offset % (1 << width)}"
    module.outputs["y"] = [module.wire("number", width, f"{extended} + {value}", [total], 2 + width / 8)]
    return module


def fill_encoder(
    module: VerilogModule, input_format: InputFormat, wanted: npt.NDArray[np.bool_] | None = None
) -> VerilogModule:
    """Fills in the comparisons of raw values with thresholds; bits that are not wanted [inputs] are 0."""
    width, floats, bits = input_format.value_bits, input_format.kind == "floats", list[Signal]()
    needed = np.ones(input_format.inputs, bool) if wanted is None else wanted
    for feature, keys in enumerate(input_format.keys.tolist()):
        read = needed[len(bits) : len(bits) + len(keys)].tolist()
        if not any(read):
            bits += [module.constant(0)] * len(keys)
            continue
        value = module.port("x", f"{(feature + 1) * width - 1}:{feature * width}")
        if floats:  # make bit patterns sort like numbers: flip all bits of negative ones, the sign of others
            sign = module.port("x", (feature + 1) * width - 1)
            value = module.wire(f"k{feature}", 32, "{0} ^ {{1'b1, {{31{{{1}}}}}}}", [value, sign])
            number = module.wire(f"number{feature}", 1, f"{{0}} <= 32'd{INFINITY}", [value], 3)
        elif input_format.signed:
            value = module.wire(f"k{feature}", width, f"{{0}} ^ {width}'d{1 << width - 1}", [value], 0)
            keys = [key + (1 << width - 1) for key in keys]
        for level, key in enumerate(keys):
            if not read[level]:
                bits.append(module.constant(0))
                continue
            bit = _comparison(module, f"b{feature}_{level}", value, key, width)
            if floats:
                bit = module.wire(f"c{feature}_{level}", 1, "{0} & {1}", [bit, number])
            bits.append(bit)
    module.outputs["y"] = bits
    return module


def _comparison(module: VerilogModule, name: str, value: Signal, threshold: int, width: int) -> Signal:
    if threshold < 0 or threshold >= (1 << width) - 1:
        return module.constant(int(threshold < 0))
    return module.wire(name, 1, f"{{0}} > {width}'d{threshold}", [value], 1 + width / 8)
