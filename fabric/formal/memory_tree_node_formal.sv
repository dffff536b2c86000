// A node of the memory tree: whatever the interval within which its output is taken, what waits on
// the left is taken within twice as long, and on the right within BLOCKED_MAX + 1 times; and what
// goes in comes out once, unchanged and in order.
module memory_tree_node_formal #(
  parameter int unsigned BLOCKED_MAX = 2
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       left_valid_i,
  input logic [1:0] left_data_i,
  input logic       right_valid_i,
  input logic [1:0] right_data_i,
  input logic       out_ready_i,
  // The output is taken within so many cycles; any number, but the same all the time.
  input logic [2:0] interval_i,
  // The number of the item that is followed, likewise.
  input logic [1:0] followed_i
);

  // What is in the register takes an interval, and so does each that goes before.
  localparam int unsigned LeftFactor  = 2;
  localparam int unsigned RightFactor = BLOCKED_MAX + 1;

  logic       left_ready, right_ready, out_valid;
  logic [2:0] out_data;

  memory_tree_node #(.WIDTH(3), .BLOCKED_MAX(BLOCKED_MAX)) dut (
    .clk_i, .rst_ni,
    .left_valid_i, .left_ready_o(left_ready), .left_data_i({1'b0, left_data_i}),
    .right_valid_i, .right_ready_o(right_ready), .right_data_i({1'b1, right_data_i}),
    .out_valid_o(out_valid), .out_ready_i, .out_data_o(out_data)
  );

  logic       began_q = 1'b0;
  logic [2:0] interval_q;
  logic [1:0] followed_q, in_n_q, out_n_q;
  logic [2:0] seen_q;
  logic [7:0] interval, out_wait_q, left_wait_q, right_wait_q;
  logic       left_taken, right_taken, left_held_q, right_held_q;
  logic [1:0] left_data_q, right_data_q;
  // Since the left one waits, the right one has gone.
  logic       left_passed_q;
  // How often the right one was passed since it waits.
  logic [7:0] right_passed_q;

  assign interval    = 8'(interval_i);
  assign left_taken  = left_valid_i && left_ready;
  assign right_taken = right_valid_i && right_ready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {out_wait_q, left_wait_q, right_wait_q, right_passed_q} <= '0;
      {left_held_q, right_held_q, left_passed_q}              <= '0;
      {in_n_q, out_n_q}                                       <= '0;
    end else begin
      out_wait_q     <= out_valid && !out_ready_i ? out_wait_q + 8'd1 : '0;
      left_wait_q    <= left_valid_i && !left_ready ? left_wait_q + 8'd1 : '0;
      right_wait_q   <= right_valid_i && !right_ready ? right_wait_q + 8'd1 : '0;
      left_held_q    <= left_valid_i && !left_ready;
      right_held_q   <= right_valid_i && !right_ready;
      left_passed_q  <= left_valid_i && !left_ready && (left_passed_q || right_taken);
      right_passed_q <= right_valid_i && !right_ready ? right_passed_q + 8'(left_taken) : '0;
      in_n_q         <= in_n_q + 2'(left_taken) + 2'(right_taken);
      out_n_q        <= out_n_q + 2'(out_valid && out_ready_i);
    end
  end

`ifndef CUT
  memory_tree_node_state #(.BLOCKED_MAX(BLOCKED_MAX)) state (
    .clk_i, .rst_ni, .interval,
    .left_valid(left_valid_i), .left_ready(left_ready),
    .right_valid(right_valid_i), .right_ready(right_ready),
    .out_valid(out_valid), .out_ready(out_ready_i), .blocked(8'(dut.blocked_q))
  );
`endif

  always_ff @(posedge clk_i) begin
    began_q      <= 1'b1;
    interval_q   <= interval_i;
    followed_q   <= followed_i;
    left_data_q  <= left_data_i;
    right_data_q <= right_data_i;
    if (in_n_q == followed_i) begin
      if (left_taken) seen_q <= {1'b0, left_data_i};
      if (right_taken) seen_q <= {1'b1, right_data_i};
    end

    begin_in_reset: assume (rst_ni == began_q);
    if (began_q) begin
      one_interval: assume (interval_i == interval_q);
      one_followed: assume (followed_i == followed_q);
    end

    if (rst_ni) begin
      some_interval: assume (interval_i != '0);
      taken_in_time: assume (out_wait_q < interval);
      left_stays: assume (!left_held_q || (left_valid_i && left_data_i == left_data_q));
      right_stays: assume (!right_held_q || (right_valid_i && right_data_i == right_data_q));

      left_in_time: assert (left_wait_q < 8'(LeftFactor) * interval);
      right_in_time: assert (right_wait_q < 8'(RightFactor) * interval);
      // What the times are made of: how often each is passed.
      left_passed: assert (!left_passed_q || !right_taken);
      right_passed: assert (right_passed_q <= 8'(BLOCKED_MAX));
      one_taken: assert (!left_taken || !right_taken);

      one_kept: assert (2'(in_n_q - out_n_q) == 2'(out_valid));
      if (out_valid && out_n_q == followed_i) same: assert (out_data == seen_q);
      // No input waits while there is room.
      no_idle: assert (out_valid || !(left_valid_i || right_valid_i) || left_taken || right_taken);

`ifndef CUT
      state_waits: assert (state.out_wait_q == out_wait_q && state.left_wait_q == left_wait_q
                           && state.right_wait_q == right_wait_q);
      state_passed: assert (state.left_passed_q == left_passed_q
                            && state.right_passed_q == right_passed_q);
`endif

      left_worst: cover (left_taken && interval == 8'd3
                         && left_wait_q == 8'(LeftFactor) * interval - 8'd1);
      right_worst: cover (right_taken && interval == 8'd3
                          && right_wait_q == 8'(RightFactor) * interval - 8'd1);
    end
  end

endmodule
