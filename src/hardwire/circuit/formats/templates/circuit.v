<% set inner = ("input clk, " if clocked else "") ~ ("input ce, " if control else "") %>
<% set connect = (".clk(clk), " if clocked else "") ~ (".ce(ce), " if control else "") %>
<% set outer = ("input clk, " if clocked else "") ~ ("input rst, input ce, input valid_in, output valid_out, " if control else "") %>
<% set scores_port = ", output [%d:0] scores" % (scores_width - 1) if scores_width else "" %>
<% set scores = ", .scores(scores)" if scores_width else "" %>
<% for line in comment %>
// «line»
<% endfor %>
/* verilator lint_off DECLFILENAME */ // all modules are in this file

<% for module in modules %>
«module»
<% endfor %>
/* verilator lint_on UNUSEDSIGNAL */
module «top»_core («inner»input [«inputs - 1»:0] x, output [«label_width - 1»:0] label«scores_port»);
  wire [«classes * group - 1»:0] y;
  wire [«classes * sum_width - 1»:0] sums;
  «top»_gates gates («connect».x(x), .y(y));
<% for c in range(classes) %>
  «top»_«counts[c]» count«c» («connect».x(y[«(c + 1) * group - 1»:«c * group»]), .y(sums[«(c + 1) * sum_width - 1»:«c * sum_width»]));
<% endfor %>
  «top»_argmax argmax («connect».x(sums), .y(label));
<% if scores_width %>
<% for stage in range(argmax_latency) %>
  reg [«scores_width - 1»:0] scores_«stage + 1»;
  always @(posedge clk) «"if (ce) " if control»scores_«stage + 1» <= «"scores_%d" % stage if stage else "sums"»;
<% endfor %>
  assign scores = «"scores_%d" % argmax_latency if argmax_latency else "sums"»;
<% endif %>
endmodule

module «top» («outer»input [«width - 1»:0] x, output [«label_width - 1»:0] label«scores_port»);
<% if encodes %>
  wire [«inputs - 1»:0] bits;
  «top»_encoder encoder («connect».x(x), .y(bits));
  «top»_core core («connect».x(bits), .label(label)«scores»);
<% else %>
  «top»_core core («connect».x(x), .label(label)«scores»);
<% endif %>
<% if control %>
  // An image that came with valid_in leaves with valid_out; both wait where ce is 0.
  reg [«latency - 1»:0] valid;
  always @(posedge clk) if (rst) valid <= «latency»'d0; else if (ce) valid <= «"{valid[%d:0], valid_in}" % (latency - 2) if latency > 1 else "valid_in"»;
  assign valid_out = valid[«latency - 1»];
<% endif %>
endmodule
<% if stream %>

// An image in «words» words of «stream» bits, lowest first, one with each in_valid; its label comes with out_valid. A new
// image may follow at once.
module «top»_stream (input clk, input rst, input in_valid, input [«stream - 1»:0] in_data, output out_valid, output [«label_width - 1»:0] label«scores_port»);
  localparam [«counter_width - 1»:0] LAST = «counter_width»'d«words - 1»;
  reg [«counter_width - 1»:0] word;
  reg full;
  /* verilator lint_off UNUSEDSIGNAL */
  reg [«words * stream - 1»:0] image; // the last word may be longer than the image
  /* verilator lint_on UNUSEDSIGNAL */
  always @(posedge clk) begin
    if (in_valid) image <= «"{in_data, image[%d:%d]}" % (words * stream - 1, stream) if words > 1 else "in_data"»;
    if (rst) begin word <= «counter_width»'d0; full <= 1'b0; end
    else begin
      full <= in_valid && word == LAST;
      if (in_valid) word <= word == LAST ? «counter_width»'d0 : word + «counter_width»'d1;
    end
  end
<% if control %>
  «top» whole (.clk(clk), .rst(rst), .ce(1'b1), .valid_in(full), .valid_out(out_valid), .x(image[«width - 1»:0]), .label(label)«scores»);
<% else %>
  «top» whole («".clk(clk), " if clocked».x(image[«width - 1»:0]), .label(label)«scores»);
<% if latency %>
  reg [«latency - 1»:0] valid;
  always @(posedge clk) if (rst) valid <= «latency»'d0; else valid <= «"{valid[%d:0], full}" % (latency - 2) if latency > 1 else "full"»;
  assign out_valid = valid[«latency - 1»];
<% else %>
  assign out_valid = full;
<% endif %>
<% endif %>
endmodule
<% endif %>
