// The I/O hypervisor at a place of the mesh: a port for each of up to 16 other places, the devices
// behind them, and the manager's page (regs/mesh_manager.rdl), which says what a port may use.
module mesh_io_hypervisor
  import io_devices_pkg::*;
  import io_pkg::*;
  import mesh_io_pkg::*;
  import mesh_pkg::*;
#(
  // At most 16; where each one's requests come from; flits that the router has room for.
  parameter int unsigned        PORTS       = 16,
  parameter place_t [PORTS-1:0] PLACES      = FourByFour[PORTS-1:0],
  parameter int unsigned        DEPTH       = 4,
  // Which devices there are, a bit each.
  parameter logic [7:0]         DEVICES     = 8'b0001_1110,
  // Cycles of a bit of the UART, and the half period of the flash's clock.
  parameter int unsigned        DIVISOR     = 868,
  parameter int unsigned        HALF_CYCLES = 1
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

  // Into the mesh, and out of it.
  output logic        out_valid_o,
  output logic        out_last_o,
  output logic [31:0] out_data_o,
  input  logic        out_credit_i,
  input  logic        in_valid_i,
  input  logic        in_last_i,
  input  logic [31:0] in_data_i,
  output logic        in_credit_o,

  // The tiles that each port's tile may send to.
  output logic [PORTS-1:0][15:0] reach_o,

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
  output logic [7:0]  vga_colour_o
);

  // The manager's page.

  logic        req, req_is_wr, stall_wr, stall_rd;
  logic [11:0] addr;
  logic [31:0] wr_data, wr_biten, rd_data;
  logic        rd_ack, rd_err, wr_ack, wr_err;

  mesh_manager_regs_pkg::mesh_manager__in_t  to_regs;
  mesh_manager_regs_pkg::mesh_manager__out_t manager;
  mesh_manager_regs_pkg::mesh_manager__port_settings__out_t [15:0] settings;

  axil_slave #(.ADDR_WIDTH(12), .DATA_WIDTH(32)) u_slave (
    .clk_i, .rst_ni,
    .s_axil_awvalid, .s_axil_awready, .s_axil_awaddr, .s_axil_awprot,
    .s_axil_wvalid, .s_axil_wready, .s_axil_wdata, .s_axil_wstrb,
    .s_axil_bvalid, .s_axil_bready, .s_axil_bresp,
    .s_axil_arvalid, .s_axil_arready, .s_axil_araddr, .s_axil_arprot,
    .s_axil_rvalid, .s_axil_rready, .s_axil_rdata, .s_axil_rresp,
    .req_o(req), .req_is_wr_o(req_is_wr), .addr_o(addr),
    .wr_data_o(wr_data), .wr_biten_o(wr_biten),
    .req_stall_wr_i(stall_wr), .req_stall_rd_i(stall_rd),
    .rd_ack_i(rd_ack), .rd_err_i(rd_err), .rd_data_i(rd_data),
    .wr_ack_i(wr_ack), .wr_err_i(wr_err)
  );

  mesh_manager_regs u_regs (
    .clk(clk_i), .arst_n(rst_ni),
    .s_cpuif_req(req), .s_cpuif_req_is_wr(req_is_wr), .s_cpuif_addr(addr),
    .s_cpuif_wr_data(wr_data), .s_cpuif_wr_biten(wr_biten),
    .s_cpuif_req_stall_wr(stall_wr), .s_cpuif_req_stall_rd(stall_rd),
    .s_cpuif_rd_ack(rd_ack), .s_cpuif_rd_err(rd_err), .s_cpuif_rd_data(rd_data),
    .s_cpuif_wr_ack(wr_ack), .s_cpuif_wr_err(wr_err),
    .hwif_in(to_regs), .hwif_out(manager)
  );

  assign settings = {manager.PORT15, manager.PORT14, manager.PORT13, manager.PORT12,
                     manager.PORT11, manager.PORT10, manager.PORT9, manager.PORT8,
                     manager.PORT7, manager.PORT6, manager.PORT5, manager.PORT4,
                     manager.PORT3, manager.PORT2, manager.PORT1, manager.PORT0};

  policy_e [4:1]         policy;
  given_t [PORTS-1:0]    given;
  logic [PORTS-1:0][7:0] devices;

  assign policy = {policy_e'(manager.POLICY.ethernet.value), policy_e'(manager.POLICY.vga.value),
                   policy_e'(manager.POLICY.flash.value), policy_e'(manager.POLICY.uart.value)};

  always_comb begin
    for (int unsigned p = 0; p < PORTS; p++) begin
      reach_o[p] = settings[p].REACH.tiles.value;
      devices[p] = {3'b000, settings[p].DEVICES.ethernet.value, settings[p].DEVICES.vga.value,
                    settings[p].DEVICES.flash.value, settings[p].DEVICES.uart.value, 1'b0};
      given[p] = '{
        flash_first: settings[p].FLASH_FIRST.sector.value,
        flash_sectors: settings[p].FLASH_SECTORS.count.value,
        flash_writable: settings[p].FLASH_SECTORS.writable.value,
        vga_x: settings[p].VGA_CORNER.x.value, vga_y: settings[p].VGA_CORNER.y.value,
        vga_width: settings[p].VGA_SIZE.width.value,
        vga_height: settings[p].VGA_SIZE.height.value,
        mac: {settings[p].MAC_HIGH.value.value, settings[p].MAC_LOW.value.value}
      };
    end
  end

  // The ports, and their devices.

  logic [PORTS-1:0]       lost, lost_q;
  logic [PORTS-1:0][7:0]  ask;
  logic [PORTS-1:0]       grant, in_valid, in_ready, out_valid, answered;
  logic [PORTS-1:0][31:0] in_data, out_data;
  request_t [PORTS-1:0]   request;
  response_t [PORTS-1:0]  response;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) lost_q <= '0;
    else lost_q <= lost_q | lost;
  end

  assign to_regs.PORTS.count.next = 8'(PORTS);
  assign to_regs.LOST.ports.next  = 16'(32'(lost_q));

  mesh_io #(.PORTS(PORTS), .PLACES(PLACES), .DEPTH(DEPTH), .DEVICES(DEVICES)) u_ports (
    .clk_i, .rst_ni, .devices_i(devices), .lost_o(lost),
    .out_valid_o, .out_last_o, .out_data_o, .out_credit_i,
    .in_valid_i, .in_last_i, .in_data_i, .in_credit_o,
    .ask_o(ask), .grant_i(grant), .request_o(request),
    .in_valid_o(in_valid), .in_ready_i(in_ready), .in_word_o(in_data),
    .out_valid_i(out_valid), .out_word_i(out_data),
    .response_valid_i(answered), .response_i(response)
  );

  io_devices #(
    .PORTS(PORTS), .DEVICES(DEVICES), .DIVISOR(DIVISOR), .HALF_CYCLES(HALF_CYCLES)
  ) u_devices (
    .clk_i, .rst_ni, .policy_i(policy), .reader_i(manager.READER.port.value), .given_i(given),
    .ask_i(ask), .grant_o(grant), .request_i(request),
    .in_valid_i(in_valid), .in_ready_o(in_ready), .in_data_i(in_data),
    .out_valid_o(out_valid), .out_data_o(out_data), .response_valid_o(answered),
    .response_o(response),
    .flash_cs_no, .flash_sck_o, .flash_io_o, .flash_io_oe_o, .flash_io_i,
    .uart_txd_o, .uart_rxd_i,
    .eth_tx_en_o, .eth_txd_o, .eth_rx_dv_i, .eth_rx_er_i, .eth_rxd_i,
    .vga_pixel_o, .vga_hsync_no, .vga_vsync_no, .vga_colour_o
  );

endmodule
