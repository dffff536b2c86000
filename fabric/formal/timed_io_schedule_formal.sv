// The schedules of the timed I/O processor: whatever the VMs ask for, and whenever, each run of a
// schedule that was accepted is given to its engine once, with its time, before that has come; and
// no run is that was not asked for.
//
// Looked at is one VM, which may be any. Its engine is the specification of an armed one that
// timed_io_engine_formal proves; what all others do is free.
module timed_io_schedule_formal import timed_io_pkg::*; #(
  parameter int unsigned VMS = 2,
  localparam int unsigned VM_BITS   = VMS > 1 ? $clog2(VMS) : 1,
  localparam int unsigned TURN      = 10 * VMS,
  localparam int unsigned AHEAD     = TURN + 16,
  localparam int unsigned TIME_BITS = $clog2(AHEAD)
) (
  input logic               clk_i,
  input logic               rst_ni,
  input logic               access,
  input logic [VM_BITS-1:0] access_vm,
  input logic               access_write,
  input logic [9:0]         access_word,
  input logic               access_whole,
  input logic [31:0]        access_data,
  input logic [VMS-1:0]                armed_others,
  input logic [VMS-1:0]                running,
  input logic [VMS-1:0][Lines-1:0]     sample,
  input logic [VMS-1:0][5:0]           samples,
  input logic [VMS-1:0]                missed,
  input logic [VMS-1:0][2:0]           cause,
  input logic [VMS-1:0][TIME_BITS-1:0] report_time,
  // Any, and kept.
  input logic [VM_BITS-1:0] some_vm
);

  logic [63:0]          now_q;
  logic                 ready, answer, answer_error;
  logic [31:0]          answer_data;
  logic [VM_BITS-1:0]   vm;
  logic                 store, arm, disarm, stop, clear, take, report_taken;
  logic [4:0]           sample_address;
  logic [5:0]           store_address, arm_entry;
  logic [WordBits-1:0]  store_word;
  logic [TIME_BITS-1:0] arm_time;
  logic [VMS-1:0]       armed;

  timed_io_schedule #(.VMS(VMS)) dut (
    .clk_i, .rst_ni, .now_i(now_q), .ready_o(ready),
    .access_i(access), .access_vm_i(access_vm), .access_write_i(access_write),
    .access_word_i(access_word), .access_whole_i(access_whole), .access_data_i(access_data),
    .answer_o(answer), .answer_error_o(answer_error), .answer_data_o(answer_data),
    .vm_o(vm), .store_o(store), .store_address_o(store_address), .store_word_o(store_word),
    .arm_o(arm), .arm_time_o(arm_time), .arm_entry_o(arm_entry), .disarm_o(disarm), .stop_o(stop),
    .clear_o(clear), .sample_address_o(sample_address), .take_o(take),
    .report_taken_o(report_taken),
    .armed_i(armed), .running_i(running), .sample_i(sample), .samples_i(samples),
    .missed_i(missed), .cause_i(cause), .report_time_i(report_time)
  );

  logic began_q = 1'b0;
  always_ff @(posedge clk_i) began_q <= 1'b1;
  always_ff @(posedge clk_i) begin_in_reset: assume (rst_ni == began_q);

  // The engine: armed until its run begins.

  logic        armed_q, armed_1_q, armed_2_q;
  logic [63:0] begin_q;

  always_comb begin
    armed          = armed_others;
    armed[some_vm] = armed_q;
  end

  // The schedule, as the VM has been answered. What a slot decides it decides with the time of the
  // cycle before, and with what its engine said two before.

  logic        scheduled_q, its_access, its_arm, asks, accepts;
  logic [63:0] start_q, looked_at;
  logic [31:0] period_q, runs_q;
  logic [5:0]  entry_q;

  assign its_access = answer && access_vm == some_vm && access_write && !answer_error;
  assign its_arm    = arm && vm == some_vm;
  assign looked_at  = now_q - 64'd1;
  assign asks       = its_access && access_word == 10'h8;
  assign accepts    = asks && !scheduled_q && !armed_2_q
                      && (runs_q == 32'd1 || period_q >= AHEAD)
                      && start_q >= looked_at + 64'(AHEAD);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      now_q       <= '0;
      armed_q     <= 1'b0;
      armed_1_q   <= 1'b0;
      armed_2_q   <= 1'b0;
      scheduled_q <= 1'b0;
      start_q     <= '0;
      period_q    <= '0;
      runs_q      <= '0;
      entry_q     <= '0;
    end else begin
      now_q     <= now_q + 1'b1;
      armed_1_q <= armed_q;
      armed_2_q <= armed_1_q;
      armed_q   <= its_arm || (armed_q && now_q != begin_q && !(disarm && vm == some_vm));
      if (its_arm) begin
        if (runs_q == 32'd1) scheduled_q <= 1'b0;
        else start_q <= start_q + 64'(period_q);
        if (runs_q > 32'd1) runs_q <= runs_q - 32'd1;
      end
      if (its_access) begin
        case (access_word)
          10'h4: start_q[31:0]  <= access_data;
          10'h5: start_q[63:32] <= access_data;
          10'h6: period_q       <= access_data;
          10'h7: runs_q         <= access_data;
          10'h9: scheduled_q    <= 1'b0;
          default: ;
        endcase
      end
      if (accepts) begin
        scheduled_q <= 1'b1;
        entry_q     <= access_data[5:0];
      end
    end
  end

  always_ff @(posedge clk_i) if (its_arm) begin_q <= start_q - 64'd3;

  // Its samples: what the engine of the access's VM counted, and how many were taken of some_vm's.

  logic [5:0] samples_1_q, samples_2_q;
  logic [4:0] taken_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      taken_q <= '0;
    end else if (clear && vm == some_vm) begin
      taken_q <= '0;
    end else if (take && vm == some_vm) begin
      taken_q <= taken_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    samples_1_q <= samples[access_vm];
    samples_2_q <= samples_1_q;
  end

  // An access stays as it is until it is answered.

  logic               access_q, answer_q, write_q, whole_q;
  logic [VM_BITS-1:0] access_vm_q, some_vm_q;
  logic [9:0]         word_q;
  logic [31:0]        data_q;
  logic [4:0]         waits_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      access_q <= 1'b0;
      answer_q <= 1'b0;
      waits_q  <= '0;
    end else begin
      access_q <= access;
      answer_q <= answer;
      waits_q  <= !access || answer || now_q < 64'(5 * VMS) ? '0 : waits_q + 5'(waits_q != '1);
    end
  end

  always_ff @(posedge clk_i) begin
    {access_vm_q, write_q, word_q, whole_q, data_q}
      <= {access_vm, access_write, access_word, access_whole, access_data};
    some_vm_q <= some_vm;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      vm_same: assume (some_vm == some_vm_q && 32'(some_vm) < VMS);
      a_vm: assume (32'(access_vm) < VMS);
      access_kept: assume (!access_q || answer_q
                           || (access && {access_vm, access_write, access_word, access_whole,
                                          access_data}
                                         == {access_vm_q, write_q, word_q, whole_q, data_q}));
      // Thousands of years of cycles.
      this_age: assume (now_q[63:62] == 2'b00);

      empties_first: assume (ready || !access);

      never_overdue: assert (!scheduled_q || start_q > now_q + 64'd5);
      arm_as_asked: assert (!its_arm || (scheduled_q && arm_entry == entry_q
                            && arm_time == TIME_BITS'(start_q - 64'd3)));
      arm_soon: assert (!its_arm || start_q - 64'd4 - now_q < 64'(2**TIME_BITS));
      // A sample that is counted is in the memory two cycles later.
      takes_one: assert (!take || samples_2_q != '0);
      takes_in_turn: assert (!take || vm != some_vm || sample_address == taken_q);
      one_at_a_time: assert (!its_arm || !armed_q);
      own_only: assert (!(store || disarm || stop || clear || take) || (answer && vm == access_vm));
      stop_disarms: assert (!(stop || clear) || disarm);
      store_commands: assert (!store || (legal(store_word) && access_write && access_whole
                              && access_data == 32'(store_word)));
      scheduled_stays: assert (!(its_access && scheduled_q)
                               || (access_word != 10'h4 && access_word != 10'h5
                                   && access_word != 10'h6 && access_word != 10'h7));

`ifndef CUT
      accepted: cover (accepts);
      given: cover (its_arm && runs_q == 32'd1);
`endif
    end
  end

`ifndef CUT
  // Which states can be. The next look at the VM is `distance` cycles away at most.

  logic [31:0] scans_before, to_choose, distance;
  logic        looking, cleared;

  assign scans_before = 32'(some_vm) >= 32'(dut.next_q)
                        ? 32'(some_vm) - 32'(dut.next_q)
                        : 32'(some_vm) + VMS - 32'(dut.next_q);
  assign to_choose = dut.phase_q == 3'd0 ? 32'd0 : 32'd5 - 32'(dut.phase_q);
  assign looking   = !dut.is_access_q && dut.phase_q != 3'd0 && dut.vm_q == some_vm;
  assign distance  = to_choose + (dut.is_access_q ? 32'd0 : 32'd5) + 32'd10 * scans_before
                     + 32'd2;
  assign cleared   = !dut.clearing_q
                     || some_vm < (dut.phase_q == 3'd0 ? dut.next_q : dut.vm_q);

  vm_state_t   kept;
  logic [63:0] kept_start;
  logic [31:0] kept_period, kept_runs;
  assign kept        = dut.u_states.memory[some_vm];
  assign kept_start  = {dut.u_start_high.memory[some_vm], dut.u_start_low.memory[some_vm]};
  assign kept_period = dut.u_period.memory[some_vm];
  assign kept_runs   = dut.u_runs.memory[some_vm];

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      state_phase: assert (dut.phase_q <= 3'd4 && 32'(dut.next_q) < VMS && 32'(dut.vm_q) < VMS);
      state_next: assert (dut.is_access_q || now_q == '0
                          || 32'(dut.next_q) == (32'(dut.vm_q) == VMS - 1 ? 0
                                                 : 32'(dut.vm_q) + 1));
      state_access: assert (!(dut.is_access_q && dut.phase_q != 3'd0)
                            || (access && dut.vm_q == access_vm));
      state_clearing: assert (!dut.clearing_q
                              || (!scheduled_q && !armed_q && !dut.is_access_q
                                  && {start_q, period_q, runs_q} == '0 && taken_q == '0
                                  && now_q == 64'(dut.phase_q)
                                              + 64'd5 * 64'(dut.phase_q == 3'd0
                                                            ? 32'(dut.next_q)
                                                            : 32'(dut.vm_q))));
      state_clear_end: assert (dut.clearing_q || now_q >= 64'(5 * VMS));
      state_kept: assert (!cleared || dut.clearing_q
                          || (kept.scheduled == scheduled_q && kept_start == start_q
                              && kept_period == period_q && kept_runs == runs_q
                              && kept.sample_first == taken_q
                              && (!scheduled_q || kept.entry == entry_q)));
      state_cleared: assert (!(dut.clearing_q && cleared)
                             || (kept == '0 && {kept_start, kept_period, kept_runs} == '0));
      state_read: assert (dut.phase_q < 3'd2 || dut.vm_q != some_vm
                          || (dut.state_read == kept && {dut.high_read, dut.low_read} == kept_start
                              && dut.period_read == kept_period
                              && dut.runs_read == kept_runs));
      state_same: assert (dut.phase_q < 3'd3 || dut.vm_q != some_vm
                          || (dut.clearing_q ? dut.state_q == '0
                              : dut.state_q == kept && dut.start_q == kept_start
                                && dut.period_q == kept_period && dut.runs_q == kept_runs));
      state_ahead_of: assert (now_q == '0 || dut.ahead_q == now_q + 64'(AHEAD));
      state_samples: assert (!(dut.is_access_q && dut.phase_q >= 3'd3)
                             || dut.samples_q == (dut.phase_q == 3'd3 ? samples_1_q : samples_2_q));
      state_armed: assert (dut.vm_q != some_vm
                           || ((dut.phase_q != 3'd3 || dut.armed_q == armed_1_q)
                               && (dut.phase_q != 3'd4 || dut.armed_q == armed_2_q)));
      state_asked: assert ({dut.is_run_q, dut.is_cancel_q, dut.is_report_q, dut.is_store_q}
                           == (dut.phase_q == 3'd4 && dut.is_access_q && access_write
                               && access_whole
                               ? {access_word == 10'h8 && access_data[31:6] == '0,
                                  access_word == 10'h9 && access_data[31:2] == '0,
                                  access_word == 10'hb && access_data == 32'h8000_0000,
                                  access_word[9:6] == 4'h4 && access_data[31:WordBits] == '0
                                  && legal(access_data[WordBits-1:0])} : 4'b0));
      state_arms: assert ((!armed_q || armed_1_q || dut.phase_q == 3'd0)
                          && (!armed_1_q || armed_2_q || dut.phase_q == 3'd1));
      state_looked: assert (dut.phase_q != 3'd4 || dut.vm_q != some_vm || dut.clearing_q
                            || (dut.near_q == (start_q < looked_at + 64'(AHEAD))
                                && dut.last_q == (runs_q == 32'd1)
                                && dut.endless_q == (runs_q == '0)
                                && dut.short_q == (runs_q != 32'd1 && period_q < AHEAD)));
      state_ahead: assert (!scheduled_q || start_q - now_q > (looking ? 64'd10 - 64'(dut.phase_q)
                                                              : 64'(distance) + 64'd8));
      state_future: assert (!scheduled_q || start_q > now_q);
      state_period: assert (!scheduled_q || runs_q == 32'd1 || period_q >= AHEAD);
      state_begin: assert (!armed_q || (begin_q >= now_q && begin_q - now_q <= 64'(AHEAD)));
      state_apart: assert (!(armed_q && scheduled_q)
                           || start_q >= begin_q + 64'd3 + 64'(AHEAD));
      answered_in_time: assert (waits_q <= 5'd10);
      state_waits: assert (waits_q == '0 || access);
      state_wait_bound: assert (
        !access || dut.clearing_q
        || 32'(waits_q) <= (dut.is_access_q ? (dut.phase_q == 3'd0 ? 32'd0
                                                                   : 32'd5 + 32'(dut.phase_q))
                            : dut.phase_q == 3'd0 ? 32'd5 : 32'(dut.phase_q)));
    end
  end
`endif

endmodule
