// The ready queue's side to memory, where a doubleword is shared with software: with a coherent
// port, either side finds in its cache, or the caches, what the other wrote.
//
//   upper word: the first vCPU. VALID (bit 31), priority (23 to 16), handle (15 to 0); or 0
//   lower word: hybrid: the number of commands answered
//               ACP: software's command, bit 31 set; then the queue's answer to it, bit 31 clear
//
// A word is written when it has changed, and no other: a command is never overwritten by anything
// but its answer. What changes while a write is under way is written after it. One access is under
// way at a time, so that memory never gets an older value after a newer one, and no command is
// fetched before the answer to the one before it is written.
//
// An error of memory stops it, until begin_i: a command that is not read as a whole is not done.
module ready_queue_memory
  import ready_queue_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,

  // ACCESS was written: from when pending_o is low counts what scheme_i and address_i said last.
  input  logic        begin_i,
  input  scheme_e     scheme_i,
  input  logic [31:3] address_i,
  output logic        pending_o,
  output logic        error_o,

  input  logic        event_i,         // software says that a command is there

  // The vCPU that comes first, how many commands were answered; and the cycle before each changes.
  input  logic [31:0] first_i,
  input  logic        first_changes_i,
  input  logic [31:0] commands_i,
  input  logic        answers_i,

  // Commands that were fetched. Their answer is answer_i in the cycle after answered_i.
  output logic        command_valid_o,
  input  logic        command_ready_i,
  output command_t    command_o,
  input  logic        answered_i,
  input  answer_t     answer_i,

  // To axi_master, a word of 64 bits at a time.
  output logic        rd_valid_o,
  input  logic        rd_ready_i,
  output logic [31:0] addr_o,
  input  logic        rd_data_valid_i,
  input  logic [63:0] rd_data_i,
  input  logic        rd_data_error_i,
  output logic        wr_valid_o,
  input  logic        wr_ready_i,
  output logic        wr_data_valid_o,
  input  logic        wr_data_ready_i,
  output logic [63:0] wr_data_o,
  output logic [7:0]  wr_strobe_o,
  input  logic        wr_done_i,
  input  logic        wr_error_i
);

  typedef enum logic [2:0] {
    Idle,
    Fetch,   // a read is offered
    Arrive,  // its word is awaited
    Give,    // a command is offered
    Answer,  // its answer is awaited
    Write,   // a write is offered
    Word,    // its word is
    Finish   // its end is awaited
  } state_e;

  state_e      state_q;
  scheme_e     scheme_q;
  logic [31:3] address_q;
  logic        error_q;
  logic        begin_q;                // ACCESS was written and does not count yet
  logic        event_q;                // there was one since the last read
  logic        first_due_q, other_due_q;  // the words that memory may not have
  logic        wrote_q;                // what was done last

  logic acp, wanted, begins, writes, fetches;

  assign acp    = scheme_q inside {Event, Polling};
  assign wanted = acp && (scheme_q == Polling || event_q);

  // An answer is written before ACCESS counts.
  assign begins  = state_q == Idle && begin_q && !(acp && other_due_q);

  // Writes and reads take turns where both are wanted; so after a command comes its answer.
  always_comb begin
    writes  = 1'b0;
    fetches = 1'b0;
    if (state_q == Idle && !begins && !error_q && scheme_q != Page) begin
      if (!(wanted && wrote_q) && (first_due_q || other_due_q)) writes = 1'b1;
      else fetches = wanted;
    end
  end

  assign pending_o       = begin_q;
  assign error_o         = error_q;
  assign rd_valid_o      = state_q == Fetch;
  assign command_valid_o = state_q == Give;
  assign wr_valid_o      = state_q == Write;
  assign wr_data_valid_o = state_q == Word;
  assign addr_o          = {address_q, 3'b000};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= Idle;
      scheme_q    <= Page;
      error_q     <= 1'b0;
      begin_q     <= 1'b0;
      event_q     <= 1'b0;
      first_due_q <= 1'b0;
      other_due_q <= 1'b0;
      wrote_q     <= 1'b0;
    end else begin
      begin_q     <= (begin_q && !begins) || begin_i;
      event_q     <= (event_q && !fetches) || event_i;
      first_due_q <= (first_due_q && !writes) || begins || first_changes_i;
      // With ACP only an answer: what else is in the word is software's.
      other_due_q <= begins ? scheme_i == Hybrid
                            : (other_due_q && !writes) || (acp ? answered_i : answers_i);
      if (writes || fetches) wrote_q <= writes;

      if (begins) begin
        scheme_q <= scheme_i;
        error_q  <= 1'b0;
      end

      unique case (state_q)
        Idle:   if (writes) state_q <= Write;
                else if (fetches) state_q <= Fetch;
        Fetch:  if (rd_ready_i) state_q <= Arrive;
        Arrive: if (rd_data_valid_i) begin
                  state_q <= !rd_data_error_i && rd_data_i[31] ? Give : Idle;
                  error_q <= rd_data_error_i;
                end
        Give:   if (command_ready_i) state_q <= Answer;
        Answer: if (answered_i) state_q <= Idle;
        Write:  if (wr_ready_i) state_q <= Word;
        Word:   if (wr_data_ready_i) state_q <= Finish;
        Finish: if (wr_done_i) begin
                  state_q <= Idle;
                  error_q <= wr_error_i;
                end
      endcase
    end
  end

  logic unused_data;
  assign unused_data = ^{rd_data_i[63:32], rd_data_i[27:24]};

  always_ff @(posedge clk_i) begin
    if (begins) address_q <= address_i;
    if (state_q == Arrive) begin
      command_o <= '{op: op_e'(rd_data_i[30:28]), level: rd_data_i[23:16],
                     handle: rd_data_i[15:0]};
    end
    if (writes) begin
      wr_data_o   <= {first_i, acp ? {1'b0, answer_i.status, 4'b0, answer_i.level, answer_i.handle}
                                   : commands_i};
      wr_strobe_o <= {{4{first_due_q}}, {4{other_due_q}}};
    end
  end

endmodule
