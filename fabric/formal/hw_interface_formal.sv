// The interface, whatever the VM, the device manager and the task do, and whenever it is connected.
//
// What comes over the buses is arbitrary: axil_slave and context_buffer are replaced by arbitrary
// behaviour. A computation begins only while connected and while none is running, goes on only
// where it was stopped, and its end is told; the window and the VM's registers change only where
// they may. END leaves nothing behind that was asked for, and stands until all is drained.
module hw_interface_formal (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        connected,
  input logic        drained,
  input logic        allocator_resume,
  input logic [3:0]  region,
  input logic        task_done,
  input logic        task_stopped,
  input logic [3:0]  task_error,
  input logic        ctx_we,
  input logic [7:0]  ctx_addr,
  input logic [31:0] ctx_wdata,
  input logic        refused_outside,
  input logic        refused_illegal,
  input logic        wrong_last,
  input logic [31:0] refused_addr
);

  logic        irq, fault, start, resume, abort, unfinished;
  logic [31:0] src, dst, length, param, ctx_rdata;
  logic [27:0] window_base;
  logic [20:0] window_pages;

  hw_interface dut (
    .clk_i, .rst_ni,
    .s_axil_vm_awvalid('0), .s_axil_vm_awready(), .s_axil_vm_awaddr('0), .s_axil_vm_awprot('0),
    .s_axil_vm_wvalid('0), .s_axil_vm_wready(), .s_axil_vm_wdata('0), .s_axil_vm_wstrb('0),
    .s_axil_vm_bvalid(), .s_axil_vm_bready('0), .s_axil_vm_bresp(),
    .s_axil_vm_arvalid('0), .s_axil_vm_arready(), .s_axil_vm_araddr('0), .s_axil_vm_arprot('0),
    .s_axil_vm_rvalid(), .s_axil_vm_rready('0), .s_axil_vm_rdata(), .s_axil_vm_rresp(),
    .s_axil_manager_awvalid('0), .s_axil_manager_awready(), .s_axil_manager_awaddr('0),
    .s_axil_manager_awprot('0),
    .s_axil_manager_wvalid('0), .s_axil_manager_wready(), .s_axil_manager_wdata('0),
    .s_axil_manager_wstrb('0),
    .s_axil_manager_bvalid(), .s_axil_manager_bready('0), .s_axil_manager_bresp(),
    .s_axil_manager_arvalid('0), .s_axil_manager_arready(), .s_axil_manager_araddr('0),
    .s_axil_manager_arprot('0),
    .s_axil_manager_rvalid(), .s_axil_manager_rready('0), .s_axil_manager_rdata(),
    .s_axil_manager_rresp(),
    .irq_o(irq), .fault_o(fault),
    .connected_i(connected), .region_i(region), .drained_i(drained),
    .start_o(start), .resume_o(resume), .abort_o(abort),
    .src_o(src), .dst_o(dst), .length_o(length), .param_o(param),
    .done_i(task_done), .stopped_i(task_stopped), .error_i(task_error),
    .ctx_we_i(ctx_we), .ctx_addr_i(ctx_addr), .ctx_wdata_i(ctx_wdata), .ctx_rdata_o(ctx_rdata),
    .unfinished_o(unfinished), .resume_i(allocator_resume),
    .window_base_o(window_base), .window_pages_o(window_pages),
    .refused_outside_i(refused_outside), .refused_illegal_i(refused_illegal),
    .wrong_last_i(wrong_last), .refused_addr_i(refused_addr)
  );

  logic began_q = 1'b0;
  always_ff @(posedge clk_i) began_q <= 1'b1;
  always_ff @(posedge clk_i) begin_in_reset: assume (rst_ni == began_q);

  // A computation, as seen from outside.

  logic running_q, taken, ended;

  assign taken = running_q && !abort && !connected;
  assign ended = running_q && !abort && (!connected || task_done);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      running_q <= 1'b0;
    end else begin
      running_q <= start || resume
                   || (running_q && !abort && connected && !task_done && !task_stopped);
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      start_connected: assert (!(start || resume) || connected);
      start_alone: assert (!(start && resume));
      start_idle: assert (!(start || resume) || !running_q);
      no_restart: assert (!start || !$past(start) || !$past(rst_ni));
      if ($past(rst_ni) && $past(connected)) begin
        window_rests: assert (window_base == $past(window_base)
                              && window_pages == $past(window_pages));
      end
      if ($past(rst_ni) && $past(connected && (refused_outside || refused_illegal || wrong_last)))
        fault_told: assert (fault);
      if ($past(rst_ni) && !$past(fault || refused_outside || refused_illegal || wrong_last))
        fault_true: assert (!fault);

      abort_starts_nothing: assert (!abort || !(start || resume));
      if ($past(rst_ni) && $past(abort && !drained)) abort_waits: assert (abort);

      started: cover (start);
      resumed: cover (resume);
      interrupted: cover (irq);
      cut_off: cover ($past(running_q && abort, 2) && !abort);
      starts_again: cover ($past(running_q && abort, 3) && start);
    end
  end

`ifndef CUT
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      running_same: assert (dut.running_q == running_q);
      unfinished_rests: assert (!(dut.unfinished_q && running_q));
      if (start) start_asked: assert (dut.asked && !dut.unfinished_q);
      if (resume) resume_stopped: assert (dut.unfinished_q);
      if (dut.ctx_task_write) context_running: assert (running_q && connected);
      if ($past(rst_ni)) begin
        if (!$past(dut.vm_req && dut.vm_req_is_wr)) begin
          registers_stay: assert (src == $past(src) && dst == $past(dst)
                                  && length == $past(length) && param == $past(param));
          asked_stays: assert (dut.asked == ($past(dut.asked && !start && !dut.fails && !abort)));
          if ($past(abort && drained && !running_q && !dut.unfinished_q && !dut.asked)) begin
            abort_completes: assert (!abort);
          end
        end
        if (!$past(dut.manager_req && dut.manager_req_is_wr)) begin
          window_stays: assert (window_base == $past(window_base)
                                && window_pages == $past(window_pages));
        end
        if ($past(ended)) begin
          end_told: assert (dut.over_q && dut.from_vm.INT_CTRL.over.value);
          end_error: assert (dut.error_q == ($past(taken) ? 4'd14 : $past(task_error)));
        end
        if ($past(running_q && !abort && connected && task_stopped && !task_done)) begin
          stop_kept: assert (dut.unfinished_q);
        end
        // One that was stopped stays so until it is resumed or failed, or END is written.
        if ($past(dut.unfinished_q && !abort && !resume && !dut.fails)) begin
          unfinished_stays: assert (dut.unfinished_q);
        end
        if ($past(abort)) begin
          abort_forgets: assert (!running_q && !dut.unfinished_q && !dut.over_q
                                 && !dut.from_vm.INT_CTRL.over.value);
          if ($past(running_q || dut.unfinished_q || dut.asked)) begin
            abort_error: assert (dut.error_q == 4'd13);
          end else begin
            abort_keeps_error: assert (dut.error_q == $past(dut.error_q));
          end
        end
        // START is withdrawn, whatever is written to it meanwhile.
        if ($past(abort) && !abort && !$past(dut.vm_req && dut.vm_req_is_wr)) begin
          abort_withdraws: assert (!dut.asked && !dut.from_vm.INT_CTRL.enable.value);
        end
        if ($past(abort && dut.asked)) abort_stands: assert (abort);
        if ($past(!running_q && !start)) begin
          cycles_stay: assert (dut.cycles_q == $past(dut.cycles_q));
        end
        if ($past(dut.fails)) fail_told: assert (dut.over_q && dut.from_vm.INT_CTRL.over.value
                                                 && dut.error_q == 4'd15 && !dut.unfinished_q);
        line: assert (irq == $past(dut.from_vm.INT_CTRL.over.value
                                   && dut.from_vm.INT_CTRL.enable.value));
      end
    end
  end
`endif

endmodule
