// A region and what stands in for its partition, with a task that the test drives (s_axi, task_*)
// and an interface that it drives as well (if_*).
module region_harness (
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
  output logic        irq_o,

  input  logic configure_i,
  output logic configurable_o,
  input  logic configured_i,
  input  logic [7:0] configured_task_i,

  output logic connected_o,
  output logic [3:0] client_o,
  input  logic if_start_i,
  input  logic if_resume_i,
  input  logic if_abort_i,
  input  logic [27:0] if_window_base_i,
  input  logic [20:0] if_window_pages_i,
  output logic if_done_o,
  output logic if_stopped_o,
  output logic if_ctx_we_o,
  output logic if_refused_o,
  output logic drained_o,

  input  logic task_done_i,
  input  logic task_stopped_i,
  input  logic task_ctx_we_i,
  output logic task_rst_no,
  output logic task_start_o,
  output logic task_resume_o,
  output logic task_stop_o,

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

  // What the region drives, whatever that is.
  output logic driven_awvalid_o,
  output logic driven_done_o,

  output logic        m_axi_awvalid,
  input  logic        m_axi_awready,
  output logic [39:0] m_axi_awaddr,
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
  input  logic        m_axi_rlast
);

  import region_pkg::*;

  // The number of the task that the region is compatible with.
  localparam logic [7:0] Task = 8'd7;

  state_e          state;
  logic [7:0]      loaded, unused_priority;
  logic            unused_busy, unused_connect;
  logic [3:0]      unused_new_client;
  from_interface_t from_interface;
  to_interface_t   to_interface;
  from_task_t      from_task, from_region;
  to_task_t        to_task, to_region;

  assign from_interface = '{
    start: if_start_i, resume: if_resume_i, abort_task: if_abort_i, window_base: if_window_base_i,
    window_pages: if_window_pages_i, default: '0
  };
  assign if_done_o    = to_interface.done;
  assign if_stopped_o = to_interface.stopped;
  assign if_ctx_we_o  = to_interface.ctx_we;
  assign if_refused_o = to_interface.refused_outside || to_interface.refused_illegal
                        || to_interface.wrong_last;

  assign from_task = '{
    done: task_done_i, stopped: task_stopped_i, error: '0, ctx_we: task_ctx_we_i,
    ctx_addr: '0, ctx_wdata: '0,
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
  assign task_rst_no   = to_task.rst_n;
  assign task_start_o  = to_task.start;
  assign task_resume_o = to_task.resume;
  assign task_stop_o   = to_task.stop;
  assign s_axi_awready = to_task.awready;
  assign s_axi_wready = to_task.wready;
  assign s_axi_bvalid = to_task.bvalid;
  assign s_axi_bresp = to_task.bresp;
  assign s_axi_arready = to_task.arready;
  assign s_axi_rvalid = to_task.rvalid;
  assign s_axi_rdata = to_task.rdata;
  assign s_axi_rresp = to_task.rresp;
  assign s_axi_rlast = to_task.rlast;

  assign driven_awvalid_o = from_region.awvalid;
  assign driven_done_o    = from_region.done;

  region_partition #(.TASKS(1), .NUMBERS(Task), .SEED(32'd7)) u_partition (
    .rests_i(1'b0),
    .clk_i, .rst_ni, .reconfiguring_i(state == Reconfig), .loaded_i(loaded),
    .from_tasks_i(from_task), .to_tasks_o(to_task),
    .from_region_o(from_region), .to_region_i(to_region)
  );

  region #(.SIZE_CLASS(2'd1)) u_region (
    .from_interface_i(from_interface), .to_interface_o(to_interface),
    .from_task_i(from_region), .to_task_o(to_region),
    .state_o(state), .loaded_o(loaded), .priority_o(unused_priority),
    .busy_o(unused_busy), .connect_o(unused_connect), .new_client_o(unused_new_client),
    .may_connect_i(1'b1), .allocator_i('0),
    .*
  );

endmodule
