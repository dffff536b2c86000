// The allocator's answers on their way to memory, whatever is answered when, and whatever memory
// does: of each interface the newest one is kept, and written to its place in the line and nowhere
// else, without the lowest byte; none is lost, and an older one never comes after a newer one.
module allocation_answers_formal #(
  parameter int unsigned INTERFACES = 3
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic [39:6] line,
  input logic        valid,
  input logic [1:0]  client,
  input logic        later,
  input logic [55:0] answer,
  input logic        wr_ready,
  input logic        wr_data_ready,
  input logic        wr_done,
  input logic        wr_error,
  // An interface; any, but the same all the time.
  input logic [1:0]  one
);

  logic [INTERFACES-1:0] due;
  logic                  busy, event_first, event_later, event_error, wr_valid, wr_data_valid;
  logic [39:0]           wr_addr;
  logic [63:0]           wr_data;
  logic [7:0]            wr_strobe;

  allocation_answers #(.INTERFACES(INTERFACES)) dut (
    .clk_i, .rst_ni,
    .line_i(line), .valid_i(valid), .client_i(client), .later_i(later), .answer_i(answer),
    .due_o(due), .busy_o(busy),
    .first_o(event_first), .later_o(event_later), .error_o(event_error),
    .wr_valid_o(wr_valid), .wr_ready_i(wr_ready), .wr_addr_o(wr_addr),
    .wr_data_valid_o(wr_data_valid), .wr_data_ready_i(wr_data_ready), .wr_data_o(wr_data),
    .wr_strobe_o(wr_strobe), .wr_done_i(wr_done), .wr_error_i(wr_error)
  );

  logic began_q = 1'b0;
  // The newest answer to the interface; that it came in the last cycle, and that it has not been
  // offered to memory. An answer that is under way. The line as it was.
  logic        answered_q, later_q, came_q, unsent_q, offered_q, sends_q, is_one;
  logic [55:0] answer_q;
  logic [39:6] line_q;
  // For how many answers of others the interface has waited.
  logic [1:0]  before_q;

  // The write that is offered is for the interface.
  assign is_one = wr_addr[5:3] == {1'b0, one};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      answered_q <= 1'b0;
      came_q     <= 1'b0;
      unsent_q   <= 1'b0;
      offered_q  <= 1'b0;
      sends_q    <= 1'b0;
      before_q   <= '0;
    end else begin
      answered_q <= answered_q || (valid && client == one);
      came_q     <= valid && client == one;
      // One that came in the last cycle is not what is offered.
      unsent_q   <= (valid && client == one) || came_q
                    || (unsent_q && !(wr_valid && !offered_q && is_one));
      offered_q  <= wr_valid;
      sends_q    <= (wr_valid && wr_ready) || (sends_q && !wr_done);
      if (!due[one] || (wr_valid && !offered_q && is_one)) before_q <= '0;
      else if (wr_valid && !offered_q && !is_one) before_q <= before_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    began_q <= 1'b1;
    line_q  <= line;
    if (valid && client == one) {later_q, answer_q} <= {later, answer};

    begin_in_reset: assume (rst_ni == began_q);
    if (rst_ni) begin
      there: assume (32'(client) < INTERFACES && 32'(one) < INTERFACES);
      // axi_master's.
      done_after: assume (!wr_done || (sends_q && !wr_data_valid));

      strobe: assert (!wr_data_valid || wr_strobe == 8'hfe);
      one_at_a_time: assert (!wr_valid || !sends_q);
      // The write is in the line; of the interface it is the newest answer that was there in
      // the cycle before, and it has not been sent.
      place: assert (!(wr_valid && !offered_q)
                     || (wr_addr[39:6] == line_q && wr_addr[2:0] == '0
                         && 32'(wr_addr[5:3]) < INTERFACES));
      sent_once: assert (!(wr_valid && !offered_q && is_one) || unsent_q);
      // One that waits is after one of each other.
      in_turn: assert (32'(before_q) < INTERFACES);
      told: assert (32'(event_first) + 32'(event_later) + 32'(event_error) == 32'(wr_done));
      not_quiet: assert (!unsent_q || busy);

      twice: cover (wr_valid && !offered_q && is_one && unsent_q && $past(wr_done, 3));
      late: cover (event_later && before_q == 2'd2);
    end
    if (rst_ni && $past(rst_ni)) begin
      same: assume (one == $past(one));
      due_told: assert (!$past(valid && client == one) || due[one]);
      stands: assert (!(offered_q && wr_valid)
                      || (wr_addr == $past(wr_addr) && wr_data == $past(wr_data)));
      newest: assert (!(wr_valid && !offered_q && is_one)
                      || wr_data == {$past(answer_q), 8'd0});
    end
  end

`ifndef CUT
  // Whose turn it is, as far as it is not offered; and how many come before the interface then.
  logic       picked;
  logic [2:0] between;

  assign picked  = dut.state_q == 3'd1 || (dut.state_q == 3'd2 && !offered_q);
  assign between = dut.last_q < one ? 3'(one) - 3'(dut.last_q) - 3'd1
                                    : 3'(one) - 3'(dut.last_q) - 3'd1 + 3'(INTERFACES);

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      state_answer: assert (!answered_q || dut.answers[one] == {later_q, answer_q});
      state_known: assert (dut.state_q <= 3'd4 && 32'(dut.last_q) < INTERFACES);
      state_due: assert (!due[one] || (answered_q && unsent_q));
      state_unsent: assert (!unsent_q || due[one]
                            || (dut.state_q == 3'd2 && dut.last_q == one && !offered_q));
      state_turn: assert (!due[one] || (picked && dut.last_q == one)
                          || 3'(before_q) + between + 3'(picked) < 3'(INTERFACES));
      state_fetch: assert (dut.state_q != 3'd1 || due[dut.last_q]);
      state_offered: assert (!offered_q || dut.state_q inside {3'd2, 3'd3});
      state_sends: assert (sends_q == (dut.state_q inside {3'd3, 3'd4}));
      state_place: assert (dut.state_q <= 3'd1 || wr_addr[5:3] == {1'b0, dut.last_q});
    end
  end
`endif

endmodule
