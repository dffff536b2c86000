// The low-level driver of a UART: eight bits, no parity, one stop bit, the lowest bit first.
//
// A byte that is sent takes 10 * DIVISOR + 1 cycles. One that comes is looked at in the middle of
// its bits; it counts when its stop bit is there, and then rx_valid_o is up for one cycle.
module uart #(
  // Cycles of a bit, at least 4: 100 MHz by 115,200 unless told.
  parameter int unsigned DIVISOR = 868
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  input  logic       tx_valid_i,
  output logic       tx_ready_o,
  input  logic [7:0] tx_data_i,

  output logic       rx_valid_o,
  output logic [7:0] rx_data_o,

  output logic       txd_o,
  input  logic       rxd_i
);

  typedef logic [$clog2(DIVISOR)-1:0] timer_t;

  // Sending: the bits that are left, with ones behind them, and how many there are.
  logic [8:0] tx_bits_q;
  logic [3:0] tx_left_q;
  timer_t     tx_timer_q;

  assign tx_ready_o = tx_left_q == '0;
  assign txd_o      = tx_left_q == '0 || tx_bits_q[0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tx_left_q  <= '0;
      tx_timer_q <= '0;
      tx_bits_q  <= '1;
    end else if (tx_ready_o) begin
      if (tx_valid_i) begin
        tx_left_q  <= 4'd10;
        tx_bits_q  <= {tx_data_i, 1'b0};
        tx_timer_q <= timer_t'(DIVISOR - 1);
      end
    end else if (tx_timer_q == '0) begin
      tx_left_q  <= tx_left_q - 1'b1;
      tx_bits_q  <= {1'b1, tx_bits_q[8:1]};
      tx_timer_q <= timer_t'(DIVISOR - 1);
    end else begin
      tx_timer_q <= tx_timer_q - 1'b1;
    end
  end

  // Receiving: 10 is the start bit, 1 the stop bit, 11 a line that has to become high first.
  localparam logic [3:0] Broken = 4'd11;
  logic       rxd;
  logic [7:0] rx_bits_q;
  logic [3:0] rx_left_q;
  timer_t     rx_timer_q;
  logic       rx_valid_q;

  // After reset it sees a low line for two cycles, which is no start bit yet.
  synchroniser u_rxd (.clk_i, .rst_ni, .async_i(rxd_i), .sync_o(rxd));

  assign rx_valid_o = rx_valid_q;
  assign rx_data_o  = rx_bits_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rx_left_q  <= Broken;
      rx_timer_q <= '0;
      rx_valid_q <= 1'b0;
    end else begin
      rx_valid_q <= 1'b0;
      if (rx_left_q == Broken) begin
        if (rxd) rx_left_q <= '0;
      end else if (rx_left_q == '0) begin
        if (!rxd) begin
          rx_left_q  <= 4'd10;
          rx_timer_q <= timer_t'(DIVISOR / 2 - 1);
        end
      end else if (rx_timer_q != '0) begin
        rx_timer_q <= rx_timer_q - 1'b1;
      end else begin
        rx_timer_q <= timer_t'(DIVISOR - 1);
        rx_left_q  <= rx_left_q - 1'b1;
        // A start bit that is gone in its middle was none.
        if (rx_left_q == 4'd10 && rxd) rx_left_q <= '0;
        if (rx_left_q == 4'd1) begin
          rx_valid_q <= rxd;
          if (!rxd) rx_left_q <= Broken;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rx_timer_q == '0 && rx_left_q != 4'd10 && rx_left_q > 4'd1 && rx_left_q != Broken) begin
      rx_bits_q <= {rxd, rx_bits_q[7:1]};
    end
  end

endmodule
