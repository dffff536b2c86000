// What the FFT does with its results, whatever it computes: a result that is put together comes out
// once, in the natural order of its block, and when its whole block is there; none is written over
// before it is read; and after a clear nothing comes of what was before.
//
// One result of each block is followed: that for X[followed], and X[followed + N/2] beside it.
module fft_formal #(
  parameter int unsigned LOG2_POINTS = 4,
  // Words that are taken before that of the first result.
  parameter int unsigned LATENCY     = 17,
  localparam int unsigned Log2Words = LOG2_POINTS - 1
) (
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic                 clear,
  input logic                 in_valid,
  input logic [63:0]          in_data,
  input logic                 out_ready,
  // Any, but the same always.
  input logic [Log2Words-1:0] followed
);

  localparam int unsigned CountWidth = Log2Words + 2;

  typedef logic [Log2Words-1:0]  place_t;
  typedef logic [CountWidth-1:0] count_t;
  // Blocks, as many as a count has.
  typedef logic [1:0]            blocks_t;

  logic        in_ready, out_valid;
  logic [63:0] out_data;

  fft #(.LOG2_POINTS(LOG2_POINTS)) dut (
    .clk_i, .rst_ni, .clear_i(clear),
    .in_valid_i(in_valid), .in_ready_o(in_ready), .in_data_i(in_data),
    .out_valid_o(out_valid), .out_ready_i(out_ready), .out_data_o(out_data)
  );

  function automatic blocks_t block(count_t count);
    return count[CountWidth-1:Log2Words];
  endfunction

  function automatic place_t reversed(place_t place);
    for (int unsigned i = 0; i < Log2Words; i++) reversed[i] = place[Log2Words-1-i];
  endfunction

  // Words until the first result; results whose step was taken, those that are in the memory, and
  // words that went to the output, two halves of results each.
  logic [7:0] before_q;
  count_t     taken_q, kept, shown_q;
  logic       took_q, valid_q, came, goes, advance, is_followed;
  place_t     followed_q;
  logic       began_q = 1'b0;

  assign came        = in_valid && in_ready && before_q == 8'(LATENCY);
  assign kept        = taken_q - count_t'(took_q);
  assign advance     = !valid_q || out_ready;
  assign goes        = advance && block(kept) != block(shown_q);
  // Of a block's words, the lower half has X[0 to N/2], two in each.
  assign is_followed = shown_q[Log2Words-2:0] == followed[Log2Words-1:1];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      before_q           <= '0;
      {taken_q, shown_q} <= '0;
      {took_q, valid_q}  <= '0;
    end else if (clear) begin
      before_q           <= '0;
      {taken_q, shown_q} <= '0;
      {took_q, valid_q}  <= '0;
    end else begin
      if (in_valid && in_ready && before_q != 8'(LATENCY)) before_q <= before_q + 8'd1;
      taken_q <= taken_q + count_t'(came);
      took_q  <= came;
      shown_q <= shown_q + count_t'(goes);
      if (advance) valid_q <= goes;
    end
  end

`ifndef CUT
  // The last two followed results, by the lowest bit of their block's number; the higher bit. What
  // goes out.
  logic [1:0][63:0] result_q;
  logic [1:0]       written_q = '0, number_q;
  logic             shows_q;
  logic [31:0]      expected_q;
  count_t           last;
  logic             result_comes;
  blocks_t          of_result, of_word, of_next;
  // Results in the memory from the block on whose words go out.
  count_t           unread;
  logic [1:0][63:0] in_memory;

  for (genvar i = 0; i < 2; i++) begin : gen_in_memory
    assign in_memory[i] = followed[0] ? dut.memory_odd[{1'(i), followed[Log2Words-1:1]}]
                                      : dut.memory_even[{1'(i), followed[Log2Words-1:1]}];
  end

  assign last         = taken_q - count_t'(1);
  assign result_comes = took_q && last[Log2Words-1:0] == reversed(followed);
  assign of_result    = block(last);
  assign of_word      = block(shown_q);
  assign of_next      = of_word + 2'd1;
  assign unread       = kept - {of_word, place_t'(0)};

  always_ff @(posedge clk_i) begin
    if (rst_ni && result_comes) begin
      result_q[of_result[0]]  <= {dut.high_q, dut.low_q};
      number_q[of_result[0]]  <= of_result[1];
      written_q[of_result[0]] <= 1'b1;
    end
    if (!rst_ni || clear) begin
      shows_q <= 1'b0;
    end else if (advance) begin
      shows_q    <= goes && is_followed;
      expected_q <= shown_q[Log2Words-1] ? result_q[of_word[0]][63:32]
                                         : result_q[of_word[0]][31:0];
    end
  end
`endif

  always_ff @(posedge clk_i) begin
    began_q    <= 1'b1;
    followed_q <= followed;

    begin_in_reset: assume (rst_ni == began_q);
    if (began_q) one_followed: assume (followed == followed_q);

    if (rst_ni) begin
      // It waits at a block's beginning alone, while two others are not yet read.
      ready_told: assert (in_ready == !(before_q == 8'(LATENCY) && taken_q[Log2Words-1:0] == '0
                                        && blocks_t'(block(taken_q) - block(shown_q)) == 2'd2));
      whole_blocks: assert (out_valid == valid_q);

      waits: cover (!in_ready && in_valid);
      one_out: cover (shown_q[Log2Words] && out_valid && out_ready);
`ifndef CUT
      not_over: assert (!(goes && is_followed)
                        || (written_q[of_word[0]] && number_q[of_word[0]] == of_word[1]));
      as_computed: assert (!shows_q
                           || (followed[0] ? out_data[63:32] : out_data[31:0]) == expected_q);

      // What makes the rest follow by induction.
      state_before: assert (8'(dut.steps_q) == before_q && before_q <= 8'(LATENCY)
                            && (before_q == 8'(LATENCY) || (taken_q == '0 && !took_q)));
      state_taken: assert ({dut.half_q, dut.place_q} == taken_q[Log2Words:0]);
      state_wr: assert (dut.wr_q == took_q
                        && (!took_q || {dut.wr_half_q, dut.wr_place_q} == last[Log2Words:0]));
      state_shown: assert ({dut.rd_half_q, dut.rd_place_q} == shown_q[Log2Words:0]);
      state_claimed: assert (dut.claimed_q == blocks_t'(block(taken_q) - block(shown_q))
                             + blocks_t'(taken_q[Log2Words-1:0] != '0));
      state_filled: assert (dut.filled_q == blocks_t'(block(kept) - block(shown_q)));
      // No more than two blocks, and no word before its block.
      state_order: assert (count_t'({block(taken_q), place_t'(0)} - shown_q)
                           <= count_t'(2 << Log2Words)
                           && count_t'(taken_q - {of_word, place_t'(0)}) <= count_t'(2 << Log2Words)
                           && (block(kept) != of_word || shown_q[Log2Words-1:0] == '0));
      // The followed results of the two blocks that may be in the memory.
      state_first: assert (unread <= count_t'(reversed(followed))
                           || (written_q[of_word[0]] && number_q[of_word[0]] == of_word[1]));
      state_second: assert (unread <= count_t'(reversed(followed)) + count_t'(1 << Log2Words)
                            || (written_q[of_next[0]] && number_q[of_next[0]] == of_next[1]));
      state_memory: assert ((!written_q[0] || in_memory[0] == result_q[0])
                            && (!written_q[1] || in_memory[1] == result_q[1]));
      state_shows: assert (!shows_q || valid_q);
`endif
    end
  end

endmodule
