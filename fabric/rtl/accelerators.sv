// Accelerators that virtual machines share: interfaces, regions, the region monitor and the
// configuration port, joined. All of it but the regions' insides, which are reconfigured
// (from_task_i, to_task_o).
//
// Software reaches it by pages of 4 KiB: the region monitor at 0x0, the configuration port at
// 0x1000, the regions from 0x2000 on, the region allocator at 0x5000, which is the hypervisor's,
// the device manager's allocation table at 0x6000, the interfaces' pages for the device manager
// from 0x8000 on, and the virtual devices' from 0x10000 on; from 0x18000 on those of whatever else
// is on the bus. Memory is reached over one master: the regions through their isolators, and the
// configuration port, which only reads. The allocator writes its answers over another one, which is
// coherent (a_axi).
module accelerators #(
  // Up to 8, and 3 as the pages and REGION_BYTES have it.
  parameter int unsigned INTERFACES = 8,
  // Pages of others.
  parameter int unsigned OTHERS = 1,
  localparam int unsigned REGIONS = 3
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,

  input  logic                     s_axil_awvalid,
  output logic                     s_axil_awready,
  input  logic [19:0]              s_axil_awaddr,
  input  logic [2:0]               s_axil_awprot,
  input  logic                     s_axil_wvalid,
  output logic                     s_axil_wready,
  input  logic [31:0]              s_axil_wdata,
  input  logic [3:0]               s_axil_wstrb,
  output logic                     s_axil_bvalid,
  input  logic                     s_axil_bready,
  output logic [1:0]               s_axil_bresp,
  input  logic                     s_axil_arvalid,
  output logic                     s_axil_arready,
  input  logic [19:0]              s_axil_araddr,
  input  logic [2:0]               s_axil_arprot,
  output logic                     s_axil_rvalid,
  input  logic                     s_axil_rready,
  output logic [31:0]              s_axil_rdata,
  output logic [1:0]               s_axil_rresp,

  // The others, each a slave with a page.
  output logic [OTHERS-1:0]        other_awvalid_o,
  input  logic [OTHERS-1:0]        other_awready_i,
  output logic [OTHERS-1:0]        other_wvalid_o,
  input  logic [OTHERS-1:0]        other_wready_i,
  output logic [11:0]              other_addr_o,
  output logic [31:0]              other_wdata_o,
  output logic [3:0]               other_wstrb_o,
  input  logic [OTHERS-1:0]        other_bvalid_i,
  output logic [OTHERS-1:0]        other_bready_o,
  input  logic [OTHERS-1:0][1:0]   other_bresp_i,
  output logic [OTHERS-1:0]        other_arvalid_o,
  input  logic [OTHERS-1:0]        other_arready_i,
  input  logic [OTHERS-1:0]        other_rvalid_i,
  output logic [OTHERS-1:0]        other_rready_o,
  input  logic [OTHERS-1:0][31:0]  other_rdata_i,
  input  logic [OTHERS-1:0][1:0]   other_rresp_i,

  output logic                     monitor_irq_o,
  output logic                     port_irq_o,
  output logic                     allocator_irq_o,
  output logic [REGIONS-1:0]       region_irq_o,
  // Some interface has faults; and each interface's own, to its VM.
  output logic                     fault_irq_o,
  output logic [INTERFACES-1:0]    interface_irq_o,

  // The regions' insides.
  output logic [REGIONS-1:0]       reconfiguring_o,
  output logic [REGIONS-1:0][7:0]  loaded_o,
  input  region_pkg::from_task_t [REGIONS-1:0] from_task_i,
  output region_pkg::to_task_t [REGIONS-1:0]   to_task_o,
  // What is written to the regions' configuration memory.
  output logic                     config_valid_o,
  output logic [3:0]               config_region_o,
  output logic [31:0]              config_data_o,

  // Something goes on by itself: a computation, a configuration, a hold time, memory that owes
  // something, or software's access.
  output logic                     busy_o,

  output logic                     m_axi_awvalid,
  input  logic                     m_axi_awready,
  output logic [39:0]              m_axi_awaddr,
  output logic [7:0]               m_axi_awlen,
  output logic [2:0]               m_axi_awsize,
  output logic [1:0]               m_axi_awburst,
  output logic [3:0]               m_axi_awcache,
  output logic [2:0]               m_axi_awprot,
  output logic                     m_axi_wvalid,
  input  logic                     m_axi_wready,
  output logic [63:0]              m_axi_wdata,
  output logic [7:0]               m_axi_wstrb,
  output logic                     m_axi_wlast,
  input  logic                     m_axi_bvalid,
  output logic                     m_axi_bready,
  input  logic [1:0]               m_axi_bresp,
  output logic                     m_axi_arvalid,
  input  logic                     m_axi_arready,
  output logic [39:0]              m_axi_araddr,
  output logic [7:0]               m_axi_arlen,
  output logic [2:0]               m_axi_arsize,
  output logic [1:0]               m_axi_arburst,
  output logic [3:0]               m_axi_arcache,
  output logic [2:0]               m_axi_arprot,
  input  logic                     m_axi_rvalid,
  output logic                     m_axi_rready,
  input  logic [63:0]              m_axi_rdata,
  input  logic [1:0]               m_axi_rresp,
  input  logic                     m_axi_rlast,

  // Words of 64 bits by themselves, of which the lowest byte is never written.
  output logic                     a_axi_awvalid,
  input  logic                     a_axi_awready,
  output logic [39:0]              a_axi_awaddr,
  output logic [7:0]               a_axi_awlen,
  output logic [2:0]               a_axi_awsize,
  output logic [1:0]               a_axi_awburst,
  output logic [3:0]               a_axi_awcache,
  output logic [2:0]               a_axi_awprot,
  output logic                     a_axi_wvalid,
  input  logic                     a_axi_wready,
  output logic [63:0]              a_axi_wdata,
  output logic [7:0]               a_axi_wstrb,
  output logic                     a_axi_wlast,
  input  logic                     a_axi_bvalid,
  output logic                     a_axi_bready,
  input  logic [1:0]               a_axi_bresp
);

  import region_pkg::*;

  // The pages, and whose each is.

  localparam int unsigned Monitor  = 0;
  localparam int unsigned Port     = 1;
  localparam int unsigned Region   = 2;
  localparam int unsigned Requests = Region + REGIONS;
  localparam int unsigned Table    = Requests + 1;
  localparam int unsigned Manager  = Table + 1;
  localparam int unsigned Device   = Manager + INTERFACES;
  localparam int unsigned Other    = Device + INTERFACES;
  localparam int unsigned Slaves   = Other + OTHERS;

  function automatic logic [Slaves-1:0][7:0] pages();
    logic [Slaves-1:0][7:0] of_slaves;
    of_slaves[Monitor]  = 8'h00;
    of_slaves[Port]     = 8'h01;
    of_slaves[Requests] = 8'h05;
    of_slaves[Table]    = 8'h06;
    for (int unsigned r = 0; r < REGIONS; r++) of_slaves[Region+r] = 8'(2 + r);
    for (int unsigned i = 0; i < INTERFACES; i++) begin
      of_slaves[Manager+i] = 8'(8 + i);
      of_slaves[Device+i]  = 8'(16 + i);
    end
    for (int unsigned o = 0; o < OTHERS; o++) of_slaves[Other+o] = 8'(24 + o);
    return of_slaves;
  endfunction

  logic [Slaves-1:0]       awvalid, awready, wvalid, wready, bvalid, bready;
  logic [Slaves-1:0]       arvalid, arready, rvalid, rready;
  logic [Slaves-1:0][1:0]  bresp, rresp;
  logic [Slaves-1:0][31:0] rdata;
  logic [11:0]             addr;
  logic [31:0]             wdata;
  logic [3:0]              wstrb;
  logic                    access;

  page_decoder #(.SLAVES(Slaves), .ADDR_WIDTH(20), .PAGES(pages())) u_decoder (
    .clk_i, .rst_ni,
    .s_axil_awvalid, .s_axil_awready, .s_axil_awaddr, .s_axil_awprot,
    .s_axil_wvalid, .s_axil_wready, .s_axil_wdata, .s_axil_wstrb,
    .s_axil_bvalid, .s_axil_bready, .s_axil_bresp,
    .s_axil_arvalid, .s_axil_arready, .s_axil_araddr, .s_axil_arprot,
    .s_axil_rvalid, .s_axil_rready, .s_axil_rdata, .s_axil_rresp,
    .busy_o(access),
    .m_axil_awvalid(awvalid), .m_axil_awready(awready),
    .m_axil_wvalid(wvalid), .m_axil_wready(wready),
    .m_axil_addr(addr), .m_axil_wdata(wdata), .m_axil_wstrb(wstrb),
    .m_axil_bvalid(bvalid), .m_axil_bready(bready), .m_axil_bresp(bresp),
    .m_axil_arvalid(arvalid), .m_axil_arready(arready),
    .m_axil_rvalid(rvalid), .m_axil_rready(rready), .m_axil_rdata(rdata), .m_axil_rresp(rresp)
  );

  // The others.

  assign other_awvalid_o        = awvalid[Other+:OTHERS];
  assign awready[Other+:OTHERS] = other_awready_i;
  assign other_wvalid_o         = wvalid[Other+:OTHERS];
  assign wready[Other+:OTHERS]  = other_wready_i;
  assign other_addr_o           = addr;
  assign other_wdata_o          = wdata;
  assign other_wstrb_o          = wstrb;
  assign bvalid[Other+:OTHERS]  = other_bvalid_i;
  assign other_bready_o         = bready[Other+:OTHERS];
  assign bresp[Other+:OTHERS]   = other_bresp_i;
  assign other_arvalid_o        = arvalid[Other+:OTHERS];
  assign arready[Other+:OTHERS] = other_arready_i;
  assign rvalid[Other+:OTHERS]  = other_rvalid_i;
  assign other_rready_o         = rready[Other+:OTHERS];
  assign rdata[Other+:OTHERS]   = other_rdata_i;
  assign rresp[Other+:OTHERS]   = other_rresp_i;

  // The region monitor.

  state_e [REGIONS-1:0]         state;
  logic   [REGIONS-1:0][7:0]    prio;
  logic [31:0]                  compatibility;
  logic [INTERFACES-1:0]        waiting;
  logic [INTERFACES-1:0][2:0]   waiting_task;
  logic [INTERFACES-1:0][7:0]   waiting_priority;

  region_monitor #(.REGIONS(REGIONS), .ENTRIES(INTERFACES)) u_monitor (
    .clk_i, .rst_ni,
    .s_axil_awvalid(awvalid[Monitor]), .s_axil_awready(awready[Monitor]),
    .s_axil_awaddr(addr), .s_axil_awprot('0),
    .s_axil_wvalid(wvalid[Monitor]), .s_axil_wready(wready[Monitor]),
    .s_axil_wdata(wdata), .s_axil_wstrb(wstrb),
    .s_axil_bvalid(bvalid[Monitor]), .s_axil_bready(bready[Monitor]),
    .s_axil_bresp(bresp[Monitor]),
    .s_axil_arvalid(arvalid[Monitor]), .s_axil_arready(arready[Monitor]),
    .s_axil_araddr(addr), .s_axil_arprot('0),
    .s_axil_rvalid(rvalid[Monitor]), .s_axil_rready(rready[Monitor]),
    .s_axil_rdata(rdata[Monitor]), .s_axil_rresp(rresp[Monitor]),
    .irq_o(monitor_irq_o),
    .state_i(state), .loaded_i(loaded_o), .priority_i(prio),
    .compatibility_o(compatibility), .waiting_o(waiting), .waiting_task_o(waiting_task),
    .waiting_priority_o(waiting_priority)
  );

  // The region allocator.

  from_allocator_t [REGIONS-1:0] allocated;
  logic [REGIONS-1:0]            owned, r_connected, r_drained;
  logic [REGIONS-1:0][3:0]       r_client;
  logic [INTERFACES-1:0]         i_unfinished, i_resume;
  logic                          allocating, load_valid, load_ready, load_over;
  logic [3:0]                    load_region, load_error;
  logic [2:0]                    load_task;
  logic [39:6]                   load_source;
  logic [31:0]                   load_bytes;

  region_allocator #(.REGIONS(REGIONS), .INTERFACES(INTERFACES)) u_allocator (
    .clk_i, .rst_ni,
    .s_axil_requests_awvalid(awvalid[Requests]), .s_axil_requests_awready(awready[Requests]),
    .s_axil_requests_awaddr(addr), .s_axil_requests_awprot('0),
    .s_axil_requests_wvalid(wvalid[Requests]), .s_axil_requests_wready(wready[Requests]),
    .s_axil_requests_wdata(wdata), .s_axil_requests_wstrb(wstrb),
    .s_axil_requests_bvalid(bvalid[Requests]), .s_axil_requests_bready(bready[Requests]),
    .s_axil_requests_bresp(bresp[Requests]),
    .s_axil_requests_arvalid(arvalid[Requests]), .s_axil_requests_arready(arready[Requests]),
    .s_axil_requests_araddr(addr), .s_axil_requests_arprot('0),
    .s_axil_requests_rvalid(rvalid[Requests]), .s_axil_requests_rready(rready[Requests]),
    .s_axil_requests_rdata(rdata[Requests]), .s_axil_requests_rresp(rresp[Requests]),
    .s_axil_table_awvalid(awvalid[Table]), .s_axil_table_awready(awready[Table]),
    .s_axil_table_awaddr(addr), .s_axil_table_awprot('0),
    .s_axil_table_wvalid(wvalid[Table]), .s_axil_table_wready(wready[Table]),
    .s_axil_table_wdata(wdata), .s_axil_table_wstrb(wstrb),
    .s_axil_table_bvalid(bvalid[Table]), .s_axil_table_bready(bready[Table]),
    .s_axil_table_bresp(bresp[Table]),
    .s_axil_table_arvalid(arvalid[Table]), .s_axil_table_arready(arready[Table]),
    .s_axil_table_araddr(addr), .s_axil_table_arprot('0),
    .s_axil_table_rvalid(rvalid[Table]), .s_axil_table_rready(rready[Table]),
    .s_axil_table_rdata(rdata[Table]), .s_axil_table_rresp(rresp[Table]),
    .irq_o(allocator_irq_o), .busy_o(allocating),
    .compatibility_i(compatibility), .waiting_i(waiting), .waiting_task_i(waiting_task),
    .waiting_priority_i(waiting_priority),
    .state_i(state), .loaded_i(loaded_o), .priority_i(prio), .connected_i(r_connected),
    .client_i(r_client), .drained_i(r_drained), .command_o(allocated),
    .unfinished_i(i_unfinished), .resume_o(i_resume),
    .load_valid_o(load_valid), .load_ready_i(load_ready), .load_region_o(load_region),
    .load_task_o(load_task), .load_source_o(load_source), .load_bytes_o(load_bytes),
    .load_over_i(load_over), .load_error_i(load_error),
    .m_axi_awvalid(a_axi_awvalid), .m_axi_awready(a_axi_awready), .m_axi_awaddr(a_axi_awaddr),
    .m_axi_awlen(a_axi_awlen), .m_axi_awsize(a_axi_awsize), .m_axi_awburst(a_axi_awburst),
    .m_axi_awcache(a_axi_awcache), .m_axi_awprot(a_axi_awprot),
    .m_axi_wvalid(a_axi_wvalid), .m_axi_wready(a_axi_wready), .m_axi_wdata(a_axi_wdata),
    .m_axi_wstrb(a_axi_wstrb), .m_axi_wlast(a_axi_wlast),
    .m_axi_bvalid(a_axi_bvalid), .m_axi_bready(a_axi_bready), .m_axi_bresp(a_axi_bresp)
  );

  for (genvar r = 0; r < int'(REGIONS); r++) begin : gen_owned
    assign owned[r] = allocated[r].owned;
  end

  // Memory: the regions, and the configuration port behind them.

  localparam int unsigned Masters = REGIONS + 1;

  logic [Masters-1:0]       m_awvalid, m_awready, m_wvalid, m_wready, m_wlast, m_bvalid, m_bready;
  logic [Masters-1:0]       m_arvalid, m_arready, m_rvalid, m_rready;
  logic [Masters-1:0][39:0] m_awaddr, m_araddr;
  logic [Masters-1:0][7:0]  m_awlen, m_arlen, m_wstrb;
  logic [Masters-1:0][63:0] m_wdata;
  logic [1:0]               m_bresp, m_rresp;
  logic [63:0]              m_rdata;
  logic                     m_rlast;

  memory_arbiter #(.MASTERS(Masters)) u_arbiter (
    .clk_i, .rst_ni,
    .s_axi_awvalid(m_awvalid), .s_axi_awready(m_awready), .s_axi_awaddr(m_awaddr),
    .s_axi_awlen(m_awlen),
    .s_axi_wvalid(m_wvalid), .s_axi_wready(m_wready), .s_axi_wdata(m_wdata),
    .s_axi_wstrb(m_wstrb), .s_axi_wlast(m_wlast),
    .s_axi_bvalid(m_bvalid), .s_axi_bready(m_bready), .s_axi_bresp(m_bresp),
    .s_axi_arvalid(m_arvalid), .s_axi_arready(m_arready), .s_axi_araddr(m_araddr),
    .s_axi_arlen(m_arlen),
    .s_axi_rvalid(m_rvalid), .s_axi_rready(m_rready), .s_axi_rdata(m_rdata),
    .s_axi_rresp(m_rresp), .s_axi_rlast(m_rlast),
    .m_axi_awvalid, .m_axi_awready, .m_axi_awaddr, .m_axi_awlen, .m_axi_awsize, .m_axi_awburst,
    .m_axi_awcache, .m_axi_awprot,
    .m_axi_wvalid, .m_axi_wready, .m_axi_wdata, .m_axi_wstrb, .m_axi_wlast,
    .m_axi_bvalid, .m_axi_bready, .m_axi_bresp,
    .m_axi_arvalid, .m_axi_arready, .m_axi_araddr, .m_axi_arlen, .m_axi_arsize, .m_axi_arburst,
    .m_axi_arcache, .m_axi_arprot,
    .m_axi_rvalid, .m_axi_rready, .m_axi_rdata, .m_axi_rresp, .m_axi_rlast
  );

  // The configuration port.

  logic [REGIONS-1:0] configure, configurable, configured;
  logic [7:0]         configured_task;
  logic               configuring;
  logic [2:0]         port_arsize, port_arprot;
  logic [1:0]         port_arburst;
  logic [3:0]         port_arcache;

  configuration_port #(.REGIONS(REGIONS)) u_port (
    .clk_i, .rst_ni,
    .s_axil_awvalid(awvalid[Port]), .s_axil_awready(awready[Port]),
    .s_axil_awaddr(addr), .s_axil_awprot('0),
    .s_axil_wvalid(wvalid[Port]), .s_axil_wready(wready[Port]),
    .s_axil_wdata(wdata), .s_axil_wstrb(wstrb),
    .s_axil_bvalid(bvalid[Port]), .s_axil_bready(bready[Port]), .s_axil_bresp(bresp[Port]),
    .s_axil_arvalid(arvalid[Port]), .s_axil_arready(arready[Port]),
    .s_axil_araddr(addr), .s_axil_arprot('0),
    .s_axil_rvalid(rvalid[Port]), .s_axil_rready(rready[Port]),
    .s_axil_rdata(rdata[Port]), .s_axil_rresp(rresp[Port]),
    .irq_o(port_irq_o), .busy_o(configuring),
    .configure_o(configure), .configurable_i(configurable), .configured_o(configured),
    .configured_task_o(configured_task),
    .allocator_valid_i(load_valid), .allocator_ready_o(load_ready),
    .allocator_region_i(load_region), .allocator_task_i(load_task),
    .allocator_source_i(load_source), .allocator_bytes_i(load_bytes),
    .allocator_over_o(load_over), .allocator_error_o(load_error), .owned_i(owned),
    .config_valid_o, .config_region_o, .config_data_o,
    .m_axi_arvalid(m_arvalid[REGIONS]), .m_axi_arready(m_arready[REGIONS]),
    .m_axi_araddr(m_araddr[REGIONS]), .m_axi_arlen(m_arlen[REGIONS]),
    .m_axi_arsize(port_arsize), .m_axi_arburst(port_arburst), .m_axi_arcache(port_arcache),
    .m_axi_arprot(port_arprot),
    .m_axi_rvalid(m_rvalid[REGIONS]), .m_axi_rready(m_rready[REGIONS]), .m_axi_rdata(m_rdata),
    .m_axi_rresp(m_rresp), .m_axi_rlast(m_rlast)
  );

  assign m_awvalid[REGIONS] = 1'b0;
  assign m_awaddr[REGIONS]  = '0;
  assign m_awlen[REGIONS]   = '0;
  assign m_wvalid[REGIONS]  = 1'b0;
  assign m_wdata[REGIONS]   = '0;
  assign m_wstrb[REGIONS]   = '0;
  assign m_wlast[REGIONS]   = 1'b0;
  assign m_bready[REGIONS]  = 1'b0;

  logic unused_port;
  assign unused_port = ^{port_arsize, port_arburst, port_arcache, port_arprot,
                         m_awready[REGIONS], m_wready[REGIONS], m_bvalid[REGIONS]};

  // The regions, and the interfaces, as the crossbar connects them.

  logic [REGIONS-1:0]               r_connect, r_may_connect, r_busy;
  logic [REGIONS-1:0][3:0]          r_new_client;
  from_interface_t [REGIONS-1:0]    to_region;
  to_interface_t [REGIONS-1:0]      from_region;
  logic [INTERFACES-1:0]            i_connected, i_drained, i_fault;
  logic [INTERFACES-1:0][3:0]       i_region;
  from_interface_t [INTERFACES-1:0] from_interface;
  to_interface_t [INTERFACES-1:0]   to_interface;

  interface_crossbar #(.INTERFACES(INTERFACES), .REGIONS(REGIONS)) u_crossbar (
    .clk_i, .rst_ni,
    .connected_i(r_connected), .client_i(r_client), .drained_i(r_drained), .connect_i(r_connect),
    .new_client_i(r_new_client), .may_connect_o(r_may_connect),
    .to_region_o(to_region), .from_region_i(from_region),
    .connected_o(i_connected), .region_o(i_region), .drained_o(i_drained),
    .from_interface_i(from_interface), .to_interface_o(to_interface)
  );

  for (genvar r = 0; r < int'(REGIONS); r++) begin : gen_region
    logic [2:0] awsize, arsize, awprot, arprot;
    logic [1:0] awburst, arburst;
    logic [3:0] awcache, arcache;
    logic       unused_axi;
    assign unused_axi = ^{awsize, arsize, awprot, arprot, awburst, arburst, awcache, arcache};

    region #(.SIZE_CLASS(2'(r))) u_region (
      .clk_i, .rst_ni,
      .s_axil_awvalid(awvalid[Region+r]), .s_axil_awready(awready[Region+r]),
      .s_axil_awaddr(addr), .s_axil_awprot('0),
      .s_axil_wvalid(wvalid[Region+r]), .s_axil_wready(wready[Region+r]),
      .s_axil_wdata(wdata), .s_axil_wstrb(wstrb),
      .s_axil_bvalid(bvalid[Region+r]), .s_axil_bready(bready[Region+r]),
      .s_axil_bresp(bresp[Region+r]),
      .s_axil_arvalid(arvalid[Region+r]), .s_axil_arready(arready[Region+r]),
      .s_axil_araddr(addr), .s_axil_arprot('0),
      .s_axil_rvalid(rvalid[Region+r]), .s_axil_rready(rready[Region+r]),
      .s_axil_rdata(rdata[Region+r]), .s_axil_rresp(rresp[Region+r]),
      .irq_o(region_irq_o[r]),
      .configure_i(configure[r]), .configurable_o(configurable[r]),
      .configured_i(configured[r]), .configured_task_i(configured_task),
      .allocator_i(allocated[r]),
      .state_o(state[r]), .loaded_o(loaded_o[r]), .priority_o(prio[r]), .busy_o(r_busy[r]),
      .drained_o(r_drained[r]),
      .connected_o(r_connected[r]), .client_o(r_client[r]),
      .connect_o(r_connect[r]), .new_client_o(r_new_client[r]), .may_connect_i(r_may_connect[r]),
      .from_interface_i(to_region[r]), .to_interface_o(from_region[r]),
      .from_task_i(from_task_i[r]), .to_task_o(to_task_o[r]),
      .m_axi_awvalid(m_awvalid[r]), .m_axi_awready(m_awready[r]), .m_axi_awaddr(m_awaddr[r]),
      .m_axi_awlen(m_awlen[r]), .m_axi_awsize(awsize), .m_axi_awburst(awburst),
      .m_axi_awcache(awcache), .m_axi_awprot(awprot),
      .m_axi_wvalid(m_wvalid[r]), .m_axi_wready(m_wready[r]), .m_axi_wdata(m_wdata[r]),
      .m_axi_wstrb(m_wstrb[r]), .m_axi_wlast(m_wlast[r]),
      .m_axi_bvalid(m_bvalid[r]), .m_axi_bready(m_bready[r]), .m_axi_bresp(m_bresp),
      .m_axi_arvalid(m_arvalid[r]), .m_axi_arready(m_arready[r]), .m_axi_araddr(m_araddr[r]),
      .m_axi_arlen(m_arlen[r]), .m_axi_arsize(arsize), .m_axi_arburst(arburst),
      .m_axi_arcache(arcache), .m_axi_arprot(arprot),
      .m_axi_rvalid(m_rvalid[r]), .m_axi_rready(m_rready[r]), .m_axi_rdata(m_rdata),
      .m_axi_rresp(m_rresp), .m_axi_rlast(m_rlast)
    );

    assign reconfiguring_o[r] = state[r] == Reconfig;
  end

  for (genvar i = 0; i < int'(INTERFACES); i++) begin : gen_interface
    hw_interface u_interface (
      .clk_i, .rst_ni,
      .s_axil_vm_awvalid(awvalid[Device+i]), .s_axil_vm_awready(awready[Device+i]),
      .s_axil_vm_awaddr(addr), .s_axil_vm_awprot('0),
      .s_axil_vm_wvalid(wvalid[Device+i]), .s_axil_vm_wready(wready[Device+i]),
      .s_axil_vm_wdata(wdata), .s_axil_vm_wstrb(wstrb),
      .s_axil_vm_bvalid(bvalid[Device+i]), .s_axil_vm_bready(bready[Device+i]),
      .s_axil_vm_bresp(bresp[Device+i]),
      .s_axil_vm_arvalid(arvalid[Device+i]), .s_axil_vm_arready(arready[Device+i]),
      .s_axil_vm_araddr(addr), .s_axil_vm_arprot('0),
      .s_axil_vm_rvalid(rvalid[Device+i]), .s_axil_vm_rready(rready[Device+i]),
      .s_axil_vm_rdata(rdata[Device+i]), .s_axil_vm_rresp(rresp[Device+i]),
      .s_axil_manager_awvalid(awvalid[Manager+i]), .s_axil_manager_awready(awready[Manager+i]),
      .s_axil_manager_awaddr(addr), .s_axil_manager_awprot('0),
      .s_axil_manager_wvalid(wvalid[Manager+i]), .s_axil_manager_wready(wready[Manager+i]),
      .s_axil_manager_wdata(wdata), .s_axil_manager_wstrb(wstrb),
      .s_axil_manager_bvalid(bvalid[Manager+i]), .s_axil_manager_bready(bready[Manager+i]),
      .s_axil_manager_bresp(bresp[Manager+i]),
      .s_axil_manager_arvalid(arvalid[Manager+i]), .s_axil_manager_arready(arready[Manager+i]),
      .s_axil_manager_araddr(addr), .s_axil_manager_arprot('0),
      .s_axil_manager_rvalid(rvalid[Manager+i]), .s_axil_manager_rready(rready[Manager+i]),
      .s_axil_manager_rdata(rdata[Manager+i]), .s_axil_manager_rresp(rresp[Manager+i]),
      .irq_o(interface_irq_o[i]), .fault_o(i_fault[i]),
      .connected_i(i_connected[i]), .region_i(i_region[i]), .drained_i(i_drained[i]),
      .unfinished_o(i_unfinished[i]), .resume_i(i_resume[i]),
      .start_o(from_interface[i].start), .resume_o(from_interface[i].resume),
      .abort_o(from_interface[i].abort_task),
      .src_o(from_interface[i].src), .dst_o(from_interface[i].dst),
      .length_o(from_interface[i].length), .param_o(from_interface[i].param),
      .done_i(to_interface[i].done), .stopped_i(to_interface[i].stopped),
      .error_i(to_interface[i].error),
      .ctx_we_i(to_interface[i].ctx_we), .ctx_addr_i(to_interface[i].ctx_addr),
      .ctx_wdata_i(to_interface[i].ctx_wdata), .ctx_rdata_o(from_interface[i].ctx_rdata),
      .window_base_o(from_interface[i].window_base),
      .window_pages_o(from_interface[i].window_pages),
      .refused_outside_i(to_interface[i].refused_outside),
      .refused_illegal_i(to_interface[i].refused_illegal),
      .wrong_last_i(to_interface[i].wrong_last), .refused_addr_i(to_interface[i].refused_addr)
    );
  end

  // From a flip-flop: many are looked at.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fault_irq_o <= 1'b0;
    end else begin
      fault_irq_o <= i_fault != '0;
    end
  end

  assign busy_o = access || configuring || allocating || r_busy != '0;

endmodule
