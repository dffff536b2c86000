// The display's picture: each pixel is PIXEL_CYCLES long, each line and each picture has its syncs
// in their places, there is no colour outside of the picture, and inside it a pixel of the buffer
// has the colour that it was last drawn with.
//
// Looked at is one pixel of the buffer, which may be any. What is drawn within the cycles in which
// it is read may be seen or not.
module vga_formal #(
  parameter int unsigned H_VISIBLE    = 4,
  parameter int unsigned H_FRONT      = 1,
  parameter int unsigned H_SYNC       = 2,
  parameter int unsigned H_BACK       = 1,
  parameter int unsigned V_VISIBLE    = 4,
  parameter int unsigned V_FRONT      = 1,
  parameter int unsigned V_SYNC       = 1,
  parameter int unsigned V_BACK       = 1,
  parameter int unsigned PIXEL_CYCLES = 4
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       draw,
  input logic [9:0] x,
  input logic [9:0] y,
  input logic [7:0] colour,
  // Any, and kept.
  input logic       some_x,
  input logic       some_y
);

  localparam int unsigned HTotal = H_VISIBLE + H_FRONT + H_SYNC + H_BACK;
  localparam int unsigned VTotal = V_VISIBLE + V_FRONT + V_SYNC + V_BACK;
  // From a pixel's being drawn to its being read, and from there to the display.
  localparam int unsigned Lead = 3 + PIXEL_CYCLES + 3;

  logic       pixel, hsync_n, vsync_n;
  logic [7:0] shown;

  vga #(
    .H_VISIBLE(H_VISIBLE), .H_FRONT(H_FRONT), .H_SYNC(H_SYNC), .H_BACK(H_BACK),
    .V_VISIBLE(V_VISIBLE), .V_FRONT(V_FRONT), .V_SYNC(V_SYNC), .V_BACK(V_BACK),
    .SCALE_LOG2(1), .PIXEL_CYCLES(PIXEL_CYCLES)
  ) dut (
    .clk_i, .rst_ni, .draw_i(draw), .x_i(x), .y_i(y), .colour_i(colour),
    .pixel_o(pixel), .hsync_no(hsync_n), .vsync_no(vsync_n), .colour_o(shown)
  );

  // Where the display is: the pixel that is shown, and the cycles that it has been for. A first one
  // comes PIXEL_CYCLES + 2 cycles after reset.
  logic       began_q = 1'b0;
  logic       some_x_q, some_y_q, begun_q, hits;
  logic [7:0] h_q, v_q, cycles_q, h, v;
  // The pixel's colour, and for how long it has been that.
  logic       drawn_q;
  logic [7:0] colour_q;
  logic [4:0] age_q;

  assign hits = draw && x == 10'(some_x) && y == 10'(some_y);
  assign h    = !begun_q ? '0 : pixel ? (32'(h_q) == HTotal - 1 ? '0 : h_q + 1'b1) : h_q;
  assign v    = !begun_q ? '0 : pixel && 32'(h_q) == HTotal - 1
                ? (32'(v_q) == VTotal - 1 ? '0 : v_q + 1'b1) : v_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      begun_q  <= 1'b0;
      h_q      <= '0;
      v_q      <= '0;
      cycles_q <= '0;
      drawn_q  <= 1'b0;
      age_q    <= '0;
    end else begin
      begun_q  <= begun_q || pixel;
      h_q      <= h;
      v_q      <= v;
      cycles_q <= pixel ? 8'd1 : cycles_q + 8'(cycles_q != '1);
      drawn_q  <= drawn_q || hits;
      age_q    <= hits ? '0 : age_q + 5'(age_q != '1);
    end
  end

  always_ff @(posedge clk_i) begin
    some_x_q <= some_x;
    some_y_q <= some_y;
    if (hits) colour_q <= colour;
  end

  logic visible;
  assign visible = (pixel || begun_q) && 32'(h) < H_VISIBLE && 32'(v) < V_VISIBLE;

  always_ff @(posedge clk_i) begin
    began_q <= 1'b1;
    begin_in_reset: assume (rst_ni == began_q);
    if (began_q) some_same: assume (some_x == some_x_q && some_y == some_y_q);

    if (rst_ni) begin
      pixels_in_time: assert (pixel == (32'(cycles_q) == (begun_q ? PIXEL_CYCLES
                                                                   : PIXEL_CYCLES + 2)));
      h_in_place: assert (hsync_n == !((pixel || begun_q) && 32'(h) >= H_VISIBLE + H_FRONT
                                       && 32'(h) < H_VISIBLE + H_FRONT + H_SYNC));
      v_in_place: assert (vsync_n == !((pixel || begun_q) && 32'(v) >= V_VISIBLE + V_FRONT
                                       && 32'(v) < V_VISIBLE + V_FRONT + V_SYNC));
      black: assert (visible || shown == '0);
      if (visible && h[7:1] == 7'(some_x) && v[7:1] == 7'(some_y) && drawn_q
          && 32'(age_q) >= Lead + PIXEL_CYCLES) begin
        as_drawn: assert (shown == colour_q);
      end

      line: cover (visible && h == 8'd2 && shown == 8'ha5);
    end
  end

`ifndef CUT
  // Pixels from a place to the next one that the memory is read for. The first three cycles of a
  // pixel there are the last ones of the pixel before here.
  logic [15:0] place, read_place, ahead;
  logic [7:0]  before_h, before_v;
  logic        on_way, ran;

  assign place      = 16'(v) * 16'(HTotal) + 16'(h);
  assign read_place = 16'(dut.v_q) * 16'(HTotal) + 16'(dut.h_q);
  assign ahead      = read_place >= place ? read_place - place
                                          : read_place + 16'(HTotal * VTotal) - place;
  assign before_h   = dut.h_q == '0 ? 8'(HTotal - 1) : 8'(dut.h_q) - 8'd1;
  assign before_v   = dut.h_q != '0 ? 8'(dut.v_q) : dut.v_q == '0 ? 8'(VTotal - 1)
                                                                 : 8'(dut.v_q) - 8'd1;
  assign on_way     = dut.tick_1_q || dut.tick_2_q;
  assign ran        = begun_q || pixel || on_way;

  // What was drawn up to three cycles ago is on its way to the memory.
  localparam int unsigned Width = H_VISIBLE / 2;
  logic [2:0] hits_q;
  logic [7:0] kept, read, on_way_word;
  logic [1:0] at;
  logic       reads, of_pixel;

  assign at = 2'(32'(some_y) * Width + 32'(some_x));
  for (genvar i = 0; i < 8; i++) begin : gen_bit
    assign kept[i]        = dut.gen_bit[i].gen_bank[0].memory[at];
    assign read[i]        = dut.gen_bit[i].read[0];
    assign on_way_word[i] = dut.gen_bit[i].on_way_q[0];
  end
  // The pixel was read last; it is the one that is shown.
  assign reads    = ran && 32'(before_h) < H_VISIBLE && 32'(before_v) < V_VISIBLE
                    && before_h[7:1] == 7'(some_x) && before_v[7:1] == 7'(some_y);
  assign of_pixel = visible && h[7:1] == 7'(some_x) && v[7:1] == 7'(some_y);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) hits_q <= '0;
    else hits_q <= {hits_q[1:0], hits};
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      state_age: assert (hits_q[0] == (drawn_q && age_q == '0)
                         && (!hits_q[1] || age_q <= 5'd1) && (!hits_q[2] || age_q <= 5'd2)
                         && (!drawn_q || age_q > 5'd2 || hits_q[2'(age_q)]));
      state_draw: assert (hits_q[0] == (dut.draw_q && dut.x_q == 10'(some_x)
                                        && dut.y_q == 10'(some_y)));
      state_row: assert (hits_q[1] == (dut.in_row_q && 2'(dut.in_row_at_q + 2'(dut.in_row_x_q))
                                       == at));
      state_in_row: assert (!dut.in_row_q
                            || (32'(dut.in_row_x_q) < Width && !dut.in_row_at_q[0]));
      state_write: assert (hits_q[2] == (dut.write_q && dut.write_at_q == at));
      if (drawn_q) begin
        state_colour: assert (age_q == 5'd0 ? dut.draw_colour_q == colour_q
                              : age_q == 5'd1 ? dut.in_row_colour_q == colour_q
                              : age_q == 5'd2 ? dut.write_colour_q == colour_q
                              : kept == colour_q);
      end
      state_row_at: assert (32'(dut.v_q) >= V_VISIBLE || dut.row_q == 2'(8'(dut.v_q) >> 1 << 1));
      state_at: assert (dut.tick_q == 2'd0
                        || dut.at_q == 2'(dut.row_q + 2'(8'(dut.h_q) >> 1)));
      state_bank: assert ((!ran || dut.bank_1_q == '0)
                          && (!(begun_q || pixel || dut.tick_2_q) || dut.bank_2_q == '0));
      if (drawn_q && reads && 32'(age_q) >= 32'(dut.tick_q) + 4) begin
        state_read: assert (read == colour_q);
        state_on_way: assert (dut.tick_q == 2'd0 || on_way_word == colour_q);
      end
      if (drawn_q && of_pixel
          && 32'(age_q) >= 32'(dut.tick_q) + (dut.tick_q < 2'd2 ? 8 : 4)) begin
        state_shown: assert (dut.read_q == colour_q
                             && (dut.tick_q != 2'd0 || on_way_word == colour_q));
      end
      state_places: assert (32'(dut.h_q) < HTotal && 32'(dut.v_q) < VTotal
                            && 32'(h_q) < HTotal && 32'(v_q) < VTotal
                            && 32'(dut.tick_q) < PIXEL_CYCLES);
      state_ticks: assert (dut.tick_1_q == (ran && dut.tick_q == 2'd0)
                           && dut.tick_2_q == (ran && dut.tick_q == 2'd1)
                           && pixel == (ran && dut.tick_q == 2'd2));
      state_ahead: assert (begun_q || pixel ? ahead == (on_way ? 16'd2 : 16'd1)
                                            : read_place == 16'(on_way));
      state_cycles: assert (!ran || !begun_q || 32'(cycles_q)
                            == (dut.tick_q == 2'd3 ? 1 : 32'(dut.tick_q) + 2));
      state_first: assert (begun_q || 32'(cycles_q) == (ran ? 32'(dut.tick_q) + 4
                                                            : 32'(dut.tick_q)));
      state_syncs: assert (!ran
        ? !(dut.hsync_1_q || dut.vsync_1_q || dut.visible_1_q)
        : dut.hsync_1_q == (32'(before_h) >= H_VISIBLE + H_FRONT
                            && 32'(before_h) < H_VISIBLE + H_FRONT + H_SYNC)
          && dut.vsync_1_q == (32'(before_v) >= V_VISIBLE + V_FRONT
                               && 32'(before_v) < V_VISIBLE + V_FRONT + V_SYNC)
          && dut.visible_1_q == (32'(before_h) < H_VISIBLE && 32'(before_v) < V_VISIBLE));
    end
  end
`endif

endmodule
