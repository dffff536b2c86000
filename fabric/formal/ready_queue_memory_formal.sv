// The ready queue's side to memory, towards any software, any queue and any memory that answers.
//
// One access at a time; each command that is read is given to the queue once, as it was read, and
// no other; its answer is the next that is written; a word of software's is never written but by an
// answer; memory has the present value whenever nothing is due or under way; an error stops it. All
// of that with any pauses of memory and queue.
module ready_queue_memory_formal
  import ready_queue_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input logic        begin_i,
  input scheme_e     scheme_i,
  input logic [31:3] address_i,
  input logic        event_i,
  input logic [31:0] first_i,
  input logic        first_changes_i,
  input logic [31:0] commands_i,
  input logic        answers_i,
  input logic        command_ready_i,
  input logic        answered_i,
  input answer_t     answer_i,
  input logic        rd_ready_i,
  input logic        rd_data_valid_i,
  input logic [63:0] rd_data_i,
  input logic        rd_data_error_i,
  input logic        wr_ready_i,
  input logic        wr_data_ready_i,
  input logic        wr_done_i,
  input logic        wr_error_i
);

  logic        pending, error, command_valid, rd_valid, wr_valid, wr_data_valid;
  command_t    command;
  logic [31:0] addr;
  logic [63:0] wr_data;
  logic [7:0]  wr_strobe;

  ready_queue_memory dut (
    .clk_i, .rst_ni,
    .begin_i, .scheme_i, .address_i, .pending_o(pending), .error_o(error), .event_i,
    .first_i, .first_changes_i, .commands_i, .answers_i,
    .command_valid_o(command_valid), .command_ready_i, .command_o(command), .answered_i, .answer_i,
    .rd_valid_o(rd_valid), .rd_ready_i, .addr_o(addr), .rd_data_valid_i, .rd_data_i,
    .rd_data_error_i, .wr_valid_o(wr_valid), .wr_ready_i, .wr_data_valid_o(wr_data_valid),
    .wr_data_ready_i, .wr_data_o(wr_data), .wr_strobe_o(wr_strobe), .wr_done_i, .wr_error_i
  );

  // What is under way.
  logic     begun_q = 1'b0;
  logic     reading_q, writing_q, worded_q;  // a read, a write, a write whose word was taken
  logic     due_q, given_q;                  // a command was read; it was taken
  command_t due_command_q;
  logic     told_q, answer_now_q;            // an answer is to be written; it is on the port
  answer_t  told_answer_q;
  logic     stopped_q;                       // memory has answered with an error

  logic rd_taken, wr_taken, word_taken, command_taken, reads_command;
  assign rd_taken      = rd_valid && rd_ready_i;
  assign wr_taken      = wr_valid && wr_ready_i;
  assign word_taken    = wr_data_valid && wr_data_ready_i;
  assign command_taken = command_valid && command_ready_i;
  assign reads_command = rd_data_valid_i && !rd_data_error_i && rd_data_i[31];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {reading_q, writing_q, worded_q, due_q, given_q, told_q, answer_now_q, stopped_q} <= '0;
    end else begin
      reading_q    <= (reading_q && !rd_data_valid_i) || rd_taken;
      writing_q    <= (writing_q && !wr_done_i) || wr_taken;
      worded_q     <= (worded_q && !wr_done_i) || word_taken;
      due_q        <= (due_q && !command_taken) || reads_command;
      given_q      <= (given_q && !answered_i) || command_taken;
      told_q       <= (told_q && !(word_taken && wr_strobe[0])) || answered_i;
      answer_now_q <= answered_i;
      stopped_q    <= ((rd_data_valid_i && rd_data_error_i) || (wr_done_i && wr_error_i)) ||
                      (stopped_q && error);
    end
  end

  always_ff @(posedge clk_i) begin
    if (reads_command) begin
      due_command_q <= '{op: op_e'(rd_data_i[30:28]), level: rd_data_i[23:16],
                         handle: rd_data_i[15:0]};
    end
    if (answer_now_q) told_answer_q <= answer_i;
  end

  always_ff @(posedge clk_i) begin
    begun_q <= 1'b1;
    begin_in_reset: assume (rst_ni == begun_q);
    if (rst_ni) begin
      // Nothing comes that was not asked for.
      read_asked: assume (!rd_data_valid_i || reading_q);
      write_asked: assume (!wr_done_i || worded_q);
      answer_asked: assume (!answered_i || (given_q && answers_i));
      if ($past(rst_ni)) begin
        first_kept: assume (first_i == $past(first_i) || $past(first_changes_i));
        commands_kept: assume (commands_i == $past(commands_i) || $past(answers_i));
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      one_access: assert (!(rd_valid || wr_valid) || !(reading_q || writing_q || due_q || given_q));
      one_kind: assert (!rd_valid || !wr_valid);
      aligned: assert (!(rd_valid || wr_valid) || addr[2:0] == '0);
      // Without a pause, as axi_master's proof takes for granted.
      word_follows: assert (wr_data_valid == (writing_q && !worded_q));

      // Each command that was read is given, and no other.
      given: assert (command_valid == due_q);
      given_same: assert (!command_valid || command == due_command_q);

      // Its answer comes before anything else, and in whole.
      answer_first: assert (!rd_valid || !told_q);
      answer_same: assert (!((wr_valid || wr_data_valid) && told_q) ||
                           (wr_strobe[3:0] == '1 && wr_data[31:0] ==
                            {1'b0, told_answer_q.status, 4'b0, told_answer_q.level,
                             told_answer_q.handle}));
      words_whole: assert (!(wr_valid || wr_data_valid) ||
                           ((wr_strobe[7:4] == '1 || wr_strobe[7:4] == '0) &&
                            (wr_strobe[3:0] == '1 || wr_strobe[3:0] == '0)));
      some_word: assert (!(wr_valid || wr_data_valid) || wr_strobe != '0);

      stops: assert (!stopped_q || !(error || $past(error)) ||
                     !(rd_valid || wr_valid || command_valid));
      told_error: assert (!$past(rst_ni && ((rd_data_valid_i && rd_data_error_i) ||
                                            (wr_done_i && wr_error_i))) || error);
      pends: assert (!$past(rst_ni && begin_i) || pending);
      answer_kept: assert (!told_q || pending || !$past(pending));

      if ($past(rst_ni)) begin
        rd_stands: assert (!$past(rd_valid && !rd_ready_i) || (rd_valid && addr == $past(addr)));
        wr_stands: assert (!$past(wr_valid && !wr_ready_i) || (wr_valid && addr == $past(addr)));
        word_stands: assert (!$past(wr_data_valid && !wr_data_ready_i) ||
                             {wr_data, wr_strobe} == $past({wr_data, wr_strobe}));
        command_stands: assert (!$past(command_valid && !command_ready_i) ||
                                command == $past(command));
      end

      answer_is_written: cover (wr_done_i && $past(told_q, 2));
      goes_on: cover (rd_valid && $past(error, 3) && $past(rd_data_error_i, 4));
    end
  end

`ifndef CUT
  // Its states, by its own names.
  typedef enum logic [2:0] {Idle, Fetch, Arrive, Give, Answer, Write, Word, Finish} state_e;
  state_e state;
  assign state = state_e'(dut.state_q);

  // By the scheme that is at work.
  logic acp, hybrid, resting;
  assign acp     = dut.scheme_q inside {Event, Polling};
  assign hybrid  = dut.scheme_q == Hybrid;
  assign resting = !(rd_valid || reading_q || wr_valid || writing_q || due_q || given_q);

  // What memory has, where it was written since the scheme began.
  logic [31:0] memory_first_q, memory_commands_q;
  logic        write_over;
  assign write_over = wr_done_i && !wr_error_i;

  always_ff @(posedge clk_i) begin
    if (write_over && wr_strobe[7]) memory_first_q <= wr_data[63:32];
    if (write_over && wr_strobe[0] && hybrid) memory_commands_q <= wr_data[31:0];
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      none_by_page: assert (dut.scheme_q != Page || resting);
      reads_with_acp: assert (acp || !(rd_valid || reading_q || due_q || given_q || told_q));
      // A word of software's is written by an answer and nothing else.
      not_overwritten: assert (!wr_data_valid || hybrid || !wr_strobe[0] || told_q);
      address_same: assert (!(rd_valid || wr_valid) || addr[31:3] == dut.address_q);

      // Either a word is due, or it is being written, or memory has it.
      if (dut.scheme_q != Page && !error) begin
        first_present: assert (dut.first_due_q || first_i ==
                               ((wr_valid || writing_q) && wr_strobe[7] ? wr_data[63:32]
                                                                         : memory_first_q));
        commands_present: assert (!hybrid || dut.other_due_q || commands_i ==
                                  ((wr_valid || writing_q) && wr_strobe[0] ? wr_data[31:0]
                                                                           : memory_commands_q));
      end

      // What makes the rest follow by induction.
      state_read: assert (rd_valid == (state == Fetch) &&
                          reading_q == (state == Arrive));
      state_command: assert (due_q == (state == Give) &&
                             given_q == (state == Answer));
      state_write: assert (writing_q == (state inside {Word, Finish}) &&
                           worded_q == (state == Finish));
      state_told: assert (!told_q || !acp ||
                          (answer_now_q && state == Idle && dut.other_due_q) ||
                          (!answer_now_q && state inside {Write, Word}));
      state_answer_now: assert (!answer_now_q || told_q);
      state_other: assert (!acp || dut.other_due_q == answer_now_q);
      state_strobe: assert (!(wr_valid || wr_data_valid) ||
                            (told_q ? wr_strobe[3:0] == '1 : hybrid || wr_strobe[3:0] == '0));
      state_error: assert (!error || (resting && !told_q));
      state_read_last: assert (!(rd_valid || reading_q || due_q || given_q || answer_now_q) ||
                               !dut.wrote_q);
    end
  end
`endif

endmodule
