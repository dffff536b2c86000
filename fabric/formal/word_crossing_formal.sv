// Words cross once, unchanged and in order, whatever the two clocks do: in each step of the proof
// either, both or none of them ticks. Either side may be reset at any time, which empties both.
module word_crossing_formal (
  input logic       src_clk,
  input logic       dst_clk,
  input logic       src_rst_n,
  input logic       dst_rst_n,
  input logic       src_valid,
  input logic [1:0] src_data,
  input logic       dst_ready
);

  logic       src_ready, dst_valid, rst_n;
  logic [1:0] dst_data;

  word_crossing #(.WIDTH(2)) dut (
    .src_clk_i(src_clk), .src_rst_ni(src_rst_n), .src_valid_i(src_valid), .src_ready_o(src_ready),
    .src_data_i(src_data),
    .dst_clk_i(dst_clk), .dst_rst_ni(dst_rst_n), .dst_valid_o(dst_valid), .dst_ready_i(dst_ready),
    .dst_data_o(dst_data)
  );

  assign rst_n = src_rst_n && dst_rst_n;

  // Reset lasts until both clocks have ticked.
  logic src_began_q = 1'b0, dst_began_q = 1'b0;
  always_ff @(posedge src_clk) src_began_q <= 1'b1;
  always_ff @(posedge dst_clk) dst_began_q <= 1'b1;
  always_comb begin_in_reset: assume (!rst_n || (src_began_q && dst_began_q));

  // What was sent last and not yet taken: there is at most one.
  logic [1:0] sent_q, taken_q;
  logic [1:0] word_q;
  logic [2:0] dst_wait_q, src_wait_q;

  always_ff @(posedge src_clk or negedge rst_n) begin
    if (!rst_n) begin
      sent_q     <= '0;
      src_wait_q <= '0;
    end else begin
      sent_q     <= sent_q + 2'(src_valid && src_ready);
      src_wait_q <= src_ready || sent_q != taken_q ? '0 : src_wait_q + 1'b1;
    end
  end

  always_ff @(posedge src_clk) if (src_valid && src_ready) word_q <= src_data;

  always_ff @(posedge dst_clk or negedge rst_n) begin
    if (!rst_n) begin
      taken_q    <= '0;
      dst_wait_q <= '0;
    end else begin
      taken_q    <= taken_q + 2'(dst_valid && dst_ready);
      dst_wait_q <= dst_valid || sent_q == taken_q ? '0 : dst_wait_q + 1'b1;
    end
  end

  always_ff @(posedge dst_clk) begin
    if (rst_n) begin
      if (dst_valid) was_sent: assert (sent_q != taken_q);
      if (dst_valid) same: assert (dst_data == word_q);
      comes: assert (dst_wait_q <= 3'd2);
      second: cover (dst_valid && taken_q == 2'd1);
    end
  end

  always_ff @(posedge src_clk) begin
    if (rst_n) begin
      if (src_ready) was_taken: assert (sent_q == taken_q);
      goes_on: assert (src_wait_q <= 3'd2);
    end
  end

`ifndef CUT
  // What makes the rest follow by induction: one change runs around the ring of flip-flops.
  logic [5:0] ring;
  assign ring = {dut.sent_q, dut.u_sent.stage_q[0], dut.u_sent.stage_q[1],
                 dut.taken_q, dut.u_taken.stage_q[0], dut.u_taken.stage_q[1]};

  always_comb begin
    if (rst_n) begin
      one_change: assert ($onehot0(ring[5:1] ^ ring[4:0]));
      on_its_way: assert (2'(sent_q - taken_q) == 2'(dut.sent_q != dut.taken_q));
      if (!dut.ready) begin
        still: assert (ring == '0 && sent_q == taken_q);
        src_begins: assert (src_wait_q <= 3'(dut.u_ready.stage_q[0]));
      end else begin
        began: assert (dut.u_ready.stage_q[0]);
      end
      parity: assert (sent_q[0] == dut.sent_q && taken_q[0] == dut.taken_q);
      if (sent_q != taken_q) kept: assert (dut.data_q == word_q);
      dst_waits: assert (dst_wait_q <= (ring[5] == ring[2] ? 3'd0
                                        : 3'(ring[4] == ring[5]) + 3'(ring[3] == ring[5])));
      src_waits: assert (src_wait_q <= (ring[5] != ring[2] ? 3'd0
                                        : 3'(ring[1] == ring[2]) + 3'(ring[0] == ring[2])));
    end
  end
`endif

endmodule
