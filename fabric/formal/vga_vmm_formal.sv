// The I/O VMM of a display, whatever ports ask: each pixel that is drawn lies in the window of the
// port that asks, and is drawn during its request; each request is answered once.
module vga_vmm_formal
  import io_pkg::*;
(
  input logic            clk_i,
  input logic            rst_ni,
  // From here to there, the latter not within.
  input logic [1:0][9:0] from_x,
  input logic [1:0][9:0] from_y,
  input logic [1:0][9:0] to_x,
  input logic [1:0][9:0] to_y,
  input logic            request_valid,
  input logic [50:0]     asked,
  input logic            in_valid,
  input logic [31:0]     in_data
);

  request_t    request;
  logic        request_ready, in_ready, out_valid, response_valid, draw;
  logic [31:0] out_data;
  response_t   response;
  logic [9:0]  x, y;
  logic [7:0]  colour;

  assign request = request_t'(asked);

  vga_vmm #(.PORTS(2)) dut (
    .clk_i, .rst_ni, .window_x_i(from_x), .window_y_i(from_y),
    .window_width_i({to_x[1] - from_x[1], to_x[0] - from_x[0]}),
    .window_height_i({to_y[1] - from_y[1], to_y[0] - from_y[0]}),
    .request_valid_i(request_valid), .request_ready_o(request_ready), .request_i(request),
    .in_valid_i(in_valid), .in_ready_o(in_ready), .in_data_i(in_data),
    .out_valid_o(out_valid), .out_data_o(out_data),
    .response_valid_o(response_valid), .response_o(response),
    .draw_o(draw), .x_o(x), .y_o(y), .colour_o(colour)
  );

  io_vmm_props #(.VMM_PROVED(1'b1), .PORTS(2)) bus (
    .clk_i, .rst_ni, .request_valid, .request_ready, .request, .in_valid, .in_ready, .out_valid,
    .response_valid, .response
  );

  logic        began_q = 1'b0;
  logic        port_q;
  logic [79:0] windows_q;

  always_ff @(posedge clk_i) begin
    began_q   <= 1'b1;
    windows_q <= {from_x, from_y, to_x, to_y};
    if (!rst_ni) port_q <= 1'b0;
    else if (request_valid && request_ready) port_q <= request.port[0];

    begin_in_reset: assume (rst_ni == began_q);
    legal: assume (from_x[0] <= to_x[0] && from_x[1] <= to_x[1]
                   && from_y[0] <= to_y[0] && from_y[1] <= to_y[1]);
    if (began_q) stay: assume (windows_q == {from_x, from_y, to_x, to_y});

    if (rst_ni) begin
      if (draw) in_window: assert (x >= from_x[port_q] && x < to_x[port_q]
                                   && y >= from_y[port_q] && y < to_y[port_q]);
      if (draw) under_way: assert (bus.busy_q && bus.op_q != Read);
      drawn: cover (draw && port_q && bus.op_q == Write);
      filled: cover (draw && bus.op_q == Control);
    end
  end

`ifndef CUT
  localparam logic [2:0] Idle = 3'd0, Check = 3'd1, Row = 3'd2, Operands = 3'd3, Clip = 3'd4,
    Fill = 3'd5, Respond = 3'd6;

  // What makes the rest follow by induction.
  always_ff @(posedge clk_i) begin
    if (rst_ni && began_q) begin
      states: assert (dut.state_q <= Respond);
      one: assert (bus.busy_q == (dut.state_q != Idle));
      no_words: assert (bus.out_words_q == '0);
      never_suspends: assert (dut.status_q != Suspended);
      if (bus.busy_q) begin
        same: assert (dut.op_q == bus.op_q && dut.op_q != Reserved);
        same_window: assert (dut.corner_x_q == from_x[port_q] && dut.corner_y_q == from_y[port_q]
          && dut.width_q == to_x[port_q] - from_x[port_q]
          && dut.height_q == to_y[port_q] - from_y[port_q]);
      end
      if (dut.state_q == Row) rows: assert (dut.op_q == Write);
      if (dut.state_q == Operands || dut.state_q == Clip || dut.state_q == Fill)
        fills: assert (dut.op_q == Control);
      if (dut.state_q == Respond) answers: assert (dut.op_q != Read || dut.status_q == BadOp);
    end
  end
`endif

endmodule
