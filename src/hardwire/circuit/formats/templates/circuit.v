<% set clock = "input clk, " if clocked else "" %>
<% set connect = ".clk(clk), " if clocked else "" %>
<% for line in about %>
// «line»
<% endfor %>

<% for module in modules %>
«module»
<% endfor %>
module «core» («clock»input [«inputs - 1»:0] x, output [«label_width - 1»:0] label);
  wire [«classes * group - 1»:0] y;
  wire [«classes * sum_width - 1»:0] sums;
  «top»_gates gates («connect».x(x), .y(y));
<% for c in range(classes) %>
  «top»_count count«c» («connect».x(y[«(c + 1) * group - 1»:«c * group»]), .y(sums[«(c + 1) * sum_width - 1»:«c * sum_width»]));
<% endfor %>
  «top»_argmax argmax («connect».x(sums), .y(label));
endmodule
<% if core != top %>

module «top» («clock»input [«width - 1»:0] x, output [«label_width - 1»:0] label);
  wire [«inputs - 1»:0] bits;
  «top»_encoder encoder («connect».x(x), .y(bits));
  «core» core («connect».x(bits), .label(label));
endmodule
<% endif %>
