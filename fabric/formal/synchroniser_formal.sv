// What goes in comes out STAGES cycles later; nothing else comes out.
module synchroniser_formal #(
  parameter int unsigned STAGES = 2
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic [1:0] async_i
);

  logic [1:0] sync;
  logic [2:0] cycles_q = '0;

  synchroniser #(.WIDTH(2), .STAGES(STAGES)) dut (.clk_i, .rst_ni, .async_i, .sync_o(sync));

  always_ff @(posedge clk_i) begin
    if (cycles_q != '1) cycles_q <= cycles_q + 1'b1;
    begin_in_reset: assume (rst_ni == (cycles_q != 0));
    if (cycles_q > 3'(STAGES)) begin
      delayed: assert (sync == $past(async_i, STAGES));
      both: cover (sync == 2'b11);
    end
    if (cycles_q != 0 && cycles_q <= 3'(STAGES)) begin
      cleared: assert (sync == '0);
    end
  end

endmodule
