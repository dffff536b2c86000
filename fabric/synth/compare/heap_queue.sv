// For comparison with ready_queue: a binary heap in block RAM, ordered by priority and then by a
// sequence number that counts up for insertions at the tail and down for those at the head. It
// cannot take from a priority, remove from the middle, say who comes next, nor notice that a handle
// is there already; and its sequence numbers run out, which a real one would have to deal with.
module heap_queue
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
  localparam int unsigned SEQUENCE_BITS = 18;

  typedef logic [INDEX_BITS:0] node_t;  // 1 is the root; 2n and 2n + 1 are below n
  typedef logic [SEQUENCE_BITS-1:0] sequence_t;

  typedef struct packed {
    logic [PRIORITY_BITS-1:0] level;
    sequence_t                order;  // the greater the earlier
    logic [INDEX_BITS-1:0]    index;
  } entry_t;

  typedef enum logic [2:0] {Accept, Up, UpWrite, Last, Down, DownWrite} state_e;

  // Even nodes and odd ones, so that both below a node are read at once.
  entry_t even [DEPTH];
  entry_t odd [DEPTH];
  entry_t even_q, odd_q, moving_q, parent, greater;
  logic [PRIORITY_BITS-1:0] root_level_q;
  logic [INDEX_BITS-1:0]    root_index_q;
  state_e state_q;
  node_t  count_q, node_q, bigger;
  sequence_t earliest_q, latest_q;
  logic inserts, takes, empty, up_stops, down_stops;

  assign inserts = command_op_i inside {InsertTail, InsertHead};
  assign takes   = command_op_i == TakeHighest;
  assign empty   = count_q == '0;
  assign initialised_o   = 1'b1;
  assign command_ready_o = state_q == Accept;

  // The address of a read, in both memories; of a write, one of them.
  logic [INDEX_BITS-1:0] read;
  node_t  target;
  logic   write;
  entry_t written;

  assign parent   = node_q[1] ? odd_q : even_q;  // node_q's, when read by node_q / 4
  // Both below node_q.
  assign greater  = {node_q, 1'b1} <= {1'b0, count_q} && odd_q > even_q ? odd_q : even_q;
  assign bigger   = {node_q[INDEX_BITS-1:0],
                     {node_q, 1'b1} <= {1'b0, count_q} && odd_q > even_q};
  assign up_stops   = node_q == node_t'(1) || parent > moving_q;
  assign down_stops = {node_q, 1'b0} > {1'b0, count_q} || moving_q > greater;

  always_comb begin
    case (state_q)
      Accept:                  read = count_q[INDEX_BITS:1];  // the last, for TakeHighest
      Up, UpWrite:             read = INDEX_BITS'(node_q >> 2);
      default:                 read = node_q[INDEX_BITS-1:0];
    endcase
    write   = state_q inside {UpWrite, DownWrite};
    target  = node_q;
    written = moving_q;
    if (state_q == UpWrite && !up_stops) written = parent;
    if (state_q == DownWrite && !down_stops) written = greater;
  end

  always_ff @(posedge clk_i) begin
    if (write && !target[0]) even[target[INDEX_BITS:1]] <= written;
    even_q <= even[read];
    if (write && target[0]) odd[target[INDEX_BITS:1]] <= written;
    odd_q <= odd[read];
    if (write && target == node_t'(1)) {root_level_q, root_index_q} <= {written.level, written.index};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q        <= Accept;
      count_q        <= '0;
      earliest_q     <= {1'b1, {(SEQUENCE_BITS - 1){1'b0}}};
      latest_q       <= {1'b0, {(SEQUENCE_BITS - 1){1'b1}}};
      answer_valid_o <= 1'b0;
    end else begin
      answer_valid_o <= 1'b0;
      unique case (state_q)
        Accept: if (command_valid_i) begin
          if (inserts && 32'(command_handle_i) < DEPTH) begin
            state_q <= Up;
            count_q <= count_q + 1'b1;
            if (command_op_i == InsertTail) latest_q <= latest_q - 1'b1;
            else earliest_q <= earliest_q + 1'b1;
          end else if (takes && !empty) begin
            state_q <= Last;
            count_q <= count_q - 1'b1;
          end else begin
            answer_valid_o <= 1'b1;
          end
        end
        Up: state_q <= UpWrite;
        UpWrite: begin
          state_q        <= up_stops ? Accept : Up;
          answer_valid_o <= up_stops;
        end
        Last: state_q <= Down;
        Down: state_q <= DownWrite;
        DownWrite: begin
          state_q        <= down_stops ? Accept : Down;
          answer_valid_o <= down_stops;
        end
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Accept: begin
        node_q   <= inserts ? count_q + 1'b1 : count_q;
        moving_q <= '{level: command_priority_i,
                      order: command_op_i == InsertTail ? latest_q : earliest_q,
                      index: INDEX_BITS'(command_handle_i)};
        if (command_valid_i) begin
          answer_status_o   <= inserts ? (32'(command_handle_i) < DEPTH ? Done : Invalid)
                                       : (empty ? Empty : Done);
          answer_handle_o   <= inserts ? command_handle_i : HANDLE_BITS'(root_index_q);
          answer_priority_o <= inserts ? command_priority_i : root_level_q;
        end
      end
      Last: begin
        moving_q <= node_q[0] ? odd_q : even_q;
        node_q   <= node_t'(1);
      end
      UpWrite:   node_q <= node_q >> 1;
      DownWrite: node_q <= bigger;
      Up, Down: ;
    endcase
  end

endmodule
