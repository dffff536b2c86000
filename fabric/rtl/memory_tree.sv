// The memory tree: 2 to 64 requesters share one way to memory, each in a bounded time.
//
// A binary tree of nodes. An access takes its requester's number along, and its reply goes to all
// requesters at once, each of which has a valid of its own: so replies need no tree, and wait for
// no requester. A requester has room for the replies of what it asked for.
//
// Where the root's output is taken within S cycles, an input of a node is taken within S times the
// factors on the way from it to the root: 2 for each left input, BLOCKED_MAX + 1 for each right
// one. An access comes to the root within the sum of that over its way.
module memory_tree
  import memory_tree_pkg::*;
#(
  parameter int unsigned LOG2_REQUESTERS = 4,
  parameter int unsigned BLOCKED_MAX     = 1,
  localparam int unsigned Requesters     = 2 ** LOG2_REQUESTERS
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,

  // The requesters. The first is left of all others.
  input  logic [Requesters-1:0]       valid_i,
  output logic [Requesters-1:0]       ready_o,
  input  access_t [Requesters-1:0]    access_i,
  output logic [Requesters-1:0]       reply_valid_o,
  output reply_t                      reply_o,

  // The root.
  output logic                        root_valid_o,
  input  logic                        root_ready_i,
  output access_t                     root_access_o,
  output logic [LOG2_REQUESTERS-1:0]  root_number_o,
  input  logic                        root_reply_valid_i,
  input  logic [LOG2_REQUESTERS-1:0]  root_reply_number_i,
  input  reply_t                      root_reply_i
);

  localparam int unsigned Width = LOG2_REQUESTERS + unsigned'($bits(access_t));

  // As in a heap: node 1 is the root; below node i are 2 i and 2 i + 1; the last are requesters.
  logic [2*Requesters-1:1]            valid, ready;
  logic [2*Requesters-1:1][Width-1:0] item;

  for (genvar i = 0; i < Requesters; i++) begin : gen_requester
    assign valid[Requesters+i] = valid_i[i];
    assign item[Requesters+i]  = {LOG2_REQUESTERS'(i), access_i[i]};
    assign ready_o[i]          = ready[Requesters+i];
  end

  for (genvar i = 1; i < Requesters; i++) begin : gen_node
    memory_tree_node #(.WIDTH(Width), .BLOCKED_MAX(BLOCKED_MAX)) u_node (
      .clk_i, .rst_ni,
      .left_valid_i(valid[2*i]), .left_ready_o(ready[2*i]), .left_data_i(item[2*i]),
      .right_valid_i(valid[2*i+1]), .right_ready_o(ready[2*i+1]), .right_data_i(item[2*i+1]),
      .out_valid_o(valid[i]), .out_ready_i(ready[i]), .out_data_o(item[i])
    );
  end

  assign root_valid_o                   = valid[1];
  assign ready[1]                       = root_ready_i;
  assign {root_number_o, root_access_o} = item[1];

  // Replies.

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reply_valid_o <= '0;
    end else begin
      reply_valid_o <= Requesters'(root_reply_valid_i) << root_reply_number_i;
    end
  end

  // Only looked at with a valid.
  always_ff @(posedge clk_i) begin
    reply_o <= root_reply_i;
  end

endmodule
