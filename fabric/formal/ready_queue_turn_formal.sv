// Whose turn it is, for any page, memory and queue: each command that is taken reaches the queue
// once, as it was; its answer goes to who gave it; a clear takes no answer away and waits for
// nothing that came after it; and no command waits for ever.
module ready_queue_turn_formal
  import ready_queue_pkg::*;
(
  input logic     clk_i,
  input logic     rst_ni,
  input logic     page_valid_i,
  input command_t page_command_i,
  input logic     clear_i,
  input logic     fetched_valid_i,
  input command_t fetched_command_i,
  input logic     initialised_i,
  input logic     command_ready_i,
  input logic     answered_i
);

  logic     page_ready, page_answered, fetched_ready, fetched_answered, initialised, clear;
  logic     command_valid;
  command_t command;

  ready_queue_turn dut (
    .clk_i, .rst_ni,
    .page_valid_i, .page_ready_o(page_ready), .page_command_i, .page_answered_o(page_answered),
    .clear_i, .fetched_valid_i, .fetched_ready_o(fetched_ready), .fetched_command_i,
    .fetched_answered_o(fetched_answered), .initialised_o(initialised), .clear_o(clear),
    .initialised_i, .command_valid_o(command_valid), .command_ready_i, .command_o(command),
    .answered_i
  );

  logic     begun_q = 1'b0;
  logic     page_q, fetched_q;   // whose command was taken and has no answer
  logic     given_q, taken_q;    // it is not with the queue yet; it is
  command_t due_q;
  logic     clear_due_q;         // a clear has to come
  logic     page_taken, fetched_taken, command_taken;

  assign page_taken    = page_valid_i && page_ready;
  assign fetched_taken = fetched_valid_i && fetched_ready;
  assign command_taken = command_valid && command_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {page_q, fetched_q, given_q, taken_q, clear_due_q} <= '0;
    end else begin
      page_q      <= (page_q && !answered_i) || page_taken;
      fetched_q   <= (fetched_q && !answered_i) || fetched_taken;
      given_q     <= (given_q && !command_taken) || page_taken || fetched_taken;
      taken_q     <= (taken_q && !answered_i) || command_taken;
      clear_due_q <= (clear_due_q || clear_i) && !clear;
    end
  end

  always_ff @(posedge clk_i) begin
    if (page_taken) due_q <= page_command_i;
    if (fetched_taken) due_q <= fetched_command_i;
  end

  always_ff @(posedge clk_i) begin
    begun_q <= 1'b1;
    begin_in_reset: assume (rst_ni == begun_q);
    if (rst_ni) begin
      // The page waits for its answers; so does memory. The queue answers what it was given.
      page_waits: assume (!page_valid_i || !page_q);
      memory_waits: assume (!fetched_valid_i || !fetched_q);
      was_given: assume (!answered_i || taken_q);
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      one: assert (!(page_taken && fetched_taken) &&
                   !((page_taken || fetched_taken) && (page_q || fetched_q)));
      given: assert (command_valid == given_q);
      given_same: assert (!command_valid || command == due_q);
      page_told: assert (page_answered == (answered_i && page_q));
      fetched_told: assert (fetched_answered == (answered_i && fetched_q));

      clear_takes_none: assert (!clear || !(given_q || taken_q));
      clear_wanted: assert (!clear || clear_i || clear_due_q);
      clear_first: assert (!(clear_i || clear_due_q) || clear || !(page_taken || fetched_taken));
      clear_soon: assert (!(clear_i || clear_due_q) || clear || given_q || taken_q);
      none_while_emptied: assert (!fetched_taken || (initialised_i && !clear));
      told_ready: assert (initialised == (initialised_i && !clear_i && !clear_due_q));

      // Neither side waits but for the command under way, or the queue that is emptied.
      page_goes: assert (page_ready || given_q || taken_q || fetched_taken);
      memory_goes: assert (fetched_ready || given_q || taken_q || !initialised);

      cleared: cover (clear && clear_due_q);
      both: cover (page_valid_i && fetched_taken);
`ifndef CUT
      state_page: assert (dut.page_q == page_q && dut.fetched_q == fetched_q);
      state_given: assert ((page_q || fetched_q) == (given_q || taken_q) && !(given_q && taken_q) &&
                           !(page_q && fetched_q));
      state_clear: assert (dut.clear_q == clear_due_q);
`endif
    end
  end

endmodule
