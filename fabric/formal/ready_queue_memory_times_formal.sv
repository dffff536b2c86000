// The ready queue's side to memory, in time: with bounds for memory and queue, a command is fetched
// after its event, or again, what changed is written, and what ACCESS says counts, after a bounded
// number of cycles, whatever else goes on: other events and changes that do not end, and errors.
module ready_queue_memory_times_formal
  import ready_queue_pkg::*;
(
  input logic    clk_i,
  input logic    rst_ni,
  input logic    begin_i,
  input scheme_e scheme_i,
  input logic    event_i,
  input logic    first_changes_i,
  input logic    answers_i,
  input logic    command_ready_i,
  input logic    answered_i,
  input logic    rd_ready_i,
  input logic    rd_data_valid_i,
  input logic    rd_data_command_i,
  input logic    rd_data_error_i,
  input logic    wr_ready_i,
  input logic    wr_data_ready_i,
  input logic    wr_done_i,
  input logic    wr_error_i
);

  // What is offered is taken, and memory answers, within these cycles; the queue answers within
  // more.
  localparam int unsigned StepCyclesMax = 2;
  localparam int unsigned AnswerCyclesMax = 3;
  // So a write is over, and a read with its command.
  localparam int unsigned WriteCyclesMax = 3 * StepCyclesMax;
  localparam int unsigned ReadCyclesMax = 3 * StepCyclesMax + AnswerCyclesMax;
  // One of each, and a cycle before each.
  localparam int unsigned BothCyclesMax = ReadCyclesMax + WriteCyclesMax + 2;

  logic        pending, error, command_valid, rd_valid, wr_valid, wr_data_valid;
  command_t    unused_command;
  logic [31:0] unused_addr;
  logic [63:0] unused_wr_data;
  logic [7:0]  wr_strobe;

  ready_queue_memory dut (
    .clk_i, .rst_ni,
    .begin_i, .scheme_i, .address_i('0), .pending_o(pending), .error_o(error), .event_i,
    .first_i('0), .first_changes_i, .commands_i('0), .answers_i,
    .command_valid_o(command_valid), .command_ready_i, .command_o(unused_command), .answered_i,
    .answer_i('0), .rd_valid_o(rd_valid), .rd_ready_i, .addr_o(unused_addr), .rd_data_valid_i,
    .rd_data_i({32'b0, rd_data_command_i, 31'b0}), .rd_data_error_i, .wr_valid_o(wr_valid),
    .wr_ready_i, .wr_data_valid_o(wr_data_valid), .wr_data_ready_i, .wr_data_o(unused_wr_data),
    .wr_strobe_o(wr_strobe), .wr_done_i, .wr_error_i
  );

  // What is under way, and for how long its present step has been.
  logic       begun_q = 1'b0;
  logic       reading_q, worded_q, given_q;
  logic [1:0] step_q;
  logic       rd_taken, word_taken, command_taken, step, step_over;

  assign rd_taken      = rd_valid && rd_ready_i;
  assign word_taken    = wr_data_valid && wr_data_ready_i;
  assign command_taken = command_valid && command_ready_i;
  assign step          = rd_valid || reading_q || command_valid || given_q || wr_valid ||
                         wr_data_valid || worded_q;
  assign step_over     = rd_taken || rd_data_valid_i || command_taken || answered_i ||
                         (wr_valid && wr_ready_i) || word_taken || wr_done_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {reading_q, worded_q, given_q, step_q} <= '0;
    end else begin
      reading_q <= (reading_q && !rd_data_valid_i) || rd_taken;
      worded_q  <= (worded_q && !wr_done_i) || word_taken;
      given_q   <= (given_q && !answered_i) || command_taken;
      step_q    <= step && !step_over ? step_q + 1'b1 : '0;
    end
  end

  always_ff @(posedge clk_i) begin
    begun_q <= 1'b1;
    begin_in_reset: assume (rst_ni == begun_q);
    if (rst_ni) begin
      read_asked: assume (!rd_data_valid_i || reading_q);
      write_asked: assume (!wr_done_i || worded_q);
      answer_asked: assume (!answered_i || (given_q && answers_i));
      in_time: assume (!step || step_over ||
                       32'(step_q) + 1 < (given_q ? AnswerCyclesMax : StepCyclesMax));
      // Which scheme is free; that others begin and end is the other proof's.
      one_scheme: assume (!$past(rst_ni) || scheme_i == $past(scheme_i));
    end
  end

  // What waits, and for how long.
  logic       active_q;             // the scheme counts
  logic       asked_q;              // an event, and no read since
  logic       stale_q, stale_now_q; // a change that is not written; it is of the cycle before
  logic       rd_valid_q, wr_valid_q, read_begins, write_begins, counts;
  logic [5:0] fetch_wait_q, write_wait_q, begin_wait_q;

  assign read_begins  = rd_valid && !rd_valid_q;
  assign write_begins = wr_valid && !wr_valid_q;
  assign counts       = active_q && !pending && !error && scheme_i != Page;

  logic fetch_waits, write_waits;
  assign fetch_waits = counts && scheme_i != Hybrid && (scheme_i == Polling || asked_q) &&
                       !read_begins;
  assign write_waits = counts && stale_q && !(write_begins && wr_strobe[7]);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {active_q, asked_q, stale_q, stale_now_q, rd_valid_q, wr_valid_q} <= '0;
      {fetch_wait_q, write_wait_q, begin_wait_q} <= '0;
    end else begin
      rd_valid_q   <= rd_valid;
      wr_valid_q   <= wr_valid;
      active_q     <= active_q || pending;
      asked_q      <= event_i || (asked_q && !read_begins);
      stale_now_q  <= first_changes_i;
      stale_q      <= first_changes_i || (stale_q && !(write_begins && wr_strobe[7] &&
                                                       !stale_now_q));
      fetch_wait_q <= fetch_waits ? fetch_wait_q + 1'b1 : '0;
      write_wait_q <= write_waits ? write_wait_q + 1'b1 : '0;
      begin_wait_q <= pending && !begin_i ? begin_wait_q + 1'b1 : '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      fetched_in_time: assert (32'(fetch_wait_q) <= BothCyclesMax);
      written_in_time: assert (32'(write_wait_q) <= BothCyclesMax);
      begun_in_time: assert (32'(begin_wait_q) <= BothCyclesMax);

      fetched_late: cover (read_begins && 32'(fetch_wait_q) > WriteCyclesMax);
      written_late: cover (write_begins && 32'(write_wait_q) > ReadCyclesMax);
      begun_late: cover (!pending && 32'(begin_wait_q) > ReadCyclesMax);
    end
  end

`ifndef CUT
  // What makes the induction short: what is under way, and how many cycles are left at most.
  typedef enum logic [2:0] {Idle, Fetch, Arrive, Give, Answer, Write, Word, Finish} state_e;
  state_e state;
  assign state = state_e'(dut.state_q);

  logic [5:0] step_left, rest;  // until it is in Idle: from the step's begin, and from now
  logic       reads, writes;
  assign reads  = state inside {Fetch, Arrive, Give, Answer};
  assign writes = state inside {Write, Word, Finish};

  always_comb begin
    case (state)
      Fetch:   step_left = 6'(ReadCyclesMax);
      Arrive:  step_left = 6'(AnswerCyclesMax + 2 * StepCyclesMax);
      Give:    step_left = 6'(AnswerCyclesMax + StepCyclesMax);
      Answer:  step_left = 6'(AnswerCyclesMax);
      Write:   step_left = 6'(WriteCyclesMax);
      Word:    step_left = 6'(2 * StepCyclesMax);
      Finish:  step_left = 6'(StepCyclesMax);
      default: step_left = '0;
    endcase
  end
  assign rest = step_left - 6'(step_q);

  logic [5:0] fetch_left, write_left, begin_left;
  assign fetch_left = rest + 6'd1 + (reads || (state == Idle && !dut.wrote_q)
                                     ? 6'(WriteCyclesMax + 1) : '0);
  assign write_left = rest + 6'd1 + (writes || (state == Idle && dut.wrote_q)
                                     ? 6'(ReadCyclesMax + 1) : '0);
  assign begin_left = rest + 6'd1 + (reads || (state == Idle && dut.other_due_q && dut.acp)
                                     ? 6'(WriteCyclesMax + 1) : '0);

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      state_step: assert (rd_valid == (state == Fetch) && reading_q == (state == Arrive) &&
                          command_valid == (state == Give) && given_q == (state == Answer) &&
                          wr_valid == (state == Write) && wr_data_valid == (state == Word) &&
                          worded_q == (state == Finish));
      state_in_step: assert (32'(step_q) < (given_q ? AnswerCyclesMax : StepCyclesMax) &&
                             (step || step_q == '0));
      state_wrote: assert (!(reads && dut.wrote_q) && !(writes && !dut.wrote_q));
      state_error: assert (!error || (state == Idle && !(dut.acp && dut.other_due_q)));
      state_other: assert (!(dut.acp && dut.other_due_q) || (state == Idle && !dut.wrote_q));
      state_scheme: assert (dut.scheme_q == (active_q && (!pending || dut.scheme_q != Page)
                                             ? scheme_i : Page));
      state_asked: assert (!asked_q || read_begins || dut.event_q);
      state_stale: assert (!stale_q || (write_begins && wr_strobe[7]) || dut.first_due_q);
      state_page: assert (dut.scheme_q != Page || state == Idle);
      state_began: assert (!rd_valid_q || !wr_valid_q);
      left_to_fetch: assert (!fetch_waits || fetch_wait_q + fetch_left <= 6'(BothCyclesMax));
      left_to_write: assert (!write_waits || write_wait_q + write_left <= 6'(BothCyclesMax));
      left_to_begin: assert (!pending || begin_wait_q + begin_left <= 6'(BothCyclesMax));
    end
  end
`endif

endmodule
