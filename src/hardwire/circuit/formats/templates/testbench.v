// Written by hardwire: «count» images through «top»; prints PASS, or the first image that fails.
`timescale 1ns/1ps
module «top»_tb;
  reg clk = 0;
  reg [«width»-1:0] images [0:«count»-1];
  reg [«label_width»-1:0] expected [0:«count»-1];
  reg [«width»-1:0] x;
  wire [«label_width»-1:0] label;
  integer i, failed;
  «top» dut (<% if clocked %>.clk(clk), <% endif %>.x(x), .label(label));
  initial begin
<% for hex, label in vectors %>
    images[«loop.index0»] = «width»'h«hex»; expected[«loop.index0»] = «label»;
<% endfor %>
    failed = 0;
    for (i = 0; i < «count» + «latency»; i = i + 1) begin
      if (i < «count») x = images[i];
      #5;
      if (i >= «latency» && label !== expected[i - «latency»]) begin
        if (failed == 0)
          $display("FAIL image %0d: label %0d, expected %0d", i - «latency», label, expected[i - «latency»]);
        failed = failed + 1;
      end
      clk = 1; #5; clk = 0;
    end
    if (failed == 0) $display("PASS «count» images");
    else $display("FAIL %0d of «count» images", failed);
    $finish;
  end
endmodule
