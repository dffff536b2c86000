// The I/O hypervisor: four ports, the devices behind them, and the tree to memory.
//
// Pages of 4 KiB: 0 is the manager's (regs/io_manager.rdl), 1 to 4 are the ports'
// (regs/io_port.rdl). Which page a VM can reach is the business of the hypervisor's page tables.
module io_hypervisor
  import io_devices_pkg::*;
  import io_pkg::*;
  import memory_tree_pkg::*;
#(
  // Which devices there are, a bit each.
  parameter logic [7:0]  DEVICES     = 8'b0001_1110,
  // Cycles of a bit of the UART, and the half period of the flash's clock.
  parameter int unsigned DIVISOR     = 868,
  parameter int unsigned HALF_CYCLES = 1,
  localparam int unsigned Ports      = 4
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // AXI4-Lite, a page each.
  input  logic [Ports:0]       s_axil_awvalid,
  output logic [Ports:0]       s_axil_awready,
  input  logic [Ports:0]       s_axil_wvalid,
  output logic [Ports:0]       s_axil_wready,
  input  logic [11:0]          s_axil_addr,
  input  logic [31:0]          s_axil_wdata,
  input  logic [3:0]           s_axil_wstrb,
  output logic [Ports:0]       s_axil_bvalid,
  input  logic [Ports:0]       s_axil_bready,
  output logic [Ports:0][1:0]  s_axil_bresp,
  input  logic [Ports:0]       s_axil_arvalid,
  output logic [Ports:0]       s_axil_arready,
  output logic [Ports:0]       s_axil_rvalid,
  input  logic [Ports:0]       s_axil_rready,
  output logic [Ports:0][31:0] s_axil_rdata,
  output logic [Ports:0][1:0]  s_axil_rresp,

  output logic [Ports-1:0]     irq_o,

  // The devices' wires.
  output logic        flash_cs_no,
  output logic        flash_sck_o,
  output logic [3:0]  flash_io_o,
  output logic [3:0]  flash_io_oe_o,
  input  logic [3:0]  flash_io_i,
  output logic        uart_txd_o,
  input  logic        uart_rxd_i,
  output logic        eth_tx_en_o,
  output logic [7:0]  eth_txd_o,
  input  logic        eth_rx_dv_i,
  input  logic        eth_rx_er_i,
  input  logic [7:0]  eth_rxd_i,
  output logic        vga_pixel_o,
  output logic        vga_hsync_no,
  output logic        vga_vsync_no,
  output logic [7:0]  vga_colour_o,

  output logic        m_axi_awvalid,
  input  logic        m_axi_awready,
  output logic [31:0] m_axi_awaddr,
  output logic [7:0]  m_axi_awlen,
  output logic [2:0]  m_axi_awsize,
  output logic [1:0]  m_axi_awburst,
  output logic [3:0]  m_axi_awcache,
  output logic [2:0]  m_axi_awprot,
  output logic        m_axi_wvalid,
  input  logic        m_axi_wready,
  output logic [63:0] m_axi_wdata,
  output logic [7:0]  m_axi_wstrb,
  output logic        m_axi_wlast,
  input  logic        m_axi_bvalid,
  output logic        m_axi_bready,
  input  logic [1:0]  m_axi_bresp,
  output logic        m_axi_arvalid,
  input  logic        m_axi_arready,
  output logic [31:0] m_axi_araddr,
  output logic [7:0]  m_axi_arlen,
  output logic [2:0]  m_axi_arsize,
  output logic [1:0]  m_axi_arburst,
  output logic [3:0]  m_axi_arcache,
  output logic [2:0]  m_axi_arprot,
  input  logic        m_axi_rvalid,
  output logic        m_axi_rready,
  input  logic [63:0] m_axi_rdata,
  input  logic [1:0]  m_axi_rresp,
  input  logic        m_axi_rlast
);

  // The manager's page.

  logic        req, req_is_wr, stall_wr, stall_rd;
  logic [11:0] addr;
  logic [31:0] wr_data, wr_biten, rd_data;
  logic        rd_ack, rd_err, wr_ack, wr_err;

  io_manager_regs_pkg::io_manager__out_t manager;
  io_manager_regs_pkg::io_manager__port_settings__out_t [Ports-1:0] given;

  axil_slave #(.ADDR_WIDTH(12), .DATA_WIDTH(32)) u_slave (
    .clk_i, .rst_ni,
    .s_axil_awvalid(s_axil_awvalid[0]), .s_axil_awready(s_axil_awready[0]),
    .s_axil_awaddr(s_axil_addr), .s_axil_awprot('0),
    .s_axil_wvalid(s_axil_wvalid[0]), .s_axil_wready(s_axil_wready[0]),
    .s_axil_wdata, .s_axil_wstrb,
    .s_axil_bvalid(s_axil_bvalid[0]), .s_axil_bready(s_axil_bready[0]),
    .s_axil_bresp(s_axil_bresp[0]),
    .s_axil_arvalid(s_axil_arvalid[0]), .s_axil_arready(s_axil_arready[0]),
    .s_axil_araddr(s_axil_addr), .s_axil_arprot('0),
    .s_axil_rvalid(s_axil_rvalid[0]), .s_axil_rready(s_axil_rready[0]),
    .s_axil_rdata(s_axil_rdata[0]), .s_axil_rresp(s_axil_rresp[0]),
    .req_o(req), .req_is_wr_o(req_is_wr), .addr_o(addr),
    .wr_data_o(wr_data), .wr_biten_o(wr_biten),
    .req_stall_wr_i(stall_wr), .req_stall_rd_i(stall_rd),
    .rd_ack_i(rd_ack), .rd_err_i(rd_err), .rd_data_i(rd_data),
    .wr_ack_i(wr_ack), .wr_err_i(wr_err)
  );

  io_manager_regs u_regs (
    .clk(clk_i), .arst_n(rst_ni),
    .s_cpuif_req(req), .s_cpuif_req_is_wr(req_is_wr), .s_cpuif_addr(addr),
    .s_cpuif_wr_data(wr_data), .s_cpuif_wr_biten(wr_biten),
    .s_cpuif_req_stall_wr(stall_wr), .s_cpuif_req_stall_rd(stall_rd),
    .s_cpuif_rd_ack(rd_ack), .s_cpuif_rd_err(rd_err), .s_cpuif_rd_data(rd_data),
    .s_cpuif_wr_ack(wr_ack), .s_cpuif_wr_err(wr_err),
    .hwif_out(manager)
  );

  assign given = {manager.PORT3, manager.PORT2, manager.PORT1, manager.PORT0};

  // The ports.

  logic [Ports-1:0][7:0]     ask;
  logic [Ports-1:0]          grant, in_valid, in_ready, out_valid, answered;
  logic [Ports-1:0][31:0]    in_data, out_data;
  request_t [Ports-1:0]      request;
  response_t [Ports-1:0]     response;
  logic [Ports-1:0]          access_valid, access_ready, reply_valid;
  access_t [Ports-1:0]       access;
  reply_t                    reply;

  for (genvar p = 0; p < int'(Ports); p++) begin : gen_port
    io_port #(.PORT(PortWidth'(p)), .DEVICES(DEVICES)) u_port (
      .clk_i, .rst_ni,
      .s_axil_awvalid(s_axil_awvalid[p+1]), .s_axil_awready(s_axil_awready[p+1]),
      .s_axil_awaddr(s_axil_addr), .s_axil_awprot('0),
      .s_axil_wvalid(s_axil_wvalid[p+1]), .s_axil_wready(s_axil_wready[p+1]),
      .s_axil_wdata, .s_axil_wstrb,
      .s_axil_bvalid(s_axil_bvalid[p+1]), .s_axil_bready(s_axil_bready[p+1]),
      .s_axil_bresp(s_axil_bresp[p+1]),
      .s_axil_arvalid(s_axil_arvalid[p+1]), .s_axil_arready(s_axil_arready[p+1]),
      .s_axil_araddr(s_axil_addr), .s_axil_arprot('0),
      .s_axil_rvalid(s_axil_rvalid[p+1]), .s_axil_rready(s_axil_rready[p+1]),
      .s_axil_rdata(s_axil_rdata[p+1]), .s_axil_rresp(s_axil_rresp[p+1]),
      .irq_o(irq_o[p]),
      .devices_i({3'b000, given[p].DEVICES.ethernet.value, given[p].DEVICES.vga.value,
                  given[p].DEVICES.flash.value, given[p].DEVICES.uart.value, 1'b0}),
      .window_base_i(given[p].WINDOW_BASE.page.value),
      .window_pages_i(given[p].WINDOW_PAGES.count.value),
      .ask_o(ask[p]), .grant_i(grant[p]), .request_o(request[p]),
      .in_valid_o(in_valid[p]), .in_ready_i(in_ready[p]), .in_data_o(in_data[p]),
      .out_valid_i(out_valid[p]), .out_data_i(out_data[p]),
      .response_valid_i(answered[p]), .response_i(response[p]),
      .access_valid_o(access_valid[p]), .access_ready_i(access_ready[p]), .access_o(access[p]),
      .reply_valid_i(reply_valid[p]), .reply_i(reply)
    );
  end

  // The devices.

  policy_e [4:1]      policy;
  given_t [Ports-1:0] devices_given;

  assign policy = {policy_e'(manager.POLICY.ethernet.value), policy_e'(manager.POLICY.vga.value),
                   policy_e'(manager.POLICY.flash.value), policy_e'(manager.POLICY.uart.value)};

  always_comb begin
    for (int unsigned p = 0; p < Ports; p++) begin
      devices_given[p] = '{
        flash_first: given[p].FLASH_FIRST.sector.value,
        flash_sectors: given[p].FLASH_SECTORS.count.value,
        flash_writable: given[p].FLASH_SECTORS.writable.value,
        vga_x: given[p].VGA_CORNER.x.value, vga_y: given[p].VGA_CORNER.y.value,
        vga_width: given[p].VGA_SIZE.width.value, vga_height: given[p].VGA_SIZE.height.value,
        mac: {given[p].MAC_HIGH.value.value, given[p].MAC_LOW.value.value}
      };
    end
  end

  io_devices #(
    .PORTS(Ports), .DEVICES(DEVICES), .DIVISOR(DIVISOR), .HALF_CYCLES(HALF_CYCLES)
  ) u_devices (
    .clk_i, .rst_ni, .policy_i(policy), .reader_i(manager.READER.port.value),
    .given_i(devices_given),
    .ask_i(ask), .grant_o(grant), .request_i(request),
    .in_valid_i(in_valid), .in_ready_o(in_ready), .in_data_i(in_data),
    .out_valid_o(out_valid), .out_data_o(out_data), .response_valid_o(answered),
    .response_o(response),
    .flash_cs_no, .flash_sck_o, .flash_io_o, .flash_io_oe_o, .flash_io_i,
    .uart_txd_o, .uart_rxd_i,
    .eth_tx_en_o, .eth_txd_o, .eth_rx_dv_i, .eth_rx_er_i, .eth_rxd_i,
    .vga_pixel_o, .vga_hsync_no, .vga_vsync_no, .vga_colour_o
  );

  // Memory.

  logic       root_valid, root_ready, root_reply_valid;
  logic [1:0] root_number, root_reply_number;
  access_t    root_access;
  reply_t     root_reply;

  memory_tree #(.LOG2_REQUESTERS(2)) u_tree (
    .clk_i, .rst_ni, .valid_i(access_valid), .ready_o(access_ready), .access_i(access),
    .reply_valid_o(reply_valid), .reply_o(reply),
    .root_valid_o(root_valid), .root_ready_i(root_ready), .root_access_o(root_access),
    .root_number_o(root_number), .root_reply_valid_i(root_reply_valid),
    .root_reply_number_i(root_reply_number), .root_reply_i(root_reply)
  );

  // Coherent: software needs no instructions that write caches back.
  memory_tree_root #(.NUMBER_WIDTH(2), .COHERENT(1'b1)) u_root (
    .clk_i, .rst_ni, .valid_i(root_valid), .ready_o(root_ready), .access_i(root_access),
    .number_i(root_number), .reply_valid_o(root_reply_valid), .reply_number_o(root_reply_number),
    .reply_o(root_reply),
    .m_axi_awvalid, .m_axi_awready, .m_axi_awaddr, .m_axi_awlen, .m_axi_awsize, .m_axi_awburst,
    .m_axi_awcache, .m_axi_awprot,
    .m_axi_wvalid, .m_axi_wready, .m_axi_wdata, .m_axi_wstrb, .m_axi_wlast,
    .m_axi_bvalid, .m_axi_bready, .m_axi_bresp,
    .m_axi_arvalid, .m_axi_arready, .m_axi_araddr, .m_axi_arlen, .m_axi_arsize, .m_axi_arburst,
    .m_axi_arcache, .m_axi_arprot,
    .m_axi_rvalid, .m_axi_rready, .m_axi_rdata, .m_axi_rresp, .m_axi_rlast
  );

endmodule
