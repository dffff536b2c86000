// The sending half of the Ethernet MAC, whatever it is given: each frame is on the line with its
// preamble, its bytes, zeros up to the shortest frame, the check sequence and the gap, in exactly
// so many cycles, and its bytes are taken in successive ones.
module eth_tx_formal import eth_sequence_pkg::*; #(
  parameter int unsigned SHORTEST_BYTES = 60
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        valid,
  input logic [10:0] bytes,
  input logic [7:0]  data
);

  logic       ready, byte_ready, en;
  logic [7:0] txd;

  eth_tx #(.SHORTEST_BYTES(SHORTEST_BYTES)) dut (
    .clk_i, .rst_ni, .valid_i(valid), .ready_o(ready), .bytes_i(bytes),
    .byte_ready_o(byte_ready), .byte_i(data), .tx_en_o(en), .txd_o(txd)
  );

  // Cycles since the frame was taken, 0 without one; its bytes, and those with zeros behind them;
  // the place of what is on the line, two cycles later than it was taken.
  logic        began_q = 1'b0;
  logic [11:0] since_q, place, padded;
  logic [10:0] bytes_q;
  logic [7:0]  taken_q, taken_2_q;
  logic [31:0] sum_q, sequence_bits;
  logic        of_data, of_check;

  assign padded   = 32'(bytes_q) > SHORTEST_BYTES ? 12'(bytes_q) : 12'(SHORTEST_BYTES);
  assign place    = since_q - 12'd3;
  assign of_data  = since_q >= 12'd11 && place < 12'd8 + padded;
  assign of_check = since_q >= 12'd11 && place >= 12'd8 + padded && place < 12'd12 + padded;
  // The lowest byte first, each from its lowest bit on.
  assign sequence_bits = ~reversed(sum_q) >> {place - 12'd8 - padded, 3'b0};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      since_q <= '0;
    end else if (since_q == '0) begin
      since_q <= 12'(valid);
    end else begin
      since_q <= since_q == 12'd24 + padded ? '0 : since_q + 12'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (since_q == '0) bytes_q <= bytes;
    taken_q   <= data;
    taken_2_q <= taken_q;
    if (since_q < 12'd11) sum_q <= '1;
    else if (of_data) sum_q <= remainder(sum_q, txd);
  end

  always_ff @(posedge clk_i) begin
    began_q <= 1'b1;
    begin_in_reset: assume (rst_ni == began_q);

    if (rst_ni) begin
      ready_between: assert (ready == (since_q == '0));
      bytes_of_frame: assert (byte_ready == (since_q >= 12'd9 && since_q < 12'd9 + 12'(bytes_q)));
      on_line: assert (en == (since_q >= 12'd3 && place < 12'd12 + padded));
      if (en && place < 12'd8) preamble: assert (txd == (place == 12'd7 ? 8'hd5 : 8'h55));
      if (en && of_data) bytes_same: assert (txd == (place < 12'd8 + 12'(bytes_q) ? taken_2_q
                                                                                  : 8'h00));
      if (en && of_check) check_sequence: assert (txd == sequence_bits[7:0]);

      sends: cover (of_check && place == 12'd11 + padded && txd == 8'ha5);

`ifndef CUT
      state_since: assert (since_q <= 12'd24 + padded);
      state_bytes: assert (since_q == '0 || dut.bytes_q == bytes_q);
      state_idle: assert (dut.state_q != 3'd0 || since_q == '0);
      state_preamble: assert (dut.state_q != 3'd1
                              || (12'(dut.count_q) == since_q - 12'd1 && since_q != '0
                                  && since_q <= 12'd8));
      state_data: assert (dut.state_q != 3'd2
                          || (12'(dut.count_q) == since_q - 12'd9 && since_q >= 12'd9
                              && since_q < 12'd9 + padded));
      state_check: assert (dut.state_q != 3'd3
                           || (12'(dut.count_q) == since_q - 12'd9 - padded
                               && since_q >= 12'd9 + padded && since_q < 12'd13 + padded));
      state_gap: assert (dut.state_q != 3'd4
                         || (12'(dut.count_q) == since_q - 12'd13 - padded
                             && since_q >= 12'd13 + padded));
      state_known: assert (dut.state_q <= 3'd4);
      // A cycle before it is on the line.
      state_kind: assert (dut.kind_q == (since_q < 12'd2 ? 3'd0 : since_q < 12'd10 ? 3'd1
                                         : since_q < 12'd10 + padded ? 3'd2
                                         : since_q < 12'd14 + padded ? 3'd3 : 3'd4)
                          || (since_q < 12'd2 && dut.kind_q == (since_q == '0 ? 3'd4 : 3'd0)));
      if (dut.kind_q == 3'd1) begin
        state_pattern: assert (dut.data_q == (since_q == 12'd9 ? 8'hd5 : 8'h55));
      end
      if (dut.kind_q == 3'd2) begin
        state_next: assert (dut.data_q == (since_q < 12'd10 + 12'(bytes_q) ? taken_q : 8'h00));
      end
      if (since_q == 12'd10) state_fresh: assert (dut.crc_q == '1);
      if (of_data) state_sum: assert (dut.crc_q == reversed(remainder(sum_q, txd)));
      if (of_check) begin
        state_shifted: assert (dut.crc_q == reversed(sum_q) >> ({place - 12'd8 - padded, 3'b0}
                                                                + 15'd8));
      end
`endif
    end
  end

endmodule
