// Cuts the path of `valid` and data through a stream: both come from flip-flops, one cycle later.
//
// One item a cycle goes through. in_ready_o follows out_ready_i within the cycle; skid_buffer is
// for that path.
module stream_register #(
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

  logic             valid_q;
  logic [WIDTH-1:0] data_q;

  assign in_ready_o  = !valid_q || out_ready_i;
  assign out_valid_o = valid_q;
  assign out_data_o  = data_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
    end else if (in_ready_o) begin
      valid_q <= in_valid_i;
    end
  end

  // Only looked at when valid_q says that there is something.
  always_ff @(posedge clk_i) begin
    if (in_ready_o) begin
      data_q <= in_data_i;
    end
  end

endmodule
