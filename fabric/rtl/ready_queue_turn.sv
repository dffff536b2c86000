// Whose turn it is at the ready queue: commands come by the page and from memory, and go to the
// queue one at a time, from flip-flops. Of two in the same cycle the one from memory goes first: it
// has been there for longer, and the next one takes memory's time to come.
//
// A clear waits for the command under way, which so has its answer; what comes later waits for the
// clear.
module ready_queue_turn
  import ready_queue_pkg::*;
(
  input  logic     clk_i,
  input  logic     rst_ni,

  // By the page.
  input  logic     page_valid_i,
  output logic     page_ready_o,
  input  command_t page_command_i,
  output logic     page_answered_o,     // in the cycle of the queue's answer
  input  logic     clear_i,

  // From memory.
  input  logic     fetched_valid_i,
  output logic     fetched_ready_o,
  input  command_t fetched_command_i,
  output logic     fetched_answered_o,

  output logic     initialised_o,       // the queue takes commands

  // To the queue.
  output logic     clear_o,
  input  logic     initialised_i,
  output logic     command_valid_o,
  input  logic     command_ready_i,
  output command_t command_o,
  input  logic     answered_i
);

  logic page_q, fetched_q;  // whose command is under way
  logic given_q;            // the queue has not taken it yet
  logic clear_q;            // waits
  logic busy, clears, page_taken, fetched_taken;

  assign busy            = page_q || fetched_q;
  assign clears          = clear_i || clear_q;
  // Not while the queue is emptied, or the page would wait with it.
  assign fetched_ready_o = !busy && initialised_i && !clears;
  assign fetched_taken   = fetched_valid_i && fetched_ready_o;
  assign page_ready_o    = !busy && !fetched_taken;
  assign page_taken      = page_valid_i && page_ready_o;

  assign clear_o            = clears && !busy;
  assign initialised_o      = initialised_i && !clears;
  assign command_valid_o    = given_q;
  assign page_answered_o    = answered_i && page_q;
  assign fetched_answered_o = answered_i && fetched_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      page_q    <= 1'b0;
      fetched_q <= 1'b0;
      given_q   <= 1'b0;
      clear_q   <= 1'b0;
    end else begin
      page_q    <= (page_q && !answered_i) || page_taken;
      fetched_q <= (fetched_q && !answered_i) || fetched_taken;
      given_q   <= (given_q && !command_ready_i) || page_taken || fetched_taken;
      clear_q   <= clears && busy;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!busy) command_o <= fetched_taken ? fetched_command_i : page_command_i;
  end

endmodule
