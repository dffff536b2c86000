// The UART's sender, whatever it is given: each byte is on the line for ten bits of DIVISOR cycles,
// start bit, eight data bits from the lowest on, stop bit, and the line is high otherwise. The
// receiver, on any line: it shows a byte for one cycle, and no two within nine bits.
module uart_formal #(
  parameter int unsigned DIVISOR = 4
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       tx_valid,
  input logic [7:0] tx_data,
  input logic       rxd
);

  logic       tx_ready, rx_valid, txd;
  logic [7:0] rx_data;

  uart #(.DIVISOR(DIVISOR)) dut (
    .clk_i, .rst_ni, .tx_valid_i(tx_valid), .tx_ready_o(tx_ready), .tx_data_i(tx_data),
    .rx_valid_o(rx_valid), .rx_data_o(rx_data), .txd_o(txd), .rxd_i(rxd)
  );

  // Cycles that the frame is on the line, 0 without one; the frame. Cycles since a byte came.
  logic [7:0] sent_q, bit_number;
  logic [9:0] frame_q;
  logic [5:0] since_q;
  logic       began_q = 1'b0;

  assign bit_number = (sent_q - 8'd1) / 8'(DIVISOR);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sent_q  <= '0;
      since_q <= 6'd36;
    end else begin
      if (sent_q == '0) sent_q <= 8'(tx_valid);
      else sent_q <= sent_q == 8'(10 * DIVISOR) ? 8'd0 : sent_q + 8'd1;
      since_q <= rx_valid ? 6'd1 : since_q == 6'd36 ? since_q : since_q + 6'd1;
    end
  end

`ifndef CUT
  // Cycles since the start bit of the byte that comes.
  logic [7:0] elapsed;
  assign elapsed = dut.rx_left_q == 4'd10
                   ? 8'(DIVISOR / 2 - 1) - 8'(dut.rx_timer_q)
                   : 8'(DIVISOR / 2 + DIVISOR - 1) - 8'(dut.rx_timer_q)
                     + (8'd9 - 8'(dut.rx_left_q)) * 8'(DIVISOR);
`endif

  always_ff @(posedge clk_i) begin
    began_q <= 1'b1;
    begin_in_reset: assume (rst_ni == began_q);
    if (sent_q == '0) frame_q <= {1'b1, tx_data, 1'b0};

    if (rst_ni) begin
      ready_between: assert (tx_ready == (sent_q == '0));
      high_between: assert (sent_q != '0 || txd);
      line_right: assert (sent_q == '0 || txd == frame_q[bit_number[3:0]]);
      apart: assert (!rx_valid || since_q >= 6'd36);

      all_sent: cover (sent_q == 8'(10 * DIVISOR) && frame_q[8:1] == 8'h5a && txd);
      received: cover (rx_valid && rx_data == 8'ha5);

`ifndef CUT
      state_sent: assert (sent_q <= 8'(10 * DIVISOR));
      state_left: assert (dut.tx_left_q == (sent_q == '0 ? 4'd0 : 4'(8'd10 - bit_number)));
      state_timer: assert (sent_q == '0 || 8'(dut.tx_timer_q)
                           == 8'(DIVISOR - 1) - (sent_q - 8'd1) % 8'(DIVISOR));
      state_bits: assert (sent_q == '0
                          || dut.tx_bits_q == 9'({10'h3ff, frame_q} >> bit_number[3:0]));
      // A byte that comes has begun after the one before it.
      state_since: assert (since_q == 6'd36 || dut.rx_left_q == 4'd0 || dut.rx_left_q == 4'd11
                           || 8'(since_q) > elapsed);
      state_valid: assert (!rx_valid || dut.rx_left_q == 4'd0);
      state_start: assert (dut.rx_left_q != 4'd10 || 8'(dut.rx_timer_q) < 8'(DIVISOR / 2));
      state_rx: assert (dut.rx_left_q <= 4'd11 && since_q != '0 && since_q <= 6'd36);
`endif
    end
  end

endmodule
