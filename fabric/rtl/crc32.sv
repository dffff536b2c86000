// CRC-32 of a frame (IEEE 802.3, as in zlib and gzip): a word of 64 bits a cycle.
//
// Blocks of BLOCK_BYTES give no output; the last one, whole or not, gives one word with the CRC in
// the lower half. The state is the CRC before the block: it changes when the block is taken. The
// bytes of a last word that is not whole take a cycle each.
module crc32 #(
  // A power of two.
  parameter int unsigned BLOCK_BYTES = 1024
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Begin with the first word of a block.
  input  logic        clear_i,

  // The state, and what is left of the frame: hw_task_stream.
  input  logic        begin_i,
  input  logic        restore_i,
  input  logic [31:0] state_i,
  output logic [31:0] state_o,
  input  logic [31:0] left_i,

  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [63:0] in_data_i,
  output logic        out_valid_o,
  input  logic        out_ready_i,
  output logic [63:0] out_data_o,
  // The word at the output belongs to a block without output.
  output logic        silent_o
);

  localparam int unsigned BlockWords = BLOCK_BYTES / 8;
  localparam int unsigned CountWidth = unsigned'($clog2(BlockWords + 1));
  typedef logic [CountWidth-1:0] count_t;

  // The CRC after some bytes, the lowest first; each begins with its lowest bit.
  function automatic logic [31:0] after(logic [31:0] crc, logic [63:0] data, int unsigned bytes);
    logic [31:0] next;
    next = crc;
    for (int unsigned i = 0; i < 8 * bytes; i++) begin
      next = (next >> 1) ^ (next[0] ^ data[i] ? 32'hedb8_8320 : 32'd0);
    end
    return next;
  endfunction

  // It is linear: each bit of the CRC after a word is the parity of some bits of the word and of
  // the CRC before. Row i has those of bit i.
  typedef logic [31:0][95:0] matrix_t;

  function automatic matrix_t word_matrix();
    matrix_t     rows;
    logic [31:0] column;
    rows = '0;
    for (int unsigned from = 0; from < 96; from++) begin
      column = from < 64 ? after('0, 64'd1 << from, 8) : after(32'd1 << (from - 64), '0, 8);
      for (int unsigned i = 0; i < 32; i++) rows[i][from] = column[i];
    end
    return rows;
  endfunction

  localparam matrix_t WordMatrix = word_matrix();

  typedef enum logic [1:0] {
    Begin,  // how much of the frame is left?
    Words,
    Bytes,
    Full    // all of the block is in the CRC
  } phase_e;

  phase_e      phase_q;
  logic [31:0] crc_q, next_q, after_word;
  // Of the block: whole words that are still to come, and the bytes behind them, which are in
  // rest_q when their time has come.
  count_t      words_q;
  logic [2:0]  bytes_q;
  logic [63:0] word_q, rest_q;
  logic        word_valid_q, word_in, last_q, taken;

  for (genvar i = 0; i < 32; i++) begin : gen_after_word
    assign after_word[i] = ^(WordMatrix[i] & {next_q, word_q});
  end

  // A register, as what comes from memory has come far.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      word_valid_q <= 1'b0;
    end else if (clear_i) begin
      word_valid_q <= 1'b0;
    end else if (in_ready_o) begin
      word_valid_q <= in_valid_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (in_ready_o) word_q <= in_data_i;
  end

  assign word_in     = word_valid_q && phase_q == Words;
  assign in_ready_o  = !word_valid_q || phase_q == Words;
  assign out_valid_o = phase_q == Full;
  assign out_data_o  = {32'd0, ~next_q};
  assign silent_o    = !last_q;
  assign taken       = out_valid_o && out_ready_i;
  assign state_o     = crc_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      phase_q <= Begin;
    end else if (clear_i) begin
      phase_q <= Begin;
    end else begin
      unique case (phase_q)
        Begin: phase_q <= Words;
        Words: begin
          if (word_in && words_q == '0) phase_q <= Bytes;
          if (word_in && words_q == count_t'(1) && bytes_q == '0) phase_q <= Full;
        end
        Bytes: if (bytes_q == 3'd1) phase_q <= Full;
        Full:  if (taken) phase_q <= Begin;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    unique case (phase_q)
      Begin: begin
        next_q  <= crc_q;
        last_q  <= left_i <= BLOCK_BYTES;
        words_q <= left_i <= BLOCK_BYTES ? left_i[3+:CountWidth] : count_t'(BlockWords);
        bytes_q <= left_i <= BLOCK_BYTES ? left_i[2:0] : '0;
      end
      Words: if (word_in) begin
        if (words_q == '0) begin
          rest_q <= word_q;
        end else begin
          next_q  <= after_word;
          words_q <= words_q - count_t'(1);
        end
      end
      Bytes: begin
        next_q  <= after(next_q, rest_q, 1);
        rest_q  <= rest_q >> 8;
        bytes_q <= bytes_q - 3'd1;
      end
      Full: ;
    endcase
    if (begin_i) begin
      crc_q <= '1;
    end else if (restore_i) begin
      crc_q <= state_i;
    end else if (taken && !last_q) begin
      crc_q <= next_q;
    end
  end

endmodule
