// The receiving half of the Ethernet MAC, whatever the PHY shows: frames begin behind a preamble
// without errors and end in turn, each byte is shown once, and a frame is good exactly when its
// check sequence is right, the PHY told of no error and its length is a frame's.
module eth_rx_formal import eth_sequence_pkg::*; #(
  parameter int unsigned SHORTEST_BYTES = 64,
  parameter int unsigned LONGEST_BYTES  = 1518
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       rx_dv,
  input logic       rx_er,
  input logic [7:0] rxd
);

  logic       begins, valid, ends, good;
  logic [7:0] data;

  localparam logic [10:0] Shortest = 11'(SHORTEST_BYTES);
  localparam logic [10:0] Longest  = 11'(LONGEST_BYTES);

  eth_rx #(.SHORTEST_BYTES(SHORTEST_BYTES), .LONGEST_BYTES(LONGEST_BYTES)) dut (
    .clk_i, .rst_ni, .rx_dv_i(rx_dv), .rx_er_i(rx_er), .rxd_i(rxd),
    .begin_o(begins), .valid_o(valid), .byte_o(data), .end_o(ends), .good_o(good)
  );

  // The remainder of a whole frame.
  localparam logic [31:0] Residue = 32'hc704_dd7b;

  // What the PHY showed in the cycle before. Only a preamble since a carrier came, of one byte at
  // least. The frame: bytes so far, no more than 2,047 of them are counted.
  logic        began_q = 1'b0;
  logic        dv_q, er_q, fresh_q, preamble_q, framing_q, failed_q, was_good_q;
  logic [7:0]  rxd_q;
  logic [10:0] count_q;
  logic [31:0] sum_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      dv_q       <= 1'b1;
      fresh_q    <= 1'b0;
      preamble_q <= 1'b0;
      framing_q  <= 1'b0;
    end else begin
      dv_q       <= rx_dv;
      fresh_q    <= !dv_q;
      preamble_q <= dv_q && (fresh_q || preamble_q) && !er_q && rxd_q == 8'h55;
      framing_q  <= (begins && !er_q) || (framing_q && !ends);
    end
  end

  always_ff @(posedge clk_i) begin
    er_q  <= rx_er;
    rxd_q <= rxd;
    was_good_q <= sum_q == Residue && !failed_q && count_q >= Shortest && count_q <= Longest;
    if (begins) begin
      count_q  <= '0;
      sum_q    <= '1;
      failed_q <= 1'b0;
    end else if (valid) begin
      count_q  <= count_q + 11'(count_q != '1);
      sum_q    <= remainder(sum_q, data);
      failed_q <= failed_q || er_q;
    end
  end

  always_ff @(posedge clk_i) begin
    began_q <= 1'b1;
    begin_in_reset: assume (rst_ni == began_q);

    if (rst_ni) begin
      in_turn: assert (framing_q ? !begins : !valid && !ends);
      begins_exactly: assert (begins == (preamble_q && dv_q && rxd_q == 8'hd5));
      all_shown: assert (!framing_q || ends || valid == dv_q);
      byte_same: assert (!valid || data == rxd_q);
      ends_behind: assert (!ends || !valid);
      if (ends) begin
        good_exactly: assert (good == was_good_q);
        good_length: assert (!good || (count_q >= Shortest && count_q <= Longest));
        long_is_bad: assert (!good || count_q <= Longest);
      end

      frame: cover (ends && good && count_q == Shortest);
      too_long: cover (ends && count_q > Longest && sum_q == Residue && !failed_q);

`ifndef CUT
      state_same: assert (dut.dv_q == dv_q);
      state_seen: assert (dut.er_q == er_q && dut.data_q == rxd_q);
      state_framing: assert (framing_q == (dut.state_q == 2'd2 || ends));
      state_fresh: assert (!fresh_q || dut.state_q == 2'd0);
      state_rest: assert (dut.state_q != 2'd0 || fresh_q);
      state_preamble: assert (preamble_q == (dut.state_q == 2'd1));
      if (dut.state_q == 2'd2) begin
        state_sum: assert (dut.crc_q == reversed(sum_q));
        state_failed: assert (dut.failed_q == failed_q);
        state_count: assert (dut.count_q <= 12'(Longest) + 12'd1
                             && (12'(count_q) == dut.count_q
                                 || (dut.count_q == 12'(Longest) + 12'd1
                                     && count_q > Longest + 11'd1)));
      end
      state_ends: assert (!ends || (good == was_good_q
                                    && (!good || (count_q >= Shortest && count_q <= Longest))));
`endif
    end
  end

endmodule
