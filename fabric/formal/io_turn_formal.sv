// A device's turns, whatever ports and device do that keeps their rules: the I/O hypervisor's
// duties to an I/O VMM, and that nothing of a turn reaches a port whose turn it is not. Where a
// request is suspended, its port sees that as a pause: each word moves once, and in order, and it
// is answered once, when all of it is over.
//
// Of the arbiter is taken for granted what is proved of it; of ports, what is proved of their
// engines: a word of the request is there as long as there are any.
module io_turn_formal
  import io_pkg::*;
#(
  parameter bit PREEMPTIBLE = 1'b0
) (
  input logic               clk_i,
  input logic               rst_ni,
  input policy_e            policy,
  input logic [1:0]         ask,
  input logic [1:0][44:0]   asked,
  input logic [1:0]         in_valid,
  input logic [1:0][31:0]   in_data,
  input logic               request_ready,
  input logic               in_ready,
  input logic               out_valid,
  input logic               response_valid,
  input logic [14:0]        responded
);

  typedef logic [9:0] words_t;

  request_t [1:0]  request;
  request_t        shown;
  response_t       response, answer;
  logic [1:0]      grant, in_readys, out_valids, response_valids;
  logic            request_valid, in_valid_all, yields;
  logic [31:0]     in_data_all;

  assign response = response_t'(responded);

  for (genvar i = 0; i < 2; i++) begin : gen_port
    assign request[i] = {PortWidth'(i), asked[i]};
  end

  io_turn #(.PORTS(2), .PREEMPTIBLE(PREEMPTIBLE)) dut (
    .clk_i, .rst_ni, .policy_i(policy), .ask_i(ask), .request_i(request), .grant_o(grant),
    .in_valid_i(in_valid), .in_ready_o(in_readys), .in_data_i(in_data),
    .out_valid_o(out_valids), .response_valid_o(response_valids), .response_o(answer),
    .request_valid_o(request_valid), .request_ready_i(request_ready), .request_o(shown),
    .in_valid_o(in_valid_all), .in_ready_i(in_ready), .in_data_o(in_data_all),
    .out_valid_i(out_valid), .response_valid_i(response_valid), .response_i(response),
    .yield_o(yields)
  );

  io_vmm_rules #(
    .VMM_PROVED(1'b0), .HYPERVISOR_PROVED(1'b1), .PORTS(2), .RESPONSE_CYCLES_MAX(8),
    .READY_CYCLES_MAX(4), .PREEMPTIBLE(PREEMPTIBLE)
  ) rules (
    .clk_i, .rst_ni, .request_valid, .request_ready, .request(shown), .in_valid(in_valid_all),
    .in_ready, .out_valid, .response_valid, .response
  );

  logic         began_q = 1'b0;
  // Of each port: its request is under way, and suspended; its words that are left to be taken, and
  // that were given.
  logic [1:0]   ask_q, under_way_q, suspended_q, suspended, owner_q;
  words_t [1:0] left_q, given_q, moved;
  request_t [1:0] request_q, rest;
  // Whose request is shown, and whose the device has.
  logic         at, of;
  logic [1:0]   turn;
  logic         yield_q;

  // No more has moved than there is, and of a suspended request less.
  logic [1:0] in_bounds;

  function automatic words_t words(logic [LengthWidth-1:0] length);
    return words_t'((12'(length) + 12'd3) >> 2);
  endfunction

  assign at        = shown.port[0];
  assign of        = rules.request_q.port[0];
  assign turn      = rules.busy_q ? 2'b01 << of : '0;
  assign suspended = suspended_q & ~(request_valid ? 2'b01 << at : 2'b00);

  always_comb begin
    for (int unsigned i = 0; i < 2; i++) begin
      moved[i]       = request[i].op == Read ? given_q[i] : words(request[i].length) - left_q[i];
      rest[i]        = request[i];
      rest[i].addr   = request[i].addr + 32'({moved[i], 2'b00});
      rest[i].length = request[i].length - LengthWidth'({moved[i], 2'b00});
      in_bounds[i]   = left_q[i] <= (request[i].op == Read ? '0 : words(request[i].length))
                       && given_q[i] <= (request[i].op != Read ? '0 : words(request[i].length))
                       && (!suspended[i] || moved[i] < words(request[i].length));
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {ask_q, under_way_q, suspended_q, owner_q, left_q, given_q, yield_q} <= '0;
    end else begin
      ask_q       <= ask & ~grant;
      under_way_q <= (under_way_q | grant) & ~response_valids;
      suspended_q <= suspended
                     | (response_valid && response.status == Suspended ? turn : 2'b00);
`ifndef CUT
      owner_q     <= dut.owner;
`endif
      yield_q     <= PREEMPTIBLE && policy == FixedPriority && turn == 2'b10 && !response_valid
                     && (ask[0] || suspended[0]);
      for (int unsigned i = 0; i < 2; i++) begin
        left_q[i]  <= grant[i] ? (request[i].op == Read ? '0 : words(request[i].length))
                      : left_q[i] - words_t'(in_valid[i] && in_readys[i]);
        given_q[i] <= grant[i] ? '0 : given_q[i] + words_t'(out_valids[i]);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    began_q   <= 1'b1;
    request_q <= request;

    begin_in_reset: assume (rst_ni == began_q);

    if (rst_ni) begin
      // Ports.
      formed_0: assume (request[0].op != Reserved && request[0].length <= 11'd1536);
      formed_1: assume (request[1].op != Reserved && request[1].length <= 11'd1536);
      asks_on: assume ((ask_q & ~ask) == '0);
      same_0: assume (!(ask_q[0] || under_way_q[0]) || request[0] == request_q[0]);
      same_1: assume (!(ask_q[1] || under_way_q[1]) || request[1] == request_q[1]);
      no_other_turn: assume ((ask & under_way_q) == '0);
      its_words: assume (in_valid == {under_way_q[1] && left_q[1] != '0,
                                      under_way_q[0] && left_q[0] != '0});
`ifndef CUT
      // The arbiter.
      granted: assume ((dut.begins & ~(ask | dut.suspended)) == '0 && dut.begins != 2'b11
                       && (dut.begins == '0 || !(request_valid || rules.busy_q)));
      owner: assume (dut.owner == (dut.begins != '0 ? dut.begins : owner_q));
`endif

      to_mine: assert (((out_valids | response_valids | in_readys) & ~turn) == '0);
      all_given: assert (!(out_valid && rules.busy_q) || out_valids == turn);
      all_answered: assert (!(response_valid && rules.busy_q)
                            || response_valids == (response.status == Suspended ? 2'b00 : turn));
      all_taken: assert (!(in_valid_all && in_ready) || in_readys == turn);
      granted_once: assert ((grant & ~ask) == '0);
      own_request: assert (!request_valid || (under_way_q[at] && shown == rest[at]));
      own_words: assert (!in_valid_all || in_data_all == in_data[of]);
      at_once: assert ((under_way_q & ~suspended) == '0 || request_valid || rules.busy_q);
      own_status: assert (response_valids == '0 || answer.status == response.status);
      own_length: assert (response_valids == '0 || answer.length <= request[of].length);
      whole: assert (response_valids == '0 || answer.status != Done || request[of].op != Read
                     || words(answer.length) == given_q[of] + words_t'(out_valid));
      no_length: assert (response_valids == '0
                         || (answer.status == Done && request[of].op == Read)
                         || answer.length == '0);
      yields_in_time: assert (yields == yield_q);

      second: cover (response_valids == 2'b10);
      words_taken: cover (response_valids == 2'b01 && request[0].length == 11'd8
                          && request[0].op == Write && left_q[0] == '0);
      if (PREEMPTIBLE) begin
        resumed: cover (response_valids == 2'b10 && answer.status == Done
                        && answer.length == 11'd7 && given_q[1] != '0
                        && rules.request_q.length == 11'd3);
        preempted: cover (response_valids == 2'b01 && suspended == 2'b10);
      end
`ifndef CUT
      state_busy: assert (dut.busy_q == rules.busy_q);
      state_one: assert (!(rules.busy_q && request_valid));
      state_turn: assert ((under_way_q & ~suspended) == (request_valid ? 2'b01 << at : turn));
      state_suspended: assert (dut.suspended == suspended && (suspended & ~under_way_q) == '0);
      state_waits: assert (suspended == '0 || PREEMPTIBLE);
      state_owner: assert (!(request_valid || rules.busy_q)
                           || owner_q == (under_way_q & ~suspended));
      state_left: assert (!rules.busy_q
                          || (rules.in_q == left_q[of] && rules.in_wait_q == '0));
      state_shown: assert (!rules.held_q || rules.shown_q == shown);
      state_held: assert (!rules.held_q || request_valid);
      state_port: assert (!(request_valid && shown.port >= 6'd2)
                          && !(rules.busy_q && rules.request_q.port >= 6'd2));
      state_moved: assert ((under_way_q & ~in_bounds) == '0);
`endif
    end
  end

`ifndef CUT
  // The words that had moved when the turn began, and by now.
  words_t past;

  if (PREEMPTIBLE) begin : gen_past
    assign past = words_t'(dut.gen_preemptible.past_q);

    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        if (request_valid) state_moved_at: assert (dut.gen_preemptible.moved_q == 9'(moved[at]));
        if (rules.busy_q) state_moved_of: assert (dut.gen_preemptible.moved_q == 9'(moved[of]));
        state_kept: assert ((!suspended[0] || dut.gen_preemptible.kept[0] == 9'(moved[0]))
                            && (!suspended[1] || dut.gen_preemptible.kept[1] == 9'(moved[1])));
      end
    end
  end else begin : gen_no_past
    assign past = '0;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (request_valid) state_past_at: assert (past == moved[at]);
      if (request_valid) state_some_at: assert (past == '0 || past < words(request[at].length));
      if (rules.busy_q) begin
        state_some_of: assert (past == '0 || past < words(request[of].length));
        state_piece: assert (rules.request_q.op == request[of].op
          && rules.request_q.addr == request[of].addr + 32'({past, 2'b00})
          && rules.request_q.length
             == request[of].length - LengthWidth'({past, 2'b00}));
        state_request: assert (shown == rules.request_q);
        state_given: assert (request[of].op != Read || given_q[of] == past + rules.out_q);
        state_given_none: assert (request[of].op == Read || rules.out_q == '0);
      end
    end
  end
`endif

endmodule
