// The I/O VMM of a display. Each port has a window, and draws in it alone: coordinates count from
// the window's upper left corner, and what lies outside of the window is not drawn.
//
// A Write draws a pixel for each byte, from left to right. A Control with five bytes, width, height
// and colour, fills a rectangle; it takes a cycle for each pixel of it that is in the window.
module vga_vmm
  import io_pkg::*;
#(
  parameter int unsigned PORTS = 4
) (
  input  logic            clk_i,
  input  logic            rst_ni,

  // Each port's window, in the display's buffer: its corner and its size.
  input  logic [PORTS-1:0][9:0] window_x_i,
  input  logic [PORTS-1:0][9:0] window_y_i,
  input  logic [PORTS-1:0][9:0] window_width_i,
  input  logic [PORTS-1:0][9:0] window_height_i,

  input  logic            request_valid_i,
  output logic            request_ready_o,
  input  request_t        request_i,
  input  logic            in_valid_i,
  output logic            in_ready_o,
  input  logic [31:0]     in_data_i,
  output logic            out_valid_o,
  output logic [31:0]     out_data_o,
  output logic            response_valid_o,
  output response_t       response_o,

  // The driver.
  output logic            draw_o,
  output logic [9:0]      x_o,
  output logic [9:0]      y_o,
  output logic [7:0]      colour_o
);

  localparam int unsigned PortIndexWidth = PORTS > 1 ? unsigned'($clog2(PORTS)) : 1;
  typedef logic [LengthWidth-1:0] length_t;
  // Within a window, or beyond.
  typedef logic [16:0]            coordinate_t;

  typedef enum logic [2:0] {
    Idle,
    Check,
    Row,       // a Write's pixels
    Operands,  // a rectangle's width, height and colour,
    Clip,      // what of it is in the window,
    Fill,      // and its pixels
    Respond
  } state_e;

  state_e      state_q;
  op_e         op_q;
  length_t     length_q, left_q;
  status_e     status_q, refusal;
  // The port's window; the pixel that is next, and the rectangle.
  logic [9:0]  corner_x_q, corner_y_q, width_q, height_q;
  coordinate_t x_q, y_q, first_x_q, behind_x_q, behind_y_q, right, below;
  logic [39:0] operands_q;
  logic        byte_valid, byte_ready, visible, filling, last_x, last_y;
  logic [7:0]  data;
  logic [PortIndexWidth-1:0] port;

  assign port              = PortIndexWidth'(request_i.port);
  assign request_ready_o   = state_q == Idle;
  assign response_valid_o  = state_q == Respond;
  assign response_o.status = status_q;
  assign response_o.length = '0;
  assign out_valid_o       = 1'b0;
  assign out_data_o        = '0;

  always_comb begin
    refusal = Done;
    if (op_q == Read) refusal = BadOp;
    else if (op_q == Write ? length_q == '0 : length_q != 11'd5) refusal = BadLength;
  end

  assign byte_ready = state_q == Row || state_q == Operands;

  io_unpack u_unpack (
    .clk_i, .rst_ni, .clear_i(response_valid_o), .in_valid_i, .in_ready_o, .in_data_i,
    .byte_valid_o(byte_valid), .byte_ready_i(byte_ready), .byte_o(data)
  );

  // Where the rectangle ends, if the window does not before.
  assign right   = x_q + coordinate_t'(operands_q[15:0]);
  assign below   = y_q + coordinate_t'(operands_q[31:16]);
  assign last_x  = x_q + 17'd1 >= behind_x_q;
  assign last_y  = y_q + 17'd1 >= behind_y_q;
  assign filling = x_q < behind_x_q && y_q < behind_y_q;

  // The pixel, when it is in the window.
  assign visible  = x_q < coordinate_t'(width_q) && y_q < coordinate_t'(height_q);
  assign draw_o   = visible && ((state_q == Row && byte_valid)
                               || (state_q == Fill && filling));
  assign x_o      = corner_x_q + x_q[9:0];
  assign y_o      = corner_y_q + y_q[9:0];
  assign colour_o = state_q == Row ? data : operands_q[39:32];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= Idle;
      op_q     <= Read;
      length_q <= '0;
      left_q   <= '0;
      status_q <= Done;
    end else begin
      unique case (state_q)
        Idle: begin
          if (request_valid_i) begin
            op_q     <= request_i.op;
            length_q <= request_i.length;
            state_q  <= Check;
          end
        end
        Check: begin
          status_q <= refusal;
          left_q   <= length_q;
          state_q  <= refusal != Done ? Respond : op_q == Write ? Row : Operands;
        end
        Row: begin
          if (byte_valid) begin
            left_q <= left_q - 1'b1;
            if (left_q == length_t'(1)) state_q <= Respond;
          end
        end
        Operands: begin
          if (byte_valid) begin
            left_q <= left_q - 1'b1;
            if (left_q == length_t'(1)) state_q <= Clip;
          end
        end
        Clip: state_q <= Fill;
        Fill: if (!filling || (last_x && last_y)) state_q <= Respond;
        Respond: state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Idle: begin
        corner_x_q <= window_x_i[port];
        corner_y_q <= window_y_i[port];
        width_q    <= window_width_i[port];
        height_q   <= window_height_i[port];
        x_q        <= coordinate_t'(request_i.addr[15:0]);
        first_x_q  <= coordinate_t'(request_i.addr[15:0]);
        y_q        <= coordinate_t'(request_i.addr[31:16]);
      end
      Row: if (byte_valid) x_q <= x_q + 17'd1;
      Operands: if (byte_valid) operands_q <= {data, operands_q[39:8]};
      Clip: begin
        behind_x_q <= right < coordinate_t'(width_q) ? right : coordinate_t'(width_q);
        behind_y_q <= below < coordinate_t'(height_q) ? below : coordinate_t'(height_q);
      end
      Fill: begin
        x_q <= last_x ? first_x_q : x_q + 17'd1;
        if (last_x) y_q <= y_q + 17'd1;
      end
      Check, Respond: ;
    endcase
  end

endmodule
