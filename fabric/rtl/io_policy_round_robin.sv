// Round robin: after a port has had its turn, the next that asks above it has the next, and after
// the uppermost comes the lowest. So while a port waits, each other port has at most one turn.
module io_policy_round_robin #(
  parameter int unsigned PORTS = 2
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  // Who asks: a level, until its turn.
  input  logic [PORTS-1:0] request_i,
  // Whose turn begins; one bit or none. Not only by this policy's choice.
  input  logic [PORTS-1:0] granted_i,
  // The next port: one that asks, or none.
  output logic [PORTS-1:0] choice_o
);

  // Those above the last one that had a turn.
  logic [PORTS-1:0] after_q, first;

  assign first    = (request_i & after_q) != '0 ? request_i & after_q : request_i;
  assign choice_o = first & (~first + 1'b1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      after_q <= '0;
    end else if (granted_i != '0) begin
      after_q <= ~(granted_i | (granted_i - 1'b1));
    end
  end

endmodule
