// An engine of the timed I/O processor whose VM is hostile: it stores any words at any time, also
// where its engine stands, and whatever the schedule does.
//
// What such a program does to its own run is undefined. What others rely on holds all the same: no
// line without a pin is driven, a run begins exactly when it is due and ends with `stop`, `clear`
// leaves nothing behind, and samples and reports stay within their bounds.
module timed_io_hostile_formal import timed_io_pkg::*; #(
  parameter int unsigned TIME_BITS = 6
) (
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic                 store,
  input logic [5:0]           store_address,
  input logic [WordBits-1:0]  store_word,
  input logic [TIME_BITS-1:0] now,
  input logic                 arm,
  input logic [TIME_BITS-1:0] arm_time,
  input logic [5:0]           arm_entry,
  input logic                 disarm,
  input logic                 stop,
  input logic                 clear,
  input logic [Lines-1:0]     granted,
  input logic [Lines-1:0]     inputs,
  input logic [4:0]           sample_address,
  input logic                 take,
  input logic                 report_taken
);

  logic                 armed, running, missed;
  logic [Lines-1:0]     lines, sample;
  logic [5:0]           samples;
  cause_e               cause;
  logic [TIME_BITS-1:0] report_time;

  timed_io_engine #(.TIME_BITS(TIME_BITS)) dut (
    .clk_i, .rst_ni, .now_i(now),
    .store_i(store), .store_address_i(store_address), .store_word_i(store_word),
    .arm_i(arm), .arm_time_i(arm_time), .arm_entry_i(arm_entry),
    .disarm_i(disarm), .stop_i(stop), .clear_i(clear), .armed_o(armed), .running_o(running),
    .granted_i(granted), .inputs_i(inputs), .lines_o(lines),
    .sample_address_i(sample_address), .take_i(take), .sample_o(sample), .samples_o(samples),
    .report_taken_i(report_taken), .missed_o(missed), .cause_o(cause),
    .report_time_o(report_time)
  );

  logic                 began_q = 1'b0;
  logic [Lines-1:0]     granted_q;
  logic                 stop_q, clear_q, due_q, armed_q, taken_q, running_q, was_q;
  logic [TIME_BITS-1:0] arm_time_q;
  cause_e               cause_q;
  logic                 due;

  assign due = armed_q && !disarm && now == arm_time_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {was_q, armed_q, due_q, stop_q, clear_q} <= '0;
    end else begin
      was_q   <= 1'b1;
      armed_q <= arm || (armed_q && !due && !disarm);
      due_q   <= due;
      stop_q  <= stop;
      clear_q <= clear;
    end
  end

  always_ff @(posedge clk_i) begin
    granted_q <= granted;
    running_q <= running;
    cause_q   <= cause;
    taken_q   <= report_taken;
    if (arm) arm_time_q <= arm_time;
  end

  always_ff @(posedge clk_i) begin
    began_q <= 1'b1;
    begin_in_reset: assume (rst_ni == began_q);
    clear_in_reset: assume (rst_ni || clear);
    if (rst_ni) takes_one: assume (!take || samples != '0);

    if (rst_ni) begin
      armed_same: assert (armed == armed_q);
      if (was_q) begin
        no_pin_no_line: assert ((lines & ~granted_q) == '0);
        begins: assert (!due_q || running);
        begins_when_due: assert (!running || running_q || due_q);
        stops: assert (!stop_q || due_q || !running);
        report_stays: assert (cause_q == NoCause || taken_q || clear_q || cause == cause_q);
      end
      if (clear_q) cleared: assert (lines == '0 && samples == '0 && cause == NoCause && !missed);
      bounded: assert (samples <= 6'd32);
      missed_one: assert (!missed || cause != NoCause);

`ifndef CUT
      state_arm: assert (!armed_q || dut.arm_time_q == arm_time_q);
`endif

      runs: cover (running && lines != '0);
      stopped: cover (was_q && stop_q && running_q && !running);
      sampled: cover (samples == 6'd1 && cause != NoCause);
    end
  end

endmodule
