// An engine of the timed I/O processor, whatever its program, its VM and the schedule do:
// everything happens on its cycle, and nothing else happens.
//
// The specification here counts nothing. It has times of 64 bits: in which cycle the run begins,
// the command is executed (`at_q`) and its last cycle is (`over`), and which the mark is. The
// harness knows of no other engine, and an engine has no input from another: what is proved of one
// holds for any number, side by side.
module timed_io_engine_formal import timed_io_pkg::*; #(
  parameter int unsigned TIME_BITS = 6
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic                store,
  input logic [5:0]          store_address,
  input logic [WordBits-1:0] store_word,
  input logic                arm,
  input logic [63:0]         arm_at,  // the cycle in which the run begins
  input logic [5:0]          arm_entry,
  input logic                disarm,
  input logic                stop,
  input logic                clear,
  input logic [Lines-1:0]    granted,
  input logic [Lines-1:0]    inputs,
  input logic [4:0]          sample_address,
  input logic                take,
  input logic                report_taken,
  // Any, and kept: a word of the program, a place among the samples.
  input logic [5:0]          some_word,
  input logic [4:0]          some_sample,
  // In place of the design's, where there is none.
  input logic [WordBits-1:0] no_word
);

  logic [63:0]          now_q;
  logic                 armed, running, missed;
  logic [Lines-1:0]     lines, sample;
  logic [5:0]           samples;
  cause_e               cause;
  logic [TIME_BITS-1:0] report_time;

  timed_io_engine #(.TIME_BITS(TIME_BITS)) dut (
    .clk_i, .rst_ni, .now_i(now_q[TIME_BITS-1:0]),
    .store_i(store), .store_address_i(store_address), .store_word_i(store_word),
    .arm_i(arm), .arm_time_i(arm_at[TIME_BITS-1:0]), .arm_entry_i(arm_entry),
    .disarm_i(disarm), .stop_i(stop), .clear_i(clear), .armed_o(armed), .running_o(running),
    .granted_i(granted), .inputs_i(inputs), .lines_o(lines),
    .sample_address_i(sample_address), .take_i(take), .sample_o(sample), .samples_o(samples),
    .report_taken_i(report_taken), .missed_o(missed), .cause_o(cause),
    .report_time_o(report_time)
  );

  logic began_q = 1'b0;
  always_ff @(posedge clk_i) began_q <= 1'b1;
  always_ff @(posedge clk_i) begin_in_reset: assume (rst_ni == began_q);
  // As timed_io_pins and timed_io_schedule do.
  always_ff @(posedge clk_i) no_pin_in_reset: assume (rst_ni || granted == '0);
  always_ff @(posedge clk_i) clear_in_reset: assume (rst_ni || clear);

  logic [WordBits-1:0] word;
`ifdef CUT
  assign word = no_word;
`else
  assign word = dut.word;
  logic unused_word;
  assign unused_word = ^no_word;
`endif

  // The command, as the reference has it.

  logic        run_q;
  logic [63:0] at_q, mark_q, over, length;
  logic [5:0]  pc_q;
  logic [7:0]  left_q [2];
  logic [1:0]  kind;
  logic [2:0]  control;
  logic        is_write, is_wait, is_until, is_end, is_read, is_loop, goes_back;
  logic        executes, ends;

  assign kind      = word[17:16];
  assign control   = word[15:13];
  assign is_write  = kind == 2'd1;
  assign is_wait   = kind == 2'd2;
  assign is_until  = kind == 2'd3;
  assign is_end    = kind == 2'd0 && (control == 3'd0 || control > 3'd3);
  assign is_read   = kind == 2'd0 && control == 3'd1;
  assign is_loop   = kind == 2'd0 && control == 3'd2;
  assign goes_back = kind == 2'd0 && control == 3'd3 && left_q[word[12]] > 8'd1;
  assign length    = 64'(word[15:0]) + 64'd1;
  assign over      = is_wait ? at_q + length - 64'd1 : is_until ? mark_q + length - 64'd1 : at_q;
  assign executes  = run_q && now_q == at_q;
  assign ends      = run_q && now_q == over;

  // What cannot be done.

  logic       samples_1_q, samples_2_q;  // read in the cycle before, and in the one before that
  logic [5:0] samples_there_q;
  logic       late, no_pin, full, no_end, fails, goes_on;

  // A cycle later, since it takes one to find out.
  assign late    = run_q && now_q == at_q + 64'd1 && is_until && over < at_q;
  assign no_pin  = executes && is_write && (word[15:8] & ~granted) != '0;
  assign full    = executes && is_read
                   && 32'(samples_there_q) + 32'(samples_1_q) + 32'(samples_2_q) >= 32;
  assign no_end  = executes && !is_end && !goes_back && pc_q == 6'd63;
  assign fails   = late || no_pin || full || no_end;
  assign goes_on = run_q && !stop && !fails && !(ends && is_end);

  // The next run.

  logic        armed_q, begins;
  logic [63:0] begin_q;
  logic [5:0]  entry_q;
  assign begins = armed_q && !disarm && now_q == begin_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      now_q   <= '0;
      armed_q <= 1'b0;
      run_q   <= 1'b0;
    end else begin
      now_q   <= now_q + 1'b1;
      armed_q <= arm || (armed_q && !disarm && !begins);
      run_q   <= goes_on || begins;
    end
  end

  always_ff @(posedge clk_i) begin
    if (arm) begin
      begin_q <= arm_at;
      entry_q <= arm_entry;
    end
    if (begins && !goes_on) begin
      at_q      <= now_q + 64'd1;
      mark_q    <= now_q + 64'd1;
      pc_q      <= entry_q;
      left_q[0] <= '0;
      left_q[1] <= '0;
    end else if (ends) begin
      at_q <= now_q + 64'd1;
      pc_q <= goes_back ? word[5:0] : pc_q + 6'd1;
      if (is_wait || is_until) mark_q <= now_q + 64'd1;
      if (is_loop) left_q[word[12]] <= word[7:0];
      if (goes_back) left_q[word[12]] <= left_q[word[12]] - 8'd1;
    end
  end

  // Lines, samples and reports, as they have to be.

  logic [Lines-1:0] lines_q, kept_q;
  logic [4:0]       next_q;
  logic             kept_valid_q, reads;
  logic             tells, told_q, missed_q;
  cause_e           cause_q;
  logic [63:0]      told_at_q;

  assign reads = executes && is_read && !fails && !stop;
  assign tells = (fails && !stop) || (begins && goes_on);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      lines_q         <= '0;
      samples_1_q     <= 1'b0;
      samples_2_q     <= 1'b0;
      samples_there_q <= '0;
      next_q          <= '0;
      kept_valid_q    <= 1'b0;
      told_q          <= 1'b0;
      missed_q        <= 1'b0;
    end else begin
      if (clear) begin
        lines_q <= '0;
      end else if (executes && is_write && !fails && !stop) begin
        lines_q <= granted & ((lines_q & ~word[15:8]) | (word[7:0] & word[15:8]));
      end else begin
        lines_q <= granted & lines_q;
      end
      samples_1_q     <= reads;
      samples_2_q     <= samples_1_q;
      samples_there_q <= samples_there_q + 6'(samples_2_q) - 6'(take);
      next_q          <= next_q + 5'(samples_2_q);
      if (samples_2_q && next_q == some_sample) kept_valid_q <= 1'b1;
      told_q          <= !clear && (tells || (told_q && !report_taken));
      missed_q        <= !clear && told_q && !report_taken && (missed_q || tells);
      if (clear) begin
        {samples_1_q, samples_2_q, samples_there_q, next_q} <= '0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (samples_2_q && next_q == some_sample) kept_q <= inputs & granted;
    if (tells && (!told_q || report_taken)) begin
      cause_q   <= late ? LateCommand : no_pin ? NoPin : full ? SamplesFull :
                   no_end ? NoEnd : StillRunning;
      told_at_q <= now_q;
    end
  end

  // In the block: rounds that are left, negative, and whether this is not the last.
`ifndef CUT
  logic [1:0] left_right;
  for (genvar i = 0; i < 2; i++) begin : gen_left
    assign left_right[i] = dut.left_q[i] == (left_q[i] == '0 ? '1 : -left_q[i]);
  end
`endif

  // A word of the program.

  logic [WordBits-1:0] stored_q;
  logic                stored_valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stored_valid_q <= 1'b0;
    end else if (store && store_address == some_word) begin
      stored_valid_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (store && store_address == some_word) stored_q <= store_word;
  end

  logic [5:0] some_word_q;
  logic [4:0] some_sample_q;
  always_ff @(posedge clk_i) begin
    some_word_q   <= some_word;
    some_sample_q <= some_sample;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      word_same: assume (some_word == some_word_q);
      sample_same: assume (some_sample == some_sample_q);
      // As the schedule does, which is proved of it: soon, and one run at a time.
      arm_soon: assume (!arm || (arm_at - now_q - 64'd1 < 64'(2**TIME_BITS) && !armed_q));
      stop_disarms: assume (!stop || disarm);
      takes_one: assume (!take || samples_there_q != '0);
      // Thousands of years of cycles.
      this_age: assume (now_q[63:62] == 2'b00);
      // Only commands are stored; a memory that nothing was stored in is empty.
      commands: assume (!(run_q && (is_wait || is_until)) || word[15:0] != '1);
      rounds: assume (!(run_q && is_loop) || word[7:0] != '0);
      // Of a VM that changes the word that its engine stands at: timed_io_hostile_formal.
      word_stays: assume (!store || !run_q || store_address != pc_q);

      begins_exactly: assert (running == run_q);
      armed_same: assert (armed == armed_q);
      lines_exact: assert (lines == lines_q);
      samples_counted: assert (samples == samples_there_q + 6'(samples_1_q) + 6'(samples_2_q));
      sample_exact: assert (sample_address != some_sample || !kept_valid_q || sample == kept_q);
      told: assert ((cause != NoCause) == told_q);
      cause_right: assert (!told_q || cause == cause_q);
      report_time_right: assert (!told_q || report_time == told_at_q[TIME_BITS-1:0]);
      missed_counted: assert (missed == missed_q);

      late_some_day: cover (cause == LateCommand);
      overrun_some_day: cover (cause == StillRunning);
      second_round: cover (running && ends && goes_back);
      cleared: cover (clear && lines != '0 && cause != NoCause);
      waited_and_read: cover (samples == 6'd1 && take && mark_q > begin_q + 64'd1);

`ifndef CUT
      word_as_stored: assert (pc_q != some_word || !run_q || !stored_valid_q || word == stored_q);

      // Which states can be.
      state_in_time: assert (!run_q || (at_q <= now_q && (is_until || now_q <= over)
                                        && mark_q <= at_q));
      state_until: assert (!(run_q && is_until) || now_q == at_q || now_q <= over
                           || (over < at_q && now_q == at_q + 64'd1));
      state_late: assert (dut.late_q == (run_q && is_until && over < at_q && now_q != at_q));
      state_pc: assert (!run_q || dut.pc_q == pc_q);
      state_wait: assert (dut.in_wait_q == (run_q && is_wait && now_q != at_q));
      state_count: assert (!run_q
                           || (dut.in_wait_q ? 64'(dut.since_mark_q) == now_q - at_q
                               : now_q - mark_q < 64'd65536
                                 ? 64'(dut.since_mark_q) == now_q - mark_q : dut.since_mark_q[16]));
      state_left: assert (!run_q || (left_right[0] && left_right[1]));
      state_begin: assert (!armed_q || (begin_q - now_q < 64'(2**TIME_BITS)
                           && dut.arm_time_q == begin_q[TIME_BITS-1:0]
                           && dut.arm_entry_q == entry_q));
      state_sampling: assert (dut.sampling_q == {samples_2_q, samples_1_q});
      state_samples: assert (dut.next_q == next_q && samples_there_q <= 6'd32
                             && 32'(samples_there_q) + 32'(samples_1_q) + 32'(samples_2_q) <= 32);
      state_sample: assert (!kept_valid_q || dut.samples[some_sample] == kept_q);
      state_last: assert (!run_q || pc_q != 6'd63 || now_q == at_q);
      state_missed: assert (!missed_q || told_q);
      state_stored: assert (!stored_valid_q || dut.program_words[some_word] == stored_q);
`endif
    end
  end

endmodule
