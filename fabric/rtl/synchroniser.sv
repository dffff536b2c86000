// Brings a level from another clock domain, or from none, into this one.
//
// A flip-flop that samples a changing input may take long to settle; the stages after it give it
// whole cycles to do so. What comes out is the level of STAGES to STAGES + 1 cycles ago. A pulse
// shorter than a cycle of clk_i may be missed: events cross by event_crossing, words by
// word_crossing. The input has to come straight from a flip-flop, as logic in front of it could
// show levels that were never driven.
module synchroniser #(
  parameter int unsigned WIDTH  = 1,
  parameter int unsigned STAGES = 2
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // Bits are independent: they may arrive in different cycles.
  input  logic [WIDTH-1:0] async_i,
  output logic [WIDTH-1:0] sync_o
);

  // The tools shall neither put logic between these nor make a shift register of them.
  (* ASYNC_REG = "TRUE", SHREG_EXTRACT = "NO" *) logic [STAGES-1:0][WIDTH-1:0] stage_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stage_q <= '0;
    end else begin
      stage_q <= {stage_q[STAGES-2:0], async_i};
    end
  end

  assign sync_o = stage_q[STAGES-1];

endmodule
