// The design that `manycore` is compared with: the same mesh and tiles, without an I/O hypervisor.
// In the fifth row are controllers as one has them, each behind packets of registers: of the SPI
// flash, of GPIO (page 0) and UART (page 1), of Ethernet, and of the display.
//
// What is at the ends of the wires is as in manycore_design; GPIO's pins are where timed I/O's are,
// looped back. All tiles reach all registers: who may do what is software's business. Answers of
// all four places are messages, as there is no place that answers into RESPONSE. Page 2 of GP is
// the mesh's counters.
module manycore_baseline_design
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

  // Places of the fifth row, and what is behind each: at the second one two pages.
  localparam int unsigned AtFlash    = 0;
  localparam int unsigned AtPins     = 1;
  localparam int unsigned AtEthernet = 2;
  localparam int unsigned AtDisplay  = 3;

  // The mesh.

  logic [3:0]       in_valid, in_last, in_credit, out_valid, out_last, out_credit;
  logic [3:0][31:0] in_data, out_data;
  logic [19:0]      arrived;

  // No tile is where answers would go into RESPONSE.
  manycore_mesh #(.IO('{y: 3'd7, x: 3'd7}), .REACH(4'b1111), .DEPTH(Depth)) u_mesh (
    .clk_i, .rst_ni, .tile_req_i, .tile_rsp_o, .irq_o, .reach_i('1),
    .in_valid_i(in_valid), .in_last_i(in_last), .in_data_i(in_data), .in_credit_o(in_credit),
    .out_valid_o(out_valid), .out_last_o(out_last), .out_data_o(out_data),
    .out_credit_i(out_credit), .arrived_o(arrived)
  );

  // Registers at each place; at the second one two pages of them.

  logic [3:0]       lost, awvalid, awready, wvalid, wready, bvalid, bready;
  logic [3:0]       arvalid, arready, rvalid, rready;
  logic [3:0][12:0] awaddr, araddr;
  logic [3:0][31:0] wdata, rdata;
  logic [3:0][3:0]  wstrb;
  logic [3:0][2:0]  awprot, arprot;
  logic [3:0][1:0]  bresp, rresp;

  for (genvar i = 0; i < 4; i++) begin : gen_place
    localparam int unsigned Width = i == AtPins ? 13 : 12;

    logic [Width+3:0] write_addr, read_addr;

    always_comb begin
      awaddr[i]            = '0;
      araddr[i]            = '0;
      awaddr[i][Width-1:0] = write_addr[Width-1:0];
      araddr[i][Width-1:0] = read_addr[Width-1:0];
    end

    mesh_registers #(.PLACES(FourByFour), .DEPTH(Depth), .ADDR_WIDTH(Width)) u_registers (
      .clk_i, .rst_ni, .lost_o(lost[i]),
      .out_valid_o(in_valid[i]), .out_last_o(in_last[i]), .out_data_o(in_data[i]),
      .out_credit_i(in_credit[i]), .in_valid_i(out_valid[i]), .in_last_i(out_last[i]),
      .in_data_i(out_data[i]), .in_credit_o(out_credit[i]),
      .m_axil_awvalid(awvalid[i]), .m_axil_awready(awready[i]),
      .m_axil_awaddr(write_addr), .m_axil_awprot(awprot[i]),
      .m_axil_wvalid(wvalid[i]), .m_axil_wready(wready[i]),
      .m_axil_wdata(wdata[i]), .m_axil_wstrb(wstrb[i]),
      .m_axil_bvalid(bvalid[i]), .m_axil_bready(bready[i]), .m_axil_bresp(bresp[i]),
      .m_axil_arvalid(arvalid[i]), .m_axil_arready(arready[i]),
      .m_axil_araddr(read_addr), .m_axil_arprot(arprot[i]),
      .m_axil_rvalid(rvalid[i]), .m_axil_rready(rready[i]),
      .m_axil_rdata(rdata[i]), .m_axil_rresp(rresp[i])
    );

    // All are one software's: whose access it is does not matter.
    logic unused_sender;
    assign unused_sender = ^{write_addr[Width+3:Width], read_addr[Width+3:Width]};
  end

  // The flash: 0.4 ms, 45 ms and 150 ms.

  logic       cs_n, sck, flash_busy, flash_ignored;
  logic [3:0] flash_out, flash_drives, flash_in;

  spi_controller u_spi (
    .clk_i, .rst_ni,
    .s_axil_awvalid(awvalid[AtFlash]), .s_axil_awready(awready[AtFlash]),
    .s_axil_awaddr(awaddr[AtFlash][11:0]), .s_axil_awprot(awprot[AtFlash]),
    .s_axil_wvalid(wvalid[AtFlash]), .s_axil_wready(wready[AtFlash]),
    .s_axil_wdata(wdata[AtFlash]), .s_axil_wstrb(wstrb[AtFlash]),
    .s_axil_bvalid(bvalid[AtFlash]), .s_axil_bready(bready[AtFlash]),
    .s_axil_bresp(bresp[AtFlash]),
    .s_axil_arvalid(arvalid[AtFlash]), .s_axil_arready(arready[AtFlash]),
    .s_axil_araddr(araddr[AtFlash][11:0]), .s_axil_arprot(arprot[AtFlash]),
    .s_axil_rvalid(rvalid[AtFlash]), .s_axil_rready(rready[AtFlash]),
    .s_axil_rdata(rdata[AtFlash]), .s_axil_rresp(rresp[AtFlash]),
    .cs_no(cs_n), .sck_o(sck), .io_o(flash_out), .io_oe_o(flash_drives),
    .io_i(flash_in)
  );

  flash_part #(
    .PROGRAM_CYCLES(40_000), .SECTOR_CYCLES(4_500_000), .BLOCK_CYCLES(15_000_000)
  ) u_flash (
    .clk_i, .power_i(1'b1), .seed_i('0),
    .cs_ni(cs_n), .sck_i(sck), .io_i(flash_out), .io_oe_i(flash_drives),
    .io_o(flash_in),
    .busy_o(flash_busy), .ignored_o(flash_ignored)
  );

  // GPIO and UART. Of one access at a time, the page says whose it is.

  logic [1:0]       p_aw, p_ar, p_awready, p_wready, p_bvalid, p_arready, p_rvalid;
  logic [1:0][1:0]  p_bresp, p_rresp;
  logic [1:0][31:0] p_rdata;
  logic             txd;
  logic [7:0]       pins;

  assign p_aw = awaddr[AtPins][12] ? 2'b10 : 2'b01;
  assign p_ar = araddr[AtPins][12] ? 2'b10 : 2'b01;

  gpio_controller u_gpio (
    .clk_i, .rst_ni,
    .s_axil_awvalid(awvalid[AtPins] && p_aw[0]), .s_axil_awready(p_awready[0]),
    .s_axil_awaddr(awaddr[AtPins][11:0]), .s_axil_awprot(awprot[AtPins]),
    .s_axil_wvalid(wvalid[AtPins] && p_aw[0]), .s_axil_wready(p_wready[0]),
    .s_axil_wdata(wdata[AtPins]), .s_axil_wstrb(wstrb[AtPins]),
    .s_axil_bvalid(p_bvalid[0]), .s_axil_bready(bready[AtPins] && p_aw[0]),
    .s_axil_bresp(p_bresp[0]),
    .s_axil_arvalid(arvalid[AtPins] && p_ar[0]), .s_axil_arready(p_arready[0]),
    .s_axil_araddr(araddr[AtPins][11:0]), .s_axil_arprot(arprot[AtPins]),
    .s_axil_rvalid(p_rvalid[0]), .s_axil_rready(rready[AtPins] && p_ar[0]),
    .s_axil_rdata(p_rdata[0]), .s_axil_rresp(p_rresp[0]),
    .pins_i(pins), .pins_o(pins)
  );

  uart_controller u_uart (
    .clk_i, .rst_ni,
    .s_axil_awvalid(awvalid[AtPins] && p_aw[1]), .s_axil_awready(p_awready[1]),
    .s_axil_awaddr(awaddr[AtPins][11:0]), .s_axil_awprot(awprot[AtPins]),
    .s_axil_wvalid(wvalid[AtPins] && p_aw[1]), .s_axil_wready(p_wready[1]),
    .s_axil_wdata(wdata[AtPins]), .s_axil_wstrb(wstrb[AtPins]),
    .s_axil_bvalid(p_bvalid[1]), .s_axil_bready(bready[AtPins] && p_aw[1]),
    .s_axil_bresp(p_bresp[1]),
    .s_axil_arvalid(arvalid[AtPins] && p_ar[1]), .s_axil_arready(p_arready[1]),
    .s_axil_araddr(araddr[AtPins][11:0]), .s_axil_arprot(arprot[AtPins]),
    .s_axil_rvalid(p_rvalid[1]), .s_axil_rready(rready[AtPins] && p_ar[1]),
    .s_axil_rdata(p_rdata[1]), .s_axil_rresp(p_rresp[1]),
    .txd_o(txd), .rxd_i(txd)
  );

  assign awready[AtPins] = (p_awready & p_aw) != '0;
  assign wready[AtPins]  = (p_wready & p_aw) != '0;
  assign bvalid[AtPins]  = (p_bvalid & p_aw) != '0;
  assign bresp[AtPins]   = p_bresp[p_aw[1]];
  assign arready[AtPins] = (p_arready & p_ar) != '0;
  assign rvalid[AtPins]  = (p_rvalid & p_ar) != '0;
  assign rdata[AtPins]   = p_rdata[p_ar[1]];
  assign rresp[AtPins]   = p_rresp[p_ar[1]];

  // Ethernet.

  logic       tx_en;
  logic [7:0] tx_byte;

  ethernet_controller u_ethernet (
    .clk_i, .rst_ni,
    .s_axil_awvalid(awvalid[AtEthernet]), .s_axil_awready(awready[AtEthernet]),
    .s_axil_awaddr(awaddr[AtEthernet][11:0]), .s_axil_awprot(awprot[AtEthernet]),
    .s_axil_wvalid(wvalid[AtEthernet]), .s_axil_wready(wready[AtEthernet]),
    .s_axil_wdata(wdata[AtEthernet]), .s_axil_wstrb(wstrb[AtEthernet]),
    .s_axil_bvalid(bvalid[AtEthernet]), .s_axil_bready(bready[AtEthernet]),
    .s_axil_bresp(bresp[AtEthernet]),
    .s_axil_arvalid(arvalid[AtEthernet]), .s_axil_arready(arready[AtEthernet]),
    .s_axil_araddr(araddr[AtEthernet][11:0]), .s_axil_arprot(arprot[AtEthernet]),
    .s_axil_rvalid(rvalid[AtEthernet]), .s_axil_rready(rready[AtEthernet]),
    .s_axil_rdata(rdata[AtEthernet]), .s_axil_rresp(rresp[AtEthernet]),
    .tx_en_o(tx_en), .txd_o(tx_byte), .rx_dv_i(tx_en), .rx_er_i(1'b0), .rxd_i(tx_byte)
  );

  // The display.

  logic       pixel, hsync_n, vsync_n;
  logic [7:0] colour;

  vga_controller u_vga (
    .clk_i, .rst_ni,
    .s_axil_awvalid(awvalid[AtDisplay]), .s_axil_awready(awready[AtDisplay]),
    .s_axil_awaddr(awaddr[AtDisplay][11:0]), .s_axil_awprot(awprot[AtDisplay]),
    .s_axil_wvalid(wvalid[AtDisplay]), .s_axil_wready(wready[AtDisplay]),
    .s_axil_wdata(wdata[AtDisplay]), .s_axil_wstrb(wstrb[AtDisplay]),
    .s_axil_bvalid(bvalid[AtDisplay]), .s_axil_bready(bready[AtDisplay]),
    .s_axil_bresp(bresp[AtDisplay]),
    .s_axil_arvalid(arvalid[AtDisplay]), .s_axil_arready(arready[AtDisplay]),
    .s_axil_araddr(araddr[AtDisplay][11:0]), .s_axil_arprot(arprot[AtDisplay]),
    .s_axil_rvalid(rvalid[AtDisplay]), .s_axil_rready(rready[AtDisplay]),
    .s_axil_rdata(rdata[AtDisplay]), .s_axil_rresp(rresp[AtDisplay]),
    .pixel_o(pixel), .hsync_no(hsync_n), .vsync_no(vsync_n), .colour_o(colour)
  );

  // GP's one page.

  logic        c_awvalid, c_awready, c_wvalid, c_wready, c_bvalid, c_bready;
  logic        c_arvalid, c_arready, c_rvalid, c_rready, unused_busy;
  logic [1:0]  c_bresp, c_rresp;
  logic [11:0] c_addr;
  logic [31:0] c_wdata, c_rdata;
  logic [3:0]  c_wstrb;

  page_decoder #(.SLAVES(1), .ADDR_WIDTH(GpAddressWidth), .PAGES(8'd2)) u_pages (
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
    .m_axil_awvalid(c_awvalid), .m_axil_awready(c_awready),
    .m_axil_wvalid(c_wvalid), .m_axil_wready(c_wready),
    .m_axil_addr(c_addr), .m_axil_wdata(c_wdata), .m_axil_wstrb(c_wstrb),
    .m_axil_bvalid(c_bvalid), .m_axil_bready(c_bready), .m_axil_bresp(c_bresp),
    .m_axil_arvalid(c_arvalid), .m_axil_arready(c_arready),
    .m_axil_rvalid(c_rvalid), .m_axil_rready(c_rready), .m_axil_rdata(c_rdata),
    .m_axil_rresp(c_rresp)
  );

  mesh_counters #(.PLACES(20), .LOSERS(4)) u_counters (
    .clk_i, .rst_ni,
    .s_axil_awvalid(c_awvalid), .s_axil_awready(c_awready),
    .s_axil_awaddr(c_addr), .s_axil_awprot('0),
    .s_axil_wvalid(c_wvalid), .s_axil_wready(c_wready),
    .s_axil_wdata(c_wdata), .s_axil_wstrb(c_wstrb),
    .s_axil_bvalid(c_bvalid), .s_axil_bready(c_bready), .s_axil_bresp(c_bresp),
    .s_axil_arvalid(c_arvalid), .s_axil_arready(c_arready),
    .s_axil_araddr(c_addr), .s_axil_arprot('0),
    .s_axil_rvalid(c_rvalid), .s_axil_rready(c_rready),
    .s_axil_rdata(c_rdata), .s_axil_rresp(c_rresp),
    .arrived_i(arrived), .lost_i(lost)
  );

  always_comb begin
    hp_req_o       = '0;
    hp_req_o.wdata = 64'({colour, vsync_n, hsync_n, pixel, tx_byte, tx_en, txd, pins});
    acp_req_o      = '0;
  end

  logic unused;
  assign unused = ^{acp_rsp_i, hp_rsp_i, event_i, flash_busy, flash_ignored, awaddr, araddr};

  // Never: the display's beam goes on.
  assign quiet_o = ~QuietForever;

endmodule
