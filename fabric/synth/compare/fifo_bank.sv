// For comparison with ready_queue: a FIFO for each priority, as the paper has it, each deep enough
// for all handles. It cannot remove from the middle, nor say who comes next, nor notice that a
// handle is there already.
module fifo_bank
  import ready_queue_pkg::*;
#(
  parameter int unsigned DEPTH = 64,
  parameter int unsigned PRIORITIES = 256,
  parameter int unsigned HANDLE_BITS = 16,
  localparam int unsigned PRIORITY_BITS = $clog2(PRIORITIES)
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  output logic                     initialised_o,
  input  logic                     command_valid_i,
  output logic                     command_ready_o,
  input  op_e                      command_op_i,
  input  logic [PRIORITY_BITS-1:0] command_priority_i,
  input  logic [HANDLE_BITS-1:0]   command_handle_i,
  output logic                     answer_valid_o,
  output status_e                  answer_status_o,
  output logic [HANDLE_BITS-1:0]   answer_handle_o,
  output logic [PRIORITY_BITS-1:0] answer_priority_o
);

  localparam int unsigned INDEX_BITS = $clog2(DEPTH);
  localparam int unsigned GROUP_BITS = PRIORITY_BITS / 2;
  localparam int unsigned GROUPS = 1 << GROUP_BITS;

  typedef logic [INDEX_BITS-1:0] index_t;
  typedef logic [PRIORITY_BITS-1:0] priority_t;

  // The position of the highest bit that is set; 0 when none is.
  function automatic logic [GROUP_BITS-1:0] highest(input logic [GROUPS-1:0] bits);
    highest = '0;
    for (int unsigned i = 0; i < GROUPS; i++) if (bits[i]) highest = GROUP_BITS'(i);
  endfunction

  index_t ring [PRIORITIES*DEPTH];
  (* ram_style = "distributed" *) index_t head [PRIORITIES];  // the first
  (* ram_style = "distributed" *) index_t tail [PRIORITIES];  // behind the last

  logic [PRIORITIES-1:0] some_q;
  logic [GROUPS-1:0] used;
  priority_t level, top_q, top_d, level_q;
  index_t head_level, tail_level, head_d, tail_d, position, data_q, index_q;
  logic accept, apply_q, inserts, by_highest, takes, refused, write;
  status_e status;

  assign initialised_o   = 1'b1;
  assign command_ready_o = !apply_q;
  assign accept     = command_valid_i && !apply_q;
  assign by_highest = command_op_i inside {TakeHighest, PeekHighest};
  assign inserts    = command_op_i inside {InsertTail, InsertHead};
  assign takes      = command_op_i inside {Take, TakeHighest};
  assign level      = by_highest ? top_q : command_priority_i;
  // An empty FIFO begins at 0 again, so that no pointer needs a value at reset.
  assign head_level = some_q[level] ? head[level] : '0;
  assign tail_level = some_q[level] ? tail[level] : '0;
  assign refused    = inserts ? 32'(command_handle_i) >= DEPTH : !some_q[level];
  assign write      = accept && !refused && (inserts || takes);
  assign head_d     = command_op_i == InsertHead ? head_level - 1'b1 : head_level + index_t'(takes);
  assign tail_d     = tail_level + index_t'(command_op_i == InsertTail);
  assign position   = command_op_i == InsertTail ? tail_level :
                      command_op_i == InsertHead ? head_d : head_level;

  always_comb begin
    status = Done;
    if (refused) status = inserts ? Invalid : Empty;
    for (int unsigned g = 0; g < GROUPS; g++) used[g] = some_q[g*GROUPS+:GROUPS] != '0;
    top_d[PRIORITY_BITS-1:GROUP_BITS] = highest(used);
    top_d[GROUP_BITS-1:0] = highest(some_q[highest(used)*GROUPS+:GROUPS]);
  end

  always_ff @(posedge clk_i) begin
    if (accept) begin
      if (inserts && !refused) ring[{level, position}] <= index_t'(command_handle_i);
      else data_q <= ring[{level, position}];
    end
    if (write) head[level] <= head_d;
    if (write) tail[level] <= tail_d;
    if (accept) level_q <= level;
    if (accept) answer_status_o <= status;
    if (accept) index_q <= index_t'(command_handle_i);
    top_q <= top_d;
  end

  logic inserts_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      apply_q        <= 1'b0;
      some_q         <= '0;
      answer_valid_o <= 1'b0;
    end else begin
      apply_q        <= accept;
      answer_valid_o <= apply_q;
      if (write) some_q[level] <= inserts || head_d != tail_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (accept) inserts_q <= inserts;
    answer_handle_o   <= inserts_q ? HANDLE_BITS'(index_q) : HANDLE_BITS'(data_q);
    answer_priority_o <= level_q;
  end

endmodule
