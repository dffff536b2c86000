// The ready queue against a model: each handle's list and its rank in that list. All answers, their
// cycles, who comes first and the count are compared, for any commands with any pauses and clears.
//
// That nothing is lost, doubled or out of order follows: the model's ranks are a permutation, and
// the vCPU that comes first or next is the one that the model says.
module ready_queue_formal
  import ready_queue_pkg::*;
#(
  parameter int unsigned DEPTH = 4,
  parameter int unsigned PRIORITIES = 4,
  localparam int unsigned HANDLE_BITS = $clog2(DEPTH) + 1,
  localparam int unsigned PRIORITY_BITS = $clog2(PRIORITIES),
  localparam int unsigned RANK_BITS = $clog2(DEPTH + 1)
) (
  input logic                     clk_i,
  input logic                     rst_ni,
  input logic                     clear_i,
  input logic                     command_valid_i,
  input op_e                      command_op_i,
  input logic [PRIORITY_BITS-1:0] command_priority_i,
  input logic [HANDLE_BITS-1:0]   command_handle_i
);

  localparam int unsigned INDEX_BITS = $clog2(DEPTH);
  localparam int unsigned GROUPS = 1 << (PRIORITY_BITS / 2);
  localparam int unsigned CLEAR_CYCLES = DEPTH > PRIORITIES ? DEPTH : PRIORITIES;

  typedef logic [HANDLE_BITS-1:0] handle_t;
  typedef logic [PRIORITY_BITS-1:0] priority_t;
  typedef logic [RANK_BITS-1:0] rank_t;

  logic initialised, ready, answered, first_valid, first_changed;
  status_e status;
  handle_t handle, first_handle;
  priority_t level, first_level;
  rank_t count;

  ready_queue #(.DEPTH(DEPTH), .PRIORITIES(PRIORITIES), .HANDLE_BITS(HANDLE_BITS)) dut (
    .clk_i,
    .rst_ni,
    .clear_i,
    .initialised_o    (initialised),
    .command_valid_i,
    .command_ready_o  (ready),
    .command_op_i,
    .command_priority_i,
    .command_handle_i,
    .answer_valid_o   (answered),
    .answer_status_o  (status),
    .answer_handle_o  (handle),
    .answer_priority_o(level),
    .first_valid_o    (first_valid),
    .first_handle_o   (first_handle),
    .first_priority_o (first_level),
    .first_changed_o  (first_changed),
    .count_o          (count)
  );

  // The model.
  logic [DEPTH-1:0] in_q, in_d;
  priority_t level_q [DEPTH], level_d [DEPTH];
  rank_t     rank_q [DEPTH], rank_d [DEPTH];
  rank_t     length [PRIORITIES];
  handle_t   head [PRIORITIES];

  // What the command on the port has to give.
  logic      inserts, by_handle, found;
  status_e   due;
  handle_t   due_handle;
  priority_t due_level;
  logic      across;  // Next goes on to another list

  // Who comes first of all now.
  logic      top_valid;
  priority_t top;

  always_comb begin
    for (int unsigned p = 0; p < PRIORITIES; p++) begin
      length[p] = '0;
      head[p]   = '0;
      for (int unsigned h = 0; h < DEPTH; h++) begin
        if (in_q[h] && level_q[h] == priority_t'(p)) begin
          length[p] = length[p] + 1'b1;
          if (rank_q[h] == '0) head[p] = handle_t'(h);
        end
      end
    end
    top_valid = 1'b0;
    top       = '0;
    for (int unsigned p = 0; p < PRIORITIES; p++) begin
      if (length[p] != '0) begin
        top_valid = 1'b1;
        top       = priority_t'(p);
      end
    end
  end

  always_comb begin
    inserts    = command_op_i inside {InsertTail, InsertHead};
    by_handle  = inserts || command_op_i inside {Remove, Next};
    due        = Done;
    due_handle = command_handle_i;
    due_level  = command_priority_i;
    across     = 1'b0;
    found      = 1'b0;
    if (by_handle && 32'(command_handle_i) >= DEPTH) begin
      due = Invalid;
    end else if (inserts) begin
      for (int unsigned h = 0; h < DEPTH; h++) begin
        if (command_handle_i == handle_t'(h) && in_q[h]) due = Queued;
      end
    end else if (by_handle) begin
      due = Absent;
      for (int unsigned h = 0; h < DEPTH; h++) begin
        if (command_handle_i == handle_t'(h) && in_q[h]) begin
          due       = Done;
          due_level = level_q[h];
          if (command_op_i == Next) begin
            for (int unsigned n = 0; n < DEPTH; n++) begin
              if (in_q[n] && level_q[n] == level_q[h] && rank_q[n] == rank_q[h] + 1'b1) begin
                found      = 1'b1;
                due_handle = handle_t'(n);
              end
            end
            across = !found;
            for (int unsigned p = 0; p < PRIORITIES; p++) begin
              if (across && length[p] != '0 && priority_t'(p) < level_q[h]) begin
                found      = 1'b1;
                due_handle = head[p];
                due_level  = priority_t'(p);
              end
            end
            if (!found) due = Empty;
          end
        end
      end
    end else begin
      if (command_op_i inside {TakeHighest, PeekHighest}) due_level = top;
      due_handle = head[due_level];
      if (length[due_level] == '0) due = Empty;
    end
  end

  // What the command does to the model.
  logic taken;
  logic takes;
  assign taken = command_valid_i && ready;
  assign takes = command_op_i inside {Remove, Take, TakeHighest};

  always_comb begin
    in_d    = in_q;
    level_d = level_q;
    rank_d  = rank_q;
    if (taken && due == Done) begin
      for (int unsigned h = 0; h < DEPTH; h++) begin
        if (inserts && due_handle == handle_t'(h)) begin
          in_d[h]    = 1'b1;
          level_d[h] = due_level;
          rank_d[h]  = command_op_i == InsertHead ? '0 : length[due_level];
        end else if (inserts && command_op_i == InsertHead && level_q[h] == due_level) begin
          rank_d[h] = rank_q[h] + 1'b1;
        end else if (takes && due_handle == handle_t'(h)) begin
          in_d[h] = 1'b0;
        end else if (takes && level_q[h] == due_level) begin
          for (int unsigned t = 0; t < DEPTH; t++) begin
            if (due_handle == handle_t'(t) && rank_q[h] > rank_q[t]) rank_d[h] = rank_q[h] - 1'b1;
          end
        end
      end
    end
    if (clear_i) in_d = '0;
  end

  // What is asked of the answer to the command under way.
  logic      pending_q;
  status_e   due_q;
  handle_t   due_handle_q;
  priority_t due_level_q;
  logic [2:0] cycles_q, cycles_due_q;
  logic [$clog2(CLEAR_CYCLES + 1)-1:0] cleared_q;  // cycles since reset or clear

  logic      begun_q = 1'b0;
  logic      before_valid_q;
  handle_t   before_handle_q;
  priority_t before_level_q;

  always_ff @(posedge clk_i) begin
    begun_q <= 1'b1;
    begin_in_reset: assume (rst_ni == begun_q);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      in_q            <= '0;
      pending_q       <= 1'b0;
      cycles_q        <= '0;
      cleared_q       <= '0;
      before_valid_q  <= 1'b0;
    end else begin
      in_q            <= in_d;
      pending_q       <= (taken || (pending_q && !answered)) && !clear_i;
      cycles_q        <= taken ? 3'd1 : cycles_q + 1'b1;
      before_valid_q  <= first_valid;
      if (clear_i) cleared_q <= '0;
      else if (!initialised) cleared_q <= cleared_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    level_q         <= level_d;
    rank_q          <= rank_d;
    before_handle_q <= first_handle;
    before_level_q  <= first_level;
    if (taken) begin
      due_q        <= due;
      due_handle_q <= due_handle;
      due_level_q  <= due_level;
      if (command_op_i == Remove) cycles_due_q <= 3'd3;
      else if (command_op_i == Next) cycles_due_q <= across ? 3'd6 : 3'd3;
      else cycles_due_q <= 3'd2;
    end
  end

`ifndef CUT
  // What the induction needs to know of the memories: that they hold what the model says.
  for (genvar h = 0; h < DEPTH; h++) begin : gen_handle
    always_ff @(posedge clk_i) begin
      if (rst_ni && dut.taking) begin
        same_members: assert (dut.queued[h] == in_q[h]);
        if (in_q[h]) begin
          same_level: assert (dut.u_level.memory[h] == level_q[h]);
          rank_bounded: assert (rank_q[h] < length[level_q[h]]);
          same_first: assert (dut.u_previous.memory[h][INDEX_BITS] == (rank_q[h] == '0));
          same_last: assert (dut.u_next.memory[h][INDEX_BITS] ==
                             (rank_q[h] + 1'b1 == length[level_q[h]]));
        end
      end
      if (rst_ni && dut.clearing) begin
        cleared_handle: assert (h >= 32'(cleared_q) || !dut.queued[h]);
      end
    end
    for (genvar n = 0; n < DEPTH; n++) begin : gen_other
      always_ff @(posedge clk_i) begin
        if (rst_ni && dut.taking && h != n && in_q[h] && in_q[n] && level_q[h] == level_q[n]) begin
          ranks_differ: assert (rank_q[h] != rank_q[n]);
          if (rank_q[n] == rank_q[h] + 1'b1) begin
            linked_on: assert (dut.u_next.memory[h][INDEX_BITS-1:0] == n);
            linked_back: assert (dut.u_previous.memory[n][INDEX_BITS-1:0] == h);
          end
        end
      end
    end
  end

  for (genvar p = 0; p < PRIORITIES; p++) begin : gen_priority
    always_ff @(posedge clk_i) begin
      if (rst_ni && dut.taking) begin
        same_some: assert (dut.head[p][INDEX_BITS] == (length[p] != '0));
        same_bit: assert (dut.words[p / GROUPS][p % GROUPS] == (length[p] != '0));
        if (length[p] != '0) begin
          same_head: assert (dut.head[p][INDEX_BITS-1:0] == head[p][INDEX_BITS-1:0]);
          same_tail: assert (in_q[dut.tail[p]] && level_q[dut.tail[p]] == p &&
                             rank_q[dut.tail[p]] + 1'b1 == length[p]);
        end
      end
      if (rst_ni && dut.clearing) begin
        cleared_list: assert (p >= 32'(cleared_q) ||
                              (!dut.head[p][INDEX_BITS] && !dut.words[p / GROUPS][p % GROUPS]));
      end
    end
  end

  for (genvar g = 0; g < GROUPS; g++) begin : gen_group
    always_ff @(posedge clk_i) begin
      if (rst_ni && dut.taking) same_used: assert (dut.used_q[g] == (dut.words[g] != '0));
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      busy: assert ((pending_q && !answered) == (!dut.taking && !dut.clearing));
      if (dut.taking) begin
        same_top: assert (dut.top_some_q == top_valid && (!top_valid || (dut.top_q == top &&
                          dut.limit_q == top && dut.limit_head_q == top)));
      end
      if (dut.clearing) begin
        nothing: assert (in_q == '0);
        counts_handles: assert (32'(dut.index_q) == (32'(cleared_q) < DEPTH ? 32'(cleared_q)
                                                                             : DEPTH - 1));
        counts_lists: assert (32'(dut.level_q) == (32'(cleared_q) < PRIORITIES ? 32'(cleared_q)
                                                                                : PRIORITIES - 1));
        none_first: assert (!first_valid);
        nothing_left: assert (cleared_q == '0 || (dut.used_q == '0 && dut.count_q == '0));
      end
    end
  end
`endif

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // As many cycles as promised, no more and no less; and no answer without a command.
      prompt: assert (answered == (pending_q && cycles_q == cycles_due_q));
      accepts: assert (ready == (initialised && (!pending_q || answered) && !clear_i));
      clears: assert (initialised || 32'(cleared_q) < CLEAR_CYCLES);
      if (answered) begin
        status_right: assert (status == due_q);
        handle_right: assert (due_q != Done || handle == due_handle_q);
        level_right: assert (due_q != Done || level == due_level_q);
      end
      if (initialised && (!pending_q || answered)) begin
        first_there: assert (first_valid == top_valid);
        first_right: assert (!top_valid || (first_handle == head[top] && first_level == top));
        counted: assert (32'(count) == $countones(in_q));
      end
      changes: assert (first_changed == (first_valid != before_valid_q ||
                       (first_valid && {first_handle, first_level} !=
                                       {before_handle_q, before_level_q})));

      full: cover (&in_q);
      emptied: cover (answered && due_q == Done && first_changed && !first_valid);
      goes_on: cover (answered && status == Done && cycles_due_q == 3'd6);
      cleared: cover (initialised && cleared_q != '0 && $past(first_valid, CLEAR_CYCLES + 1));
    end
  end

endmodule
