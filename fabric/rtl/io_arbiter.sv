// Whose request a device takes next, by a policy that can be changed at any time.
//
// A device has one request under way. When it has none, the policy's choice among those that ask
// has its turn in the next cycle; a turn lasts until done_i. A policy is a module that is told who
// asks and who has a turn, and says who is next; one's own is one more of them, and one more case.
module io_arbiter
  import io_pkg::*;
#(
  parameter int unsigned PORTS = 2
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  // What is no policy counts as RoundRobin.
  input  policy_e          policy_i,

  // Who asks: a level, until its turn begins.
  input  logic [PORTS-1:0] request_i,
  // Whose turn begins, for a cycle; and whose turn it is until the next begins.
  output logic [PORTS-1:0] grant_o,
  output logic [PORTS-1:0] owner_o,
  // The turn is over; not in the cycle in which it begins.
  input  logic             done_i
);

  logic             busy_q, begins;
  logic [PORTS-1:0] round_robin, fixed, fifo, choice, grant_q, owner_q;

  io_policy_round_robin #(.PORTS(PORTS)) u_round_robin (
    .clk_i, .rst_ni, .request_i, .granted_i(grant_q), .choice_o(round_robin)
  );

  io_policy_fixed #(.PORTS(PORTS)) u_fixed (.request_i, .choice_o(fixed));

  io_policy_fifo #(.PORTS(PORTS)) u_fifo (
    .clk_i, .rst_ni, .enable_i(policy_i == Fifo), .request_i, .granted_i(grant_q), .choice_o(fifo)
  );

  assign choice = policy_i == FixedPriority ? fixed : policy_i == Fifo ? fifo : round_robin;

  assign begins  = grant_q != '0;
  assign grant_o = grant_q;
  assign owner_o = begins ? grant_q : owner_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      grant_q <= '0;
      owner_q <= '0;
    end else begin
      busy_q  <= begins || (busy_q && !done_i);
      grant_q <= begins || busy_q ? '0 : choice;
      owner_q <= owner_o;
    end
  end

endmodule
