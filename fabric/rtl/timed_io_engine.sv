// The engine of one VM: executes its command programs, one command a cycle.
//
// A run begins in the cycle in which now_i is what it was armed with. From then on nothing but the
// program and this VM's own pins and buffer decides what happens when: the engine shares nothing
// that it could have to wait for. A command takes effect CommandLead cycles after it is executed,
// at the pins as in the samples. What cannot be done as it was told ends the run, changes nothing
// and is reported.
//
// `mark`: the moment at which the last wait or until ended, or the run began.
module timed_io_engine import timed_io_pkg::*; #(
  parameter int unsigned TIME_BITS = 6
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic [TIME_BITS-1:0] now_i,

  // The program, written by the VM. A word is legal.
  input  logic                 store_i,
  input  logic [5:0]           store_address_i,
  input  logic [WordBits-1:0]  store_word_i,

  // The next run: begins at most 2**TIME_BITS - 1 cycles later.
  input  logic                 arm_i,
  input  logic [TIME_BITS-1:0] arm_time_i,
  input  logic [5:0]           arm_entry_i,
  input  logic                 disarm_i,
  input  logic                 stop_i,
  input  logic                 clear_i,  // lines, samples and report; up in reset
  output logic                 armed_o,
  output logic                 running_o,

  // The VM's lines; those that have a pin.
  input  logic [Lines-1:0]     granted_i,
  input  logic [Lines-1:0]     inputs_i,
  output logic [Lines-1:0]     lines_o,

  // Samples that are there, or are within two cycles; one of them; the oldest is taken.
  input  logic [4:0]           sample_address_i,
  input  logic                 take_i,
  output logic [Lines-1:0]     sample_o,
  output logic [5:0]           samples_o,

  // A report, kept until it is taken; missed_o: and another came meanwhile.
  input  logic                 report_taken_i,
  output logic                 missed_o,
  output cause_e               cause_o,
  output logic [TIME_BITS-1:0] report_time_o
);

  // The program.

  logic [WordBits-1:0] program_words [ProgramWords];
  logic [WordBits-1:0] word;
  logic [5:0]          pc_q;

  always_ff @(posedge clk_i) begin
    if (store_i) program_words[store_address_i] <= store_word_i;
  end

  assign word = program_words[pc_q];

  // What a command asks for, and whether it can be had; of a run that is not under way, anything.

  logic               running_q, in_wait_q, late_q;
  logic [16:0]        since_mark_q;      // cycles; the uppermost bit, once set, stays
  logic [7:0]         left_q [Nesting];  // rounds that are left, this one included, negated
  logic [5:0]         samples_q;
  kind_e              kind;
  control_e           control;
  logic               is_control, is_write, is_wait, is_until, is_read, is_loop, is_repeat;
  logic               level;
  logic [7:0]         mask, values;
  logic               at_end, moves, again, no_pin, full, no_end, fails;

  assign kind       = kind_e'(word[17:16]);
  assign control    = control_e'(word[15:13]);
  assign is_control = kind == Control;
  assign is_write   = kind == Write;
  assign is_wait    = kind == Wait;
  assign is_until   = kind == Until;
  assign is_read    = is_control && control == Read;
  assign is_loop    = is_control && control == Loop;
  assign is_repeat  = is_control && control == Repeat;
  assign level      = word[12];
  assign mask       = word[15:8];
  assign values     = word[7:0];

  // A wait begins by setting the mark; its count is over at once where it is of one cycle.
  logic begins_wait, counts, is_over;
  assign begins_wait = is_wait && !in_wait_q;
  assign is_over     = begins_wait ? word[15:0] == '0 : since_mark_q == {1'b0, word[15:0]};
  assign counts      = is_wait || is_until;
  assign moves       = !counts || is_over;
  assign again       = is_repeat && left_q[level] != '1;
  assign at_end      = is_control && (control == End || control > Repeat);

  // What is late is known a cycle later, which nothing happens in: it would be a path too long.
  assign no_pin = is_write && (mask & ~granted_i) != '0;
  assign full   = is_read && samples_q[5];  // SamplesMax
  assign no_end = !again && !at_end && pc_q == '1;
  assign fails  = late_q || no_pin || full || no_end;

  // The next run.

  logic                 armed_q;
  logic [TIME_BITS-1:0] arm_time_q;
  logic [5:0]           arm_entry_q;
  logic                 goes_on, due;

  assign due     = armed_q && !disarm_i && now_i == arm_time_q;
  assign goes_on = running_q && !at_end && !fails && !stop_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      armed_q   <= 1'b0;
      running_q <= 1'b0;
      in_wait_q <= 1'b0;
      late_q    <= 1'b0;
      pc_q      <= '0;
    end else begin
      armed_q   <= arm_i || (armed_q && !due && !disarm_i);
      running_q <= due || goes_on;
      in_wait_q <= goes_on && is_wait && !is_over;
      late_q    <= goes_on && is_until && since_mark_q > {1'b0, word[15:0]};
      if (!goes_on) begin
        pc_q <= arm_entry_q;
      end else if (moves) begin
        pc_q <= again ? word[5:0] : pc_q + 1'b1;
      end
    end
  end

  // Of a run alone. While there is none all is as its first command finds it.
  logic [16:0] since_mark_more;
  logic [7:0]  left_less;
  assign since_mark_more = {1'b0, since_mark_q[15:0]} + 1'b1;
  assign left_less       = (control[0] ? left_q[level] : ~word[7:0]) + 1'b1;

  always_ff @(posedge clk_i) begin
    if (!goes_on || begins_wait || (counts && is_over)) begin
      since_mark_q <= 17'(goes_on && begins_wait && !is_over);
    end else begin
      since_mark_q[15:0] <= since_mark_more[15:0];
      if (since_mark_more[16]) since_mark_q[16] <= 1'b1;
    end

    for (int unsigned i = 0; i < Nesting; i++) begin
      if (!goes_on) begin
        left_q[i] <= '1;
      end else if ((is_loop || again) && 32'(level) == i) begin
        left_q[i] <= left_less;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (arm_i) begin
      arm_time_q  <= arm_time_i;
      arm_entry_q <= arm_entry_i;
    end
  end

  assign armed_o   = armed_q;
  assign running_o = running_q;

  // Lines. One without a pin is low, so that it is when it gets one; none has one after reset.

  logic [Lines-1:0] changes;
  assign changes = goes_on && is_write ? mask : '0;

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      lines_o <= '0;
    end else begin
      lines_o <= granted_i & ((changes & values) | (~changes & lines_o));
    end
  end

  // Samples: taken in the cycle in which what is written by a command of the same time is at pins.
  // They are counted when they are asked for: one that is on its way has its room.

  logic [Lines-1:0] samples [SamplesMax];
  logic [4:0]       next_q;
  logic [1:0]       sampling_q;
  logic             reads;

  assign reads = goes_on && is_read;

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      sampling_q <= '0;
      samples_q  <= '0;
      next_q     <= '0;
    end else begin
      sampling_q <= {sampling_q[0], reads};
      if (reads != take_i) samples_q <= take_i ? samples_q - 1'b1 : samples_q + 1'b1;
      if (sampling_q[1]) next_q <= next_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (sampling_q[1]) samples[next_q] <= inputs_i & granted_i;
  end

  assign sample_o  = samples[sample_address_i];
  assign samples_o = samples_q;

  // Reports. Both at once there cannot be: a run that fails is not under way any more.

  logic happened, frees;
  assign happened = (running_q && fails && !stop_i) || (due && goes_on);
  assign frees    = cause_o == NoCause || report_taken_i;

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      cause_o  <= NoCause;
      missed_o <= 1'b0;
    end else begin
      if (frees) begin
        cause_o <= !happened ? NoCause :
                   late_q    ? LateCommand :
                   no_pin    ? NoPin :
                   full      ? SamplesFull :
                   no_end    ? NoEnd : StillRunning;
      end
      missed_o <= !frees && (missed_o || happened);
    end
  end

  always_ff @(posedge clk_i) begin
    if (frees) report_time_o <= now_i;
  end

endmodule
