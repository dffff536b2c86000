// The static side of a reconfigurable region: its states, its isolator, its page.
//
// Whatever the region drives (from_task_i), which is anything while it is reconfigured, the
// interface sees a task only in Busy and Preempt, and memory sees what the isolator lets through.
// SIZE_CLASS is the region's class by size, from 0, the smallest, on.
module region #(
  parameter logic [1:0]  SIZE_CLASS   = 2'd0,
  // See region_control.
  parameter int unsigned DRAIN_CYCLES = 4096
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The device manager's page: regs/region.rdl.
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

  // The configuration port: see region_control.
  input  logic        configure_i,
  output logic        configurable_o,
  input  logic        configured_i,
  input  logic [7:0]  configured_task_i,

  // The region allocator: see region_owner.
  input  region_pkg::from_allocator_t allocator_i,

  // The descriptor, for the region monitor and the allocator.
  output region_pkg::state_e state_o,
  output logic [7:0]  loaded_o,
  output logic [7:0]  priority_o,
  // It goes on by itself: it computes, is held, or memory owes it something.
  output logic        busy_o,
  // Isolated, and memory owes nothing to its last client.
  output logic        drained_o,

  // The interface numbered client_o, while connected. Before it connects another one it asks.
  output logic        connected_o,
  output logic [3:0]  client_o,
  output logic        connect_o,
  output logic [3:0]  new_client_o,
  input  logic        may_connect_i,
  input  region_pkg::from_interface_t from_interface_i,
  output region_pkg::to_interface_t   to_interface_o,

  // The region itself.
  input  region_pkg::from_task_t from_task_i,
  output region_pkg::to_task_t   to_task_o,

  // Memory.
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

  // There are several in a design: what they do is compiled once.
  /*verilator no_inline_module*/

  // The page.

  logic        req, req_is_wr, stall_wr, stall_rd;
  logic [11:0] addr;
  logic [31:0] wr_data, wr_biten, rd_data;
  logic        rd_ack, rd_err, wr_ack, wr_err;

  region_regs_pkg::region__in_t  to_regs;
  region_regs_pkg::region__out_t from_regs;

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

  region_regs u_regs (
    .clk(clk_i), .arst_n(rst_ni),
    .s_cpuif_req(req), .s_cpuif_req_is_wr(req_is_wr), .s_cpuif_addr(addr),
    .s_cpuif_wr_data(wr_data), .s_cpuif_wr_biten(wr_biten),
    .s_cpuif_req_stall_wr(stall_wr), .s_cpuif_req_stall_rd(stall_rd),
    .s_cpuif_rd_ack(rd_ack), .s_cpuif_rd_err(rd_err), .s_cpuif_rd_data(rd_data),
    .s_cpuif_wr_ack(wr_ack), .s_cpuif_wr_err(wr_err),
    .hwif_in(to_regs), .hwif_out(from_regs)
  );

  // The states.

  logic isolate, drained, stop, task_rst_n, event_stopped, event_expired, event_overdue;
  logic        take, preempt, kill, connect, release_it, refused;
  logic [3:0]  new_client;
  logic [7:0]  new_priority;
  logic [31:0] hold_cycles;

  region_owner u_owner (
    .clk_i, .rst_ni,
    .page_i({from_regs.COMMAND.take.value, from_regs.COMMAND.preempt.value,
             from_regs.COMMAND.kill.value, from_regs.COMMAND.connect.value,
             from_regs.COMMAND.release_region.value}),
    .page_client_i(from_regs.CLIENT.interface_number.value),
    .page_priority_i(from_regs.CLIENT.prio.value), .page_hold_i(from_regs.HOLD.cycles.value),
    .page_refused_o(to_regs.ANSWER.refused.next), .allocator_i,
    .command_o({take, preempt, kill, connect, release_it}),
    .client_o(new_client), .priority_o(new_priority), .hold_o(hold_cycles), .refused_i(refused)
  );

  region_control #(.DRAIN_CYCLES(DRAIN_CYCLES)) u_control (
    .clk_i, .rst_ni,
    .take_i(take), .preempt_i(preempt), .kill_i(kill), .connect_i(connect),
    .release_i(release_it), .new_client_i(new_client), .new_priority_i(new_priority),
    .may_connect_i, .hold_cycles_i(hold_cycles), .refused_o(refused),
    .configure_i, .configurable_o, .configured_i, .configured_task_i,
    .start_i(connected_o && (from_interface_i.start || from_interface_i.resume)),
    .abort_i(connected_o && from_interface_i.abort_task),
    .done_i(from_task_i.done), .stopped_i(from_task_i.stopped), .drained_i(drained),
    .state_o, .loaded_o, .connected_o, .client_o, .priority_o,
    .isolate_o(isolate), .stop_o(stop), .task_rst_no(task_rst_n),
    .stopped_o(event_stopped), .expired_o(event_expired), .overdue_o(event_overdue)
  );

  assign connect_o    = connect;
  assign new_client_o = new_client;

  assign to_regs.DESCRIPTOR.state.next      = state_o;
  assign to_regs.DESCRIPTOR.size.next       = SIZE_CLASS;
  assign to_regs.DESCRIPTOR.connected.next  = connected_o;
  assign to_regs.DESCRIPTOR.drained.next    = drained;
  assign to_regs.DESCRIPTOR.loaded.next     = loaded_o;
  assign to_regs.DESCRIPTOR.client.next     = client_o;
  assign to_regs.DESCRIPTOR.prio.next = priority_o;

  interrupt #(.EVENTS(3)) u_interrupt (
    .clk_i, .rst_ni,
    // A stop that the allocator asked for is its own.
    .event_i({event_overdue, event_expired, event_stopped && !(allocator_i.owned && stop)}),
    .clear_i({from_regs.IRQ_CLEAR.overdue.value, from_regs.IRQ_CLEAR.expired.value,
              from_regs.IRQ_CLEAR.stopped.value}),
    .enable_i({from_regs.IRQ_ENABLE.overdue.value, from_regs.IRQ_ENABLE.expired.value,
               from_regs.IRQ_ENABLE.stopped.value}),
    .pending_o({to_regs.IRQ_PENDING.overdue.next, to_regs.IRQ_PENDING.expired.next,
                to_regs.IRQ_PENDING.stopped.next}),
    .irq_o
  );

  assign drained_o = isolate && drained;

  assign busy_o = state_o == region_pkg::Busy || state_o == region_pkg::Preempt
                  || state_o == region_pkg::Hold || !drained;

  // To the task. One that is isolated is shown nothing that changes.

  assign to_task_o.rst_n     = rst_ni && task_rst_n;
  assign to_task_o.start     = connected_o && from_interface_i.start;
  assign to_task_o.resume    = connected_o && from_interface_i.resume;
  assign to_task_o.stop      = stop;
  assign to_task_o.src       = from_interface_i.src;
  assign to_task_o.dst       = from_interface_i.dst;
  assign to_task_o.length    = from_interface_i.length;
  assign to_task_o.param     = from_interface_i.param;
  assign to_task_o.ctx_rdata = from_interface_i.ctx_rdata;

  // From the task, where it has a say.

  assign to_interface_o.done      = !isolate && from_task_i.done;
  assign to_interface_o.stopped   = !isolate && from_task_i.stopped;
  assign to_interface_o.ctx_we    = !isolate && from_task_i.ctx_we;
  assign to_interface_o.error     = from_task_i.error;
  assign to_interface_o.ctx_addr  = from_task_i.ctx_addr;
  assign to_interface_o.ctx_wdata = from_task_i.ctx_wdata;

  isolator #(
    .TASK_ADDR_WIDTH(32), .ADDR_WIDTH(40), .DATA_WIDTH(64), .BEATS_MAX(16), .BURSTS_MAX(4),
    .COHERENT(1'b1)
  ) u_isolator (
    .clk_i, .rst_ni,
    .isolate_i(isolate), .drained_o(drained),
    .window_base_i(from_interface_i.window_base), .window_pages_i(from_interface_i.window_pages),
    .refused_outside_o(to_interface_o.refused_outside),
    .refused_illegal_o(to_interface_o.refused_illegal),
    .wrong_last_o(to_interface_o.wrong_last), .refused_addr_o(to_interface_o.refused_addr),
    .s_axi_awvalid(from_task_i.awvalid), .s_axi_awready(to_task_o.awready),
    .s_axi_awaddr(from_task_i.awaddr), .s_axi_awlen(from_task_i.awlen),
    .s_axi_awsize(from_task_i.awsize), .s_axi_awburst(from_task_i.awburst),
    .s_axi_wvalid(from_task_i.wvalid), .s_axi_wready(to_task_o.wready),
    .s_axi_wdata(from_task_i.wdata), .s_axi_wstrb(from_task_i.wstrb),
    .s_axi_wlast(from_task_i.wlast),
    .s_axi_bvalid(to_task_o.bvalid), .s_axi_bready(from_task_i.bready),
    .s_axi_bresp(to_task_o.bresp),
    .s_axi_arvalid(from_task_i.arvalid), .s_axi_arready(to_task_o.arready),
    .s_axi_araddr(from_task_i.araddr), .s_axi_arlen(from_task_i.arlen),
    .s_axi_arsize(from_task_i.arsize), .s_axi_arburst(from_task_i.arburst),
    .s_axi_rvalid(to_task_o.rvalid), .s_axi_rready(from_task_i.rready),
    .s_axi_rdata(to_task_o.rdata), .s_axi_rresp(to_task_o.rresp), .s_axi_rlast(to_task_o.rlast),
    .m_axi_awvalid, .m_axi_awready, .m_axi_awaddr, .m_axi_awlen, .m_axi_awsize, .m_axi_awburst,
    .m_axi_awcache, .m_axi_awprot,
    .m_axi_wvalid, .m_axi_wready, .m_axi_wdata, .m_axi_wstrb, .m_axi_wlast,
    .m_axi_bvalid, .m_axi_bready, .m_axi_bresp,
    .m_axi_arvalid, .m_axi_arready, .m_axi_araddr, .m_axi_arlen, .m_axi_arsize, .m_axi_arburst,
    .m_axi_arcache, .m_axi_arprot,
    .m_axi_rvalid, .m_axi_rready, .m_axi_rdata, .m_axi_rresp, .m_axi_rlast
  );

endmodule
