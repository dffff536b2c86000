// Ethernet behind the I/O hypervisor: I/O VMM and MAC. The PHY's side has a byte in each cycle of
// the clock, with the names that GMII has for them: 800 Mbit/s at 100 MHz.
module io_eth
  import io_pkg::*;
#(
  parameter int unsigned PORTS = 4
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic [PORTS-1:0][47:0] mac_i,

  input  logic        request_valid_i,
  output logic        request_ready_o,
  input  request_t    request_i,
  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [31:0] in_data_i,
  output logic        out_valid_o,
  output logic [31:0] out_data_o,
  output logic        response_valid_o,
  output response_t   response_o,

  output logic        tx_en_o,
  output logic [7:0]  txd_o,
  input  logic        rx_dv_i,
  input  logic        rx_er_i,
  input  logic [7:0]  rxd_i
);

  logic        tx_valid, tx_ready, tx_byte_ready, rx_begin, rx_valid, rx_end, rx_good;
  logic [10:0] tx_bytes;
  logic [7:0]  tx_byte, rx_byte;

  eth_vmm #(.PORTS(PORTS)) u_vmm (
    .clk_i, .rst_ni, .mac_i, .request_valid_i, .request_ready_o, .request_i,
    .in_valid_i, .in_ready_o, .in_data_i, .out_valid_o, .out_data_o,
    .response_valid_o, .response_o,
    .tx_valid_o(tx_valid), .tx_ready_i(tx_ready), .tx_bytes_o(tx_bytes),
    .tx_byte_ready_i(tx_byte_ready), .tx_byte_o(tx_byte),
    .rx_begin_i(rx_begin), .rx_valid_i(rx_valid), .rx_byte_i(rx_byte), .rx_end_i(rx_end),
    .rx_good_i(rx_good)
  );

  eth_tx u_tx (
    .clk_i, .rst_ni, .valid_i(tx_valid), .ready_o(tx_ready), .bytes_i(tx_bytes),
    .byte_ready_o(tx_byte_ready), .byte_i(tx_byte), .tx_en_o, .txd_o
  );

  eth_rx u_rx (
    .clk_i, .rst_ni, .rx_dv_i, .rx_er_i, .rxd_i,
    .begin_o(rx_begin), .valid_o(rx_valid), .byte_o(rx_byte), .end_o(rx_end), .good_o(rx_good)
  );

endmodule
