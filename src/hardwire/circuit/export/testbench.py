"""A self-checking Verilog testbench: images and the labels that the circuit gives them, inside one file."""

import numpy as np

from hardwire.circuit.lower import raw_bits
from hardwire.circuit.netlist import Circuit

TEMPLATE = """\
// Written by hardwire: {count} images through {top}; prints PASS, or the first image that fails.
`timescale 1ns/1ps
module {top}_tb;
  reg clk = 0;
  reg [{width}-1:0] images [0:{count}-1];
  reg [{label_width}-1:0] expected [0:{count}-1];
  reg [{width}-1:0] x;
  wire [{label_width}-1:0] label;
  integer i, failed;
  {top} dut ({clock}.x(x), .label(label));
  initial begin
{vectors}
    failed = 0;
    for (i = 0; i < {count} + {latency}; i = i + 1) begin
      if (i < {count}) x = images[i];
      #5;
      if (i >= {latency} && label !== expected[i - {latency}]) begin
        if (failed == 0)
          $display("FAIL image %0d: label %0d, expected %0d", i - {latency}, label, expected[i - {latency}]);
        failed = failed + 1;
      end
      clk = 1; #5; clk = 0;
    end
    if (failed == 0) $display("PASS {count} images");
    else $display("FAIL %0d of {count} images", failed);
    $finish;
  end
endmodule
"""


def testbench(circuit: Circuit, design, raw: str, images: np.ndarray) -> str:
    """images: raw values where the circuit has an encoder, 0 and 1 [n, inputs] where it has none."""
    images = np.asarray(images)
    labels = circuit.predict(images, raw=circuit.encoder is not None)
    packed = np.packbits(raw_bits(circuit, raw, images), axis=1, bitorder="little")
    vectors = [
        f"    images[{i}] = {design.width}'h{row[::-1].tobytes().hex()}; expected[{i}] = {label};"
        for i, (row, label) in enumerate(zip(packed, labels, strict=True))
    ]
    return TEMPLATE.format(
        count=len(images),
        top=design.top,
        width=design.width,
        label_width=design.label_width,
        latency=design.latency,
        clock=".clk(clk), " if design.clocked else "",
        vectors="\n".join(vectors),
    )
