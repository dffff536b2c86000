// The words of a request as bytes, the lowest first: of a Write or Control, for an I/O VMM.
//
// A byte in each cycle, as long as words come as io-hypervisor.md promises: the next word is taken
// while the last one goes. clear_i drops what is left of a request that is over.
module io_unpack (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,

  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [31:0] in_data_i,

  output logic        byte_valid_o,
  input  logic        byte_ready_i,
  output logic [7:0]  byte_o
);

  logic        next_valid_q;
  logic [31:0] next_q, word_q;
  logic [2:0]  left_q;
  logic        moves, empties;

  assign in_ready_o   = !next_valid_q;
  assign byte_valid_o = left_q != '0;
  assign byte_o       = word_q[7:0];
  assign empties      = left_q == '0 || (left_q == 3'd1 && byte_ready_i);
  assign moves        = next_valid_q && empties;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      next_valid_q <= 1'b0;
      left_q       <= '0;
    end else if (clear_i) begin
      next_valid_q <= 1'b0;
      left_q       <= '0;
    end else begin
      if (moves) next_valid_q <= 1'b0;
      if (in_valid_i && in_ready_o) next_valid_q <= 1'b1;
      if (moves) left_q <= 3'd4;
      else if (byte_valid_o && byte_ready_i) left_q <= left_q - 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (in_valid_i && in_ready_o) next_q <= in_data_i;
    if (moves) word_q <= next_q;
    else if (byte_valid_o && byte_ready_i) word_q <= word_q >> 8;
  end

endmodule
