// The region allocator with two regions' states, whose pages and tasks do anything, two interfaces,
// and the crossbar between them.
//
// No interface is connected, and no region is taken, but for a request that has not had its last
// answer. A region that the allocator has takes no command of its page; it is given back Idle or
// connected, and never in Switch. A request is decided within nine cycles, and a task that does
// not stop is killed. How answers get to memory is allocation_answers_formal's.
//
// Arbitrary are the buses of both pages, all that the device manager's table says, in each cycle,
// what memory does with answers, and the configuration port, but that it begins what it was given.
module region_allocator_formal #(
  parameter int unsigned REGIONS    = 2,
  parameter int unsigned INTERFACES = 2
) (
  input logic                          clk_i,
  input logic                          rst_ni,
  input logic [31:0]                   compatibility,
  input logic [INTERFACES-1:0]         waiting,
  input logic [INTERFACES-1:0][2:0]    waiting_task,
  input logic [INTERFACES-1:0][7:0]    waiting_priority,
  input logic [REGIONS-1:0][4:0]       page,
  input logic [REGIONS-1:0][3:0]       page_client,
  input logic [REGIONS-1:0][7:0]       page_priority,
  input logic [REGIONS-1:0]            start,
  input logic [REGIONS-1:0]            abort,
  input logic [REGIONS-1:0]            task_done,
  input logic [REGIONS-1:0]            task_stopped,
  input logic [REGIONS-1:0]            drained,
  input logic [INTERFACES-1:0]         unfinished,
  // The port: it takes what is to be loaded, and is over with it; and the device manager's.
  input logic                          load_ready,
  input logic                          load_over,
  input logic [3:0]                    load_error,
  input logic [REGIONS-1:0]            manager_configure,
  input logic [REGIONS-1:0]            manager_over,
  input logic [7:0]                    manager_task,
  // An interface; any, but the same all the time.
  input logic                          one
);

  import region_pkg::*;

  logic                            irq, busy, load_valid;
  logic [3:0]                      load_region;
  logic [2:0]                      load_task;
  state_e [REGIONS-1:0]            state;
  logic [REGIONS-1:0][7:0]         loaded, prio;
  logic [REGIONS-1:0]              connected, may_connect, isolate, refused, page_refused;
  logic [REGIONS-1:0]              configure, configured, configurable, owned, connect;
  logic [REGIONS-1:0][3:0]         client, new_client;
  logic [REGIONS-1:0][7:0]         configured_task;
  from_allocator_t [REGIONS-1:0]   command;
  logic [INTERFACES-1:0]           resume;

  region_allocator #(.REGIONS(REGIONS), .INTERFACES(INTERFACES)) dut (
    .clk_i, .rst_ni,
    .s_axil_requests_awvalid('0), .s_axil_requests_awready(), .s_axil_requests_awaddr('0),
    .s_axil_requests_awprot('0), .s_axil_requests_wvalid('0), .s_axil_requests_wready(),
    .s_axil_requests_wdata('0), .s_axil_requests_wstrb('0), .s_axil_requests_bvalid(),
    .s_axil_requests_bready('0), .s_axil_requests_bresp(), .s_axil_requests_arvalid('0),
    .s_axil_requests_arready(), .s_axil_requests_araddr('0), .s_axil_requests_arprot('0),
    .s_axil_requests_rvalid(), .s_axil_requests_rready('0), .s_axil_requests_rdata(),
    .s_axil_requests_rresp(),
    .s_axil_table_awvalid('0), .s_axil_table_awready(), .s_axil_table_awaddr('0),
    .s_axil_table_awprot('0), .s_axil_table_wvalid('0), .s_axil_table_wready(),
    .s_axil_table_wdata('0), .s_axil_table_wstrb('0), .s_axil_table_bvalid(),
    .s_axil_table_bready('0), .s_axil_table_bresp(), .s_axil_table_arvalid('0),
    .s_axil_table_arready(), .s_axil_table_araddr('0), .s_axil_table_arprot('0),
    .s_axil_table_rvalid(), .s_axil_table_rready('0), .s_axil_table_rdata(),
    .s_axil_table_rresp(),
    .irq_o(irq), .busy_o(busy),
    .compatibility_i(compatibility), .waiting_i(waiting), .waiting_task_i(waiting_task),
    .waiting_priority_i(waiting_priority),
    .state_i(state), .loaded_i(loaded), .priority_i(prio), .connected_i(connected),
    .client_i(client), .drained_i(isolate & drained), .command_o(command),
    .unfinished_i(unfinished), .resume_o(resume),
    .load_valid_o(load_valid), .load_ready_i(load_ready), .load_region_o(load_region),
    .load_task_o(load_task), .load_source_o(), .load_bytes_o(),
    .load_over_i(load_over), .load_error_i(load_error),
    .m_axi_awvalid(), .m_axi_awready('0), .m_axi_awaddr(), .m_axi_awlen(), .m_axi_awsize(),
    .m_axi_awburst(), .m_axi_awcache(), .m_axi_awprot(),
    .m_axi_wvalid(), .m_axi_wready('0), .m_axi_wdata(), .m_axi_wstrb(), .m_axi_wlast(),
    .m_axi_bvalid('0), .m_axi_bready(), .m_axi_bresp('0)
  );

  interface_crossbar #(.INTERFACES(INTERFACES), .REGIONS(REGIONS)) u_crossbar (
    .clk_i, .rst_ni,
    .connected_i(connected), .client_i(client), .drained_i(drained), .connect_i(connect),
    .new_client_i(new_client), .may_connect_o(may_connect),
    .to_region_o(), .from_region_i('0), .connected_o(), .region_o(), .drained_o(),
    .from_interface_i('0), .to_interface_o()
  );

  // What the port has of the allocator's.
  logic       loads_q;
  logic [3:0] loads_region_q;
  logic [2:0] loads_task_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      loads_q <= 1'b0;
    end else begin
      loads_q <= (load_valid && load_ready) || (loads_q && !load_over);
    end
  end

  always_ff @(posedge clk_i) begin
    if (load_valid && load_ready) begin
      loads_region_q <= load_region;
      loads_task_q   <= load_task;
    end
  end

  for (genvar r = 0; r < int'(REGIONS); r++) begin : gen_region
    logic [4:0]  commands;
    logic [7:0]  new_priority;
    logic [31:0] hold;
    logic        mine;

    region_owner u_owner (
      .clk_i, .rst_ni,
      .page_i(page[r]), .page_client_i(page_client[r]), .page_priority_i(page_priority[r]),
      .page_hold_i(32'd3), .page_refused_o(page_refused[r]), .allocator_i(command[r]),
      .command_o(commands), .client_o(new_client[r]), .priority_o(new_priority), .hold_o(hold),
      .refused_i(refused[r])
    );

    region_control #(.DRAIN_CYCLES(4)) u_control (
      .clk_i, .rst_ni,
      .take_i(commands[4]), .preempt_i(commands[3]), .kill_i(commands[2]),
      .connect_i(commands[1]), .release_i(commands[0]), .new_client_i(new_client[r]),
      .new_priority_i(new_priority), .may_connect_i(may_connect[r]), .hold_cycles_i(hold),
      .refused_o(refused[r]),
      .configure_i(configure[r]), .configurable_o(configurable[r]),
      .configured_i(configured[r]), .configured_task_i(configured_task[r]),
      .start_i(start[r]), .abort_i(abort[r]), .done_i(task_done[r]),
      .stopped_i(task_stopped[r]), .drained_i(drained[r]),
      .state_o(state[r]), .loaded_o(loaded[r]), .connected_o(connected[r]),
      .client_o(client[r]), .priority_o(prio[r]), .isolate_o(isolate[r]), .stop_o(),
      .task_rst_no(), .stopped_o(), .expired_o(), .overdue_o()
    );

    assign owned[r]    = command[r].owned;
    assign connect[r]  = commands[1];
    assign mine        = loads_q && loads_region_q == 4'(r);
    // free_begins and owned_begins of the port.
    assign configure[r]       = (load_valid && load_ready && load_region == 4'(r))
                                || (manager_configure[r] && configurable[r] && !owned[r]);
    assign configured[r]      = mine ? load_over : manager_over[r];
    assign configured_task[r] = !mine ? manager_task : load_error == '0 ? 8'(loads_task_q) : '0;

    logic       was_owned_q;
    state_e     was_state_q;

    always_ff @(posedge clk_i) begin
      was_owned_q <= owned[r];
      was_state_q <= state[r];
      if (rst_ni) begin
        start_free: assume (!start[r] || (connected[r] && (state[r] == Idle || state[r] == Hold)));

        // Nothing is commanded of a region that it does not have.
        commands_own: assert (owned[r] || !(command[r].take || command[r].preempt
                              || command[r].kill || command[r].connect
                              || command[r].release_region));
      end
      if (rst_ni && $past(rst_ni)) begin
        returned: assert (!was_owned_q || owned[r] || was_state_q != Switch || state[r] != Switch
                          || !took_q[r]);
        preempted: cover (owned[r] && state[r] == Hold && $past(state[r] == Preempt, 5));
        loaded_own: cover (owned[r] && state[r] == Switch && was_state_q == Reconfig);
      end
    end
  end

  // Since a region is the allocator's, it was taken.
  logic [REGIONS-1:0] took_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      took_q <= '0;
    end else begin
      for (int unsigned r = 0; r < REGIONS; r++) begin
        took_q[r] <= owned[r] && (took_q[r] || command[r].take || command[r].preempt);
      end
    end
  end

  logic began_q = 1'b0;

  always_ff @(posedge clk_i) begin
    began_q <= 1'b1;
    begin_in_reset: assume (rst_ni == began_q);
    if (rst_ni) begin
      // The port begins what it is given, where it may, and ends what it has begun.
      port_takes: assume (!load_ready || (load_valid && !loads_q
                          && configurable[load_region[0]] && load_region < 4'(REGIONS)));
      port_ends: assume (!load_over || loads_q);

      load_own: assert (!load_valid || (load_region < 4'(REGIONS) && owned[load_region[0]]
                                        && state[load_region[0]] == Switch));
    end
    if (rst_ni && !$past(rst_ni)) begins_quiet: assert (!irq);
  end

`ifndef CUT
  typedef enum logic [3:0] {
    Free, Begin, Vacate, Prepare, Queue, Load, Check, Resume, Tell, Return
  } step_e;

  logic [REGIONS-1:0]                step_known;
  logic [REGIONS-1:0][3:0]           step;
  logic [REGIONS-1:0][19:0]          left;
  logic [REGIONS-1:0]                mine;

  assign step[0]  = dut.gen_region[0].u_allocation.step_q;
  assign step[1]  = dut.gen_region[1].u_allocation.step_q;
  assign mine[0] = dut.gen_region[0].u_allocation.mine_q;
  assign mine[1] = dut.gen_region[1].u_allocation.mine_q;
  assign left[0]  = dut.gen_region[0].u_allocation.left_q;
  assign left[1]  = dut.gen_region[1].u_allocation.left_q;

  // It has asked, and has not had the last answer.
  logic        asked_q, told_last, in_decision, aims;
  logic [3:0]  decides_q;

  assign in_decision = dut.phase_q != 3'd0 && dut.req_client_q == 4'(one);
  assign told_last   = dut.answers_valid && dut.answers_client == 4'(one)
                       && dut.answers_answer.last && (dut.decides || !in_decision);

  always_comb begin
    aims = 1'b0;
    for (int unsigned r = 0; r < REGIONS; r++) begin
      step_known[r] = step[r] <= Return;
      aims          = aims || (dut.targeted[r] && dut.target[r].client == 4'(one));
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      asked_q   <= 1'b0;
      decides_q <= '0;
    end else begin
      asked_q   <= (dut.go && dut.from_regs.REQUEST.client.value == 4'(one))
                   || (asked_q && !told_last);
      decides_q <= dut.phase_q == 3'd0 ? '0 : decides_q + 1'b1;
    end
  end

  for (genvar r = 0; r < int'(REGIONS); r++) begin : gen_step
    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        // No region is taken, and none connected, without a request.
        asked_for: assert (!(command[r].take || command[r].preempt || command[r].kill
                             || command[r].connect) || command[r].client != 4'(one) || asked_q);
        begins_free: assert (!dut.begins[r] || step[r] == Free);
        replaces_known: assert (!dut.replaces[r]
                                || step[r] inside {Vacate, Prepare, Queue, Load});
        // The last answer of one that has it.
        connected_true: assert (!dut.told[r] || dut.answers[r].outcome != Connected
                                || (connected[r] && client[r] == dut.target[r].client));

        step_there: assert (step_known[r]);
        step_mine: assert (step[r] == Tell
                           || mine[r] == !(step[r] inside {Free, Begin}));
        state_mine: assert (mine[r] == (took_q[r] && owned[r]));
        state_switch: assert (!(step[r] inside {Prepare, Queue, Return}) || state[r] == Switch);
        state_load: assert ((step[r] == Load) == (loads_q && loads_region_q == 4'(r)));
        state_reconfig: assert (step[r] != Load || state[r] == Reconfig);
        state_preempt: assert (step[r] != Vacate || state[r] inside {Idle, Busy, Preempt, Switch});
        state_check: assert (step[r] != Check || state[r] == Switch
                             || (connected[r] && client[r] == dut.target[r].client));
        state_resume: assert (step[r] != Resume || client[r] == dut.target[r].client);
        state_tell: assert (step[r] != Tell || dut.gen_region[r].u_allocation.reason_q != NoReason
                            || client[r] == dut.target[r].client);
        state_client: assert (dut.target[r].client < 4'(INTERFACES) || step[r] == Free);
        state_number: assert (!dut.targeted[r] || dut.target[r].number != '0);
        // Of region_control: region states.
        state_known: assert (state[r] inside {Idle, Busy, Preempt, Switch, Reconfig, Hold});
        state_own: assert (!connected[r] || !(state[r] inside {Switch, Reconfig}));
        state_client_there: assert (connected[r] || !(state[r] inside {Busy, Preempt, Hold}));
        state_loaded: assert (!connected[r] || loaded[r] != '0);
        state_empty: assert (state[r] != Reconfig || loaded[r] == '0);
        // What the request is about is under way in a region that was seen, or in none.
        if (dut.targeted[r] && dut.target[r].client == dut.req_client_q) begin
          seen: assert (dut.phase_q != 3'd2 || dut.under_way_q[r]);
          seen_then: assert (dut.phase_q != 3'd3 || dut.under_q[r]);
          chosen: assert (dut.phase_q != 3'd4 || dut.retag_q[r]);
        end
        solution_free: assert (!(dut.phase_q == 3'd3 && dut.solved_q && dut.solution_q[r])
                               || step[r] == Free);
        begin_free: assert (!(dut.phase_q == 3'd4 && dut.begin_q[r]) || step[r] == Free);
      end
      if (rst_ni && $past(rst_ni)) begin
        // A task that does not stop is killed when its time is over.
        killed: assert ($past(step[r] != Vacate || state[r] != Preempt || left[r] != '0)
                        || state[r] == Switch);
        runs_down: assert ($past(step[r] != Vacate || state[r] != Preempt || left[r] == '0)
                           || left[r] < $past(left[r]));
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      one_region: assert (!(&dut.targeted) || dut.target[0].client != dut.target[1].client);
      state_load_q: assert ((dut.load_q == 3'd5) == loads_q);
      state_picked: assert (!loads_q || loads_region_q == 4'(dut.picked_q));
      state_loads: assert (dut.load_q <= 3'd5);
      // Nothing is done for task 0, which there is not.
      state_task: assert (!loads_q || loads_task_q != '0);
      picked_task: assert ((dut.load_q == 3'd0 && !dut.has_picked_q) || dut.load_task_q != '0);
      fitting_task: assert (dut.phase_q != 3'd2 || dut.fitting_q == '0 || dut.req_task_q != '0);
      solved_task: assert (dut.phase_q != 3'd3 || (!dut.solved_q && dut.taken_over_q == '0)
                           || dut.req_task_q != '0);
      chosen_task: assert (dut.phase_q != 3'd4 || (dut.begin_q | dut.replace_q) == '0
                           || dut.req_task_q != '0);
      decided_soon: assert (decides_q < 4'd9);
      state_phase: assert (dut.phase_q <= 3'd4
                           && (dut.phase_q == 3'd0
                               || decides_q == 4'(dut.phase_q) - 4'd1 + (dut.again_q ? 4'd4 : 0)));
      go_alone: assert (!dut.from_regs.REQUEST.go.value || dut.phase_q == 3'd0);
      state_asked: assert (asked_q || !(aims || in_decision));
      state_there: assert (dut.phase_q == 3'd0 || dut.req_client_q < 4'(INTERFACES));
      if (dut.phase_q == 3'd4) begin
        one_choice: assert ((dut.begin_q == '0 || (dut.replace_q | dut.retag_q) == '0)
                            && (dut.replace_q == '0 || dut.retag_q == '0)
                            && (dut.begin_q & (dut.begin_q - 1'b1)) == '0
                            && (dut.replace_q & (dut.replace_q - 1'b1)) == '0
                            && (!dut.answer_q
                                || (dut.begin_q | dut.replace_q | dut.retag_q) == '0));
      end

      taken_over: cover (dut.replaces != '0 && loads_q);
      resumed: cover (resume != '0 && unfinished != '0);
      missed: cover (dut.phase_q == 3'd4 && dut.misses);
    end
    if (rst_ni && $past(rst_ni)) begin
      same: assume (one == $past(one));
      told_next: assert (dut.answered_q == $past(dut.answers_valid));
    end
  end
`endif

endmodule
