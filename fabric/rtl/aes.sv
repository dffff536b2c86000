// AES with keys of 128 and 256 bits (FIPS 197), a round in two cycles: encrypts blocks (ECB), or
// encrypts and decrypts with a counter (CTR; NIST SP 800-38A, 6.5, the whole block counts).
//
// A frame begins with a block of 64 bytes without output: the key in the first 16 or 32 bytes, and
// the first counter in 16 bytes from the 32nd on. The blocks behind it are 64 bytes of text each.
//
// The state: the key, eight words; the counter of the next block, four; whether these are there.
module aes (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Begin with the first word of a block.
  input  logic        clear_i,

  input  logic        counter_mode_i,
  input  logic        key_256_i,

  // The state: hw_task_stream.
  input  logic        begin_i,
  input  logic        restore_i,
  input  logic [3:0]  word_i,
  input  logic [31:0] state_i,
  output logic [31:0] state_o,

  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [63:0] in_data_i,
  output logic        out_valid_o,
  input  logic        out_ready_i,
  output logic [63:0] out_data_o,
  // The word at the output belongs to a block without output.
  output logic        silent_o
);

  localparam logic [3:0] ThereWord = 4'd12;

  typedef enum logic [2:0] {
    Key,    // the first block's words
    Known,  // its end
    Load,   // two words of text
    Start,  // round 0
    Rounds,
    Give    // two words
  } phase_e;

  phase_e phase_q;

  // What is kept: the key, as words, and the counter, its highest byte first in memory.
  logic [7:0][31:0]  key_q;
  logic [127:0]      kept_counter_q, counter_q;
  logic              there_q;

  // A register, as what comes from memory has come far.
  logic              input_valid_q, word_in, taken, block_taken_q;
  logic [63:0]       input_q;
  // Of the block: words that came, and that went.
  logic [2:0]        came_q, went_q;

  logic [1:0][63:0]  text_q;
  logic [127:0]      state_q, state_next;
  logic [3:0][31:0]  round_key_q, next_key_q, words;
  logic [31:0]       last_word;
  logic [7:0]        constant_q;
  logic [3:0]        round_q;
  logic              rotate_q, half_q, last_q;

  function automatic logic [127:0] reversed(logic [127:0] x);
    logic [127:0] bytes;
    for (int unsigned i = 0; i < 16; i++) bytes[8*i+:8] = x[8*(15-i)+:8];
    return bytes;
  endfunction

  assign in_ready_o = !input_valid_q || phase_q == Key || phase_q == Load;
  assign word_in    = input_valid_q && (phase_q == Key || phase_q == Load);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      input_valid_q <= 1'b0;
    end else if (clear_i) begin
      input_valid_q <= 1'b0;
    end else if (in_ready_o) begin
      input_valid_q <= in_valid_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (in_ready_o) input_q <= in_data_i;
  end

  assign out_valid_o = phase_q == Known || phase_q == Give;
  assign silent_o    = phase_q == Known;
  assign taken       = out_valid_o && out_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      phase_q       <= Key;
      came_q        <= '0;
      went_q        <= '0;
      block_taken_q <= 1'b0;
    end else if (clear_i) begin
      phase_q       <= there_q ? Load : Key;
      came_q        <= '0;
      went_q        <= '0;
      block_taken_q <= 1'b0;
    end else begin
      block_taken_q <= taken && went_q == 3'd7;
      if (word_in) came_q <= came_q + 3'd1;
      if (taken && !silent_o) went_q <= went_q + 3'd1;
      unique case (phase_q)
        Key:     if (word_in && came_q == 3'd7) phase_q <= Known;
        Known:   if (taken) phase_q <= Load;
        Load:    if (word_in && came_q[0]) phase_q <= Start;
        Start:   phase_q <= Rounds;
        Rounds:  if (half_q && last_q) phase_q <= Give;
        Give:    if (taken && went_q[0]) phase_q <= Load;
      endcase
    end
  end

  // What is restored comes a cycle later: it goes to many places, and the frame begins later still.
  logic        restore_q;
  logic [3:0]  restored_word_q;
  logic [31:0] restored_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      restore_q <= 1'b0;
    end else begin
      restore_q <= restore_i;
    end
  end

  always_ff @(posedge clk_i) begin
    restored_word_q <= word_i;
    restored_q      <= state_i;
  end

  // The state changes where the last word of a block is taken, the counter a cycle later; before
  // the key is there, it counts for nothing.
  always_ff @(posedge clk_i) begin
    if (begin_i) begin
      there_q <= 1'b0;
    end else if (restore_q) begin
      for (int unsigned i = 0; i < 8; i++) begin
        if (restored_word_q == 4'(i)) key_q[i] <= restored_q;
      end
      for (int unsigned i = 0; i < 4; i++) begin
        if (restored_word_q == 4'(8 + i)) kept_counter_q[32*i+:32] <= restored_q;
      end
      if (restored_word_q == ThereWord) there_q <= restored_q[0];
    end else if (phase_q == Key && word_in) begin
      for (int unsigned i = 0; i < 4; i++) begin
        if (came_q == 3'(i)) {key_q[2*i+1], key_q[2*i]} <= input_q;
      end
      for (int unsigned i = 0; i < 2; i++) begin
        if (came_q == 3'(4 + i)) kept_counter_q[64*i+:64] <= input_q;
      end
    end else begin
      if (taken && silent_o) there_q <= 1'b1;
      if (block_taken_q) kept_counter_q <= reversed(counter_q);
    end
  end

  always_comb begin
    case (word_i[3:2])
      2'd0, 2'd1: state_o = key_q[word_i[2:0]];
      2'd2:       state_o = kept_counter_q[{word_i[1:0], 5'd0}+:32];
      default:    state_o = {31'd0, there_q};
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (clear_i || phase_q == Known) begin
      counter_q <= reversed(kept_counter_q);
    end else if (phase_q == Start) begin
      counter_q <= counter_q + 128'd1;
    end
  end

  // A block of text.

  assign last_word = key_256_i ? next_key_q[3] : round_key_q[3];

  aes_round u_round (
    .clk_i, .last_i(last_q), .state_i(state_q), .round_key_i(128'(round_key_q)),
    .state_o(state_next),
    .before_i(round_key_q), .last_word_i(last_word), .rotate_i(rotate_q),
    .constant_i(constant_q), .words_o(words)
  );

  always_ff @(posedge clk_i) begin
    if (phase_q == Load) begin
      round_key_q <= key_q[3:0];
      next_key_q  <= key_q[7:4];
      constant_q  <= 8'd1;
      rotate_q    <= 1'b1;
      round_q     <= 4'd1;
      half_q      <= 1'b0;
      last_q      <= 1'b0;
      if (word_in) text_q[came_q[0]] <= input_q;
    end else if (phase_q == Start || (phase_q == Rounds && half_q)) begin
      round_key_q <= key_256_i ? next_key_q : words;
      next_key_q  <= words;
      // Of a key of 256 bits every other four words begin with a rotated one.
      rotate_q    <= !key_256_i || !rotate_q;
      if (rotate_q) constant_q <= {constant_q[6:0], 1'b0} ^ (constant_q[7] ? 8'h1b : 8'h00);
    end
    if (phase_q == Start) begin
      state_q <= (counter_mode_i ? reversed(counter_q) : 128'(text_q)) ^ 128'(round_key_q);
    end else if (phase_q == Rounds) begin
      half_q <= !half_q;
      if (half_q) begin
        state_q <= state_next;
        round_q <= round_q + 4'd1;
        last_q  <= round_q == (key_256_i ? 4'd13 : 4'd9);
      end
    end
  end

  assign out_data_o = (went_q[0] ? state_q[127:64] : state_q[63:0])
                      ^ (counter_mode_i ? text_q[went_q[0]] : '0);

endmodule
