// The schedules of all VMs, and their pages: what the engines share.
//
// What is kept of the VMs lies in memories, a word a VM. Slots of five cycles read a VM's words,
// look at them and write them back; none overlaps another, so that nothing changes between. A slot
// carries out an access to a page when one waits, and at least every second slot looks at a VM, one
// after the other: whether its next run begins soon enough to be given to its engine, and whether
// the engine has a report. So a VM is looked at every TURN cycles at the latest, and a schedule
// made AHEAD cycles before its start is given to the engine in time, whatever the other VMs do.
module timed_io_schedule import timed_io_pkg::*; #(
  parameter int unsigned VMS = 4,
  localparam int unsigned VM_BITS   = VMS > 1 ? $clog2(VMS) : 1,
  localparam int unsigned SlotCycles = 5,
  localparam int unsigned TURN      = 2 * SlotCycles * VMS,
  localparam int unsigned AHEAD     = TURN + 16,
  localparam int unsigned TIME_BITS = $clog2(AHEAD)
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  logic [63:0]         now_i,

  // After reset the memories are emptied; until then there is no access.
  output logic                ready_o,
  // An access to a VM's page (regs/timed_io.rdl), which is there, kept until it is answered.
  input  logic                access_i,
  input  logic [VM_BITS-1:0]  access_vm_i,
  input  logic                access_write_i,
  input  logic [9:0]          access_word_i,  // the address in words
  input  logic                access_whole_i, // a write of all four bytes
  input  logic [31:0]         access_data_i,
  output logic                answer_o,
  output logic                answer_error_o,
  output logic [31:0]         answer_data_o,

  // The engines. What goes to one of them is meant for vm_o.
  output logic [VM_BITS-1:0]   vm_o,
  output logic                 store_o,
  output logic [5:0]           store_address_o,
  output logic [WordBits-1:0]  store_word_o,
  output logic                 arm_o,
  output logic [TIME_BITS-1:0] arm_time_o,
  output logic [5:0]           arm_entry_o,
  output logic                 disarm_o,
  output logic                 stop_o,
  output logic                 clear_o,
  output logic [4:0]           sample_address_o,
  output logic                 take_o,
  output logic                 report_taken_o,
  input  logic [VMS-1:0]                armed_i,
  input  logic [VMS-1:0]                running_i,
  input  logic [VMS-1:0][Lines-1:0]     sample_i,
  input  logic [VMS-1:0][5:0]           samples_i,
  input  logic [VMS-1:0]                missed_i,
  input  logic [VMS-1:0][2:0]           cause_i,
  input  logic [VMS-1:0][TIME_BITS-1:0] report_time_i
);

  // Addresses in words: regs/timed_io.rdl.
  localparam logic [9:0] Id = 10'h0, Status = 10'h1, NowLow = 10'h2, NowHigh = 10'h3;
  localparam logic [9:0] StartLow = 10'h4, StartHigh = 10'h5, Period = 10'h6, Runs = 10'h7;
  localparam logic [9:0] Run = 10'h8, Cancel = 10'h9, Sample = 10'ha, Report = 10'hb;
  localparam logic [9:0] ReportTimeLow = 10'hc, ReportTimeHigh = 10'hd;
  localparam logic [31:0] Identification = 32'h5449_0001;

  typedef struct packed {
    logic [2:0]  cause;
    logic [63:0] at;
  } report_t;

  // The slots.

  typedef enum logic [2:0] {
    Choose,  // whose slot it is
    Fetch,   // its words are read
    Keep,    // into flip-flops, and what its engine says
    Look,    // times are compared
    Act      // the words are written back, and all else
  } phase_e;

  phase_e             phase_q;
  logic               clearing_q;   // after reset: the words are made empty
  logic               is_access_q;  // the slot is an access's
  logic [VM_BITS-1:0] vm_q, next_q;
  logic               acts;

  assign acts    = phase_q == Act;
  assign ready_o = !clearing_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      phase_q     <= Choose;
      clearing_q  <= 1'b1;
      is_access_q <= 1'b0;
      vm_q        <= '0;
      next_q      <= '0;
    end else begin
      case (phase_q)
        Choose: begin
          phase_q <= Fetch;
          if (access_i && !is_access_q) begin
            is_access_q <= 1'b1;
            vm_q        <= access_vm_i;
          end else begin
            is_access_q <= 1'b0;
            vm_q        <= next_q;
            next_q      <= 32'(next_q) == VMS - 1 ? '0 : next_q + 1'b1;
          end
        end
        Fetch:   phase_q <= Keep;
        Keep:    phase_q <= Look;
        Look:    phase_q <= Act;
        Act: begin
          phase_q <= Choose;
          if (!is_access_q && 32'(vm_q) == VMS - 1) clearing_q <= 1'b0;
        end
        default: phase_q <= Choose;
      endcase
    end
  end

  // The VM's words. The period is never written with a count of runs that goes on.

  logic        write_low, write_high, write_period, write_runs, write_now;
  logic [31:0] low_d, high_d, runs_d, low_read, high_read, period_read, runs_read, now_high;
  vm_state_t   state_read, state_q, state_d;

  timed_io_memory #(.WORDS(VMS), .WIDTH(32)) u_start_low (
    .clk_i,
    .write_i(write_low), .write_address_i(vm_q), .write_data_i(low_d),
    .read_address_i(vm_q), .read_data_o(low_read)
  );

  timed_io_memory #(.WORDS(VMS), .WIDTH(32)) u_start_high (
    .clk_i,
    .write_i(write_high), .write_address_i(vm_q), .write_data_i(high_d),
    .read_address_i(vm_q), .read_data_o(high_read)
  );

  timed_io_memory #(.WORDS(VMS), .WIDTH(32)) u_period (
    .clk_i,
    .write_i(write_period), .write_address_i(vm_q), .write_data_i(runs_d),
    .read_address_i(vm_q), .read_data_o(period_read)
  );

  // Those that are left; 0: without end.
  timed_io_memory #(.WORDS(VMS), .WIDTH(32)) u_runs (
    .clk_i,
    .write_i(write_runs), .write_address_i(vm_q), .write_data_i(runs_d),
    .read_address_i(vm_q), .read_data_o(runs_read)
  );

  // The upper word of the time, when the lower was read.
  timed_io_memory #(.WORDS(VMS), .WIDTH(32)) u_now_high (
    .clk_i,
    .write_i(write_now), .write_address_i(vm_q), .write_data_i(now_i[63:32]),
    .read_address_i(vm_q), .read_data_o(now_high)
  );

  timed_io_memory #(.WORDS(VMS), .WIDTH($bits(vm_state_t))) u_states (
    .clk_i,
    .write_i(acts), .write_address_i(vm_q), .write_data_i(state_d),
    .read_address_i(vm_q), .read_data_o(state_read)
  );

  // And what its engine says.

  logic [63:0]          start_q;  // of the next run
  logic [31:0]          period_q, runs_q;
  logic                 armed_q, running_q;
  logic [5:0]           samples_q;
  cause_e               cause_q;
  logic [TIME_BITS-1:0] report_time_q;

  always_ff @(posedge clk_i) begin
    if (phase_q == Keep) begin
      state_q       <= clearing_q ? '0 : state_read;
      start_q       <= {high_read, low_read};
      period_q      <= period_read;
      runs_q        <= runs_read;
      armed_q       <= armed_i[vm_q];
      running_q     <= running_i[vm_q];
      samples_q     <= samples_i[vm_q];
      cause_q       <= cause_e'(cause_i[vm_q]);
      report_time_q <= report_time_i[vm_q];
    end
  end

  // Times. A run is near when it is too late to ask for it.

  logic [63:0]          ahead_q;   // what is before is near
  logic                 near_q, short_q, last_q, endless_q;
  logic [TIME_BITS-1:0] effect_q;  // of the report: what is told of is over by then

  always_ff @(posedge clk_i) ahead_q <= now_i + 64'(AHEAD) + 1'b1;

  always_ff @(posedge clk_i) begin
    if (phase_q == Look) begin
      near_q    <= start_q < ahead_q;
      last_q    <= runs_q == 32'd1;
      endless_q <= runs_q == '0;
      short_q   <= runs_q != 32'd1 && period_q < AHEAD;
      effect_q  <= report_time_q
                   + TIME_BITS'(cause_q == StillRunning ? BeginLead :
                                cause_q == LateCommand  ? CommandLead - 1 : CommandLead);
    end
  end

  // Whom the slot serves. What an access asks for is known a cycle before: from here it goes far.

  logic scans, reads, writes, whole_write, can_change;
  logic is_run_q, is_cancel_q, is_report_q, is_store_q, is_answered;

  assign scans       = acts && !is_access_q && !clearing_q;
  assign reads       = acts && is_access_q && !access_write_i;
  assign writes      = acts && is_access_q && access_write_i;
  assign whole_write = writes && access_whole_i;
  assign can_change  = !state_q.scheduled;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      is_run_q    <= 1'b0;
      is_cancel_q <= 1'b0;
      is_report_q <= 1'b0;
      is_store_q  <= 1'b0;
    end else begin
      is_run_q    <= 1'b0;
      is_cancel_q <= 1'b0;
      is_report_q <= 1'b0;
      is_store_q  <= 1'b0;
      if (phase_q == Look && is_access_q && access_write_i && access_whole_i) begin
        is_run_q    <= access_word_i == Run && access_data_i[31:6] == '0;
        is_cancel_q <= access_word_i == Cancel && access_data_i[31:2] == '0;
        is_report_q <= access_word_i == Report && access_data_i == 32'h8000_0000;
        is_store_q  <= access_word_i[9:6] == 4'h4 && access_data_i[31:WordBits] == '0
                       && legal(access_data_i[WordBits-1:0]);
      end
    end
  end

  answer_e answer;
  assign answer = !can_change || armed_q ? IsScheduled :
                  short_q                ? TooShort :
                  near_q                 ? TooLate : Accepted;

  // A run that begins soon. Its engine is free: the one before began more than a turn earlier.

  assign arm_o       = scans && state_q.scheduled && near_q;
  assign arm_time_o  = start_q[TIME_BITS-1:0] - TIME_BITS'(BeginLead);
  assign arm_entry_o = state_q.entry;

  assign vm_o            = vm_q;
  assign disarm_o        = is_cancel_q;
  assign stop_o          = is_cancel_q && access_data_i[0];
  assign clear_o         = is_cancel_q && access_data_i[1];
  // Those that samples_q counts are in the engine's memory by the time that the slot acts.
  assign sample_address_o = state_q.sample_first;
  assign take_o          = reads && access_word_i == Sample && samples_q != '0;
  assign report_taken_o  = scans && cause_q != NoCause;
  assign store_o         = is_store_q;
  assign store_address_o = access_word_i[5:0];
  assign store_word_o    = access_data_i[WordBits-1:0];

  // Reports.

  localparam int unsigned ReportBits = $clog2(ReportsMax);

  report_t               report_new, report_first;
  logic                  adds, drops, room;
  logic [ReportBits-1:0] report_last;
  assign adds        = report_taken_o || (is_run_q && answer == TooLate);
  assign drops       = is_report_q && state_q.reports != '0;
  assign room        = 32'(state_q.reports) != ReportsMax;
  assign report_last = state_q.report_first + state_q.reports[ReportBits-1:0];

  // The engine tells the lower part of the time. It has come round once since then at most.
  logic came_round;
  assign came_round = effect_q > now_i[TIME_BITS-1:0];

  assign report_new.cause = scans ? cause_q : LateSchedule;
  assign report_new.at    = scans ? {now_i[63:TIME_BITS] - (64-TIME_BITS)'(came_round), effect_q}
                            : start_q;

  timed_io_memory #(.WORDS(VMS * ReportsMax), .WIDTH($bits(report_t))) u_reports (
    .clk_i,
    .write_i(adds && room), .write_address_i({vm_q, report_last}), .write_data_i(report_new),
    .read_address_i({vm_q, state_q.report_first}), .read_data_o(report_first)
  );

  // The words as they are written back. Whether a report was missed is asked when the other is
  // taken: one that comes between would be forgotten.

  logic        again;
  logic [63:0] start_next;
  assign again      = arm_o && !last_q;
  assign start_next = start_q + 64'(period_q);
  assign low_d      = clearing_q ? '0 : again ? start_next[31:0] : access_data_i;
  assign high_d     = clearing_q ? '0 : again ? start_next[63:32] : access_data_i;
  assign runs_d     = clearing_q ? '0 : again ? runs_q - 1'b1 : access_data_i;

  logic changes, clears;
  assign changes      = whole_write && can_change;
  assign clears       = acts && clearing_q;
  assign write_low    = again || clears || (changes && access_word_i == StartLow);
  assign write_high   = again || clears || (changes && access_word_i == StartHigh);
  assign write_period = clears || (changes && access_word_i == Period);
  assign write_runs   = (again && !endless_q) || clears || (changes && access_word_i == Runs);
  assign write_now    = reads && access_word_i == NowLow;

  logic [8:0] lost;
  assign lost = {1'b0, state_q.lost} + 9'(adds && !room) + 9'(scans && missed_i[vm_q]);

  always_comb begin
    state_d = state_q;
    if (arm_o && last_q) state_d.scheduled = 1'b0;
    if (adds && room) state_d.reports = state_q.reports + 1'b1;
    state_d.lost = lost[8] ? '1 : lost[7:0];
    if (drops) begin
      state_d.reports      = state_q.reports - 1'b1;
      state_d.report_first = state_q.report_first + 1'b1;
    end
    if (is_run_q) begin
      state_d.answer = answer;
      if (answer == Accepted) begin
        state_d.scheduled = 1'b1;
        state_d.entry     = access_data_i[5:0];
      end
    end
    if (is_cancel_q) state_d.scheduled = 1'b0;
    if (clear_o) {state_d.reports, state_d.lost, state_d.sample_first} = '0;
    if (take_o) state_d.sample_first = state_q.sample_first + 1'b1;
  end

  // Answers.

  always_comb begin
    case (access_word_i)
      StartLow, StartHigh, Period, Runs: is_answered = access_whole_i && can_change;
      Run:     is_answered = is_run_q;
      Cancel:  is_answered = is_cancel_q;
      Report:  is_answered = is_report_q;
      default: is_answered = store_o;
    endcase
  end

  assign answer_o       = acts && is_access_q;
  assign answer_error_o = access_write_i && !is_answered;

  always_comb begin
    case (access_word_i)
      Id:             answer_data_o = Identification;
      Status:         answer_data_o = {state_q.lost, 4'b0, state_q.reports, 2'b0, samples_q, 1'b0,
                                       state_q.answer, 1'b0, running_q, armed_q, state_q.scheduled};
      NowLow:         answer_data_o = now_i[31:0];
      NowHigh:        answer_data_o = now_high;
      StartLow:       answer_data_o = start_q[31:0];
      StartHigh:      answer_data_o = start_q[63:32];
      Period:         answer_data_o = period_q;
      Runs:           answer_data_o = runs_q;
      Sample:         answer_data_o = samples_q == '0 ? '0 : {1'b1, 23'b0, sample_i[vm_q]};
      Report:         answer_data_o = state_q.reports == '0 ? '0
                                      : {1'b1, 28'b0, report_first.cause};
      ReportTimeLow:  answer_data_o = state_q.reports == '0 ? '0 : report_first.at[31:0];
      ReportTimeHigh: answer_data_o = state_q.reports == '0 ? '0 : report_first.at[63:32];
      default:        answer_data_o = '0;
    endcase
  end

endmodule
