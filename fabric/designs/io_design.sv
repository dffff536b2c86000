// The design with the I/O hypervisor and timed I/O: what is at the ends of the wires is here too.
//
// The flash is a Winbond W25Q32JV with its typical times (data sheet, section 9.6). It alone keeps
// what it has without power (power_i), and tears what it is at (seed_i). The UART's
// output is its input, and the MAC's bytes come back to it, as with a loop-back plug. Pages: 0 the
// I/O hypervisor's manager, 1 to 4 its ports; 8 to 11 timed I/O, 12 its manager. Interrupt lines: 0
// to 3 the ports.
//
// It has no use for HP. What it would write there, and is never valid, are the chip's pins instead,
// for tests that look at them: 7 to 0 timed I/O's; 8 the UART's; 9 the MAC's enable, 17 to 10 its
// byte; 18 VGA's pixel, 19 and 20 its synchronisation, 28 to 21 its colour.
module io_design import fabric_pkg::*; (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  gp_req_t               gp_req_i,
  output gp_rsp_t               gp_rsp_o,
  output axi_req_t              acp_req_o,
  input  axi_rsp_t              acp_rsp_i,
  output axi_req_t              hp_req_o,
  input  axi_rsp_t              hp_rsp_i,
  input  logic                  event_i,
  input  logic                  power_i,
  input  logic [63:0]           seed_i,
  output logic [Interrupts-1:0] irq_o,
  output logic [31:0]           quiet_o
);

  localparam int unsigned Ports      = 4;
  localparam int unsigned TimedPages = 5;
  localparam int unsigned Slaves     = 1 + Ports + TimedPages;

  // Pages.

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
    .PAGES({8'd12, 8'd11, 8'd10, 8'd9, 8'd8, 8'd4, 8'd3, 8'd2, 8'd1, 8'd0})
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

  // The I/O hypervisor.

  logic        cs_n, sck, txd, tx_en, pixel, hsync_n, vsync_n;
  logic        flash_busy, flash_ignored;
  logic [3:0]  flash_out, flash_drives, flash_in;
  logic [7:0]  tx_byte, colour, timed_pins;
  logic [31:0] awaddr, araddr;
  logic [2:0]  awsize, arsize, awprot, arprot;
  logic [1:0]  awburst, arburst;
  logic [3:0]  awcache, arcache;

  io_hypervisor u_io (
    .clk_i, .rst_ni,
    .s_axil_awvalid(awvalid[Ports:0]), .s_axil_awready(awready[Ports:0]),
    .s_axil_wvalid(wvalid[Ports:0]), .s_axil_wready(wready[Ports:0]),
    .s_axil_addr(addr), .s_axil_wdata(wdata), .s_axil_wstrb(wstrb),
    .s_axil_bvalid(bvalid[Ports:0]), .s_axil_bready(bready[Ports:0]),
    .s_axil_bresp(bresp[Ports:0]),
    .s_axil_arvalid(arvalid[Ports:0]), .s_axil_arready(arready[Ports:0]),
    .s_axil_rvalid(rvalid[Ports:0]), .s_axil_rready(rready[Ports:0]),
    .s_axil_rdata(rdata[Ports:0]), .s_axil_rresp(rresp[Ports:0]),
    .irq_o(irq_o[Ports-1:0]),
    .flash_cs_no(cs_n), .flash_sck_o(sck), .flash_io_o(flash_out),
    .flash_io_oe_o(flash_drives), .flash_io_i(flash_in),
    .uart_txd_o(txd), .uart_rxd_i(txd),
    .eth_tx_en_o(tx_en), .eth_txd_o(tx_byte), .eth_rx_dv_i(tx_en), .eth_rx_er_i(1'b0),
    .eth_rxd_i(tx_byte),
    .vga_pixel_o(pixel), .vga_hsync_no(hsync_n), .vga_vsync_no(vsync_n), .vga_colour_o(colour),
    .m_axi_awvalid(acp_req_o.awvalid), .m_axi_awready(acp_rsp_i.awready),
    .m_axi_awaddr(awaddr), .m_axi_awlen(acp_req_o.awlen), .m_axi_awsize(awsize),
    .m_axi_awburst(awburst), .m_axi_awcache(awcache), .m_axi_awprot(awprot),
    .m_axi_wvalid(acp_req_o.wvalid), .m_axi_wready(acp_rsp_i.wready),
    .m_axi_wdata(acp_req_o.wdata), .m_axi_wstrb(acp_req_o.wstrb), .m_axi_wlast(acp_req_o.wlast),
    .m_axi_bvalid(acp_rsp_i.bvalid), .m_axi_bready(acp_req_o.bready),
    .m_axi_bresp(acp_rsp_i.bresp),
    .m_axi_arvalid(acp_req_o.arvalid), .m_axi_arready(acp_rsp_i.arready),
    .m_axi_araddr(araddr), .m_axi_arlen(acp_req_o.arlen), .m_axi_arsize(arsize),
    .m_axi_arburst(arburst), .m_axi_arcache(arcache), .m_axi_arprot(arprot),
    .m_axi_rvalid(acp_rsp_i.rvalid), .m_axi_rready(acp_req_o.rready),
    .m_axi_rdata(acp_rsp_i.rdata), .m_axi_rresp(acp_rsp_i.rresp), .m_axi_rlast(acp_rsp_i.rlast)
  );

  assign acp_req_o.awaddr = {8'b0, awaddr};
  assign acp_req_o.araddr = {8'b0, araddr};

  assign irq_o[Interrupts-1:Ports] = '0;

  // 0.4 ms, 45 ms and 150 ms.
  flash_part #(
    .PROGRAM_CYCLES(40_000), .SECTOR_CYCLES(4_500_000), .BLOCK_CYCLES(15_000_000)
  ) u_flash (
    .clk_i, .power_i, .seed_i,
    .cs_ni(cs_n), .sck_i(sck), .io_i(flash_out), .io_oe_i(flash_drives), .io_o(flash_in),
    .busy_o(flash_busy), .ignored_o(flash_ignored)
  );

  // Timed I/O.

  localparam int unsigned FirstTimed = 1 + Ports;

  logic [31:0] unused_quiet;

  timed_pages #(.VMS(4), .PINS(8)) u_timed (
    .clk_i, .rst_ni,
    .s_axil_awvalid(awvalid[FirstTimed+:TimedPages]),
    .s_axil_awready(awready[FirstTimed+:TimedPages]),
    .s_axil_wvalid(wvalid[FirstTimed+:TimedPages]), .s_axil_wready(wready[FirstTimed+:TimedPages]),
    .s_axil_addr(addr), .s_axil_wdata(wdata), .s_axil_wstrb(wstrb),
    .s_axil_bvalid(bvalid[FirstTimed+:TimedPages]), .s_axil_bready(bready[FirstTimed+:TimedPages]),
    .s_axil_bresp(bresp[FirstTimed+:TimedPages]),
    .s_axil_arvalid(arvalid[FirstTimed+:TimedPages]),
    .s_axil_arready(arready[FirstTimed+:TimedPages]),
    .s_axil_rvalid(rvalid[FirstTimed+:TimedPages]), .s_axil_rready(rready[FirstTimed+:TimedPages]),
    .s_axil_rdata(rdata[FirstTimed+:TimedPages]), .s_axil_rresp(rresp[FirstTimed+:TimedPages]),
    .pins_i(timed_pins), .pins_o(timed_pins), .quiet_o(unused_quiet)
  );

  logic [31:0] pins;
  assign pins = {3'b0, colour, vsync_n, hsync_n, pixel, tx_byte, tx_en, txd, timed_pins};

  always_comb begin
    hp_req_o       = '0;
    hp_req_o.wdata = 64'(pins);
  end

  logic unused;
  assign unused = ^{hp_rsp_i, event_i, awsize, arsize, awburst, arburst, awcache, arcache, awprot,
                    arprot, flash_busy, flash_ignored};

  // Never: the display's beam goes on.
  assign quiet_o = ~QuietForever;

endmodule
