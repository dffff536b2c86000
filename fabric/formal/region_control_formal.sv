// The states of a region, whatever comes: only the transitions that regions.md has, no start lost,
// the region cut off in all but two states. A computation that is aborted is cut off from the
// next cycle on, and over when memory owes nothing, whatever the task says.
module region_control_formal (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        take,
  input logic        preempt,
  input logic        kill,
  input logic        connect,
  input logic        release_it,
  input logic [3:0]  new_client,
  input logic [7:0]  new_priority,
  input logic        may_connect,
  input logic [31:0] hold_cycles,
  input logic        configure,
  input logic        configured,
  input logic [7:0]  configured_task,
  input logic        start,
  input logic        abort,
  input logic        task_done,
  input logic        task_stopped,
  input logic        drained
);

  import region_pkg::*;

  logic       refused, configurable, connected, isolate, stop, task_rst_n, stopped, expired,
              overdue;
  state_e     state;
  logic [7:0] loaded, prio;
  logic [3:0] client;

  localparam int unsigned DrainCycles = 4;

  region_control #(.DRAIN_CYCLES(DrainCycles)) dut (
    .clk_i, .rst_ni,
    .take_i(take), .preempt_i(preempt), .kill_i(kill), .connect_i(connect),
    .release_i(release_it), .new_client_i(new_client), .new_priority_i(new_priority),
    .may_connect_i(may_connect),
    .hold_cycles_i(hold_cycles), .refused_o(refused),
    .configure_i(configure), .configurable_o(configurable), .configured_i(configured),
    .configured_task_i(configured_task),
    .start_i(start), .abort_i(abort), .done_i(task_done), .stopped_i(task_stopped),
    .drained_i(drained),
    .state_o(state), .loaded_o(loaded), .connected_o(connected), .client_o(client),
    .priority_o(prio), .isolate_o(isolate), .stop_o(stop), .task_rst_no(task_rst_n),
    .stopped_o(stopped), .expired_o(expired),
    .overdue_o(overdue)
  );

  logic began_q = 1'b0;
  always_ff @(posedge clk_i) began_q <= 1'b1;
  always_ff @(posedge clk_i) begin_in_reset: assume (rst_ni == began_q);

  logic       was_q, start_q, abort_q, aborted_q, drained_q, any_q, two_q, connected_q;
  logic       computes, aborted, killed_q;
  state_e     state_q;
  logic [7:0] loaded_q;
  logic [3:0] client_q;
  logic [4:0] commands;
  logic       come_q, end_q, good_q, told_q, may_q;
  // Cycles for which it has been cut off and memory owes something.
  logic [7:0] owed_q;

  assign commands = {take, preempt, kill, connect, release_it};
  assign computes = state == Busy || state == Preempt;
  // Busy or Preempt, since a cycle in which it was to be cut off.
  assign aborted  = computes && (abort_q || aborted_q);

  always_ff @(posedge clk_i) begin
    was_q       <= rst_ni;
    start_q     <= start;
    abort_q     <= rst_ni && abort;
    aborted_q   <= rst_ni && aborted;
    drained_q   <= drained;
    killed_q    <= kill && (commands & (commands - 5'd1)) == '0;
    any_q       <= commands != '0;
    two_q       <= (commands & (commands - 5'd1)) != '0;
    state_q     <= state;
    connected_q <= connected;
    loaded_q    <= loaded;
    client_q    <= client;
    come_q      <= configure && configurable;
    end_q       <= configured;
    good_q      <= configured_task != '0;
    told_q      <= stopped;
    may_q       <= may_connect;
    owed_q      <= !rst_ni || !isolate || drained ? '0 : (owed_q == '1 ? owed_q : owed_q + 1'b1);
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // hw_interface starts only what is connected and not running.
      start_connected: assume (!start || (connected && (state == Idle || state == Hold)));

      isolated: assert (isolate == (!computes || aborted));
      told_to_stop: assert (stop == (state == Preempt));
      reset_without_client: assert (task_rst_n == (connected && !aborted));
      own: assert (!connected || (state != Switch && state != Reconfig));
      has_client: assert (connected || !(state == Busy || state == Preempt || state == Hold));
      known: assert (state == Idle || state == Busy || state == Preempt || state == Switch
                     || state == Reconfig || state == Hold);
      loaded_there: assert (!connected || loaded != '0);
      empty: assert (state != Reconfig || loaded == '0);
      overdue_told: assert (overdue == (isolate && !drained && owed_q == 8'(DrainCycles - 1)));
      late: cover (overdue);
    end
    if (rst_ni && was_q) begin
      from_idle: assert (state_q != Idle || state == Idle || state == Busy || state == Switch
                         || state == Reconfig);
      from_busy: assert (state_q != Busy || state == Busy || state == Idle || state == Preempt
                         || state == Switch);
      from_preempt: assert (state_q != Preempt || state == Preempt || state == Switch);
      from_switch: assert (state_q != Switch || state == Switch || state == Idle
                           || state == Reconfig || state == Hold);
      from_reconfig: assert (state_q != Reconfig || state == (!end_q ? Reconfig
                                                             : (good_q ? Switch : Idle)));
      from_hold: assert (state_q != Hold || state == Hold || state == Busy || state == Idle);
      no_start_lost: assert (!start_q || (state == Busy && connected));
      begins: assert (come_q == (state == Reconfig && state_q != Reconfig));
      loaded_stays: assert (loaded == loaded_q || state_q == Reconfig || state == Reconfig);
      client_stays: assert (client == client_q || !connected_q);
      connects_if_may: assert (connected_q || !connected || may_q);
      two_nothing: assert (!two_q || refused);
      refused_same: assert (!(any_q && refused && state_q == Switch) || come_q || state == Switch);
      stop_told: assert (!told_q || state == Switch);
      stop_known: assert (told_q == (state == Switch && (state_q == Busy || state_q == Preempt)
                                     && !killed_q));
      // Whatever the task says, and until memory owes nothing; then as one that is done.
      if (abort_q && !aborted_q && (state_q == Busy || state_q == Preempt)) begin
        abort_cuts: assert (aborted || killed_q);
      end
      if (aborted_q && !drained_q) abort_waits: assert (aborted || killed_q);
      if (aborted_q && drained_q) begin
        abort_over: assert (state == Idle || state == Switch);
        abort_kept: assert (state == Switch || connected);
      end
      if (aborted_q && state == Switch) begin
        abort_switches: assert (killed_q || told_q);
      end

      abort_drained: cover (aborted_q && state == Idle && $past(aborted_q, 2));
      abort_preempted: cover (aborted_q && state == Switch && told_q);
      abort_done: cover (abort_q && aborted && $past(task_done));
      started_again: cover (start_q && $past(aborted_q));
      preempted: cover (told_q && state_q == Preempt);
      held_out: cover (state_q == Hold && state == Idle);
      failed: cover (state_q == Reconfig && state == Idle);
    end
  end

`ifndef CUT
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      state_owed: assert (8'(dut.drain_q) == (owed_q < 8'(DrainCycles) ? owed_q : 8'(DrainCycles)));
    end
  end

  // The hold time only runs down, but where a client is connected again.
  always_ff @(posedge clk_i) begin
    if (rst_ni && was_q && state_q == Hold) begin
      hold_runs: assert (dut.hold_q == $past(dut.hold_q) - 1'b1 || $past(dut.hold_q) == '0);
      hold_ends: assert (state == Hold ? $past(dut.hold_q) != '0 : 1'b1);
    end
  end
`endif

endmodule
