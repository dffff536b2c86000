// The design for many tiles: the mesh with their interfaces, the I/O hypervisor at the first place
// of the fifth row, and timed I/O for 16 at the second.
//
// What is at the ends of the wires is as in io_design. A tile's port has its interface as page 0,
// and nothing else: timed I/O it reaches by packets of registers, and there its own page. Pages of
// GP: 0 the I/O hypervisor's manager, 1 timed I/O's manager, 2 the mesh's counters.
//
// Timed I/O's pins 0 to 7 are looped back; pins 8 to 15, and 16 to 23, have the lowest bits of its
// time, so that a sample of eight of them says when it was taken.
//
// It has no use for memory. What it would write to HP, and is never valid, are the chip's pins, as
// io_design has them.
module manycore_design
  import fabric_pkg::*, mesh_io_pkg::*;
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

  localparam int unsigned Depth = 4;

  // Pages of GP.
  localparam int unsigned AManager  = 0;
  localparam int unsigned ATimed    = 1;
  localparam int unsigned ACounters = 2;
  localparam int unsigned Slaves    = 3;
  // Timed I/O's page that is its manager's: behind those of the tiles.
  localparam logic [4:0]  TimedManager = 5'(Tiles);

  // Places of the fifth row.
  localparam int unsigned AtIo    = 0;
  localparam int unsigned AtTimed = 1;

  logic [Slaves-1:0]       awvalid, awready, wvalid, wready, bvalid, bready;
  logic [Slaves-1:0]       arvalid, arready, rvalid, rready;
  logic [Slaves-1:0][1:0]  bresp, rresp;
  logic [Slaves-1:0][31:0] rdata;
  logic [11:0]             addr;
  logic [31:0]             wdata;
  logic [3:0]              wstrb;
  logic                    unused_busy;

  page_decoder #(
    .SLAVES(Slaves), .ADDR_WIDTH(GpAddressWidth),
    .PAGES({8'(ACounters), 8'(ATimed), 8'(AManager)})
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

  // The mesh. Behind timed I/O in its row is no router.

  logic [3:0]       in_valid, in_last, in_credit, out_valid, out_last, out_credit;
  logic [3:0][31:0] in_data, out_data;
  logic [19:0]      arrived;

  logic [Tiles-1:0][Tiles-1:0] reach;

  manycore_mesh #(
    .IO('{y: 3'd4, x: 3'(AtIo)}), .REACH(4'b0011), .DEPTH(Depth)
  ) u_mesh (
    .clk_i, .rst_ni, .tile_req_i, .tile_rsp_o, .irq_o, .reach_i(reach),
    .in_valid_i(in_valid), .in_last_i(in_last), .in_data_i(in_data), .in_credit_o(in_credit),
    .out_valid_o(out_valid), .out_last_o(out_last), .out_data_o(out_data),
    .out_credit_i(out_credit), .arrived_o(arrived)
  );

  assign in_valid[3:2]   = '0;
  assign in_last[3:2]    = '0;
  assign in_data[3:2]    = '0;
  assign out_credit[3:2] = out_valid[3:2];

  // The I/O hypervisor.

  logic       cs_n, sck, txd, tx_en, pixel, hsync_n, vsync_n;
  logic       flash_busy, flash_ignored;
  logic [3:0] flash_out, flash_drives, flash_in;
  logic [7:0] tx_byte, colour;

  mesh_io_hypervisor #(.PLACES(FourByFour), .DEPTH(Depth)) u_io (
    .clk_i, .rst_ni, .reach_o(reach),
    .s_axil_awvalid(awvalid[AManager]), .s_axil_awready(awready[AManager]),
    .s_axil_awaddr(addr), .s_axil_awprot('0),
    .s_axil_wvalid(wvalid[AManager]), .s_axil_wready(wready[AManager]),
    .s_axil_wdata(wdata), .s_axil_wstrb(wstrb),
    .s_axil_bvalid(bvalid[AManager]), .s_axil_bready(bready[AManager]),
    .s_axil_bresp(bresp[AManager]),
    .s_axil_arvalid(arvalid[AManager]), .s_axil_arready(arready[AManager]),
    .s_axil_araddr(addr), .s_axil_arprot('0),
    .s_axil_rvalid(rvalid[AManager]), .s_axil_rready(rready[AManager]),
    .s_axil_rdata(rdata[AManager]), .s_axil_rresp(rresp[AManager]),
    .out_valid_o(in_valid[AtIo]), .out_last_o(in_last[AtIo]), .out_data_o(in_data[AtIo]),
    .out_credit_i(in_credit[AtIo]), .in_valid_i(out_valid[AtIo]), .in_last_i(out_last[AtIo]),
    .in_data_i(out_data[AtIo]), .in_credit_o(out_credit[AtIo]),
    .flash_cs_no(cs_n), .flash_sck_o(sck), .flash_io_o(flash_out),
    .flash_io_oe_o(flash_drives), .flash_io_i(flash_in),
    .uart_txd_o(txd), .uart_rxd_i(txd),
    .eth_tx_en_o(tx_en), .eth_txd_o(tx_byte), .eth_rx_dv_i(tx_en), .eth_rx_er_i(1'b0),
    .eth_rxd_i(tx_byte),
    .vga_pixel_o(pixel), .vga_hsync_no(hsync_n), .vga_vsync_no(vsync_n), .vga_colour_o(colour)
  );

  // 0.4 ms, 45 ms and 150 ms.
  flash_part #(
    .PROGRAM_CYCLES(40_000), .SECTOR_CYCLES(4_500_000), .BLOCK_CYCLES(15_000_000)
  ) u_flash (
    .clk_i, .power_i(1'b1), .seed_i('0),
    .cs_ni(cs_n), .sck_i(sck), .io_i(flash_out), .io_oe_i(flash_drives),
    .io_o(flash_in),
    .busy_o(flash_busy), .ignored_o(flash_ignored)
  );

  // Timed I/O. Its pages are the tiles', by their numbers, and the manager's behind them.

  logic        b_awvalid, b_awready, b_wvalid, b_wready, b_bvalid, b_bready;
  logic        b_arvalid, b_arready, b_rvalid, b_rready, lost;
  logic [15:0] b_awaddr, b_araddr;
  logic [31:0] b_wdata;
  logic [3:0]  b_wstrb;
  logic [2:0]  b_awprot, b_arprot;
  logic        t_awvalid, t_awready, t_wvalid, t_wready, t_bvalid, t_bready;
  logic        t_arvalid, t_arready, t_rvalid, t_rready;
  logic [16:0] t_awaddr, t_araddr;
  logic [31:0] t_wdata, t_rdata, j_rdata;
  logic [3:0]  t_wstrb;
  logic [1:0]  t_bresp, t_rresp, j_bresp, j_rresp;
  logic [63:0] now;
  logic [23:0] timed_pins;

  mesh_registers #(.PLACES(FourByFour), .DEPTH(Depth)) u_registers (
    .clk_i, .rst_ni, .lost_o(lost),
    .out_valid_o(in_valid[AtTimed]), .out_last_o(in_last[AtTimed]),
    .out_data_o(in_data[AtTimed]), .out_credit_i(in_credit[AtTimed]),
    .in_valid_i(out_valid[AtTimed]), .in_last_i(out_last[AtTimed]),
    .in_data_i(out_data[AtTimed]), .in_credit_o(out_credit[AtTimed]),
    .m_axil_awvalid(b_awvalid), .m_axil_awready(b_awready),
    .m_axil_awaddr(b_awaddr), .m_axil_awprot(b_awprot),
    .m_axil_wvalid(b_wvalid), .m_axil_wready(b_wready),
    .m_axil_wdata(b_wdata), .m_axil_wstrb(b_wstrb),
    .m_axil_bvalid(b_bvalid), .m_axil_bready(b_bready), .m_axil_bresp(j_bresp),
    .m_axil_arvalid(b_arvalid), .m_axil_arready(b_arready),
    .m_axil_araddr(b_araddr), .m_axil_arprot(b_arprot),
    .m_axil_rvalid(b_rvalid), .m_axil_rready(b_rready),
    .m_axil_rdata(j_rdata), .m_axil_rresp(j_rresp)
  );

  axil_join #(.ADDR_WIDTH(17)) u_join (
    .clk_i, .rst_ni,
    .s_axil_awvalid({awvalid[ATimed], b_awvalid}), .s_axil_awready({awready[ATimed], b_awready}),
    .s_axil_awaddr({{TimedManager, addr}, {1'b0, b_awaddr}}),
    .s_axil_wvalid({wvalid[ATimed], b_wvalid}), .s_axil_wready({wready[ATimed], b_wready}),
    .s_axil_wdata({wdata, b_wdata}), .s_axil_wstrb({wstrb, b_wstrb}),
    .s_axil_bvalid({bvalid[ATimed], b_bvalid}), .s_axil_bready({bready[ATimed], b_bready}),
    .s_axil_bresp(j_bresp),
    .s_axil_arvalid({arvalid[ATimed], b_arvalid}), .s_axil_arready({arready[ATimed], b_arready}),
    .s_axil_araddr({{TimedManager, addr}, {1'b0, b_araddr}}),
    .s_axil_rvalid({rvalid[ATimed], b_rvalid}), .s_axil_rready({rready[ATimed], b_rready}),
    .s_axil_rdata(j_rdata), .s_axil_rresp(j_rresp),
    .m_axil_awvalid(t_awvalid), .m_axil_awready(t_awready), .m_axil_awaddr(t_awaddr),
    .m_axil_wvalid(t_wvalid), .m_axil_wready(t_wready),
    .m_axil_wdata(t_wdata), .m_axil_wstrb(t_wstrb),
    .m_axil_bvalid(t_bvalid), .m_axil_bready(t_bready), .m_axil_bresp(t_bresp),
    .m_axil_arvalid(t_arvalid), .m_axil_arready(t_arready), .m_axil_araddr(t_araddr),
    .m_axil_rvalid(t_rvalid), .m_axil_rready(t_rready),
    .m_axil_rdata(t_rdata), .m_axil_rresp(t_rresp)
  );

  assign bresp[ATimed] = j_bresp;
  assign rresp[ATimed] = j_rresp;
  assign rdata[ATimed] = j_rdata;

  timed_io #(.VMS(Tiles), .PINS(24)) u_timed (
    .clk_i, .rst_ni,
    .s_axil_awvalid(t_awvalid), .s_axil_awready(t_awready),
    .s_axil_awaddr(t_awaddr), .s_axil_awprot('0),
    .s_axil_wvalid(t_wvalid), .s_axil_wready(t_wready),
    .s_axil_wdata(t_wdata), .s_axil_wstrb(t_wstrb),
    .s_axil_bvalid(t_bvalid), .s_axil_bready(t_bready), .s_axil_bresp(t_bresp),
    .s_axil_arvalid(t_arvalid), .s_axil_arready(t_arready),
    .s_axil_araddr(t_araddr), .s_axil_arprot('0),
    .s_axil_rvalid(t_rvalid), .s_axil_rready(t_rready),
    .s_axil_rdata(t_rdata), .s_axil_rresp(t_rresp),
    .time_o(now), .pins_i({now[7:0], now[7:0], timed_pins[7:0]}), .pins_o(timed_pins)
  );

  mesh_counters #(.PLACES(20), .LOSERS(4)) u_counters (
    .clk_i, .rst_ni,
    .s_axil_awvalid(awvalid[ACounters]), .s_axil_awready(awready[ACounters]),
    .s_axil_awaddr(addr), .s_axil_awprot('0),
    .s_axil_wvalid(wvalid[ACounters]), .s_axil_wready(wready[ACounters]),
    .s_axil_wdata(wdata), .s_axil_wstrb(wstrb),
    .s_axil_bvalid(bvalid[ACounters]), .s_axil_bready(bready[ACounters]),
    .s_axil_bresp(bresp[ACounters]),
    .s_axil_arvalid(arvalid[ACounters]), .s_axil_arready(arready[ACounters]),
    .s_axil_araddr(addr), .s_axil_arprot('0),
    .s_axil_rvalid(rvalid[ACounters]), .s_axil_rready(rready[ACounters]),
    .s_axil_rdata(rdata[ACounters]), .s_axil_rresp(rresp[ACounters]),
    .arrived_i(arrived), .lost_i({2'b00, lost, 1'b0})
  );

  logic [31:0] pins;
  assign pins = {3'b0, colour, vsync_n, hsync_n, pixel, tx_byte, tx_en, txd, timed_pins[7:0]};

  always_comb begin
    hp_req_o       = '0;
    hp_req_o.wdata = 64'(pins);
    acp_req_o      = '0;
  end

  logic unused;
  assign unused = ^{acp_rsp_i, hp_rsp_i, event_i, flash_busy, flash_ignored, b_awprot, b_arprot,
                    timed_pins[23:8], out_last[3:2], out_data[3:2], in_credit[3:2], now[63:8]};

  // Never: the display's beam goes on.
  assign quiet_o = ~QuietForever;

endmodule
