// The interrupt line is up exactly while something pending is enabled; no event is lost, and none
// is made up.
module interrupt_formal (
  input logic       clk_i,
  input logic       rst_ni,
  input logic [1:0] events,
  input logic [1:0] clear,
  input logic [1:0] enable
);

  logic [1:0] pending;
  logic       irq;
  logic       began_q = 1'b0;

  interrupt #(.EVENTS(2)) dut (
    .clk_i, .rst_ni, .event_i(events), .clear_i(clear), .enable_i(enable),
    .pending_o(pending), .irq_o(irq)
  );

  always_ff @(posedge clk_i) begin
    began_q <= 1'b1;
    begin_in_reset: assume (rst_ni == began_q);
    if (rst_ni && $past(rst_ni)) begin
      pends: assert ((pending & $past(events)) == $past(events));
      clears: assert ((pending & $past(clear & ~events)) == '0);
      stays: assert (((pending ^ $past(pending)) & $past(~events & ~clear)) == '0);
      line: assert (irq == |(pending & $past(enable)));
      masked: cover (pending == 2'b11 && !irq);
      second_only: cover (pending == 2'b10 && irq);
    end
    if (!rst_ni) quiet: assert (pending == '0 && !irq);
  end

endmodule
