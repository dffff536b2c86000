// A device's turns, whatever ports and device do that keeps their rules: the I/O hypervisor's
// duties to an I/O VMM, and that nothing of a turn reaches a port whose turn it is not.
//
// Of the arbiter is taken for granted what is proved of it; of ports, what is proved of their
// engines: a word of the request is there as long as there are any.
module io_turn_formal
  import io_pkg::*;
(
  input logic               clk_i,
  input logic               rst_ni,
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

  request_t [1:0]  request;
  request_t        shown;
  logic [1:0]      grant, in_readys, out_valids, response_valids;
  logic            request_valid, in_valid_all;
  logic [31:0]     in_data_all;

  for (genvar i = 0; i < 2; i++) begin : gen_port
    assign request[i] = {PortWidth'(i), asked[i]};
  end

  io_turn #(.PORTS(2)) dut (
    .clk_i, .rst_ni, .policy_i(RoundRobin), .ask_i(ask), .request_i(request), .grant_o(grant),
    .in_valid_i(in_valid), .in_ready_o(in_readys), .in_data_i(in_data),
    .out_valid_o(out_valids), .response_valid_o(response_valids),
    .request_valid_o(request_valid), .request_ready_i(request_ready), .request_o(shown),
    .in_valid_o(in_valid_all), .in_ready_i(in_ready), .in_data_o(in_data_all),
    .out_valid_i(out_valid), .response_valid_i(response_valid)
  );

  io_vmm_rules #(
    .VMM_PROVED(1'b0), .HYPERVISOR_PROVED(1'b1), .PORTS(2), .RESPONSE_CYCLES_MAX(8),
    .READY_CYCLES_MAX(4)
  ) rules (
    .clk_i, .rst_ni, .request_valid, .request_ready, .request(shown), .in_valid(in_valid_all),
    .in_ready, .out_valid, .response_valid, .response(response_t'(responded))
  );

  logic       began_q = 1'b0;
  // Whose turn it is, and what of its request is left to be taken.
  logic [1:0] turn_q, ask_q, owner_q;
  logic [9:0] left_q;
  request_t   mine_q;
  request_t [1:0] request_q;

  function automatic logic [9:0] words(request_t of);
    return of.op == Read ? '0 : 10'((12'(of.length) + 12'd3) >> 2);
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {turn_q, ask_q, owner_q, left_q} <= '0;
    end else begin
      turn_q  <= grant != '0 ? grant : response_valid ? '0 : turn_q;
`ifndef CUT
      owner_q <= dut.owner;
`endif
      ask_q   <= ask & ~grant;
      if (grant != '0) left_q <= words(request[grant[1]]);
      else left_q <= left_q - 10'(in_valid_all && in_ready);
    end
  end

  always_ff @(posedge clk_i) begin
    began_q   <= 1'b1;
    request_q <= request;
    if (grant != '0) mine_q <= request[grant[1]];

    begin_in_reset: assume (rst_ni == began_q);

    if (rst_ni) begin
      // Ports.
      formed_0: assume (request[0].op != Reserved && request[0].length <= 11'd1536);
      formed_1: assume (request[1].op != Reserved && request[1].length <= 11'd1536);
      asks_on: assume ((ask_q & ~ask) == '0);
      same_0: assume (!(ask_q[0] || turn_q[0]) || request[0] == request_q[0]);
      same_1: assume (!(ask_q[1] || turn_q[1]) || request[1] == request_q[1]);
      no_other_turn: assume ((ask & turn_q) == '0);
      its_words: assume (in_valid == (left_q != '0 ? turn_q : 2'b00));
      // The arbiter.
      granted: assume ((grant & ~ask) == '0 && grant != 2'b11 && (grant == '0 || turn_q == '0));
`ifndef CUT
      owner: assume (dut.owner == (grant != '0 ? grant : owner_q));
`endif

      to_mine: assert (((out_valids | response_valids | in_readys) & ~turn_q) == '0);
      all_given: assert (!(out_valid && rules.busy_q) || out_valids == turn_q);
      all_answered: assert (!(response_valid && rules.busy_q) || response_valids == turn_q);
      all_taken: assert (!(in_valid_all && in_ready) || in_readys == turn_q);
      own_request: assert (!request_valid || (turn_q != '0 && shown == mine_q));
      own_words: assert (!in_valid_all || in_data_all == in_data[turn_q[1]]);
      at_once: assert (turn_q == '0 || request_valid || rules.busy_q);

      second: cover (response_valids == 2'b10);
      words_taken: cover (response_valid && rules.busy_q && mine_q.length == 11'd8
                          && mine_q.op == Write && left_q == '0);
`ifndef CUT
      state_busy: assert (dut.busy_q == rules.busy_q);
      state_one: assert (turn_q != 2'b11 && !(rules.busy_q && request_valid)
                         && (turn_q != '0 || !(rules.busy_q || request_valid)));
      state_owner: assert (turn_q == '0 || owner_q == turn_q);
      state_left: assert (!rules.busy_q || (rules.in_q == left_q && rules.in_wait_q == '0));
      state_words: assert (!request_valid || (left_q == words(shown)));
      state_mine: assert (!request_valid || shown.op != Reserved && shown.length <= 11'd1536
                          && shown.port < 6'd2);
      state_shown: assert (!rules.held_q || rules.shown_q == shown);
      state_held: assert (!rules.held_q || request_valid);
      state_taken: assert (!rules.busy_q || rules.request_q == mine_q);
`endif
    end
  end

endmodule
