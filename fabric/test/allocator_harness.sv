// The region allocator with all that it commands: the regions' states, the crossbar, the
// configuration port. The test is the tasks and memory (drained_i), the interfaces, the device
// manager (page_i of each region, the port's page, the table) and the hypervisor.
module allocator_harness #(
  parameter int unsigned REGIONS    = 3,
  parameter int unsigned INTERFACES = 8,
  parameter logic [REGIONS-1:0][31:0] REGION_BYTES = {32'd1000, 32'd324, 32'd100}
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        s_axil_requests_awvalid,
  output logic        s_axil_requests_awready,
  input  logic [11:0] s_axil_requests_awaddr,
  input  logic [2:0]  s_axil_requests_awprot,
  input  logic        s_axil_requests_wvalid,
  output logic        s_axil_requests_wready,
  input  logic [31:0] s_axil_requests_wdata,
  input  logic [3:0]  s_axil_requests_wstrb,
  output logic        s_axil_requests_bvalid,
  input  logic        s_axil_requests_bready,
  output logic [1:0]  s_axil_requests_bresp,
  input  logic        s_axil_requests_arvalid,
  output logic        s_axil_requests_arready,
  input  logic [11:0] s_axil_requests_araddr,
  input  logic [2:0]  s_axil_requests_arprot,
  output logic        s_axil_requests_rvalid,
  input  logic        s_axil_requests_rready,
  output logic [31:0] s_axil_requests_rdata,
  output logic [1:0]  s_axil_requests_rresp,

  input  logic        s_axil_table_awvalid,
  output logic        s_axil_table_awready,
  input  logic [11:0] s_axil_table_awaddr,
  input  logic [2:0]  s_axil_table_awprot,
  input  logic        s_axil_table_wvalid,
  output logic        s_axil_table_wready,
  input  logic [31:0] s_axil_table_wdata,
  input  logic [3:0]  s_axil_table_wstrb,
  output logic        s_axil_table_bvalid,
  input  logic        s_axil_table_bready,
  output logic [1:0]  s_axil_table_bresp,
  input  logic        s_axil_table_arvalid,
  output logic        s_axil_table_arready,
  input  logic [11:0] s_axil_table_araddr,
  input  logic [2:0]  s_axil_table_arprot,
  output logic        s_axil_table_rvalid,
  input  logic        s_axil_table_rready,
  output logic [31:0] s_axil_table_rdata,
  output logic [1:0]  s_axil_table_rresp,

  input  logic        s_axil_port_awvalid,
  output logic        s_axil_port_awready,
  input  logic [11:0] s_axil_port_awaddr,
  input  logic [2:0]  s_axil_port_awprot,
  input  logic        s_axil_port_wvalid,
  output logic        s_axil_port_wready,
  input  logic [31:0] s_axil_port_wdata,
  input  logic [3:0]  s_axil_port_wstrb,
  output logic        s_axil_port_bvalid,
  input  logic        s_axil_port_bready,
  output logic [1:0]  s_axil_port_bresp,
  input  logic        s_axil_port_arvalid,
  output logic        s_axil_port_arready,
  input  logic [11:0] s_axil_port_araddr,
  input  logic [2:0]  s_axil_port_arprot,
  output logic        s_axil_port_rvalid,
  input  logic        s_axil_port_rready,
  output logic [31:0] s_axil_port_rdata,
  output logic [1:0]  s_axil_port_rresp,

  output logic        irq_o,
  output logic        port_irq_o,
  output logic        busy_o,

  input  logic [31:0]                compatibility_i,
  input  logic [INTERFACES-1:0]      waiting_i,
  input  logic [INTERFACES-1:0][2:0] waiting_task_i,
  input  logic [INTERFACES-1:0][7:0] waiting_priority_i,

  // The device manager's commands, and for whom.
  input  logic [REGIONS-1:0][4:0]    page_i,
  input  logic [REGIONS-1:0][3:0]    page_client_i,
  input  logic [REGIONS-1:0][7:0]    page_priority_i,
  output logic [REGIONS-1:0]         page_refused_o,

  // Tasks.
  input  logic [REGIONS-1:0]         done_i,
  input  logic [REGIONS-1:0]         stopped_i,
  input  logic [REGIONS-1:0]         drained_i,

  // Interfaces: one asks to start, which it does when it may.
  input  logic [INTERFACES-1:0]      asked_i,
  input  logic [INTERFACES-1:0]      unfinished_i,
  output logic [INTERFACES-1:0]      resume_o,
  output logic [INTERFACES-1:0]      connected_o,

  output logic [REGIONS-1:0][2:0]    state_o,
  output logic [REGIONS-1:0][7:0]    loaded_o,
  output logic [REGIONS-1:0]         region_connected_o,
  output logic [REGIONS-1:0][3:0]    client_o,
  output logic [REGIONS-1:0][7:0]    priority_o,
  output logic [REGIONS-1:0]         stop_o,
  output logic [REGIONS-1:0]         owned_o,
  // A connection that is commanded, by the allocator or by the manager.
  output logic [REGIONS-1:0]         connect_o,
  output logic [REGIONS-1:0][3:0]    new_client_o,
  output logic [REGIONS-1:0]         configure_o,

  // Bitstreams; and answers.
  output logic        m_axi_arvalid,
  input  logic        m_axi_arready,
  output logic [39:0] m_axi_araddr,
  output logic [7:0]  m_axi_arlen,
  output logic [2:0]  m_axi_arsize,
  output logic [1:0]  m_axi_arburst,
  output logic [3:0]  m_axi_arcache,
  output logic [2:0]  m_axi_arprot,
  input  logic        m_axi_rvalid,
  output logic        m_axi_rready,
  input  logic [63:0] m_axi_rdata,
  input  logic [1:0]  m_axi_rresp,
  input  logic        m_axi_rlast,
  output logic        a_axi_awvalid,
  input  logic        a_axi_awready,
  output logic [39:0] a_axi_awaddr,
  output logic [7:0]  a_axi_awlen,
  output logic [2:0]  a_axi_awsize,
  output logic [1:0]  a_axi_awburst,
  output logic [3:0]  a_axi_awcache,
  output logic [2:0]  a_axi_awprot,
  output logic        a_axi_wvalid,
  input  logic        a_axi_wready,
  output logic [63:0] a_axi_wdata,
  output logic [7:0]  a_axi_wstrb,
  output logic        a_axi_wlast,
  input  logic        a_axi_bvalid,
  output logic        a_axi_bready,
  input  logic [1:0]  a_axi_bresp
);

  import region_pkg::*;

  state_e [REGIONS-1:0]          state;
  from_allocator_t [REGIONS-1:0] allocated;
  logic [REGIONS-1:0]            may_connect, isolate, task_rst_n, stopped, expired, overdue;
  logic [REGIONS-1:0]            configurable, configured, drained;
  logic [7:0]                    configured_task;
  from_interface_t [REGIONS-1:0]    to_region;
  to_interface_t [REGIONS-1:0]      from_region;
  from_interface_t [INTERFACES-1:0] from_interface;
  to_interface_t [INTERFACES-1:0]   to_interface;
  logic [INTERFACES-1:0][3:0]       region_of;
  logic [INTERFACES-1:0]            interface_drained;

  logic        load_valid, load_ready, load_over, configuring, config_valid;
  logic [3:0]  load_region, load_error, config_region;
  logic [31:0] config_data;
  logic [2:0]  load_task;
  logic [39:6] load_source;
  logic [31:0] load_bytes;

  region_allocator #(.REGIONS(REGIONS), .INTERFACES(INTERFACES)) u_allocator (
    .clk_i, .rst_ni,
    .s_axil_requests_awvalid, .s_axil_requests_awready, .s_axil_requests_awaddr,
    .s_axil_requests_awprot, .s_axil_requests_wvalid, .s_axil_requests_wready,
    .s_axil_requests_wdata, .s_axil_requests_wstrb, .s_axil_requests_bvalid,
    .s_axil_requests_bready, .s_axil_requests_bresp, .s_axil_requests_arvalid,
    .s_axil_requests_arready, .s_axil_requests_araddr, .s_axil_requests_arprot,
    .s_axil_requests_rvalid, .s_axil_requests_rready, .s_axil_requests_rdata,
    .s_axil_requests_rresp,
    .s_axil_table_awvalid, .s_axil_table_awready, .s_axil_table_awaddr, .s_axil_table_awprot,
    .s_axil_table_wvalid, .s_axil_table_wready, .s_axil_table_wdata, .s_axil_table_wstrb,
    .s_axil_table_bvalid, .s_axil_table_bready, .s_axil_table_bresp, .s_axil_table_arvalid,
    .s_axil_table_arready, .s_axil_table_araddr, .s_axil_table_arprot, .s_axil_table_rvalid,
    .s_axil_table_rready, .s_axil_table_rdata, .s_axil_table_rresp,
    .irq_o, .busy_o,
    .compatibility_i, .waiting_i, .waiting_task_i, .waiting_priority_i,
    .state_i(state), .loaded_i(loaded_o), .priority_i(priority_o),
    .connected_i(region_connected_o), .client_i(client_o), .drained_i(drained),
    .command_o(allocated), .unfinished_i, .resume_o,
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

  configuration_port #(.REGIONS(REGIONS), .REGION_BYTES(REGION_BYTES)) u_port (
    .clk_i, .rst_ni,
    .s_axil_awvalid(s_axil_port_awvalid), .s_axil_awready(s_axil_port_awready),
    .s_axil_awaddr(s_axil_port_awaddr), .s_axil_awprot(s_axil_port_awprot),
    .s_axil_wvalid(s_axil_port_wvalid), .s_axil_wready(s_axil_port_wready),
    .s_axil_wdata(s_axil_port_wdata), .s_axil_wstrb(s_axil_port_wstrb),
    .s_axil_bvalid(s_axil_port_bvalid), .s_axil_bready(s_axil_port_bready),
    .s_axil_bresp(s_axil_port_bresp),
    .s_axil_arvalid(s_axil_port_arvalid), .s_axil_arready(s_axil_port_arready),
    .s_axil_araddr(s_axil_port_araddr), .s_axil_arprot(s_axil_port_arprot),
    .s_axil_rvalid(s_axil_port_rvalid), .s_axil_rready(s_axil_port_rready),
    .s_axil_rdata(s_axil_port_rdata), .s_axil_rresp(s_axil_port_rresp),
    .irq_o(port_irq_o), .busy_o(configuring),
    .configure_o, .configurable_i(configurable), .configured_o(configured),
    .configured_task_o(configured_task),
    .allocator_valid_i(load_valid), .allocator_ready_o(load_ready),
    .allocator_region_i(load_region), .allocator_task_i(load_task),
    .allocator_source_i(load_source), .allocator_bytes_i(load_bytes),
    .allocator_over_o(load_over), .allocator_error_o(load_error), .owned_i(owned_o),
    .config_valid_o(config_valid), .config_region_o(config_region), .config_data_o(config_data),
    .m_axi_arvalid, .m_axi_arready, .m_axi_araddr, .m_axi_arlen, .m_axi_arsize, .m_axi_arburst,
    .m_axi_arcache, .m_axi_arprot,
    .m_axi_rvalid, .m_axi_rready, .m_axi_rdata, .m_axi_rresp, .m_axi_rlast
  );

  interface_crossbar #(.INTERFACES(INTERFACES), .REGIONS(REGIONS)) u_crossbar (
    .clk_i, .rst_ni,
    .connected_i(region_connected_o), .client_i(client_o), .drained_i(drained),
    .connect_i(connect_o), .new_client_i(new_client_o), .may_connect_o(may_connect),
    .to_region_o(to_region), .from_region_i(from_region),
    .connected_o, .region_o(region_of), .drained_o(interface_drained),
    .from_interface_i(from_interface), .to_interface_o(to_interface)
  );

  // As hw_interface does: one starts while connected and not running, and what is unfinished only
  // goes on.
  logic [INTERFACES-1:0] running_q;

  always_comb begin
    from_interface = '0;
    for (int unsigned i = 0; i < INTERFACES; i++) begin
      from_interface[i].start  = asked_i[i] && connected_o[i] && !running_q[i] && !unfinished_i[i];
      from_interface[i].resume = resume_o[i] && connected_o[i] && !running_q[i] && unfinished_i[i];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      running_q <= '0;
    end else begin
      for (int unsigned i = 0; i < INTERFACES; i++) begin
        running_q[i] <= from_interface[i].start || from_interface[i].resume
                        || (running_q[i] && connected_o[i] && !to_interface[i].done
                            && !to_interface[i].stopped);
      end
    end
  end

  for (genvar r = 0; r < int'(REGIONS); r++) begin : gen_region
    logic [4:0]  command;
    logic [7:0]  new_priority;
    logic [31:0] hold;
    logic        refused;

    region_owner u_owner (
      .clk_i, .rst_ni,
      .page_i(page_i[r]), .page_client_i(page_client_i[r]), .page_priority_i(page_priority_i[r]),
      .page_hold_i(32'd50), .page_refused_o(page_refused_o[r]), .allocator_i(allocated[r]),
      .command_o(command), .client_o(new_client_o[r]), .priority_o(new_priority), .hold_o(hold),
      .refused_i(refused)
    );

    region_control u_control (
      .clk_i, .rst_ni,
      .take_i(command[4]), .preempt_i(command[3]), .kill_i(command[2]), .connect_i(command[1]),
      .release_i(command[0]), .new_client_i(new_client_o[r]), .new_priority_i(new_priority),
      .may_connect_i(may_connect[r]), .hold_cycles_i(hold), .refused_o(refused),
      .configure_i(configure_o[r]), .configurable_o(configurable[r]),
      .configured_i(configured[r]), .configured_task_i(configured_task),
      .start_i(region_connected_o[r] && (to_region[r].start || to_region[r].resume)),
      .abort_i(1'b0), .done_i(done_i[r]), .stopped_i(stopped_i[r]), .drained_i(drained_i[r]),
      .state_o(state[r]), .loaded_o(loaded_o[r]), .connected_o(region_connected_o[r]),
      .client_o(client_o[r]), .priority_o(priority_o[r]), .isolate_o(isolate[r]),
      .stop_o(stop_o[r]), .task_rst_no(task_rst_n[r]),
      .stopped_o(stopped[r]), .expired_o(expired[r]), .overdue_o(overdue[r])
    );

    assign connect_o[r] = command[1];
    assign state_o[r]   = state[r];
    assign owned_o[r]   = allocated[r].owned;
    assign drained[r]   = isolate[r] && drained_i[r];

    always_comb begin
      from_region[r]         = '0;
      from_region[r].done    = !isolate[r] && done_i[r];
      from_region[r].stopped = !isolate[r] && stopped_i[r];
    end
  end

  logic unused;
  assign unused = ^{task_rst_n, stopped, expired, overdue, region_of, interface_drained, to_region,
                    to_interface, configuring, config_valid, config_region, config_data};

endmodule
