// Ethernet with its I/O VMM, and the I/O hypervisor's side of it.
module eth_harness
  import io_pkg::*;
(
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [3:0][47:0] mac_i,

  input  logic             go_i,
  input  request_t         ask_i,
  output logic             done_o,
  output response_t        answer_o,
  output logic [8:0]       words_o,
  output logic [31:0]      cycles_o,

  output logic             tx_en_o,
  output logic [7:0]       txd_o,
  input  logic             rx_dv_i,
  input  logic             rx_er_i,
  input  logic [7:0]       rxd_i
);

  logic        request_valid, request_ready, in_valid, in_ready, out_valid, response_valid;
  request_t    request;
  logic [31:0] in_data, out_data;
  response_t   response;

  io_vmm_port u_port (
    .clk_i, .rst_ni, .go_i, .ask_i, .done_o, .answer_o, .words_o, .cycles_o,
    .request_valid_o(request_valid), .request_ready_i(request_ready), .request_o(request),
    .in_valid_o(in_valid), .in_ready_i(in_ready), .in_data_o(in_data),
    .out_valid_i(out_valid), .out_data_i(out_data),
    .response_valid_i(response_valid), .response_i(response)
  );

  io_eth #(.PORTS(4)) u_eth (
    .clk_i, .rst_ni, .mac_i,
    .request_valid_i(request_valid), .request_ready_o(request_ready), .request_i(request),
    .in_valid_i(in_valid), .in_ready_o(in_ready), .in_data_i(in_data),
    .out_valid_o(out_valid), .out_data_o(out_data),
    .response_valid_o(response_valid), .response_o(response),
    .tx_en_o, .txd_o, .rx_dv_i, .rx_er_i, .rxd_i
  );

endmodule
