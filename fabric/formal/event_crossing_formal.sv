// After each event of the sender comes one of the receiver, and none comes that nothing was sent
// for, whatever the two clocks do.
module event_crossing_formal (
  input logic src_clk,
  input logic dst_clk,
  input logic rst_n,
  input logic src_event
);

  logic dst_event;

  event_crossing dut (
    .src_clk_i(src_clk), .src_rst_ni(rst_n), .src_event_i(src_event),
    .dst_clk_i(dst_clk), .dst_rst_ni(rst_n), .dst_event_o(dst_event)
  );

  // Reset lasts until both clocks have ticked.
  logic src_began_q = 1'b0, dst_began_q = 1'b0;
  always_ff @(posedge src_clk) src_began_q <= 1'b1;
  always_ff @(posedge dst_clk) dst_began_q <= 1'b1;
  always_comb begin_in_reset: assume (!rst_n || (src_began_q && dst_began_q));

  // Events that the receiver may still see: at most one on its way and one that waits for it. That
  // a word which is on its way arrives, and in which time, is word_crossing's proof.
  logic [1:0] sent_q, came_q;

  always_ff @(posedge src_clk or negedge rst_n) begin
    if (!rst_n) sent_q <= '0;
    else sent_q <= sent_q + 2'(src_event && 2'(sent_q - came_q) != 2'd2);
  end

  logic dst_event_q;

  always_ff @(posedge dst_clk or negedge rst_n) begin
    if (!rst_n) begin
      came_q      <= '0;
      dst_event_q <= 1'b0;
    end else begin
      came_q      <= came_q + 2'(dst_event);
      dst_event_q <= dst_event;
    end
  end

  always_ff @(posedge dst_clk) begin
    if (rst_n) begin
      if (dst_event) was_sent: assert (sent_q != came_q);
      if (dst_event) one_cycle: assert (!dst_event_q);
      second: cover (dst_event && came_q == 2'd1);
    end
  end

`ifndef CUT
  logic wanted_q, ready_q, began_q;

  always_ff @(posedge src_clk or negedge rst_n) begin
    if (!rst_n) began_q <= 1'b0;
    else began_q <= 1'b1;
  end

  always_ff @(posedge src_clk) begin
    wanted_q <= src_event || dut.waits_q;
    ready_q  <= dut.ready;
  end

  // What makes the rest follow by induction: one change runs around the ring of flip-flops, and
  // what waits or is on its way was sent.
  logic [5:0] ring;
  assign ring = {dut.u_crossing.sent_q, dut.u_crossing.u_sent.stage_q[0],
                 dut.u_crossing.u_sent.stage_q[1], dut.u_crossing.taken_q,
                 dut.u_crossing.u_taken.stage_q[0], dut.u_crossing.u_taken.stage_q[1]};

  always_comb begin
    if (rst_n) begin
      // An event that cannot go at once waits, until it goes.
      if (began_q) remembered: assert (dut.waits_q == (wanted_q && !ready_q));

      one_change: assert ($onehot0(ring[5:1] ^ ring[4:0]));
      bounded: assert (2'(sent_q - came_q) <= 2'd2);
      owed: assert (2'(sent_q - came_q) >= 2'(ring[5] != ring[2]) + 2'(dut.waits_q));
      just_came: assert (!dst_event_q || ring[3] == ring[2]);
    end
  end
`endif

endmodule
