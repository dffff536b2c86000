// A UART behind the I/O hypervisor: I/O VMM and driver.
module io_uart
  import io_pkg::*;
#(
  parameter int unsigned DIVISOR     = 868,
  parameter int unsigned QUEUE_BYTES = 64
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic [PortWidth-1:0] reader_i,

  input  logic                 request_valid_i,
  output logic                 request_ready_o,
  input  request_t             request_i,
  input  logic                 in_valid_i,
  output logic                 in_ready_o,
  input  logic [31:0]          in_data_i,
  output logic                 out_valid_o,
  output logic [31:0]          out_data_o,
  output logic                 response_valid_o,
  output response_t            response_o,

  output logic                 txd_o,
  input  logic                 rxd_i
);

  logic       tx_valid, tx_ready, rx_valid;
  logic [7:0] tx_data, rx_data;

  uart_vmm #(.QUEUE_BYTES(QUEUE_BYTES)) u_vmm (
    .clk_i, .rst_ni, .reader_i, .request_valid_i, .request_ready_o, .request_i,
    .in_valid_i, .in_ready_o, .in_data_i, .out_valid_o, .out_data_o,
    .response_valid_o, .response_o,
    .tx_valid_o(tx_valid), .tx_ready_i(tx_ready), .tx_data_o(tx_data),
    .rx_valid_i(rx_valid), .rx_data_i(rx_data)
  );

  uart #(.DIVISOR(DIVISOR)) u_driver (
    .clk_i, .rst_ni,
    .tx_valid_i(tx_valid), .tx_ready_o(tx_ready), .tx_data_i(tx_data),
    .rx_valid_o(rx_valid), .rx_data_o(rx_data), .txd_o, .rxd_i
  );

endmodule
