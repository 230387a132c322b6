// SPDX-License-Identifier: MIT-0
// Written by hardwire: «count» images through «top»; prints PASS, or the first image that fails. Runs under iverilog, and
// under verilator with the options --binary and --timing.
module «top»_tb;
  reg clk = 0;
  reg [«width - 1»:0] images [0:«count - 1»];
  reg [«label_width - 1»:0] expected [0:«count - 1»];
  reg [«width - 1»:0] x;
  wire [«label_width - 1»:0] label;
<% if scores_width %>
  reg [«scores_width - 1»:0] sums [0:«count - 1»];
  wire [«scores_width - 1»:0] scores;
<% endif %>
<% if control %>
  reg rst, ce, valid_in;
  wire valid_out;
<% endif %>
  integer i, done, failed«", pending" if control»;
  «top» dut (<% if clocked %>.clk(clk), <% endif %><% if control %>.rst(rst), .ce(ce), .valid_in(valid_in), .valid_out(valid_out), <% endif %>.x(x), .label(label)<% if scores_width %>, .scores(scores)<% endif %>);
  initial begin
<% for hex, label, sums in vectors %>
    images[«loop.index0»] = «width»'h«hex»; expected[«loop.index0»] = «label_width»'d«label»;
<% if scores_width %>
    sums[«loop.index0»] = «scores_width»'h«sums»;
<% endif %>
<% endfor %>
    failed = 0;
    done = 0;
    x = images[0];
<% if control %>
    rst = 1; ce = 1; valid_in = 0; pending = 0; // images on their way
    #5 clk = 1; #5 clk = 0;
    rst = 0;
    // An image every third clock, and a clock in five without ce: valid_out says when a label is there.
    for (i = 0; done < «count» && i < 20 * («count» + «latency» + 5); i = i + 1) begin
      ce = i % 5 != 3;
      valid_in = i % 3 == 0;
      if (valid_in && ce) begin
        x = images[(done + pending) % «count»];
        pending = pending + 1;
      end else valid_in = 0;
      #5;
      if (valid_out && ce) begin
        check;
        done = done + 1;
        pending = pending - 1;
      end
      clk = 1; #5; clk = 0;
    end
<% else %>
    for (i = 0; i < «count» + «latency»; i = i + 1) begin
      if (i < «count») x = images[i];
      #5;
      if (i >= «latency») begin
        done = i - «latency»;
        check;
      end
      clk = 1; #5; clk = 0;
    end
    done = «count»;
<% endif %>
    if (failed == 0 && done == «count») $display("PASS «count» images");
    else $display("FAIL %0d of «count» images", failed + «count» - done);
    $finish;
  end

  task check;
    if (label !== expected[done]<% if scores_width %> || scores !== sums[done]<% endif %>) begin
      if (failed == 0) $display("FAIL image %0d: label %0d, expected %0d", done, label, expected[done]);
      failed = failed + 1;
    end
  endtask
endmodule
