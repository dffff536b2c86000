// A small display with its I/O VMM, and the I/O hypervisor's side of it.
module vga_harness
  import io_pkg::*;
#(
  parameter int unsigned H_VISIBLE    = 64,
  parameter int unsigned V_VISIBLE    = 48,
  parameter int unsigned PIXEL_CYCLES = 2
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [3:0][9:0]  window_x_i,
  input  logic [3:0][9:0]  window_y_i,
  input  logic [3:0][9:0]  window_width_i,
  input  logic [3:0][9:0]  window_height_i,

  input  logic             go_i,
  input  request_t         ask_i,
  output logic             done_o,
  output response_t        answer_o,
  output logic [8:0]       words_o,
  output logic [31:0]      cycles_o,

  output logic             pixel_o,
  output logic             hsync_no,
  output logic             vsync_no,
  output logic [7:0]       colour_o
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

  io_vga #(
    .PORTS(4), .H_VISIBLE(H_VISIBLE), .H_FRONT(4), .H_SYNC(8), .H_BACK(5),
    .V_VISIBLE(V_VISIBLE), .V_FRONT(3), .V_SYNC(2), .V_BACK(4), .PIXEL_CYCLES(PIXEL_CYCLES)
  ) u_vga (
    .clk_i, .rst_ni, .window_x_i, .window_y_i, .window_width_i, .window_height_i,
    .request_valid_i(request_valid), .request_ready_o(request_ready), .request_i(request),
    .in_valid_i(in_valid), .in_ready_o(in_ready), .in_data_i(in_data),
    .out_valid_o(out_valid), .out_data_o(out_data),
    .response_valid_o(response_valid), .response_o(response),
    .pixel_o, .hsync_no, .vsync_no, .colour_o
  );

endmodule
