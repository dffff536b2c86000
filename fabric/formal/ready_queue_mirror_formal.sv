// The mirror towards any axi_master: one write under way at a time, offers that stand until they
// are taken, and a memory that has the present value whenever nothing has changed and nothing is
// under way.
module ready_queue_mirror_formal (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        enable_i,
  input logic [31:3] address_i,
  input logic [63:0] data_i,
  input logic        changed_i,
  input logic        wr_ready_i,
  input logic        wr_data_ready_i,
  input logic        wr_done_i,
  input logic        wr_error_i
);

  logic        error, wr_valid, wr_data_valid;
  logic [31:0] wr_addr;
  logic [63:0] wr_data;

  ready_queue_mirror dut (
    .clk_i, .rst_ni, .enable_i, .address_i, .data_i, .changed_i, .error_o(error),
    .wr_valid_o(wr_valid), .wr_ready_i, .wr_addr_o(wr_addr),
    .wr_data_valid_o(wr_data_valid), .wr_data_ready_i, .wr_data_o(wr_data),
    .wr_done_i, .wr_error_i
  );

  // What the memory was told: a command, then its word, then it is done.
  logic        begun_q = 1'b0;
  logic        commanded_q, worded_q;
  logic [31:3] address_q;
  logic [63:0] memory_q;
  logic        kept_q;         // the memory has been written at address_q since it was enabled
  logic        was_enabled_q, was_changed_q;
  logic [1:0]  quiet_q;        // cycles in which nothing was offered or under way, at most 3

  logic under_way, quiet;
  assign under_way = commanded_q || worded_q;
  assign quiet     = !wr_valid && !wr_data_valid && !under_way;

  always_ff @(posedge clk_i) begin
    begun_q <= 1'b1;
    begin_in_reset: assume (rst_ni == begun_q);
    if (rst_ni && $past(rst_ni)) begin
      told: assume (data_i == $past(data_i) || $past(changed_i));
      // Whoever moves the mirror disables it first.
      stays: assume (!enable_i || !$past(enable_i) || address_i == $past(address_i));
    end
    done_once: assume (!wr_done_i || worded_q);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      commanded_q   <= 1'b0;
      worded_q      <= 1'b0;
      kept_q        <= 1'b0;
      was_enabled_q <= 1'b0;
      was_changed_q <= 1'b0;
      quiet_q       <= '0;
    end else begin
      commanded_q   <= (commanded_q && !(wr_data_valid && wr_data_ready_i)) ||
                       (wr_valid && wr_ready_i);
      worded_q      <= (worded_q && !wr_done_i) || (wr_data_valid && wr_data_ready_i);
      was_enabled_q <= enable_i;
      was_changed_q <= changed_i;
      if (!enable_i) kept_q <= 1'b0;
      else if (worded_q && wr_done_i && !wr_error_i && was_enabled_q) kept_q <= 1'b1;
      if (!quiet || !enable_i || changed_i) quiet_q <= '0;
      else if (quiet_q != '1) quiet_q <= quiet_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (wr_valid && wr_ready_i) address_q <= wr_addr[31:3];
    if (wr_data_valid && wr_data_ready_i) memory_q <= wr_data;
  end

`ifndef CUT
  // States of the design and of this harness, for the induction.
  logic idle;
  assign idle = !wr_valid && !wr_data_valid && !worded_q;

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      same_data: assert (wr_data_valid == commanded_q);
      same_wait: assert ((dut.state_q == 2'd3) == worded_q);
      same_memory: assert (!worded_q || memory_q == dut.wr_data_o);
      covers_all: assert (idle || dut.due_q || !was_enabled_q ||
                          data_i == dut.wr_data_o || was_changed_q);
      up_to_date: assert (!idle || dut.due_q || !was_enabled_q || error ||
                          !dut.enabled_q || memory_q == data_i || was_changed_q);
    end
  end
`endif

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      one: assert (!wr_valid || !under_way);
      word_after_command: assert (!wr_data_valid || commanded_q);
      aligned: assert (!wr_valid || wr_addr[2:0] == '0);
      if ($past(rst_ni)) begin
        command_stands: assert (!$past(wr_valid && !wr_ready_i) ||
                                (wr_valid && wr_addr == $past(wr_addr)));
        word_stands: assert (!$past(wr_data_valid && !wr_data_ready_i) ||
                             (wr_data_valid && wr_data == $past(wr_data)));
        stopped: assert (!$past(error && enable_i) || !wr_valid);
      end
      if (quiet_q == '1 && !error && enable_i && quiet) begin
        present: assert (memory_q == data_i);
      end
      written: cover (kept_q && quiet_q == '1 && memory_q != '0);
    end
  end

endmodule
