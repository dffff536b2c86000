// An interface: what stands behind one virtual device of one VM.
//
// It has the published registers, in a page that the VM sees (s_axil_vm, regs/virtual_device.rdl),
// and what the device manager alone may set, in another (s_axil_manager,
// regs/interface_manager.rdl): which memory is the VM's, and the task's context. All of it stays
// when the interface is disconnected; what the VM writes then is kept, and so is its wish to start.
// That the VM cannot write while it is disconnected is the business of the hypervisor's page
// tables, and nothing here relies on it.
//
// A computation is begun by start_o or resume_o, which only happens while connected, and ends in
// one of four ways: the task is done; it has stopped, and is resumed some time; it is disconnected
// before either, and then is over with the error Taken; the VM, or the hypervisor, writes END, and
// it is over with the error Ended. What a task says at any other time is not listened to.
//
// END stands until no computation of this interface can reach memory any more (drained_i). While
// it stands, abort_o tells the region to cut the task off, START is withdrawn, an unfinished
// computation is forgotten, and none begins.
module hw_interface (
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

  // To the VM: a computation is over. To the device manager: there are faults.
  output logic        irq_o,
  output logic        fault_o,

  // The region, where one is connected; and the task in it, as hardware-tasks.md says.
  input  logic        connected_i,
  input  logic [3:0]  region_i,
  output logic        start_o,
  output logic        resume_o,
  output logic        abort_o,
  output logic [31:0] src_o,
  output logic [31:0] dst_o,
  output logic [31:0] length_o,
  output logic [31:0] param_o,
  input  logic        done_i,
  input  logic        stopped_i,
  input  logic [3:0]  error_i,
  input  logic        ctx_we_i,
  input  logic [7:0]  ctx_addr_i,
  input  logic [31:0] ctx_wdata_i,
  output logic [31:0] ctx_rdata_o,
  // Each region of which this interface was the last client, connected or not, is isolated and
  // memory owes nothing to it.
  input  logic        drained_i,

  // The region allocator: a computation was stopped and not resumed; resume it, as the device
  // manager's command does.
  output logic        unfinished_o,
  input  logic        resume_i,

  // For the region's isolator, and what it reports.
  output logic [27:0] window_base_o,
  output logic [20:0] window_pages_o,
  input  logic        refused_outside_i,
  input  logic        refused_illegal_i,
  input  logic        wrong_last_i,
  input  logic [31:0] refused_addr_i
);

  // There are several in a design: what they do is compiled once.
  /*verilator no_inline_module*/

  localparam logic [3:0] Ended  = 4'd13;
  localparam logic [3:0] Taken  = 4'd14;
  localparam logic [3:0] Failed = 4'd15;

  // The two pages.

  logic        vm_asks, vm_asks_wr, vm_req, vm_req_is_wr, vm_stall_wr, vm_stall_rd;
  logic [11:0] vm_asks_addr, vm_addr;
  logic [31:0] vm_asks_data, vm_asks_biten;
  logic [31:0] vm_wr_data, vm_wr_biten, vm_rd_data;
  logic        vm_rd_ack, vm_rd_err, vm_wr_ack, vm_wr_err;

  virtual_device_regs_pkg::virtual_device__in_t  to_vm;
  virtual_device_regs_pkg::virtual_device__out_t from_vm;

  axil_slave #(.ADDR_WIDTH(12), .DATA_WIDTH(32)) u_vm_slave (
    .clk_i, .rst_ni,
    .s_axil_awvalid(s_axil_vm_awvalid), .s_axil_awready(s_axil_vm_awready),
    .s_axil_awaddr(s_axil_vm_awaddr), .s_axil_awprot(s_axil_vm_awprot),
    .s_axil_wvalid(s_axil_vm_wvalid), .s_axil_wready(s_axil_vm_wready),
    .s_axil_wdata(s_axil_vm_wdata), .s_axil_wstrb(s_axil_vm_wstrb),
    .s_axil_bvalid(s_axil_vm_bvalid), .s_axil_bready(s_axil_vm_bready),
    .s_axil_bresp(s_axil_vm_bresp),
    .s_axil_arvalid(s_axil_vm_arvalid), .s_axil_arready(s_axil_vm_arready),
    .s_axil_araddr(s_axil_vm_araddr), .s_axil_arprot(s_axil_vm_arprot),
    .s_axil_rvalid(s_axil_vm_rvalid), .s_axil_rready(s_axil_vm_rready),
    .s_axil_rdata(s_axil_vm_rdata), .s_axil_rresp(s_axil_vm_rresp),
    .req_o(vm_asks), .req_is_wr_o(vm_asks_wr), .addr_o(vm_asks_addr),
    .wr_data_o(vm_asks_data), .wr_biten_o(vm_asks_biten),
    .req_stall_wr_i(1'b0), .req_stall_rd_i(1'b0),
    .rd_ack_i(vm_rd_ack), .rd_err_i(vm_rd_err), .rd_data_i(vm_rd_data),
    .wr_ack_i(vm_wr_ack), .wr_err_i(vm_wr_err)
  );

  virtual_device_regs u_vm_regs (
    .clk(clk_i), .arst_n(rst_ni),
    .s_cpuif_req(vm_req), .s_cpuif_req_is_wr(vm_req_is_wr), .s_cpuif_addr(vm_addr),
    .s_cpuif_wr_data(vm_wr_data), .s_cpuif_wr_biten(vm_wr_biten),
    .s_cpuif_req_stall_wr(vm_stall_wr), .s_cpuif_req_stall_rd(vm_stall_rd),
    .s_cpuif_rd_ack(vm_rd_ack), .s_cpuif_rd_err(vm_rd_err), .s_cpuif_rd_data(vm_rd_data),
    .s_cpuif_wr_ack(vm_wr_ack), .s_cpuif_wr_err(vm_wr_err),
    .hwif_in(to_vm), .hwif_out(from_vm)
  );

  logic        manager_asks, manager_asks_wr, manager_req, manager_req_is_wr;
  logic        manager_stall_wr, manager_stall_rd;
  logic [11:0] manager_asks_addr, manager_addr;
  logic [31:0] manager_asks_data, manager_asks_biten;
  logic [31:0] manager_wr_data, manager_wr_biten, manager_rd_data;
  logic        manager_rd_ack, manager_rd_err, manager_wr_ack, manager_wr_err;

  interface_manager_regs_pkg::interface_manager__in_t  to_manager;
  interface_manager_regs_pkg::interface_manager__out_t from_manager;

  axil_slave #(.ADDR_WIDTH(12), .DATA_WIDTH(32)) u_manager_slave (
    .clk_i, .rst_ni,
    .s_axil_awvalid(s_axil_manager_awvalid), .s_axil_awready(s_axil_manager_awready),
    .s_axil_awaddr(s_axil_manager_awaddr), .s_axil_awprot(s_axil_manager_awprot),
    .s_axil_wvalid(s_axil_manager_wvalid), .s_axil_wready(s_axil_manager_wready),
    .s_axil_wdata(s_axil_manager_wdata), .s_axil_wstrb(s_axil_manager_wstrb),
    .s_axil_bvalid(s_axil_manager_bvalid), .s_axil_bready(s_axil_manager_bready),
    .s_axil_bresp(s_axil_manager_bresp),
    .s_axil_arvalid(s_axil_manager_arvalid), .s_axil_arready(s_axil_manager_arready),
    .s_axil_araddr(s_axil_manager_araddr), .s_axil_arprot(s_axil_manager_arprot),
    .s_axil_rvalid(s_axil_manager_rvalid), .s_axil_rready(s_axil_manager_rready),
    .s_axil_rdata(s_axil_manager_rdata), .s_axil_rresp(s_axil_manager_rresp),
    .req_o(manager_asks), .req_is_wr_o(manager_asks_wr), .addr_o(manager_asks_addr),
    .wr_data_o(manager_asks_data), .wr_biten_o(manager_asks_biten),
    .req_stall_wr_i(1'b0), .req_stall_rd_i(1'b0),
    .rd_ack_i(manager_rd_ack), .rd_err_i(manager_rd_err), .rd_data_i(manager_rd_data),
    .wr_ack_i(manager_wr_ack), .wr_err_i(manager_wr_err)
  );

  // A cycle between whose turn it is and what is read, in both pages: together they are a path too
  // long. The next request only comes when this one is answered, so that none meets one that waits.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      vm_req            <= 1'b0;
      vm_req_is_wr      <= 1'b0;
      manager_req       <= 1'b0;
      manager_req_is_wr <= 1'b0;
    end else begin
      vm_req            <= vm_asks;
      vm_req_is_wr      <= vm_asks_wr;
      manager_req       <= manager_asks;
      manager_req_is_wr <= manager_asks_wr;
    end
  end

  always_ff @(posedge clk_i) begin
    vm_addr          <= vm_asks_addr;
    vm_wr_data       <= vm_asks_data;
    vm_wr_biten      <= vm_asks_biten;
    manager_addr     <= manager_asks_addr;
    manager_wr_data  <= manager_asks_data;
    manager_wr_biten <= manager_asks_biten;
  end

  logic unused_stall;
  assign unused_stall = ^{vm_stall_wr, vm_stall_rd, manager_stall_wr, manager_stall_rd};

  interface_manager_regs u_manager_regs (
    .clk(clk_i), .arst_n(rst_ni),
    .s_cpuif_req(manager_req), .s_cpuif_req_is_wr(manager_req_is_wr), .s_cpuif_addr(manager_addr),
    .s_cpuif_wr_data(manager_wr_data), .s_cpuif_wr_biten(manager_wr_biten),
    .s_cpuif_req_stall_wr(manager_stall_wr), .s_cpuif_req_stall_rd(manager_stall_rd),
    .s_cpuif_rd_ack(manager_rd_ack), .s_cpuif_rd_err(manager_rd_err),
    .s_cpuif_rd_data(manager_rd_data),
    .s_cpuif_wr_ack(manager_wr_ack), .s_cpuif_wr_err(manager_wr_err),
    .hwif_in(to_manager), .hwif_out(from_manager)
  );

  // Computations.

  logic        running_q, unfinished_q, over_q;
  logic        asked, ending, fails, is_done, is_taken, is_stopped, ends;
  // Running, unfinished or asked for.
  logic        has_computation;
  logic [3:0]  error_q;
  logic [31:0] cycles_q;

  assign asked      = from_vm.START.flag.value;
  assign ending     = from_vm.END.flag.value;
  assign fails      = from_manager.COMMAND.fail.value && !ending && !running_q
                      && (asked || unfinished_q);
  assign is_taken   = running_q && !ending && !connected_i;
  assign is_done    = running_q && !ending && connected_i && done_i;
  assign is_stopped = running_q && !ending && connected_i && stopped_i && !done_i;
  assign ends       = is_done || is_taken || fails;

  assign start_o  = asked && connected_i && !ending && !running_q && !unfinished_q && !fails;
  assign resume_o = (from_manager.COMMAND.resume.value || resume_i) && connected_i && !ending
                    && !running_q && unfinished_q && !fails;
  assign abort_o  = ending;

  assign has_computation = running_q || unfinished_q || asked;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      running_q    <= 1'b0;
      unfinished_q <= 1'b0;
      over_q       <= 1'b0;
      error_q      <= '0;
      cycles_q     <= '0;
    end else begin
      running_q    <= start_o || resume_o
                      || (running_q && !ending && !is_done && !is_taken && !is_stopped);
      unfinished_q <= is_stopped || (unfinished_q && !ending && !resume_o && !fails);
      over_q       <= ends || (over_q && !ending && !start_o);
      if (ending && has_computation) begin
        error_q <= Ended;
      end else if (fails) begin
        error_q <= Failed;
      end else if (is_taken) begin
        error_q <= Taken;
      end else if (is_done) begin
        error_q <= error_i;
      end
      if (start_o) begin
        cycles_q <= '0;
      end else if (running_q && cycles_q != '1) begin
        cycles_q <= cycles_q + 1'b1;
      end
    end
  end

  assign unfinished_o = unfinished_q;

  assign src_o    = from_vm.DATA_ADDR.value.value;
  assign dst_o    = from_vm.CUSTOM0.value.value;
  assign length_o = from_vm.DATA_SIZE.value.value;
  assign param_o  = from_vm.CMD.value.value;

  assign to_vm.STAT.connected.next  = connected_i;
  assign to_vm.STAT.running.next    = running_q;
  assign to_vm.STAT.unfinished.next = unfinished_q;
  assign to_vm.STAT.error.next      = error_q;
  assign to_vm.STAT.region.next     = connected_i ? region_i : '0;
  assign to_vm.START.flag.hwclr     = start_o || fails || ending;
  assign to_vm.OVER.flag.next       = over_q;
  assign to_vm.INT_CTRL.over.hwset  = ends;
  assign to_vm.INT_CTRL.over.hwclr  = ending;
  assign to_vm.INT_CTRL.enable.hwclr = ending;
  // A write to START wins over its hwclr, so END stands until START is zero.
  assign to_vm.END.flag.hwclr       = drained_i && !has_computation;
  assign to_vm.RESULT.error.next    = error_q;
  assign to_vm.RESULT.cycles.next   = cycles_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      irq_o <= 1'b0;
    end else begin
      irq_o <= from_vm.INT_CTRL.over.value && from_vm.INT_CTRL.enable.value;
    end
  end

  assign to_manager.STATE.connected.next  = connected_i;
  assign to_manager.STATE.running.next    = running_q;
  assign to_manager.STATE.unfinished.next = unfinished_q;
  assign to_manager.STATE.asked.next      = asked;
  assign to_manager.STATE.region.next     = connected_i ? region_i : '0;

  // The VM's memory.

  assign to_manager.WINDOW_BASE.page.swwe   = !connected_i;
  assign to_manager.WINDOW_PAGES.pages.swwe = !connected_i;

  assign window_base_o  = from_manager.WINDOW_BASE.page.value;
  assign window_pages_o = from_manager.WINDOW_PAGES.pages.value;

  // Faults.

  logic [7:0]  outside_q, illegal_q, wrong_last_q;
  logic [31:0] fault_addr_q;

  function automatic logic [7:0] counted(logic [7:0] so_far, logic clear, logic event_now);
    logic [7:0] kept;
    kept = clear ? '0 : so_far;
    return event_now && kept != '1 ? kept + 1'b1 : kept;
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      outside_q    <= '0;
      illegal_q    <= '0;
      wrong_last_q <= '0;
      fault_addr_q <= '0;
    end else begin
      outside_q    <= counted(outside_q, from_manager.COMMAND.clear_faults.value,
                              connected_i && refused_outside_i);
      illegal_q    <= counted(illegal_q, from_manager.COMMAND.clear_faults.value,
                              connected_i && refused_illegal_i);
      wrong_last_q <= counted(wrong_last_q, from_manager.COMMAND.clear_faults.value,
                              connected_i && wrong_last_i);
      if (connected_i && (refused_outside_i || refused_illegal_i)) fault_addr_q <= refused_addr_i;
    end
  end

  assign to_manager.FAULTS.outside.next    = outside_q;
  assign to_manager.FAULTS.illegal.next    = illegal_q;
  assign to_manager.FAULTS.wrong_last.next = wrong_last_q;
  assign to_manager.FAULT_ADDR.value.next  = fault_addr_q;

  assign fault_o = {outside_q, illegal_q, wrong_last_q} != '0;

  // The context. The task has it only while it computes.

  logic        ctx_reads_q, ctx_read_q, ctx_written_q, ctx_manager_write, ctx_task_write;
  logic [31:0] ctx_manager_data, ctx_rdata_q;

  assign ctx_task_write    = ctx_we_i && running_q && connected_i;
  // Whole words only.
  assign ctx_manager_write = from_manager.CONTEXT.req && from_manager.CONTEXT.req_is_wr
                             && from_manager.CONTEXT.wr_biten == '1;

  logic unused_context;
  assign unused_context = ^from_manager.CONTEXT.addr[1:0];

  context_buffer #(.WORDS(256)) u_context (
    .clk_i,
    .task_write_i(ctx_task_write), .task_addr_i(ctx_addr_i),
    .task_data_i(ctx_wdata_i), .task_data_o(ctx_rdata_o),
    .manager_write_i(ctx_manager_write), .manager_addr_i(from_manager.CONTEXT.addr[9:2]),
    .manager_data_i(from_manager.CONTEXT.wr_data), .manager_data_o(ctx_manager_data)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ctx_reads_q   <= 1'b0;
      ctx_read_q    <= 1'b0;
      ctx_written_q <= 1'b0;
    end else begin
      ctx_reads_q   <= from_manager.CONTEXT.req && !from_manager.CONTEXT.req_is_wr;
      ctx_read_q    <= ctx_reads_q;
      ctx_written_q <= from_manager.CONTEXT.req && from_manager.CONTEXT.req_is_wr;
    end
  end

  // The memory is too slow for what is behind it in the same cycle.
  always_ff @(posedge clk_i) begin
    ctx_rdata_q <= ctx_manager_data;
  end

  assign to_manager.CONTEXT.rd_data = ctx_rdata_q;
  assign to_manager.CONTEXT.rd_ack  = ctx_read_q;
  assign to_manager.CONTEXT.wr_ack  = ctx_written_q;

endmodule
