// For comparison with ready_queue: a sorted shift register. Each entry compares itself with the
// command and keeps, takes its neighbour's place or takes what is new. One command a cycle.
module shift_queue
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

  typedef struct packed {
    logic [PRIORITY_BITS-1:0] level;
    logic [INDEX_BITS-1:0]    index;
  } entry_t;

  entry_t entry_q [DEPTH];
  entry_t found, fresh;
  logic [DEPTH-1:0] valid_q, ahead, named, listed, match, from, hit, wanted;
  logic inserts, removes, by_handle, invalid;
  status_e status;

  assign initialised_o   = 1'b1;
  assign command_ready_o = 1'b1;
  assign inserts   = command_op_i inside {InsertTail, InsertHead};
  assign removes   = command_op_i inside {Remove, Take, TakeHighest};
  assign by_handle = command_op_i inside {Remove, Next};
  assign invalid   = 32'(command_handle_i) >= DEPTH;
  assign fresh     = {command_priority_i, INDEX_BITS'(command_handle_i)};

  for (genvar i = 0; i < DEPTH; i++) begin : gen_compare
    assign named[i]  = valid_q[i] && HANDLE_BITS'(entry_q[i].index) == command_handle_i;
    assign listed[i] = valid_q[i] && entry_q[i].level == command_priority_i;
    assign ahead[i] = valid_q[i] && (entry_q[i].level > command_priority_i ||
                       (entry_q[i].level == command_priority_i && command_op_i == InsertTail));
  end

  always_comb begin
    if (by_handle) match = named;
    else if (command_op_i inside {Take, Peek}) match = listed;
    else match = DEPTH'(valid_q[0]);
    from = match;
    for (int unsigned s = 1; s < DEPTH; s *= 2) from |= from << s;
    hit    = from & ~(from << 1);
    wanted = command_op_i == Next ? (hit << 1) & valid_q : hit;

    status = Done;
    if ((inserts || by_handle) && invalid) status = Invalid;
    else if (inserts) begin
      if (named != '0) status = Queued;
    end else if (by_handle && named == '0) status = Absent;
    else if (wanted == '0) status = Empty;
  end

  // Bit by bit, so that it becomes a tree of gates and not a chain.
  for (genvar b = 0; b < $bits(entry_t); b++) begin : gen_found
    logic [DEPTH-1:0] column;
    for (genvar i = 0; i < DEPTH; i++) begin : gen_column
      assign column[i] = entry_q[i][b] && wanted[i];
    end
    assign found[b] = |column;
  end

  for (genvar i = 0; i < DEPTH; i++) begin : gen_entry
    logic   valid_above, valid_below;
    logic   ahead_above;
    entry_t above, below;
    if (i == 0) begin : gen_first
      assign ahead_above = 1'b1;
      assign {valid_above, above} = {1'b1, fresh};
    end else begin : gen_others
      assign ahead_above = ahead[i-1];
      assign {valid_above, above} = {valid_q[i-1], entry_q[i-1]};
    end
    if (i == DEPTH - 1) begin : gen_last
      assign {valid_below, below} = '0;
    end else begin : gen_inner
      assign {valid_below, below} = {valid_q[i+1], entry_q[i+1]};
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        valid_q[i] <= 1'b0;
      end else if (command_valid_i && status == Done) begin
        if (inserts && !ahead[i]) valid_q[i] <= ahead_above || valid_above;
        else if (removes && from[i]) valid_q[i] <= valid_below;
      end
    end
    always_ff @(posedge clk_i) begin
      if (command_valid_i && status == Done) begin
        if (inserts && !ahead[i]) entry_q[i] <= ahead_above ? fresh : above;
        else if (removes && from[i]) entry_q[i] <= below;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) answer_valid_o <= 1'b0;
    else answer_valid_o <= command_valid_i;
  end

  always_ff @(posedge clk_i) begin
    answer_status_o   <= status;
    answer_handle_o   <= inserts ? HANDLE_BITS'(fresh.index) : HANDLE_BITS'(found.index);
    answer_priority_o <= inserts ? fresh.level : found.level;
  end

endmodule
