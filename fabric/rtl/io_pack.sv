// Bytes from a device as the words of a response, the lowest first.
//
// A word goes out in the cycle after its fourth byte, or after the last one; bytes behind the last
// one are 0. clear_i drops the bytes of a word that is not full.
module io_pack (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,

  input  logic        byte_valid_i,
  input  logic        byte_last_i,
  input  logic [7:0]  byte_i,

  output logic        out_valid_o,
  output logic [31:0] out_data_o
);

  logic [1:0]  place_q;
  logic        valid_q;
  logic [31:0] word_q;

  assign out_valid_o = valid_q;
  assign out_data_o  = word_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      place_q <= '0;
      valid_q <= 1'b0;
    end else begin
      valid_q <= byte_valid_i && (byte_last_i || place_q == 2'd3) && !clear_i;
      if (clear_i || (byte_valid_i && byte_last_i)) place_q <= '0;
      else if (byte_valid_i) place_q <= place_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (byte_valid_i) begin
      if (place_q == '0) word_q <= 32'(byte_i);
      else word_q[{place_q, 3'b000} +: 8] <= byte_i;
    end
  end

endmodule
