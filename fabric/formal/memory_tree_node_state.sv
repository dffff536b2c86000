// What makes a node's times follow by induction: the item in its register is as old as it waits,
// and each that went before what waits took an interval.
module memory_tree_node_state #(
  parameter int unsigned BLOCKED_MAX = 1
) (
  input logic       clk_i,
  input logic       rst_ni,
  // Within how many cycles its output is taken.
  input logic [7:0] interval,
  input logic       left_valid,
  input logic       left_ready,
  input logic       right_valid,
  input logic       right_ready,
  input logic       out_valid,
  input logic       out_ready,
  // The node's own.
  input logic [7:0] blocked
);

  logic [7:0] out_wait_q, left_wait_q, right_wait_q;
  logic       left_passed_q;   // since the left one waits, the right one has gone
  logic [7:0] right_passed_q;  // how often the right one was passed since it waits

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {out_wait_q, left_wait_q, right_wait_q, right_passed_q, left_passed_q} <= '0;
    end else begin
      out_wait_q     <= out_valid && !out_ready ? out_wait_q + 8'd1 : '0;
      left_wait_q    <= left_valid && !left_ready ? left_wait_q + 8'd1 : '0;
      right_wait_q   <= right_valid && !right_ready ? right_wait_q + 8'd1 : '0;
      left_passed_q  <= left_valid && !left_ready
                        && (left_passed_q || (right_valid && right_ready));
      right_passed_q <= right_valid && !right_ready
                        ? right_passed_q + 8'(left_valid && left_ready) : '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      out_in_time: assert (out_wait_q < interval);
      left: assert (left_wait_q <= out_wait_q + (left_passed_q ? interval : '0));
      right: assert (right_wait_q <= out_wait_q + right_passed_q * interval);
      count: assert (blocked == right_passed_q && blocked <= 8'(BLOCKED_MAX));
      turn: assert (!left_passed_q || blocked == '0);
      full: assert ((left_wait_q == '0 && right_wait_q == '0) || out_valid);
    end
  end

endmodule
