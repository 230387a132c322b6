"""Names that C compilers and Verilog tools accept, made from the path of the exported file."""

import os
import re
from pathlib import Path

from hardwire.errors import HardwireError

C = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr const_cast
continue decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto if
inline int long main mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
register reinterpret_cast restrict return short signed sizeof static static_assert static_cast struct switch template
this thread_local throw true try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t while
xor xor_eq
"""
VERILOG = """
accept_on alias always always_comb always_ff always_latch assert assign assume automatic before begin bind bins binsof
bit buf bufif0 bufif1 byte casex casez cell chandle checker clocking cmos config constraint context cover covergroup
coverpoint cross deassign defparam design disable dist edge end endcase endchecker endclass endclocking endconfig
endfunction endgenerate endgroup endinterface endmodule endpackage endprimitive endprogram endproperty endspecify
endsequence endtable endtask event eventually expect extends final first_match force foreach forever fork forkjoin
function generate genvar global highz0 highz1 iff ifnone ignore_bins illegal_bins implements implies import incdir
include initial inout input inside instance integer interconnect interface intersect join join_any join_none large let
liblist library local localparam logic longint macromodule matches medium modport module nand negedge nettype nexttime
nmos nor noshowcancelled notif0 notif1 null output package packed parameter pmos posedge primitive priority program
property pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase randsequence rcmos
real realtime ref reg reject_on release repeat rnmos rpmos rtran rtranif0 rtranif1 s_always s_eventually s_nexttime
s_until s_until_with scalared sequence shortint shortreal showcancelled small soft solve specify specparam string strong
strong0 strong1 super supply0 supply1 sync_accept_on sync_reject_on table tagged task throughout time timeprecision
timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type unique unique0 until until_with untyped use uwire
var vectored wait wait_order wand weak weak0 weak1 wildcard wire with within wor xnor
"""
OURS = "x y label clk rst ce valid_in valid_out scores data ready"  # ports of our modules
UNFIT = frozenset('"\\\r\n')  # cannot occur in the name of an included file
RESERVED = frozenset(f"{C} {VERILOG} {OURS}".split())


def name_for(path: str | os.PathLike[str], name: str | None = None) -> str:
    """Returns `name` if given, else the file's stem with other characters as underscores; never a keyword."""
    if set(Path(path).name) & UNFIT:
        raise HardwireError(f"{Path(path).name!r} cannot be named in an #include; use no quotes, backslashes or lines")
    if name is None:
        name = re.sub(r"\W", "_", Path(path).stem, flags=re.ASCII)
        if not name or not name[0].isalpha() or name in RESERVED:
            name = f"circuit_{name.lstrip('_')}"
    if not re.fullmatch(r"[A-Za-z_]\w*", name, flags=re.ASCII) or name in RESERVED:
        raise HardwireError(
            f"{name!r} cannot name a C function or a Verilog module; use letters, digits and _, and no keyword of "
            "these languages"
        )
    return name
