// Cuts the path of `ready` through a stream, at no cost in cycles.
//
// in_ready_o comes from a flip-flop: what arrives in the cycle in which the receiver stops is kept
// here, and goes first when it goes on. While nothing is kept, the input passes straight through.
// So a bus's ready never depends on its valid in the same cycle, as AXI wants it (A3.2).
module skid_buffer #(
  parameter int unsigned WIDTH = 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic [WIDTH-1:0] in_data_i,

  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [WIDTH-1:0] out_data_o
);

  logic             kept_q;
  logic [WIDTH-1:0] data_q;

  assign in_ready_o  = !kept_q;
  assign out_valid_o = kept_q || in_valid_i;
  assign out_data_o  = kept_q ? data_q : in_data_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      kept_q <= 1'b0;
    end else begin
      kept_q <= out_valid_o && !out_ready_i;
    end
  end

  // Only looked at when kept_q says that there is something.
  always_ff @(posedge clk_i) begin
    if (!kept_q) begin
      data_q <= in_data_i;
    end
  end

endmodule
