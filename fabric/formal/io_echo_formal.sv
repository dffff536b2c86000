// The echo: the interface's rules, and a word that a port wrote is what that port alone reads.
module io_echo_formal
  import io_pkg::*;
(
  input logic               clk_i,
  input logic               rst_ni,
  input logic               request_valid,
  input logic [1:0]         port_i,
  input op_e                op_i,
  input logic [4:0]         length_i,
  input logic               addr_i,
  input logic               in_valid,
  input logic [31:0]        in_data,
  // The word that is followed; any, but the same all the time.
  input logic [1:0]         followed_i
);

  localparam int unsigned Words = 4;

  request_t    request;
  response_t   response;
  logic        request_ready, in_ready, out_valid, response_valid;
  logic [31:0] out_data;

  assign request = '{port: PortWidth'(port_i), op: op_i, length: LengthWidth'(length_i),
                     addr: 32'(addr_i)};

  io_echo #(.WORDS(Words)) dut (
    .clk_i, .rst_ni, .request_valid_i(request_valid), .request_ready_o(request_ready),
    .request_i(request), .in_valid_i(in_valid), .in_ready_o(in_ready), .in_data_i(in_data),
    .out_valid_o(out_valid), .out_data_o(out_data), .response_valid_o(response_valid),
    .response_o(response)
  );

  io_vmm_rules #(
    .VMM_PROVED(1'b1), .HYPERVISOR_PROVED(1'b0), .RESPONSE_CYCLES_MAX(2 * Words + 2),
    .READY_CYCLES_MAX(1)
  ) rules (
    .clk_i, .rst_ni, .request_valid, .request_ready, .request, .in_valid, .in_ready, .out_valid,
    .response_valid, .response
  );

  logic               began_q = 1'b0;
  logic [1:0]         followed_q;
  request_t           request_q;
  logic [PortWidth-1:0] writer_q;    // who wrote last
  logic [10:0]        length_q;      // and how much
  logic [31:0]        word_q;        // the followed word of it
  logic [2:0]         in_n_q, out_n_q;
  logic               good;

  assign good = request_q.op != Control && request_q.addr == '0 && request_q.length <= 11'd16;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {writer_q, length_q, in_n_q, out_n_q} <= '0;
      request_q <= '0;
    end else begin
      if (request_valid && request_ready) begin
        request_q <= request;
        in_n_q    <= '0;
        out_n_q   <= '0;
      end else begin
        in_n_q    <= in_n_q + 3'(in_valid && in_ready);
        out_n_q   <= out_n_q + 3'(out_valid);
      end
      if (response_valid && response.status == Done && request_q.op == Write) begin
        writer_q <= request_q.port;
        length_q <= request_q.length;
      end
    end
  end

  logic [10:0] mine;
  assign mine = request_q.port == writer_q ? length_q : '0;

  always_ff @(posedge clk_i) begin
    began_q    <= 1'b1;
    followed_q <= followed_i;
    if (in_valid && in_ready && in_n_q == 3'(followed_i)) word_q <= in_data;

    begin_in_reset: assume (rst_ni == began_q);
    if (began_q) one_followed: assume (followed_i == followed_q);

    if (rst_ni) begin
      if (response_valid) begin
        verdict: assert ((response.status == Done) == good);
        if (good && request_q.op == Read) begin
          own_length: assert (response.length
                              == (request_q.length < mine ? request_q.length : mine));
        end
      end
      if (out_valid && out_n_q == 3'(followed_i)) own_word: assert (out_data == word_q);
`ifndef CUT
      // What makes the rest follow by induction.
      state_busy: assert (rules.busy_q == (dut.state_q != 2'd0));
      state_same: assert (!rules.busy_q || rules.request_q == request_q);
      state_counts: assert (rules.out_q == 10'(out_n_q) && 3'(dut.word_q) <= 3'd4
                            && (!good || 3'(dut.words_q) <= 3'd4));
      state_idle: assert (dut.state_q != 2'd0 || (!out_valid && rules.in_q == '0));
      if (dut.state_q != 2'd0) begin
        state_verdict: assert (good == (dut.response_q.status == Done)
                               && (good || dut.state_q == 2'd3)
                               && dut.response_q.status <= BadLength
                               && (good || dut.response_q.status >= BadOp));
        state_words: assert (dut.state_q == 2'd3 || (dut.word_q < dut.words_q));
        state_formed: assert (request_q.op != Reserved && request_q.length <= 11'd31);
        state_length: assert (dut.response_q.length == (good && request_q.op == Read
                              ? (request_q.length < mine ? request_q.length : mine) : '0));
      end
      if (dut.state_q == 2'd1) begin
        state_take: assert (request_q.op == Write && !out_valid && in_n_q == 3'(dut.word_q)
                            && rules.in_q == 10'(dut.words_q - dut.word_q)
                            && 32'(rules.time_q) <= 2 * 32'(dut.word_q) + 32'(rules.in_wait_q));
        state_taken: assert (in_n_q <= 3'(followed_i) || dut.kept[followed_i] == word_q);
        state_take_words: assert (10'(dut.words_q) == rules.words(request_q.length));
      end
      if (dut.state_q == 2'd2) begin
        state_give: assert (request_q.op == Read && 3'(out_n_q + 3'(out_valid)) == 3'(dut.word_q)
                            && 32'(rules.time_q) <= 32'(dut.word_q)
                            && 10'(dut.words_q) == rules.words(dut.response_q.length)
                            && rules.in_q == '0);
      end
      if (dut.state_q == 2'd3) begin
        state_respond: assert (32'(rules.time_q) <= 2 * Words + 1);
        if (request_q.op == Read && good) begin
          state_all: assert (10'(out_n_q) + 10'(out_valid)
                             == rules.words(dut.response_q.length));
        end else begin
          state_none: assert (!out_valid && out_n_q == '0);
        end
      end
      if (dut.state_q != 2'd1 && dut.state_q != 2'd3) begin
        state_kept: assert (rules.words(length_q) <= 10'(followed_i)
                            || dut.kept[followed_i] == word_q);
      end
      if (dut.state_q == 2'd3 && good) begin
        state_written: assert (rules.words(request_q.op == Write ? request_q.length : length_q)
                               <= 10'(followed_i) || dut.kept[followed_i] == word_q);
      end
      if (dut.state_q == 2'd3 && !good) begin
        state_refused: assert (rules.words(length_q) <= 10'(followed_i)
                               || dut.kept[followed_i] == word_q);
      end
      state_writer: assert (dut.state_q == 2'd1 || (dut.state_q == 2'd3 && good
                            && request_q.op == Write)
                            || (dut.port_q == writer_q && dut.length_q == length_q));
      state_writes: assert (!(dut.state_q == 2'd1 || (dut.state_q == 2'd3 && good
                            && request_q.op == Write))
                            || (dut.port_q == request_q.port && dut.length_q == request_q.length));
      state_most: assert (length_q <= 11'd16);
`endif
      wrote: cover (response_valid && good && request_q.op == Write && in_n_q == 3'd4);
      read: cover (response_valid && response.length == 11'd7);
      refused: cover (response_valid && response.status == BadAddress);
    end
  end

endmodule
