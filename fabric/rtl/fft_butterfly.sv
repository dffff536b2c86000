// A radix-2 butterfly of a pipelined FFT, with the delay that brings its operands together, for
// several streams side by side: half of the sum of samples 2^LOG2_DEPTH apart, later half of their
// difference (single-path delay feedback).
//
// Where parts are added, the half is rounded from the middle up, and where they are subtracted,
// down: either way it takes one adder, and is as far off on average. With TURN, the second operand
// of every other block counts times -i: the trivial half of a radix-4 butterfly (He and Torkelson,
// "A new approach to pipeline FFT processor", 1996). Output comes 2^LOG2_DEPTH + 1 steps after
// input.
module fft_butterfly
  import fft_pkg::*;
#(
  parameter int unsigned LANES      = 2,
  parameter int unsigned LOG2_DEPTH = 3,
  parameter bit          TURN       = 1'b0,
  // Steps from clear_i until the first sample of a block is here.
  parameter int unsigned BEFORE     = 0
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 clear_i,
  input  logic                 step_i,
  input  complex_t [LANES-1:0] data_i,
  output complex_t [LANES-1:0] data_o
);

  typedef logic [LOG2_DEPTH+1:0] count_t;
  localparam count_t Begin = count_t'(-int'(BEFORE));

  function automatic logic signed [17:0] half(logic signed [17:0] a, logic signed [17:0] b,
                                              logic minus);
    // a + b + 1, or a - b.
    return 18'((19'(a) - (minus ? 19'(b) : ~19'(b))) >>> 1);
  endfunction

  count_t               count_q;
  logic                 second, turned;
  complex_t [LANES-1:0] earlier, to_delay, sum, difference;

  assign second = count_q[LOG2_DEPTH];
  assign turned = TURN && count_q[LOG2_DEPTH+1];

  for (genvar i = 0; i < LANES; i++) begin : gen_lane
    logic signed [17:0] other_re, other_im;
    // Times -i: the imaginary part, and minus the real one.
    assign other_re = turned ? data_i[i].im : data_i[i].re;
    assign other_im = turned ? data_i[i].re : data_i[i].im;
    assign sum[i].re        = half(earlier[i].re, other_re, 1'b0);
    assign sum[i].im        = half(earlier[i].im, other_im, turned);
    assign difference[i].re = half(earlier[i].re, other_re, 1'b1);
    assign difference[i].im = half(earlier[i].im, other_im, !turned);
  end

  assign to_delay = second ? difference : data_i;

  localparam int unsigned Width = LANES * unsigned'($bits(complex_t));
  typedef complex_t [LANES-1:0] lanes_t;

  logic [Width-1:0] delayed;

  delay_line #(.DEPTH(1 << LOG2_DEPTH), .WIDTH(Width)) u_delay (
    .clk_i, .rst_ni, .step_i, .data_i(Width'(to_delay)), .data_o(delayed)
  );

  assign earlier = lanes_t'(delayed);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= Begin;
    end else if (clear_i) begin
      count_q <= Begin;
    end else if (step_i) begin
      count_q <= count_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (step_i) data_o <= second ? sum : earlier;
  end

endmodule
