// Fixed priority: of those that ask, the port with the lowest number. While a port waits, none
// above it has a turn.
module io_policy_fixed #(
  parameter int unsigned PORTS = 2
) (
  // Who asks: a level, until its turn.
  input  logic [PORTS-1:0] request_i,
  // The next port: one that asks, or none.
  output logic [PORTS-1:0] choice_o
);

  assign choice_o = request_i & (~request_i + 1'b1);

endmodule
