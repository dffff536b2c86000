// A display's controller as one has it: its driver, and registers that draw
// (regs/vga_controller.rdl).
module vga_controller #(
  // As in vga.
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

  input  logic        s_axil_awvalid,
  output logic        s_axil_awready,
  input  logic [11:0] s_axil_awaddr,
  input  logic [2:0]  s_axil_awprot,
  input  logic        s_axil_wvalid,
  output logic        s_axil_wready,
  input  logic [31:0] s_axil_wdata,
  input  logic [3:0]  s_axil_wstrb,
  output logic        s_axil_bvalid,
  input  logic        s_axil_bready,
  output logic [1:0]  s_axil_bresp,
  input  logic        s_axil_arvalid,
  output logic        s_axil_arready,
  input  logic [11:0] s_axil_araddr,
  input  logic [2:0]  s_axil_arprot,
  output logic        s_axil_rvalid,
  input  logic        s_axil_rready,
  output logic [31:0] s_axil_rdata,
  output logic [1:0]  s_axil_rresp,

  output logic        pixel_o,
  output logic        hsync_no,
  output logic        vsync_no,
  output logic [7:0]  colour_o
);

  // The page. A register between the bus and what is behind it: decoding takes a cycle.

  logic        req, req_is_wr, page_req_q, page_is_wr_q, unused_stall_wr, unused_stall_rd;
  logic [11:0] addr, page_addr_q;
  logic [31:0] wr_data, wr_biten, page_data_q, page_biten_q, rd_data;
  logic        rd_ack, rd_err, wr_ack, wr_err;

  vga_controller_regs_pkg::vga_controller__in_t  to_regs;
  vga_controller_regs_pkg::vga_controller__out_t from_regs;

  axil_slave #(.ADDR_WIDTH(12), .DATA_WIDTH(32)) u_slave (
    .clk_i, .rst_ni,
    .s_axil_awvalid, .s_axil_awready, .s_axil_awaddr, .s_axil_awprot,
    .s_axil_wvalid, .s_axil_wready, .s_axil_wdata, .s_axil_wstrb,
    .s_axil_bvalid, .s_axil_bready, .s_axil_bresp,
    .s_axil_arvalid, .s_axil_arready, .s_axil_araddr, .s_axil_arprot,
    .s_axil_rvalid, .s_axil_rready, .s_axil_rdata, .s_axil_rresp,
    .req_o(req), .req_is_wr_o(req_is_wr), .addr_o(addr),
    .wr_data_o(wr_data), .wr_biten_o(wr_biten),
    // It makes no other access before this one is answered.
    .req_stall_wr_i(1'b0), .req_stall_rd_i(1'b0),
    .rd_ack_i(rd_ack), .rd_err_i(rd_err), .rd_data_i(rd_data),
    .wr_ack_i(wr_ack), .wr_err_i(wr_err)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) page_req_q <= 1'b0;
    else page_req_q <= req;
  end

  always_ff @(posedge clk_i) begin
    {page_is_wr_q, page_addr_q, page_data_q, page_biten_q} <= {req_is_wr, addr, wr_data, wr_biten};
  end

  vga_controller_regs u_regs (
    .clk(clk_i), .arst_n(rst_ni),
    .s_cpuif_req(page_req_q), .s_cpuif_req_is_wr(page_is_wr_q), .s_cpuif_addr(page_addr_q),
    .s_cpuif_wr_data(page_data_q), .s_cpuif_wr_biten(page_biten_q),
    .s_cpuif_req_stall_wr(unused_stall_wr), .s_cpuif_req_stall_rd(unused_stall_rd),
    .s_cpuif_rd_ack(rd_ack), .s_cpuif_rd_err(rd_err), .s_cpuif_rd_data(rd_data),
    .s_cpuif_wr_ack(wr_ack), .s_cpuif_wr_err(wr_err),
    .hwif_in(to_regs), .hwif_out(from_regs)
  );

  // A word of four pixels is drawn in four cycles, in which there is no other access.

  logic        draws_q, begins_q, draw;
  logic [2:0]  colours_left_q;
  logic [31:0] colours_q;
  logic [9:0]  x_q, y_q, pixels_q, x, y;
  logic [7:0]  colour;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      draws_q        <= 1'b0;
      begins_q       <= 1'b0;
      colours_left_q <= '0;
    end else begin
      draws_q  <= from_regs.PIXEL.x.swmod;
      begins_q <= from_regs.ROW.x.swmod;
      if (from_regs.COLOURS.req && from_regs.COLOURS.req_is_wr) colours_left_q <= 3'd4;
      else if (colours_left_q != '0) colours_left_q <= colours_left_q - 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (from_regs.COLOURS.req) colours_q <= from_regs.COLOURS.wr_data;
    else colours_q <= colours_q >> 8;
    if (begins_q) begin
      x_q      <= from_regs.ROW.x.value;
      y_q      <= from_regs.ROW.y.value;
      pixels_q <= from_regs.ROW.pixels.value;
    end else if (colours_left_q != '0 && pixels_q != '0) begin
      x_q      <= x_q + 1'b1;
      pixels_q <= pixels_q - 1'b1;
    end
  end

  assign draw   = draws_q || (colours_left_q != '0 && pixels_q != '0);
  assign x      = draws_q ? from_regs.PIXEL.x.value : x_q;
  assign y      = draws_q ? from_regs.PIXEL.y.value : y_q;
  assign colour = draws_q ? from_regs.PIXEL.colour.value : colours_q[7:0];

  assign to_regs.COLOURS.wr_ack  = colours_left_q == 3'd1;
  assign to_regs.COLOURS.rd_ack  = 1'b0;
  assign to_regs.COLOURS.rd_data = '0;

  vga #(
    .H_VISIBLE(H_VISIBLE), .H_FRONT(H_FRONT), .H_SYNC(H_SYNC), .H_BACK(H_BACK),
    .V_VISIBLE(V_VISIBLE), .V_FRONT(V_FRONT), .V_SYNC(V_SYNC), .V_BACK(V_BACK),
    .SCALE_LOG2(SCALE_LOG2), .PIXEL_CYCLES(PIXEL_CYCLES)
  ) u_driver (
    .clk_i, .rst_ni, .draw_i(draw), .x_i(x), .y_i(y), .colour_i(colour),
    .pixel_o, .hsync_no, .vsync_no, .colour_o
  );

  logic unused;
  assign unused = ^{from_regs.COLOURS.addr, from_regs.COLOURS.wr_biten};

endmodule
