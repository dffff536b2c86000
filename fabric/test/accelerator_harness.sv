// A virtual device, a region and the configuration port, joined as a design joins them, with a task
// that the test drives (s_axi, task_*) and two memories: of the port (m_axi) and of the region
// (r_axi).
module accelerator_harness (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        s_axil_vm_awvalid,
  output logic        s_axil_vm_awready,
  input  logic [11:0] s_axil_vm_awaddr,
  input  logic [2:0]  s_axil_vm_awprot,
  input  logic        s_axil_vm_wvalid,
  output logic        s_axil_vm_wready,
  input  logic [31:0] s_axil_vm_wdata,
  input  logic [3:0]  s_axil_vm_wstrb,
  output logic        s_axil_vm_bvalid,
  input  logic        s_axil_vm_bready,
  output logic [1:0]  s_axil_vm_bresp,
  input  logic        s_axil_vm_arvalid,
  output logic        s_axil_vm_arready,
  input  logic [11:0] s_axil_vm_araddr,
  input  logic [2:0]  s_axil_vm_arprot,
  output logic        s_axil_vm_rvalid,
  input  logic        s_axil_vm_rready,
  output logic [31:0] s_axil_vm_rdata,
  output logic [1:0]  s_axil_vm_rresp,
  input  logic        s_axil_manager_awvalid,
  output logic        s_axil_manager_awready,
  input  logic [11:0] s_axil_manager_awaddr,
  input  logic [2:0]  s_axil_manager_awprot,
  input  logic        s_axil_manager_wvalid,
  output logic        s_axil_manager_wready,
  input  logic [31:0] s_axil_manager_wdata,
  input  logic [3:0]  s_axil_manager_wstrb,
  output logic        s_axil_manager_bvalid,
  input  logic        s_axil_manager_bready,
  output logic [1:0]  s_axil_manager_bresp,
  input  logic        s_axil_manager_arvalid,
  output logic        s_axil_manager_arready,
  input  logic [11:0] s_axil_manager_araddr,
  input  logic [2:0]  s_axil_manager_arprot,
  output logic        s_axil_manager_rvalid,
  input  logic        s_axil_manager_rready,
  output logic [31:0] s_axil_manager_rdata,
  output logic [1:0]  s_axil_manager_rresp,
  input  logic        s_axil_region_awvalid,
  output logic        s_axil_region_awready,
  input  logic [11:0] s_axil_region_awaddr,
  input  logic [2:0]  s_axil_region_awprot,
  input  logic        s_axil_region_wvalid,
  output logic        s_axil_region_wready,
  input  logic [31:0] s_axil_region_wdata,
  input  logic [3:0]  s_axil_region_wstrb,
  output logic        s_axil_region_bvalid,
  input  logic        s_axil_region_bready,
  output logic [1:0]  s_axil_region_bresp,
  input  logic        s_axil_region_arvalid,
  output logic        s_axil_region_arready,
  input  logic [11:0] s_axil_region_araddr,
  input  logic [2:0]  s_axil_region_arprot,
  output logic        s_axil_region_rvalid,
  input  logic        s_axil_region_rready,
  output logic [31:0] s_axil_region_rdata,
  output logic [1:0]  s_axil_region_rresp,
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

  output logic        vm_irq_o,
  output logic        region_irq_o,
  output logic        port_irq_o,
  output logic        fault_o,

  input  logic        task_done_i,
  input  logic        task_stopped_i,
  input  logic        task_ctx_we_i,
  input  logic [7:0]  task_ctx_addr_i,
  input  logic [31:0] task_ctx_wdata_i,
  output logic [31:0] task_ctx_rdata_o,
  output logic        task_start_o,
  output logic        task_resume_o,
  output logic        task_stop_o,
  output logic [31:0] task_src_o,
  output logic [31:0] task_dst_o,
  output logic [31:0] task_length_o,
  output logic [31:0] task_param_o,

  input  logic s_axi_awvalid,
  input  logic [31:0] s_axi_awaddr,
  input  logic [7:0] s_axi_awlen,
  input  logic [2:0] s_axi_awsize,
  input  logic [1:0] s_axi_awburst,
  input  logic s_axi_wvalid,
  input  logic [63:0] s_axi_wdata,
  input  logic [7:0] s_axi_wstrb,
  input  logic s_axi_wlast,
  input  logic s_axi_bready,
  input  logic s_axi_arvalid,
  input  logic [31:0] s_axi_araddr,
  input  logic [7:0] s_axi_arlen,
  input  logic [2:0] s_axi_arsize,
  input  logic [1:0] s_axi_arburst,
  input  logic s_axi_rready,
  output logic s_axi_awready,
  output logic s_axi_wready,
  output logic s_axi_bvalid,
  output logic [1:0] s_axi_bresp,
  output logic s_axi_arready,
  output logic s_axi_rvalid,
  output logic [63:0] s_axi_rdata,
  output logic [1:0] s_axi_rresp,
  output logic s_axi_rlast,

  output logic        r_axi_awvalid,
  input  logic        r_axi_awready,
  output logic [39:0] r_axi_awaddr,
  output logic [7:0]  r_axi_awlen,
  output logic [2:0]  r_axi_awsize,
  output logic [1:0]  r_axi_awburst,
  output logic [3:0]  r_axi_awcache,
  output logic [2:0]  r_axi_awprot,
  output logic        r_axi_wvalid,
  input  logic        r_axi_wready,
  output logic [63:0] r_axi_wdata,
  output logic [7:0]  r_axi_wstrb,
  output logic        r_axi_wlast,
  input  logic        r_axi_bvalid,
  output logic        r_axi_bready,
  input  logic [1:0]  r_axi_bresp,
  output logic        r_axi_arvalid,
  input  logic        r_axi_arready,
  output logic [39:0] r_axi_araddr,
  output logic [7:0]  r_axi_arlen,
  output logic [2:0]  r_axi_arsize,
  output logic [1:0]  r_axi_arburst,
  output logic [3:0]  r_axi_arcache,
  output logic [2:0]  r_axi_arprot,
  input  logic        r_axi_rvalid,
  output logic        r_axi_rready,
  input  logic [63:0] r_axi_rdata,
  input  logic [1:0]  r_axi_rresp,
  input  logic        r_axi_rlast,

  output logic               m_axi_arvalid,
  input  logic               m_axi_arready,
  output logic [39:0]        m_axi_araddr,
  output logic [7:0]         m_axi_arlen,
  output logic [2:0]         m_axi_arsize,
  output logic [1:0]         m_axi_arburst,
  output logic [3:0]         m_axi_arcache,
  output logic [2:0]         m_axi_arprot,
  input  logic               m_axi_rvalid,
  output logic               m_axi_rready,
  input  logic [63:0]        m_axi_rdata,
  input  logic [1:0]         m_axi_rresp,
  input  logic               m_axi_rlast
);

  import region_pkg::*;

  localparam logic [7:0] Task = 8'd5;
  // The number of the interface.
  localparam logic [3:0] Client = 4'd2;

  state_e          state;
  logic [7:0]      loaded, configured_task, unused_priority;
  logic            configure, configurable, configured, connected, drained, mine, unused_config;
  logic [3:0]      client, unused_config_region, unused_new_client;
  logic            unused_region_busy, unused_port_busy, unused_connect, unused_unfinished;
  logic            unused_ready, unused_over;
  logic [3:0]      unused_error;
  logic [31:0]     unused_config_data;
  from_interface_t from_interface;
  to_interface_t   to_interface;
  from_task_t      from_task, from_region;
  to_task_t        to_task, to_region;

  assign mine = connected && client == Client;

  hw_interface u_interface (
    .irq_o(vm_irq_o), .connected_i(mine), .region_i(4'd0),
    .start_o(from_interface.start), .resume_o(from_interface.resume),
    .abort_o(from_interface.abort_task), .drained_i(client != Client || drained),
    .unfinished_o(unused_unfinished), .resume_i(1'b0),
    .src_o(from_interface.src), .dst_o(from_interface.dst), .length_o(from_interface.length),
    .param_o(from_interface.param),
    .done_i(to_interface.done), .stopped_i(to_interface.stopped), .error_i(to_interface.error),
    .ctx_we_i(to_interface.ctx_we), .ctx_addr_i(to_interface.ctx_addr),
    .ctx_wdata_i(to_interface.ctx_wdata), .ctx_rdata_o(from_interface.ctx_rdata),
    .window_base_o(from_interface.window_base), .window_pages_o(from_interface.window_pages),
    .refused_outside_i(to_interface.refused_outside),
    .refused_illegal_i(to_interface.refused_illegal), .wrong_last_i(to_interface.wrong_last),
    .refused_addr_i(to_interface.refused_addr),
    .*
  );

  region u_region (
    .s_axil_awvalid(s_axil_region_awvalid),
    .s_axil_awready(s_axil_region_awready),
    .s_axil_awaddr(s_axil_region_awaddr),
    .s_axil_awprot(s_axil_region_awprot),
    .s_axil_wvalid(s_axil_region_wvalid),
    .s_axil_wready(s_axil_region_wready),
    .s_axil_wdata(s_axil_region_wdata),
    .s_axil_wstrb(s_axil_region_wstrb),
    .s_axil_bvalid(s_axil_region_bvalid),
    .s_axil_bready(s_axil_region_bready),
    .s_axil_bresp(s_axil_region_bresp),
    .s_axil_arvalid(s_axil_region_arvalid),
    .s_axil_arready(s_axil_region_arready),
    .s_axil_araddr(s_axil_region_araddr),
    .s_axil_arprot(s_axil_region_arprot),
    .s_axil_rvalid(s_axil_region_rvalid),
    .s_axil_rready(s_axil_region_rready),
    .s_axil_rdata(s_axil_region_rdata),
    .s_axil_rresp(s_axil_region_rresp),
    .irq_o(region_irq_o),
    .configure_i(configure), .configurable_o(configurable), .configured_i(configured),
    .configured_task_i(configured_task), .allocator_i('0),
    .state_o(state), .loaded_o(loaded), .priority_o(unused_priority),
    .busy_o(unused_region_busy), .connect_o(unused_connect), .new_client_o(unused_new_client),
    .may_connect_i(1'b1),
    .connected_o(connected), .client_o(client), .drained_o(drained),
    .from_interface_i(from_interface), .to_interface_o(to_interface),
    .from_task_i(from_region), .to_task_o(to_region),
    .m_axi_awvalid(r_axi_awvalid),
    .m_axi_awready(r_axi_awready),
    .m_axi_awaddr(r_axi_awaddr),
    .m_axi_awlen(r_axi_awlen),
    .m_axi_awsize(r_axi_awsize),
    .m_axi_awburst(r_axi_awburst),
    .m_axi_awcache(r_axi_awcache),
    .m_axi_awprot(r_axi_awprot),
    .m_axi_wvalid(r_axi_wvalid),
    .m_axi_wready(r_axi_wready),
    .m_axi_wdata(r_axi_wdata),
    .m_axi_wstrb(r_axi_wstrb),
    .m_axi_wlast(r_axi_wlast),
    .m_axi_bvalid(r_axi_bvalid),
    .m_axi_bready(r_axi_bready),
    .m_axi_bresp(r_axi_bresp),
    .m_axi_arvalid(r_axi_arvalid),
    .m_axi_arready(r_axi_arready),
    .m_axi_araddr(r_axi_araddr),
    .m_axi_arlen(r_axi_arlen),
    .m_axi_arsize(r_axi_arsize),
    .m_axi_arburst(r_axi_arburst),
    .m_axi_arcache(r_axi_arcache),
    .m_axi_arprot(r_axi_arprot),
    .m_axi_rvalid(r_axi_rvalid),
    .m_axi_rready(r_axi_rready),
    .m_axi_rdata(r_axi_rdata),
    .m_axi_rresp(r_axi_rresp),
    .m_axi_rlast(r_axi_rlast),
    .*
  );

  region_partition #(.TASKS(1), .NUMBERS(Task)) u_partition (
    .clk_i, .rst_ni, .rests_i(1'b0), .reconfiguring_i(state == Reconfig), .loaded_i(loaded),
    .from_tasks_i(from_task), .to_tasks_o(to_task),
    .from_region_o(from_region), .to_region_i(to_region)
  );

  configuration_port #(.REGIONS(1), .REGION_BYTES(32'd100)) u_port (
    .s_axil_awvalid(s_axil_port_awvalid),
    .s_axil_awready(s_axil_port_awready),
    .s_axil_awaddr(s_axil_port_awaddr),
    .s_axil_awprot(s_axil_port_awprot),
    .s_axil_wvalid(s_axil_port_wvalid),
    .s_axil_wready(s_axil_port_wready),
    .s_axil_wdata(s_axil_port_wdata),
    .s_axil_wstrb(s_axil_port_wstrb),
    .s_axil_bvalid(s_axil_port_bvalid),
    .s_axil_bready(s_axil_port_bready),
    .s_axil_bresp(s_axil_port_bresp),
    .s_axil_arvalid(s_axil_port_arvalid),
    .s_axil_arready(s_axil_port_arready),
    .s_axil_araddr(s_axil_port_araddr),
    .s_axil_arprot(s_axil_port_arprot),
    .s_axil_rvalid(s_axil_port_rvalid),
    .s_axil_rready(s_axil_port_rready),
    .s_axil_rdata(s_axil_port_rdata),
    .s_axil_rresp(s_axil_port_rresp),
    .irq_o(port_irq_o), .busy_o(unused_port_busy),
    .configure_o(configure), .configurable_i(configurable), .configured_o(configured),
    .configured_task_o(configured_task),
    .allocator_valid_i(1'b0), .allocator_ready_o(unused_ready), .allocator_region_i('0),
    .allocator_task_i('0), .allocator_source_i('0), .allocator_bytes_i('0),
    .allocator_over_o(unused_over), .allocator_error_o(unused_error), .owned_i('0),
    .config_valid_o(unused_config),
    .config_region_o(unused_config_region), .config_data_o(unused_config_data),
    .*
  );

  assign from_task = '{
    done: task_done_i, stopped: task_stopped_i, error: '0, ctx_we: task_ctx_we_i,
    ctx_addr: task_ctx_addr_i, ctx_wdata: task_ctx_wdata_i,
    awvalid: s_axi_awvalid,
    awaddr: s_axi_awaddr,
    awlen: s_axi_awlen,
    awsize: s_axi_awsize,
    awburst: s_axi_awburst,
    wvalid: s_axi_wvalid,
    wdata: s_axi_wdata,
    wstrb: s_axi_wstrb,
    wlast: s_axi_wlast,
    bready: s_axi_bready,
    arvalid: s_axi_arvalid,
    araddr: s_axi_araddr,
    arlen: s_axi_arlen,
    arsize: s_axi_arsize,
    arburst: s_axi_arburst,
    rready: s_axi_rready
  };
  assign s_axi_awready = to_task.awready;
  assign s_axi_wready = to_task.wready;
  assign s_axi_bvalid = to_task.bvalid;
  assign s_axi_bresp = to_task.bresp;
  assign s_axi_arready = to_task.arready;
  assign s_axi_rvalid = to_task.rvalid;
  assign s_axi_rdata = to_task.rdata;
  assign s_axi_rresp = to_task.rresp;
  assign s_axi_rlast = to_task.rlast;
  assign task_start_o = to_task.start;
  assign task_resume_o = to_task.resume;
  assign task_stop_o = to_task.stop;
  assign task_src_o = to_task.src;
  assign task_dst_o = to_task.dst;
  assign task_length_o = to_task.length;
  assign task_param_o = to_task.param;
  assign task_ctx_rdata_o = to_task.ctx_rdata;

endmodule
