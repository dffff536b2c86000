// The memory tree of four requesters: what is proved of a node holds of a tree of them.
//
// Where the root's output is taken within one cycle, or within two, each requester's access is
// taken within the product of the factors on its way, and comes to the root within their sum;
// unchanged, with the right number. Of the level above, each node needs what the level below is
// proved to need of it: so deeper trees follow in the same way.
module memory_tree_formal
  import memory_tree_pkg::*;
#(
  parameter int unsigned BLOCKED_MAX = 1
) (
  input logic          clk_i,
  input logic          rst_ni,
  input logic [3:0]    valid_i,
  // What each access is known by: one bit of each of its fields.
  input logic [3:0][4:0] mark_i,
  input logic          root_ready_i,
  input logic          root_reply_valid_i,
  input logic [1:0]    root_reply_number_i,
  input reply_t        root_reply_i,
  // Whether the root is taken within two cycles, or within one; the same all the time.
  input logic          slow_i,
  // Whose access is followed, likewise; and that the one that it offers now is.
  input logic [1:0]    who_i,
  input logic          follow_i
);

  localparam logic [7:0] Left  = 8'd2;
  localparam logic [7:0] Right = 8'(BLOCKED_MAX + 1);

  access_t [3:0] access_i;
  for (genvar i = 0; i < 4; i++) begin : gen_access
    assign access_i[i] = '{write: mark_i[i][0], log2_words: 2'(mark_i[i][1]),
                           addr: 32'(mark_i[i][2]), data: 64'(mark_i[i][3]),
                           strobe: 8'(mark_i[i][4])};
  end

  logic [3:0] ready, reply_valid;
  reply_t     reply;
  logic       root_valid;
  access_t    root_access;
  logic [1:0] root_number;

  memory_tree #(.LOG2_REQUESTERS(2), .BLOCKED_MAX(BLOCKED_MAX)) dut (
    .clk_i, .rst_ni, .valid_i, .ready_o(ready), .access_i,
    .reply_valid_o(reply_valid), .reply_o(reply),
    .root_valid_o(root_valid), .root_ready_i, .root_access_o(root_access),
    .root_number_o(root_number),
    .root_reply_valid_i, .root_reply_number_i, .root_reply_i
  );

  logic       began_q = 1'b0;
  logic       slow_q;
  logic [1:0] who_q;
  logic [7:0] interval, upper, lower;  // of the root, of the node below it, of the requester
  logic [7:0] root_wait_q;

  // Who is on the right at the root, and below it.
  assign interval = slow_i ? 8'd2 : 8'd1;
  assign upper    = interval * (who_i[1] ? Right : Left);
  assign lower    = upper * (who_i[0] ? Right : Left);

  // The followed access: where it is, for how long it has been there, and in all.
  typedef enum logic [1:0] {
    None    = 2'd0,
    Offered = 2'd1,
    Below   = 2'd2,
    Root    = 2'd3
  } place_e;

  place_e     place_q, place;
  logic [7:0] here_q, age_q, here, age;
  access_t    access_q, access;
  logic       below_ready;

  assign place  = place_q == None && follow_i && valid_i[who_i] ? Offered : place_q;
  assign here   = place_q == None ? '0 : here_q;
  assign age    = place_q == None ? '0 : age_q;
  assign access = place_q == None ? access_i[who_i] : access_q;

  logic [3:0]    held_q;
  access_t [3:0] offered_q;
  reply_t        root_reply_q;
  logic [3:0]    reply_due_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      root_wait_q <= '0;
      held_q      <= '0;
      place_q     <= None;
      here_q      <= '0;
      age_q       <= '0;
      reply_due_q <= '0;
    end else begin
      root_wait_q <= root_valid && !root_ready_i ? root_wait_q + 8'd1 : '0;
      held_q      <= valid_i & ~ready;
      here_q      <= here + 8'd1;
      age_q       <= age + 8'd1;
      place_q     <= place;
      reply_due_q <= '0;
      if (root_reply_valid_i) reply_due_q[root_reply_number_i] <= 1'b1;
      unique case (place)
        Offered: if (ready[who_i]) {place_q, here_q} <= {Below, 8'd0};
        Below:   if (below_ready) {place_q, here_q} <= {Root, 8'd0};
        Root:    if (root_ready_i) {place_q, here_q} <= {None, 8'd0};
        default: ;
      endcase
    end
  end

`ifdef CUT
  assign below_ready = ready[0];
`else
  // For how long what is on the way into a node has waited, by the number of where it comes from.
  logic [7:2][7:0] waited;
  logic            below_valid;
  logic [108:0]    below_item;

  assign below_valid = dut.valid[who_i[1] ? 3 : 2];
  assign below_ready = dut.ready[who_i[1] ? 3 : 2];
  assign below_item  = dut.item[who_i[1] ? 3 : 2];

  for (genvar n = 1; n < 4; n++) begin : gen_state
    logic [7:0] times;
    assign times = n == 1 ? interval : interval * (n == 3 ? Right : Left);
    memory_tree_node_state #(.BLOCKED_MAX(BLOCKED_MAX)) node (
      .clk_i, .rst_ni, .interval(times),
      .left_valid(dut.valid[2*n]), .left_ready(dut.ready[2*n]),
      .right_valid(dut.valid[2*n+1]), .right_ready(dut.ready[2*n+1]),
      .out_valid(dut.valid[n]), .out_ready(dut.ready[n]),
      .blocked(8'(dut.gen_node[n].u_node.blocked_q))
    );
    assign waited[2*n]   = node.left_wait_q;
    assign waited[2*n+1] = node.right_wait_q;
  end
`endif


  always_ff @(posedge clk_i) begin
    began_q      <= 1'b1;
    slow_q       <= slow_i;
    who_q        <= who_i;
    offered_q    <= access_i;
    access_q     <= access;
    root_reply_q <= root_reply_i;

    begin_in_reset: assume (rst_ni == began_q);
    if (began_q) begin
      one_interval: assume (slow_i == slow_q);
      one_followed: assume (who_i == who_q);
    end

    if (rst_ni) begin
      taken_in_time: assume (root_wait_q < interval);
      for (int unsigned i = 0; i < 4; i++) begin
        assume (!held_q[i] || (valid_i[i] && access_i[i] == offered_q[i]));
      end

      if (place == Offered) offered_in_time: assert (here < lower);
      if (place == Below) below_in_time: assert (here < upper);
      if (place == Root) begin
        root_there: assert (root_valid);
        root_same: assert (root_access == access && root_number == who_i);
      end
      if (place != None) all_in_time: assert (age < lower + upper + interval);

`ifndef CUT
      // What makes the rest follow by induction.
      if (place_q == Offered) begin
        state_offered: assert (held_q[who_i] && here_q == age_q && access_q == access_i[who_i]
                               && here_q <= waited[{1'b1, who_i}]);
      end
      if (place_q == Below) begin
        state_below: assert (below_valid && below_item == {who_i, access_q}
                             && here_q == waited[{2'b01, who_i[1]}] && age_q <= lower + here_q);
      end
      if (place_q == Root) begin
        state_root: assert (here_q == gen_state[1].node.out_wait_q
                            && age_q <= lower + upper + here_q);
      end
      state_wait: assert (root_wait_q == gen_state[1].node.out_wait_q
                          && waited[2] == gen_state[2].node.out_wait_q
                          && waited[3] == gen_state[3].node.out_wait_q);
      for (int unsigned i = 0; i < 4; i++) assert (held_q[i] == (waited[4+i] != '0));
`endif

      reply_told: assert (reply_valid == reply_due_q);
      reply_same: assert (reply_valid == '0 || reply == root_reply_q);

      worst: cover (place == Root && root_ready_i && !slow_i
                    && age == lower + upper + interval - 8'd1);
    end
  end

endmodule
