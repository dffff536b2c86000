// The arbiter of a device: a turn is only for who asks, one at a time; and while a port waits and
// the policy stays, others have no more turns before it than the policy says. Round robin and FIFO:
// each other port one. Fixed priority: none of those above it.
//
// A port that waits, and another, are followed.
module io_arbiter_formal
  import io_pkg::*;
#(
  parameter int unsigned PORTS = 4
) (
  input logic             clk_i,
  input logic             rst_ni,
  input policy_e          policy_i,
  input logic [PORTS-1:0] request_i,
  input logic             done_i,
  // Any two, but the same all the time.
  input logic [1:0]       who_i,
  input logic [1:0]       other_i
);

  logic [PORTS-1:0] grant, owner;

  io_arbiter #(.PORTS(PORTS)) dut (
    .clk_i, .rst_ni, .policy_i, .request_i, .grant_o(grant), .owner_o(owner), .done_i
  );

  logic             began_q = 1'b0;
  logic [1:0]       who_q, other_q;
  policy_e          policy_q;
  logic [PORTS-1:0] request_q, grant_q;
  logic             turn_q;        // a turn is under way
  logic             passed_q;      // the other one has had a turn since this one waits
  logic [2:0]       rest_q;        // for how many cycles a port waits, and none has a turn
  logic             waits, passes, same_policy, round_robin;

  assign round_robin = policy_i != FixedPriority && policy_i != Fifo;
  assign waits       = request_i[who_i] && !grant[who_i];
  // The port that is granted was chosen in the cycle before: this one had to ask then.
  assign passes      = waits && request_q[who_i] && !grant_q[who_i] && same_policy;
  assign same_policy = policy_i == policy_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {turn_q, passed_q, rest_q, request_q, grant_q} <= '0;
      policy_q <= RoundRobin;
    end else begin
      policy_q  <= policy_i;
      request_q <= request_i;
      grant_q   <= grant;
      turn_q    <= grant != '0 || (turn_q && !done_i);
      passed_q  <= waits && same_policy && (passed_q || (grant[other_i] && passes));
      rest_q    <= same_policy && !turn_q && grant == '0 && request_i != '0 ? rest_q + 3'd1 : '0;
    end
  end

`ifndef CUT
  logic [PORTS-1:0] me, other, above, after, batch, queued, members;
  logic             alone;
  logic [1:0]       mine_at, other_at;

  assign me     = PORTS'(1) << who_i;
  assign other  = PORTS'(1) << other_i;
  assign above  = ~(me | (me - 1'b1));
  assign after  = dut.u_round_robin.after_q;
  assign batch  = dut.u_fifo.batch_q;
  // The one whose turn begins is still there.
  assign queued = dut.u_fifo.queued_q;

  // Who is in the queue, and where the two are; and whether anyone is there twice.
  always_comb begin
    members  = '0;
    alone    = 1'b1;
    mine_at  = '0;
    other_at = '0;
    for (int unsigned i = 0; i < PORTS; i++) begin
      if (i < 32'(dut.u_fifo.count_q)) begin
        if (members[dut.u_fifo.queue[2'(i) + dut.u_fifo.first_q]]) alone = 1'b0;
        members[dut.u_fifo.queue[2'(i) + dut.u_fifo.first_q]] = 1'b1;
        if (dut.u_fifo.queue[2'(i) + dut.u_fifo.first_q] == who_i) mine_at = 2'(i);
        if (dut.u_fifo.queue[2'(i) + dut.u_fifo.first_q] == other_i) other_at = 2'(i);
      end
    end
  end
`endif

  always_ff @(posedge clk_i) begin
    began_q <= 1'b1;
    who_q   <= who_i;
    other_q <= other_i;

    begin_in_reset: assume (rst_ni == began_q);
    if (began_q) followed: assume (who_i == who_q && other_i == other_q && who_i != other_i);

    if (rst_ni) begin
      // Who asks does so until its turn; a turn is over once, and not as it begins.
      asks_on: assume ((request_q & ~request_i & ~grant_q) == '0);
      done_once: assume (!done_i || turn_q);

      one_turn: assert ((grant & (grant - 1'b1)) == '0);
      asked: assert ((grant & ~request_i) == '0);
      not_between: assert (grant == '0 || !turn_q);
      told: assert (grant == '0 || owner == grant);

      if (round_robin) in_turn: assert (!(grant[other_i] && passes && passed_q));
      if (policy_i == Fifo) in_order: assert (!(grant[other_i] && passes && passed_q));
      if (policy_i == FixedPriority) begin
        by_number: assert (!(grant[other_i] && passes && other_i > who_i));
      end
      goes_on: assert (rest_q <= 3'd4);

`ifndef CUT
      // What makes the rest follow by induction.
      state_busy: assert (dut.busy_q == turn_q && grant == dut.grant_q);
      state_grant: assert ((grant & (grant - 1'b1)) == '0 && (grant & ~request_q) == '0
                           && (grant & grant_q) == '0);
      // Round robin: those that have had a turn are above this one, and not above the last.
      state_after: assert (after == 4'b0000 || after == 4'b1110 || after == 4'b1100
                           || after == 4'b1000);
      if (round_robin && same_policy && passed_q) begin
        state_passed: assert (((after & me) != '0 ? (above | ~after) & other
                                : above & ~after & other) != '0);
      end
      // FIFO: what is queued asks, and is queued once.
      state_count: assert (dut.u_fifo.count_q <= 3'd4);
      state_batch: assert ((batch & queued) == '0
                           && ((batch | queued) & ~(request_i | request_q)) == '0
                           && ((batch | queued) & ~request_i) == '0);
      state_queued: assert (queued == members && alone);
      if (passed_q) state_waited: assert (request_i[who_i]);
      if (policy_i == Fifo && same_policy && passed_q) begin
        if ((queued & me) != '0) begin
          state_first: assert ((queued & other) == '0 || mine_at < other_at);
        end else if ((batch & me) != '0) begin
          state_same_batch: assert ((queued & other) == '0
                                    && ((batch & other) == '0 || other_i > who_i));
        end else begin
          state_later: assert ((queued & other) == '0 && (batch & other) == '0
                               && (dut.u_fifo.recent_q & other) != '0);
        end
      end
`endif

      round: cover (round_robin && grant[who_i] && passed_q);
      fixed: cover (policy_i == FixedPriority && grant[who_i] && passed_q);
      fifo: cover (policy_i == Fifo && grant[who_i] && passed_q);
    end
  end

endmodule
