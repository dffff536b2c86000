// Takes events, pulses of one cycle, from one clock domain to another.
//
// After each event of the sender comes one of the receiver, of one cycle of its clock. Events that
// come while an earlier one is on its way come out as one: the receiver learns that something has
// happened since, and not how often. A reset of either side forgets what is on
// its way.
module event_crossing (
  input  logic src_clk_i,
  input  logic src_rst_ni,
  input  logic src_event_i,

  input  logic dst_clk_i,
  input  logic dst_rst_ni,
  output logic dst_event_o
);

  // Waits for its turn: came while another was on its way.
  logic waits_q, ready;

  always_ff @(posedge src_clk_i or negedge src_rst_ni) begin
    if (!src_rst_ni) begin
      waits_q <= 1'b0;
    end else begin
      waits_q <= (src_event_i || waits_q) && !ready;
    end
  end

  logic unused_data;

  word_crossing #(.WIDTH(1)) u_crossing (
    .src_clk_i, .src_rst_ni,
    .src_valid_i(src_event_i || waits_q), .src_ready_o(ready), .src_data_i(1'b0),
    .dst_clk_i, .dst_rst_ni,
    .dst_valid_o(dst_event_o), .dst_ready_i(1'b1), .dst_data_o(unused_data)
  );

endmodule
