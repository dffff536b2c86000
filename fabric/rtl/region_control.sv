// The states of a region, and who has it.
//
// After Ker-ONE, section 4.3.1: Idle, Busy, Preempt, Switch, Reconfig, Hold. regions.md has the
// transitions. In Switch the region is the device manager's: no client is connected, and the task
// is in reset, so that nothing of one VM is there for the next. Only in Busy and Preempt is the
// task listened to, and has it a way to memory; in all other states the region is isolated.
//
// A start of the client wins over a command in the same cycle, which is refused: no computation is
// lost between the two.
//
// With abort_i the client's computation is cut off: from the next cycle on the region is isolated,
// the task is in reset and is not listened to. The state stays Busy or Preempt until memory owes
// nothing; then it is what it is after a task that is done, with the task ready for the next start.
module region_control #(
  // For so long memory may owe something to a region that was cut off before that is an event.
  parameter int unsigned DRAIN_CYCLES = 4096
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // Commands of the device manager, a cycle each; and in the cycle after whether it was refused.
  input  logic                take_i,
  input  logic                preempt_i,
  input  logic                kill_i,
  input  logic                connect_i,
  input  logic                release_i,
  input  logic [3:0]          new_client_i,
  input  logic [7:0]          new_priority_i,
  // The new client is there, and no other region has it.
  input  logic                may_connect_i,
  input  logic [31:0]         hold_cycles_i,
  output logic                refused_o,

  // The configuration port. It begins when both are up; and is over once, with the task that is
  // loaded now, or with 0 where that failed.
  input  logic                configure_i,
  output logic                configurable_o,
  input  logic                configured_i,
  input  logic [7:0]          configured_task_i,

  // The client, and the task.
  input  logic                start_i,
  input  logic                abort_i,
  input  logic                done_i,
  input  logic                stopped_i,
  // Memory owes nothing.
  input  logic                drained_i,

  output region_pkg::state_e  state_o,
  output logic [7:0]          loaded_o,
  output logic                connected_o,
  output logic [3:0]          client_o,
  output logic [7:0]          priority_o,
  output logic                isolate_o,
  output logic                stop_o,
  output logic                task_rst_no,

  // Events, a cycle each.
  output logic                stopped_o,
  output logic                expired_o,
  output logic                overdue_o
);

  import region_pkg::*;

  state_e      state_d, state_q;
  logic        connected_d, connected_q;
  logic [7:0]  loaded_q;
  logic [31:0] hold_q;
  logic [4:0]  commands;
  logic        take, preempt, kill, connect, release_it;
  logic        allowed, connects;
  // The computation was cut off and memory still owes something to it.
  logic        aborting_d, aborting_q;
  logic        task_stopped, task_over;

  // Of two at once none is carried out.
  assign commands = {take_i, preempt_i, kill_i, connect_i, release_i};
  assign {take, preempt, kill, connect, release_it}
    = (commands & (commands - 5'd1)) == '0 ? commands : '0;

  assign configurable_o = (state_q == Idle && !start_i && commands == '0)
                          || (state_q == Switch && commands == '0);

  assign task_stopped = stopped_i && !abort_i && !aborting_q;
  assign task_over    = aborting_q ? drained_i : done_i && !abort_i;

  always_comb begin
    state_d     = state_q;
    connected_d = connected_q;
    allowed     = 1'b0;
    connects    = 1'b0;
    stopped_o   = 1'b0;
    expired_o   = 1'b0;

    case (state_q)
      Idle: begin
        if (start_i) begin
          state_d = Busy;
        end else if (take) begin
          state_d     = Switch;
          connected_d = 1'b0;
          allowed     = 1'b1;
        end else if (configure_i && configurable_o) begin
          state_d     = Reconfig;
          connected_d = 1'b0;
        end
      end

      Busy, Preempt: begin
        if (kill) begin
          state_d     = Switch;
          connected_d = 1'b0;
          allowed     = 1'b1;
        end else if (task_stopped || (task_over && (state_q == Preempt || preempt))) begin
          state_d     = Switch;
          connected_d = 1'b0;
          allowed     = preempt;
          stopped_o   = 1'b1;
        end else if (task_over) begin
          state_d = Idle;
        end else if (preempt) begin
          state_d = Preempt;
          allowed = state_q == Busy;
        end
      end

      Switch: begin
        if (connect && loaded_q != '0 && drained_i && may_connect_i) begin
          state_d     = Hold;
          connected_d = 1'b1;
          allowed     = 1'b1;
          connects    = 1'b1;
        end else if (release_it) begin
          state_d = Idle;
          allowed = 1'b1;
        end else if (configure_i && configurable_o) begin
          state_d = Reconfig;
        end
      end

      Reconfig: begin
        if (configured_i) state_d = configured_task_i != '0 ? Switch : Idle;
      end

      Hold: begin
        if (start_i) begin
          state_d = Busy;
        end else if (hold_q == '0) begin
          state_d   = Idle;
          expired_o = 1'b1;
        end
      end

      default: state_d = Idle;
    endcase
  end

  assign aborting_d = (state_d == Busy || state_d == Preempt) && (abort_i || aborting_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= Idle;
      connected_q <= 1'b0;
      aborting_q  <= 1'b0;
      task_rst_no <= 1'b0;
      loaded_q    <= '0;
      hold_q      <= '0;
      refused_o   <= 1'b0;
      client_o    <= '0;
      priority_o  <= '0;
    end else begin
      state_q     <= state_d;
      connected_q <= connected_d;
      aborting_q  <= aborting_d;
      // A flip-flop of its own: the task's reset is asynchronous and must not glitch.
      task_rst_no <= connected_d && !aborting_d;
      if (state_d == Reconfig) begin
        loaded_q <= '0;
      end else if (state_q == Reconfig && configured_i) begin
        loaded_q <= configured_task_i;
      end
      if (connects) begin
        hold_q     <= hold_cycles_i;
        client_o   <= new_client_i;
        priority_o <= new_priority_i;
      end else if (state_q == Hold && hold_q != '0) begin
        hold_q <= hold_q - 1'b1;
      end
      if (commands != '0) refused_o <= !allowed;
    end
  end

  // Memory that does not answer: nothing can be done about it here, but to report it. The region
  // stays cut off, and is no client's, until it has answered after all.

  localparam int unsigned DrainBits = unsigned'($clog2(DRAIN_CYCLES + 1));

  logic [DrainBits-1:0] drain_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      drain_q <= '0;
    end else if (!isolate_o || drained_i) begin
      drain_q <= '0;
    end else if (drain_q != DrainBits'(DRAIN_CYCLES)) begin
      drain_q <= drain_q + 1'b1;
    end
  end

  assign overdue_o = isolate_o && !drained_i && drain_q == DrainBits'(DRAIN_CYCLES - 1);

  assign state_o     = state_q;
  assign loaded_o    = loaded_q;
  assign connected_o = connected_q;
  assign isolate_o   = (state_q != Busy && state_q != Preempt) || aborting_q;
  assign stop_o      = state_q == Preempt;

endmodule
