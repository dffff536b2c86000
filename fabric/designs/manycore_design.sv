// The design for many tiles: a mesh of 4 x 5 with an interface for each of 16 tiles in its upper
// four rows, the I/O hypervisor at the first place of the fifth, and timed I/O.
//
// What is at the ends of the wires is as in io_design. A tile's port has its interface as page 0,
// and nothing else. Pages of GP: 0 the I/O hypervisor's manager; 32 to 47 timed I/O of the tiles,
// 48 its manager. Interrupt lines: 0 to 15 the interfaces. A tile's place is its number: X below, Y
// above.
//
// It has no use for memory. What it would write to HP, and is never valid, are the chip's pins, as
// io_design has them; what it would write to ACP is how many flits have come over the mesh.
module manycore_design
  import fabric_pkg::*, mesh_io_pkg::*, mesh_pkg::*;
(
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  gp_req_t               gp_req_i,
  output gp_rsp_t               gp_rsp_o,
  output axi_req_t              acp_req_o,
  input  axi_rsp_t              acp_rsp_i,
  output axi_req_t              hp_req_o,
  input  axi_rsp_t              hp_rsp_i,
  input  gp_req_t [Tiles-1:0]   tile_req_i,
  output gp_rsp_t [Tiles-1:0]   tile_rsp_o,
  input  logic                  event_i,
  output logic [Interrupts-1:0] irq_o,
  output logic [31:0]           quiet_o
);

  localparam int unsigned X          = 4;
  localparam int unsigned Y          = 5;
  localparam int unsigned Routers    = X * Y;
  localparam int unsigned Depth      = 4;
  localparam int unsigned IoRouter   = 16;
  localparam int unsigned FirstTimed = 1;
  localparam int unsigned TimedPages = Tiles + 1;
  localparam int unsigned Slaves     = FirstTimed + TimedPages;
  localparam place_t      Io         = '{y: 3'd4, x: 3'd0};

  // Pages.

  typedef logic [Slaves-1:0][7:0] pages_t;

  function automatic pages_t pages();
    for (int unsigned i = 0; i < Slaves; i++) pages[i] = i == 0 ? 8'd0 : 8'(31 + i);
  endfunction

  logic [Slaves-1:0]       awvalid, awready, wvalid, wready, bvalid, bready;
  logic [Slaves-1:0]       arvalid, arready, rvalid, rready;
  logic [Slaves-1:0][1:0]  bresp, rresp;
  logic [Slaves-1:0][31:0] rdata;
  logic [11:0]             addr;
  logic [31:0]             wdata;
  logic [3:0]              wstrb;
  logic                    unused_busy;

  page_decoder #(
    .SLAVES(Slaves), .ADDR_WIDTH(GpAddressWidth), .PAGES(pages())
  ) u_pages (
    .clk_i, .rst_ni,
    .s_axil_awvalid(gp_req_i.awvalid), .s_axil_awready(gp_rsp_o.awready),
    .s_axil_awaddr(gp_req_i.awaddr), .s_axil_awprot('0),
    .s_axil_wvalid(gp_req_i.wvalid), .s_axil_wready(gp_rsp_o.wready),
    .s_axil_wdata(gp_req_i.wdata), .s_axil_wstrb(gp_req_i.wstrb),
    .s_axil_bvalid(gp_rsp_o.bvalid), .s_axil_bready(gp_req_i.bready),
    .s_axil_bresp(gp_rsp_o.bresp),
    .s_axil_arvalid(gp_req_i.arvalid), .s_axil_arready(gp_rsp_o.arready),
    .s_axil_araddr(gp_req_i.araddr), .s_axil_arprot('0),
    .s_axil_rvalid(gp_rsp_o.rvalid), .s_axil_rready(gp_req_i.rready),
    .s_axil_rdata(gp_rsp_o.rdata), .s_axil_rresp(gp_rsp_o.rresp),
    .busy_o(unused_busy),
    .m_axil_awvalid(awvalid), .m_axil_awready(awready),
    .m_axil_wvalid(wvalid), .m_axil_wready(wready),
    .m_axil_addr(addr), .m_axil_wdata(wdata), .m_axil_wstrb(wstrb),
    .m_axil_bvalid(bvalid), .m_axil_bready(bready), .m_axil_bresp(bresp),
    .m_axil_arvalid(arvalid), .m_axil_arready(arready),
    .m_axil_rvalid(rvalid), .m_axil_rready(rready), .m_axil_rdata(rdata), .m_axil_rresp(rresp)
  );

  // The mesh, by places. Behind the I/O hypervisor in its row is nobody.

  logic [Routers-1:0]       in_valid, in_last, in_credit, out_valid, out_last, out_credit;
  logic [Routers-1:0][31:0] in_data, out_data;
  logic [Routers-1:0][4:0]  flits;

  mesh #(.X(X), .Y(Y), .DEPTH(Depth)) u_mesh (
    .clk_i, .rst_ni, .in_valid_i(in_valid), .in_last_i(in_last), .in_data_i(in_data),
    .in_credit_o(in_credit), .out_valid_o(out_valid), .out_last_o(out_last),
    .out_data_o(out_data), .out_credit_i(out_credit), .flits_o(flits)
  );

  for (genvar t = 0; t < int'(Tiles); t++) begin : gen_tile
    manycore_tile #(.PLACE(FourByFour[t]), .IO(Io), .DEPTH(Depth)) u_tile (
      .clk_i, .rst_ni,
      .tile_req_i(tile_req_i[t]), .tile_rsp_o(tile_rsp_o[t]), .irq_o(irq_o[t]),
      // The tiles, and the I/O hypervisor.
      .reach_i(64'h0000_0001_0f0f_0f0f),
      .out_valid_o(in_valid[t]), .out_last_o(in_last[t]), .out_data_o(in_data[t]),
      .out_credit_i(in_credit[t]), .in_valid_i(out_valid[t]), .in_last_i(out_last[t]),
      .in_data_i(out_data[t]), .in_credit_o(out_credit[t])
    );
  end

  for (genvar r = int'(IoRouter) + 1; r < int'(Routers); r++) begin : gen_nobody
    assign in_valid[r]   = 1'b0;
    assign in_last[r]    = 1'b0;
    assign in_data[r]    = '0;
    assign out_credit[r] = out_valid[r];
  end

  // The I/O hypervisor.

  logic       cs_n, sck, mosi, miso, txd, tx_en, pixel, hsync_n, vsync_n;
  logic       flash_busy, flash_ignored;
  logic [7:0] tx_byte, colour, timed_pins;

  mesh_io_hypervisor #(.PLACES(FourByFour), .DEPTH(Depth)) u_io (
    .clk_i, .rst_ni,
    .s_axil_awvalid(awvalid[0]), .s_axil_awready(awready[0]),
    .s_axil_awaddr(addr), .s_axil_awprot('0),
    .s_axil_wvalid(wvalid[0]), .s_axil_wready(wready[0]),
    .s_axil_wdata(wdata), .s_axil_wstrb(wstrb),
    .s_axil_bvalid(bvalid[0]), .s_axil_bready(bready[0]), .s_axil_bresp(bresp[0]),
    .s_axil_arvalid(arvalid[0]), .s_axil_arready(arready[0]),
    .s_axil_araddr(addr), .s_axil_arprot('0),
    .s_axil_rvalid(rvalid[0]), .s_axil_rready(rready[0]),
    .s_axil_rdata(rdata[0]), .s_axil_rresp(rresp[0]),
    .out_valid_o(in_valid[IoRouter]), .out_last_o(in_last[IoRouter]),
    .out_data_o(in_data[IoRouter]), .out_credit_i(in_credit[IoRouter]),
    .in_valid_i(out_valid[IoRouter]), .in_last_i(out_last[IoRouter]),
    .in_data_i(out_data[IoRouter]), .in_credit_o(out_credit[IoRouter]),
    .flash_cs_no(cs_n), .flash_sck_o(sck), .flash_mosi_o(mosi), .flash_miso_i(miso),
    .uart_txd_o(txd), .uart_rxd_i(txd),
    .eth_tx_en_o(tx_en), .eth_txd_o(tx_byte), .eth_rx_dv_i(tx_en), .eth_rx_er_i(1'b0),
    .eth_rxd_i(tx_byte),
    .vga_pixel_o(pixel), .vga_hsync_no(hsync_n), .vga_vsync_no(vsync_n), .vga_colour_o(colour)
  );

  // 0.4 ms, 45 ms and 150 ms.
  flash_part #(
    .PROGRAM_CYCLES(40_000), .SECTOR_CYCLES(4_500_000), .BLOCK_CYCLES(15_000_000)
  ) u_flash (
    .clk_i, .cs_ni(cs_n), .sck_i(sck), .mosi_i(mosi), .miso_o(miso),
    .busy_o(flash_busy), .ignored_o(flash_ignored)
  );

  // Timed I/O has all of its pages behind one bus: which one is asked is its address' upper part.

  logic [TimedPages-1:0] t_asked;
  logic [4:0]            t_page;
  logic                  t_awready, t_wready, t_bvalid, t_arready, t_rvalid;
  logic [1:0]            t_bresp, t_rresp;
  logic [31:0]           t_rdata;
  logic [63:0]           unused_time;

  assign t_asked = awvalid[FirstTimed+:TimedPages] | arvalid[FirstTimed+:TimedPages];

  always_comb begin
    t_page = '0;
    for (int unsigned i = 0; i < TimedPages; i++) if (t_asked[i]) t_page = t_page | 5'(i);
  end

  timed_io #(.VMS(Tiles), .PINS(8)) u_timed (
    .clk_i, .rst_ni,
    .s_axil_awvalid(awvalid[FirstTimed+:TimedPages] != '0), .s_axil_awready(t_awready),
    .s_axil_awaddr({t_page, addr}), .s_axil_awprot('0),
    .s_axil_wvalid(wvalid[FirstTimed+:TimedPages] != '0), .s_axil_wready(t_wready),
    .s_axil_wdata(wdata), .s_axil_wstrb(wstrb),
    .s_axil_bvalid(t_bvalid), .s_axil_bready(bready[FirstTimed+:TimedPages] != '0),
    .s_axil_bresp(t_bresp),
    .s_axil_arvalid(arvalid[FirstTimed+:TimedPages] != '0), .s_axil_arready(t_arready),
    .s_axil_araddr({t_page, addr}), .s_axil_arprot('0),
    .s_axil_rvalid(t_rvalid), .s_axil_rready(rready[FirstTimed+:TimedPages] != '0),
    .s_axil_rdata(t_rdata), .s_axil_rresp(t_rresp),
    .time_o(unused_time), .pins_i(timed_pins), .pins_o(timed_pins)
  );

  assign awready[FirstTimed+:TimedPages] = {TimedPages{t_awready}};
  assign wready[FirstTimed+:TimedPages]  = {TimedPages{t_wready}};
  assign bvalid[FirstTimed+:TimedPages]  = {TimedPages{t_bvalid}};
  assign arready[FirstTimed+:TimedPages] = {TimedPages{t_arready}};
  assign rvalid[FirstTimed+:TimedPages]  = {TimedPages{t_rvalid}};
  for (genvar i = int'(FirstTimed); i < int'(Slaves); i++) begin : gen_timed
    assign bresp[i] = t_bresp;
    assign rresp[i] = t_rresp;
    assign rdata[i] = t_rdata;
  end

  // What goes over the mesh, counted where it arrives.

  logic [63:0] flits_q;
  logic [4:0]  arrive;

  always_comb begin
    arrive = '0;
    for (int unsigned r = 0; r < Routers; r++) arrive = arrive + 5'(flits[r][Local]);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) flits_q <= '0;
    else flits_q <= flits_q + 64'(arrive);
  end

  logic [31:0] pins;
  assign pins = {3'b0, colour, vsync_n, hsync_n, pixel, tx_byte, tx_en, txd, timed_pins};

  always_comb begin
    hp_req_o        = '0;
    hp_req_o.wdata  = 64'(pins);
    acp_req_o       = '0;
    acp_req_o.wdata = flits_q;
  end

  logic unused;
  assign unused = ^{acp_rsp_i, hp_rsp_i, event_i, flits, flash_busy, flash_ignored};

  // Never: the display's beam goes on.
  assign quiet_o = ~QuietForever;

endmodule
