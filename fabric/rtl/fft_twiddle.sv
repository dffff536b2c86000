// Turns the samples of several streams side by side, each by the twiddle of its place in the block:
// exp(-2 pi i exponent / 2^LOG2_CIRCLE), with 16 bits behind the point.
//
// Products are rounded to the nearest, and from the middle up. Output comes 3 steps after input.
module fft_twiddle
  import fft_pkg::*;
#(
  parameter int unsigned LANES       = 2,
  // Places of a block: exponents.
  parameter int unsigned LOG2_PLACES = 4,
  parameter int unsigned LOG2_CIRCLE = 4,
  parameter order_e      ORDER       = Radix4,
  // Steps from clear_i until the first sample of a block is here.
  parameter int unsigned BEFORE      = 0
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 clear_i,
  input  logic                 step_i,
  input  complex_t [LANES-1:0] data_i,
  output complex_t [LANES-1:0] data_o
);

  localparam int unsigned Places = 1 << LOG2_PLACES;
  typedef logic [LOG2_PLACES-1:0] place_t;
  // A step ahead: a memory takes most of a cycle, and so has a register behind it.
  localparam place_t Begin = place_t'(1 - int'(BEFORE));

  function automatic int unsigned exponent(int unsigned place);
    int unsigned reversed, by;
    reversed = 0;
    for (int unsigned i = 0; i < LOG2_PLACES; i++) begin
      reversed = (reversed << 1) | ((place >> i) & 1);
    end
    // The upper two bits the other way round.
    by = (place >> (LOG2_PLACES - 1)) | (((place >> (LOG2_PLACES - 2)) & 1) << 1);
    case (ORDER)
      Radix2:   return place < Places / 2 ? 0 : place - Places / 2;
      Radix4:   return (place % (Places / 4)) * by;
      Reversed: return reversed;
      default:  return 0;
    endcase
  endfunction

  function automatic logic [Places-1:0][35:0] twiddles();
    logic [Places-1:0][35:0] table_of;
    real angle;
    for (int unsigned i = 0; i < Places; i++) begin
      angle = -6.283185307179586 * real'(exponent(i)) / real'(1 << LOG2_CIRCLE);
      table_of[i] = {18'($rtoi($floor(65536.0 * $sin(angle) + 0.5))),
                     18'($rtoi($floor(65536.0 * $cos(angle) + 0.5)))};
    end
    return table_of;
  endfunction

  localparam logic [Places-1:0][35:0] Twiddles = twiddles();

  // Written once, so that it is a memory.
  logic [35:0] rom [Places];
  initial begin
    for (int unsigned i = 0; i < Places; i++) rom[i] = Twiddles[i];
  end

  place_t   place_q;
  complex_t rom_q, by_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      place_q <= Begin;
    end else if (clear_i) begin
      place_q <= Begin;
    end else if (step_i) begin
      place_q <= place_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (step_i) begin
      rom_q <= rom[place_q];
      by_q  <= rom_q;
    end
  end

  for (genvar i = 0; i < LANES; i++) begin : gen_lane
    complex_t           data_q;
    logic signed [35:0] re_re_q, im_im_q, re_im_q, im_re_q, re, im;

    assign re = re_re_q - im_im_q + 36'sd32768;
    assign im = re_im_q + im_re_q + 36'sd32768;

    always_ff @(posedge clk_i) begin
      if (step_i) begin
        data_q    <= data_i[i];
        re_re_q   <= data_q.re * by_q.re;
        im_im_q   <= data_q.im * by_q.im;
        re_im_q   <= data_q.re * by_q.im;
        im_re_q   <= data_q.im * by_q.re;
        data_o[i] <= {im[33:16], re[33:16]};
      end
    end

    // The sign again, and what was rounded off.
    logic unused_bits;
    assign unused_bits = ^{re[35:34], im[35:34], re[15:0], im[15:0]};
  end

endmodule
