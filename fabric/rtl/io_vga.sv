// A VGA display behind the I/O hypervisor: I/O VMM and driver.
module io_vga
  import io_pkg::*;
#(
  parameter int unsigned PORTS        = 4,
  parameter int unsigned H_VISIBLE    = 640,
  parameter int unsigned H_FRONT      = 16,
  parameter int unsigned H_SYNC       = 96,
  parameter int unsigned H_BACK       = 48,
  parameter int unsigned V_VISIBLE    = 480,
  parameter int unsigned V_FRONT      = 10,
  parameter int unsigned V_SYNC       = 2,
  parameter int unsigned V_BACK       = 33,
  parameter int unsigned SCALE_LOG2   = 1,
  parameter int unsigned PIXEL_CYCLES = 4
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic [PORTS-1:0][9:0] window_x_i,
  input  logic [PORTS-1:0][9:0] window_y_i,
  input  logic [PORTS-1:0][9:0] window_width_i,
  input  logic [PORTS-1:0][9:0] window_height_i,

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

  output logic        pixel_o,
  output logic        hsync_no,
  output logic        vsync_no,
  output logic [7:0]  colour_o
);

  logic       draw;
  logic [9:0] x, y;
  logic [7:0] colour;

  vga_vmm #(.PORTS(PORTS)) u_vmm (
    .clk_i, .rst_ni, .window_x_i, .window_y_i, .window_width_i, .window_height_i,
    .request_valid_i, .request_ready_o, .request_i, .in_valid_i, .in_ready_o, .in_data_i,
    .out_valid_o, .out_data_o, .response_valid_o, .response_o,
    .draw_o(draw), .x_o(x), .y_o(y), .colour_o(colour)
  );

  vga #(
    .H_VISIBLE(H_VISIBLE), .H_FRONT(H_FRONT), .H_SYNC(H_SYNC), .H_BACK(H_BACK),
    .V_VISIBLE(V_VISIBLE), .V_FRONT(V_FRONT), .V_SYNC(V_SYNC), .V_BACK(V_BACK),
    .SCALE_LOG2(SCALE_LOG2), .PIXEL_CYCLES(PIXEL_CYCLES)
  ) u_driver (
    .clk_i, .rst_ni, .draw_i(draw), .x_i(x), .y_i(y), .colour_i(colour),
    .pixel_o, .hsync_no, .vsync_no, .colour_o
  );

endmodule
