// END from the register to the regions: an interface, the crossbar and two regions' states,
// whatever the buses, the device manager, the tasks and another interface do.
//
// From when END reads as zero until the next start, no region of which the interface was the last
// client has a way to memory or is owed anything by it. END reads as one for at most two cycles
// more than a region that is cut off takes to drain. An END of the interface changes nothing of
// what another one computes.
//
// axil_slave and context_buffer are replaced by arbitrary behaviour, and of the isolators only
// drained_o is there: at most DRAIN_CYCLES after a cut, and then until the next start.
module accelerators_end_formal #(
  parameter int unsigned REGIONS      = 2,
  // For so many cycles at most a region is isolated and not drained.
  parameter int unsigned DRAIN_CYCLES = 3
) (
  input logic                        clk_i,
  input logic                        rst_ni,
  input logic [REGIONS-1:0]          take,
  input logic [REGIONS-1:0]          preempt,
  input logic [REGIONS-1:0]          kill,
  input logic [REGIONS-1:0]          connect,
  input logic [REGIONS-1:0]          release_it,
  input logic [REGIONS-1:0][3:0]     new_client,
  input logic [REGIONS-1:0]          configure,
  input logic [REGIONS-1:0]          configured,
  input logic [REGIONS-1:0][7:0]     configured_task,
  input logic [REGIONS-1:0]          task_done,
  input logic [REGIONS-1:0]          task_stopped,
  input logic [REGIONS-1:0]          drained,
  input logic                        allocator_resume,
  // Of the other interface, which starts only while its region is Idle or in Hold.
  input logic                        other_start,
  input logic                        other_abort
);

  import region_pkg::*;

  localparam logic [3:0] Own   = 4'd0;
  localparam logic [3:0] Other = 4'd1;

  logic                          start, resume, abort;
  logic [REGIONS-1:0]            connected, may_connect, isolate, region_drained;
  logic [REGIONS-1:0]            own, computes, others;
  logic [REGIONS-1:0][3:0]       client;
  logic [1:0]                    told, told_drained;
  logic [1:0][3:0]               told_region;
  from_interface_t [REGIONS-1:0] to_region;
  to_interface_t [REGIONS-1:0]   from_region;
  from_interface_t [1:0]         from_interface;
  to_interface_t [1:0]           to_interface;

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
    .irq_o(), .fault_o(),
    .connected_i(told[0]), .region_i(told_region[0]), .drained_i(told_drained[0]),
    .start_o(start), .resume_o(resume), .abort_o(abort),
    .src_o(), .dst_o(), .length_o(), .param_o(),
    .done_i(to_interface[0].done), .stopped_i(to_interface[0].stopped),
    .error_i(to_interface[0].error),
    .ctx_we_i(to_interface[0].ctx_we), .ctx_addr_i(to_interface[0].ctx_addr),
    .ctx_wdata_i(to_interface[0].ctx_wdata), .ctx_rdata_o(),
    .unfinished_o(), .resume_i(allocator_resume),
    .window_base_o(), .window_pages_o(),
    .refused_outside_i(1'b0), .refused_illegal_i(1'b0), .wrong_last_i(1'b0),
    .refused_addr_i('0)
  );

  always_comb begin
    from_interface               = '0;
    from_interface[0].start      = start;
    from_interface[0].resume     = resume;
    from_interface[0].abort_task = abort;
    from_interface[1].start      = other_start;
    from_interface[1].abort_task = other_abort;
  end

  interface_crossbar #(.INTERFACES(2), .REGIONS(REGIONS)) u_crossbar (
    .clk_i, .rst_ni,
    .connected_i(connected), .client_i(client), .drained_i(region_drained),
    .connect_i(connect), .new_client_i(new_client), .may_connect_o(may_connect),
    .to_region_o(to_region), .from_region_i(from_region),
    .connected_o(told), .region_o(told_region), .drained_o(told_drained),
    .from_interface_i(from_interface), .to_interface_o(to_interface)
  );

  logic began_q = 1'b0;
  logic was_q;

  always_ff @(posedge clk_i) began_q <= 1'b1;
  always_ff @(posedge clk_i) begin_in_reset: assume (rst_ni == began_q);
  always_ff @(posedge clk_i) was_q <= rst_ni;

  // From when END reads as zero until the next start.
  logic ended_q, abort_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ended_q <= 1'b0;
      abort_q <= 1'b0;
    end else begin
      ended_q <= (ended_q || (abort_q && !abort)) && !start;
      abort_q <= abort;
    end
  end

  for (genvar k = 0; k < int'(REGIONS); k++) begin : gen_region
    state_e     state, state_q;
    logic       begins, isolate_q, drained_q, others_q, quiet_q;
    // Cycles for which it has been isolated and not drained.
    logic [3:0] owed_q;

    region_control u_control (
      .clk_i, .rst_ni,
      .take_i(take[k]), .preempt_i(preempt[k]), .kill_i(kill[k]), .connect_i(connect[k]),
      .release_i(release_it[k]), .new_client_i(new_client[k]), .new_priority_i('0),
      .may_connect_i(may_connect[k]), .hold_cycles_i(32'd3), .refused_o(),
      .configure_i(configure[k]), .configurable_o(), .configured_i(configured[k]),
      .configured_task_i(configured_task[k]),
      .start_i(begins), .abort_i(connected[k] && to_region[k].abort_task),
      .done_i(task_done[k]), .stopped_i(task_stopped[k]), .drained_i(drained[k]),
      .state_o(state), .loaded_o(), .connected_o(connected[k]), .client_o(client[k]), .priority_o(),
      .isolate_o(isolate[k]), .stop_o(), .task_rst_no(), .stopped_o(), .expired_o(), .overdue_o()
    );

    assign begins            = connected[k] && (to_region[k].start || to_region[k].resume);
    assign computes[k]       = state == Busy || state == Preempt;
    assign own[k]            = client[k] == Own;
    assign others[k]         = connected[k] && client[k] == Other && computes[k];
    assign region_drained[k] = isolate[k] && drained[k];

    always_comb begin
      from_region[k]         = '0;
      from_region[k].done    = !isolate[k] && task_done[k];
      from_region[k].stopped = !isolate[k] && task_stopped[k];
    end

    always_ff @(posedge clk_i) begin
      state_q   <= state;
      isolate_q <= isolate[k];
      drained_q <= drained[k];
      others_q  <= others[k] && !isolate[k];
      // Nothing but an END of its own interface could cut it off.
      quiet_q   <= !other_abort && !task_done[k] && !task_stopped[k] && !kill[k];
      owed_q    <= rst_ni && isolate[k] && !drained[k] ? owed_q + 4'd1 : '0;
    end

    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        drains: assume (!isolate[k] || drained[k] || owed_q < 4'(DRAIN_CYCLES));
        if (was_q && isolate_q && drained_q && isolate[k]) drained_stays: assume (drained[k]);
        if (connected[k] && client[k] == Other && other_start) begin
          other_idle: assume (!computes[k]);
        end

        start_free: assert (!begins || !own[k] || (state == Idle || state == Hold));
        if (ended_q && own[k]) nothing_reaches: assert (region_drained[k]);
        end_while_busy: cover (abort && connected[k] && own[k] && computes[k] && !drained[k]);
        end_beside: cover (abort && !abort_q && others[k]);
      end
    end

`ifndef CUT
    // What makes the rest follow by induction: the proofs of region_control and of the crossbar
    // have it, too.
    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        state_own: assert (!connected[k] || (state != Switch && state != Reconfig));
        state_has_client: assert (connected[k] || !(computes[k] || state == Hold));
        state_settled: assert (!computes[k] || u_crossbar.settled_q[k]);
        state_there: assert (!connected[k] || client[k] < 4'd2);
        if (was_q && others_q && quiet_q) others_go_on: assert (others[k] && !isolate[k]);
        state_owed: assert (owed_q <= 4'(DRAIN_CYCLES));
        state_computes: assert (!(computes[k] && own[k]) || dut.running_q
                                || (u_control.aborting_q && abort));
        state_aborting: assert (!(u_control.aborting_q && own[k]) || (abort && computes[k]));
        state_runs: assert (!(dut.running_q && connected[k] && own[k])
                            || (computes[k] && !u_control.aborting_q));
      end
    end
`endif
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (ended_q) begin
        ended_silent: assert (!resume);
      end
      again: cover (ended_q && start);
    end
  end

`ifndef CUT
  // Cycles for which END has stood since a write to the VM's page.
  logic [3:0] stands_q;

  always_ff @(posedge clk_i) begin
    stands_q <= rst_ni && abort && !(dut.vm_req && dut.vm_req_is_wr) ? stands_q + 4'd1 : '0;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      in_time: assert (stands_q <= 4'(DRAIN_CYCLES + 2));
      state_two: assert (!(connected[0] && connected[1] && client[0] == client[1]));
      if (ended_q) state_ended: assert (!dut.running_q && !dut.unfinished_q);
      longest: cover (stands_q == 4'(DRAIN_CYCLES + 2) && $past(dut.running_q, DRAIN_CYCLES + 2));
    end
  end
`endif

endmodule
