// Makes a level interrupt line of events.
//
// An event is pending from the cycle after it happened until it is cleared; the line is up while
// any pending event is enabled, and comes from a flip-flop, so that it may cross to another clock.
// An event in the cycle of its clearing stays pending: it is a new one, and none is lost.
module interrupt #(
  parameter int unsigned EVENTS = 1
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  // Each for one cycle a time: this happened; forget it. As long as wanted: it counts.
  input  logic [EVENTS-1:0] event_i,
  input  logic [EVENTS-1:0] clear_i,
  input  logic [EVENTS-1:0] enable_i,

  output logic [EVENTS-1:0] pending_o,
  output logic              irq_o
);

  logic [EVENTS-1:0] pending_d;

  assign pending_d = (pending_o & ~clear_i) | event_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_o <= '0;
      irq_o     <= 1'b0;
    end else begin
      pending_o <= pending_d;
      irq_o     <= |(pending_d & enable_i);
    end
  end

endmodule
