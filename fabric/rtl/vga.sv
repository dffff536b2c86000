// The low-level driver of a VGA display: its timing, and a frame buffer that it shows. A pixel of
// the buffer is 2 ** SCALE_LOG2 of the display's wide and high, and has 3 bits of red, 3 of green
// and 2 of blue, from the highest on.
//
// Unless told, 640 x 480 at 60 Hz (VESA DMT 0x04) with 320 x 240 in the buffer. Its pixel clock
// would be 25.175 MHz, and is 25: 0.7 % slow.
module vga #(
  parameter int unsigned H_VISIBLE    = 640,
  parameter int unsigned H_FRONT      = 16,
  parameter int unsigned H_SYNC       = 96,
  parameter int unsigned H_BACK       = 48,
  parameter int unsigned V_VISIBLE    = 480,
  parameter int unsigned V_FRONT      = 10,
  parameter int unsigned V_SYNC       = 2,
  parameter int unsigned V_BACK       = 33,
  parameter int unsigned SCALE_LOG2   = 1,
  // Cycles of a pixel, at least 2.
  parameter int unsigned PIXEL_CYCLES = 4
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  // A pixel of the buffer; one outside of it is none.
  input  logic       draw_i,
  input  logic [9:0] x_i,
  input  logic [9:0] y_i,
  input  logic [7:0] colour_i,

  // Up for the first cycle of each pixel of the display; the rest changes with it.
  output logic       pixel_o,
  output logic       hsync_no,
  output logic       vsync_no,
  // Black outside of the picture.
  output logic [7:0] colour_o
);

  localparam int unsigned Width   = H_VISIBLE >> SCALE_LOG2;
  localparam int unsigned Height  = V_VISIBLE >> SCALE_LOG2;
  localparam int unsigned HTotal  = H_VISIBLE + H_FRONT + H_SYNC + H_BACK;
  localparam int unsigned VTotal  = V_VISIBLE + V_FRONT + V_SYNC + V_BACK;
  localparam int unsigned AtWidth = $clog2(Width * Height);
  // Block RAMs are longest when they are narrow, and then there are few to choose from: banks of so
  // many bits.
  localparam int unsigned BankBits  = AtWidth < 14 ? AtWidth : 14;
  localparam int unsigned Banks     = (Width * Height + (1 << BankBits) - 1) >> BankBits;
  localparam int unsigned BankWidth = Banks > 1 ? $clog2(Banks) : 1;
  typedef logic [$clog2(HTotal)-1:0]       h_t;
  typedef logic [$clog2(VTotal)-1:0]       v_t;
  typedef logic [$clog2(PIXEL_CYCLES)-1:0] tick_t;
  typedef logic [AtWidth-1:0]              at_t;
  typedef logic [BankWidth-1:0]            bank_t;

  // What is drawn: taken; its row's place; its place.
  logic       draw_q, in_row_q, write_q;
  logic [9:0] x_q, y_q, in_row_x_q;
  at_t        in_row_at_q, write_at_q;
  logic [7:0] draw_colour_q, in_row_colour_q, write_colour_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      draw_q   <= 1'b0;
      in_row_q <= 1'b0;
      write_q  <= 1'b0;
    end else begin
      draw_q   <= draw_i;
      in_row_q <= draw_q && 32'(x_q) < Width && 32'(y_q) < Height;
      write_q  <= in_row_q;
    end
  end

  always_ff @(posedge clk_i) begin
    x_q             <= x_i;
    y_q             <= y_i;
    draw_colour_q   <= colour_i;
    in_row_x_q      <= x_q;
    in_row_at_q     <= at_t'(32'(y_q) * Width);
    in_row_colour_q <= draw_colour_q;
    write_at_q      <= in_row_at_q + at_t'(in_row_x_q);
    write_colour_q  <= in_row_colour_q;
  end

  // What is shown: from the first pixel of the picture on.
  tick_t      tick_q;
  h_t         h_q;
  v_t         v_q;
  at_t        row_q, at_q;
  logic       tick, h_last, v_last, row_last;
  // A cycle for the memory, one on the way from there, and one to choose what comes out.
  logic       tick_1_q, hsync_1_q, vsync_1_q, visible_1_q, tick_2_q, hsync_2_q, vsync_2_q;
  logic       visible_2_q, pixel_q, hsync_q, vsync_q, visible_q;
  bank_t      bank_1_q, bank_2_q;
  logic [7:0] read_q;

  assign tick     = 32'(tick_q) == PIXEL_CYCLES - 1;
  assign h_last   = 32'(h_q) == HTotal - 1;
  assign v_last   = 32'(v_q) == VTotal - 1;
  // The last row of the display that shows this one of the buffer.
  assign row_last = (32'(v_q) & ((1 << SCALE_LOG2) - 1)) == (1 << SCALE_LOG2) - 1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tick_q      <= '0;
      h_q         <= '0;
      v_q         <= '0;
      row_q       <= '0;
      tick_1_q    <= 1'b0;
      hsync_1_q   <= 1'b0;
      vsync_1_q   <= 1'b0;
      visible_1_q <= 1'b0;
      tick_2_q    <= 1'b0;
      hsync_2_q   <= 1'b0;
      vsync_2_q   <= 1'b0;
      visible_2_q <= 1'b0;
      pixel_q     <= 1'b0;
      hsync_q     <= 1'b0;
      vsync_q     <= 1'b0;
      visible_q   <= 1'b0;
    end else begin
      tick_q <= tick ? '0 : tick_q + 1'b1;
      if (tick) begin
        h_q <= h_last ? '0 : h_q + 1'b1;
        if (h_last) begin
          v_q <= v_last ? '0 : v_q + 1'b1;
          if (v_last) row_q <= '0;
          else if (row_last && 32'(v_q) < V_VISIBLE) row_q <= row_q + at_t'(Width);
        end
      end
      tick_1_q    <= tick;
      tick_2_q    <= tick_1_q;
      hsync_2_q   <= hsync_1_q;
      vsync_2_q   <= vsync_1_q;
      visible_2_q <= visible_1_q;
      pixel_q     <= tick_2_q;
      hsync_q     <= hsync_2_q;
      vsync_q     <= vsync_2_q;
      visible_q   <= visible_2_q;
      if (tick) begin
        hsync_1_q   <= 32'(h_q) >= H_VISIBLE + H_FRONT && 32'(h_q) < H_VISIBLE + H_FRONT + H_SYNC;
        vsync_1_q   <= 32'(v_q) >= V_VISIBLE + V_FRONT && 32'(v_q) < V_VISIBLE + V_FRONT + V_SYNC;
        visible_1_q <= 32'(h_q) < H_VISIBLE && 32'(v_q) < V_VISIBLE;
      end
    end
  end

  for (genvar i = 0; i < 8; i++) begin : gen_bit
    logic [Banks-1:0] read, on_way_q;

    for (genvar b = 0; b < Banks; b++) begin : gen_bank
      logic memory [1 << BankBits];
      always_ff @(posedge clk_i) begin
        if (write_q && bank_t'(write_at_q >> BankBits) == bank_t'(b)) begin
          memory[write_at_q[BankBits-1:0]] <= write_colour_q[i];
        end
      end
      always_ff @(posedge clk_i) if (tick) read[b] <= memory[at_q[BankBits-1:0]];
    end

    always_ff @(posedge clk_i) begin
      on_way_q  <= read;
      read_q[i] <= on_way_q[bank_2_q];
    end
  end

  always_ff @(posedge clk_i) begin
    at_q     <= row_q + at_t'(32'(h_q) >> SCALE_LOG2);
    if (tick) bank_1_q <= bank_t'(at_q >> BankBits);
    bank_2_q <= bank_1_q;
  end

  assign pixel_o  = pixel_q;
  assign hsync_no = !hsync_q;
  assign vsync_no = !vsync_q;
  assign colour_o = visible_q ? read_q : 8'h00;

endmodule
