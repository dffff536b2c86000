// The discrete Fourier transform of blocks of 2^LOG2_POINTS samples, two samples a cycle, in
// natural order: X[k] = 1/N sum x[n] exp(-2 pi i k n / N).
//
// A sample has 16 bits each of I, the real part, in the lower half, and Q; the first of two is in
// the lower half of a word. Each of the log2 N butterflies on the way halves, rounding to the
// nearest; the last one rounds to 16 bits and keeps what would not fit at the largest number.
//
// The even and the odd samples go through pipelines of half the length side by side, which share
// their counters and twiddles: pairs of butterflies, radix-2^2, with single-path delay feedback. A
// last butterfly puts each two of their results together, and gives X[k] and X[k + N/2]. They come
// in the order of the reversed bits of k, and are put in order in a memory of two blocks, one of
// which is written while the other is read.
//
// Everything before that memory moves together, a step for each word taken: so the last block needs
// words behind it to come out, whatever they are.
module fft
  import fft_pkg::*;
#(
  parameter int unsigned LOG2_POINTS = 9
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Begin with the first sample of a block, and forget all that is under way.
  input  logic        clear_i,

  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [63:0] in_data_i,
  output logic        out_valid_o,
  input  logic        out_ready_i,
  output logic [63:0] out_data_o
);

  // The words of a block, and the points of each of the two pipelines.
  localparam int unsigned Log2Words = LOG2_POINTS - 1;
  localparam int unsigned Words     = 1 << Log2Words;
  localparam bit          Odd       = Log2Words % 2 == 1;
  localparam int unsigned Pairs     = Log2Words / 2;

  localparam int unsigned TwiddleSteps = 3;

  // Steps until a sample comes to where 2^size points are left to be transformed together: a
  // butterfly takes its depth and one, and behind each pair, or the odd one, is a twiddle.
  function automatic int unsigned steps_before(int unsigned size);
    return Words - (1 << size) + (Log2Words - size)
           + TwiddleSteps * ((Log2Words - size + 1) / 2);
  endfunction

  // The last pair has no twiddle.
  localparam int unsigned BeforeLast = steps_before(0) - TwiddleSteps;
  localparam int unsigned Latency    = BeforeLast + TwiddleSteps + 1;

  localparam int unsigned LatencyWidth = unsigned'($clog2(Latency + 1));

  typedef logic [Log2Words-1:0]    word_t;
  typedef logic [LatencyWidth-1:0] latency_t;
  typedef complex_t [1:0]          lanes_t;

  // Words that are taken: whether their step brings a result, and which.

  latency_t   steps_q;
  word_t      place_q, wr_place_q;
  logic       half_q, wr_half_q, wr_q, step_q;
  // Blocks of the memory that are in use, and those that are complete.
  logic [1:0] claimed_q, filled_q;
  logic       take, results, claim, fill, free;
  lanes_t     in_q;

  assign results    = steps_q == latency_t'(Latency);
  assign in_ready_o = !results || place_q != '0 || claimed_q != 2'd2;
  assign take       = in_valid_i && in_ready_o;
  assign claim      = take && results && place_q == '0;
  assign fill       = wr_q && wr_place_q == '1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      steps_q             <= '0;
      {half_q, place_q}   <= '0;
      {step_q, wr_q}      <= '0;
      claimed_q           <= '0;
      filled_q            <= '0;
    end else if (clear_i) begin
      steps_q             <= '0;
      {half_q, place_q}   <= '0;
      {step_q, wr_q}      <= '0;
      claimed_q           <= '0;
      filled_q            <= '0;
    end else begin
      step_q <= take;
      wr_q   <= take && results;
      if (take) begin
        if (!results) begin
          steps_q <= steps_q + 1'b1;
        end else begin
          {half_q, place_q} <= {half_q, place_q} + 1'b1;
        end
      end
      claimed_q <= claimed_q + 2'(claim) - 2'(free);
      filled_q  <= filled_q + 2'(fill) - 2'(free);
    end
  end

  always_ff @(posedge clk_i) begin
    wr_half_q  <= half_q;
    wr_place_q <= place_q;
    for (int unsigned i = 0; i < 2; i++) begin
      // One bit more below, and one above.
      in_q[i].re <= signed'({in_data_i[32*i+15], in_data_i[32*i+:16], 1'b0});
      in_q[i].im <= signed'({in_data_i[32*i+31], in_data_i[32*i+16+:16], 1'b0});
    end
  end

  // The two pipelines.

  lanes_t between [Pairs+1];

  if (Odd) begin : gen_odd
    lanes_t butterfly;
    fft_butterfly #(.LOG2_DEPTH(Log2Words - 1), .BEFORE(0)) u_butterfly (
      .clk_i, .rst_ni, .clear_i, .step_i(step_q), .data_i(in_q), .data_o(butterfly)
    );
    fft_twiddle #(
      .LOG2_PLACES(Log2Words), .LOG2_CIRCLE(Log2Words), .ORDER(Radix2),
      .BEFORE(steps_before(Log2Words - 1) - TwiddleSteps)
    ) u_twiddle (
      .clk_i, .rst_ni, .clear_i, .step_i(step_q), .data_i(butterfly), .data_o(between[0])
    );
  end else begin : gen_even
    assign between[0] = in_q;
  end

  for (genvar i = 0; i < Pairs; i++) begin : gen_pair
    localparam int unsigned Size   = 2 * (Pairs - i);
    localparam int unsigned Before = steps_before(Size);

    lanes_t first, second;
    fft_butterfly #(.LOG2_DEPTH(Size - 1), .BEFORE(Before)) u_first (
      .clk_i, .rst_ni, .clear_i, .step_i(step_q), .data_i(between[i]), .data_o(first)
    );
    fft_butterfly #(
      .LOG2_DEPTH(Size - 2), .TURN(1'b1), .BEFORE(Before + (1 << (Size - 1)) + 1)
    ) u_second (
      .clk_i, .rst_ni, .clear_i, .step_i(step_q), .data_i(first), .data_o(second)
    );
    if (i == Pairs - 1) begin : gen_last
      assign between[i+1] = second;
    end else begin : gen_twiddle
      fft_twiddle #(
        .LOG2_PLACES(Size), .LOG2_CIRCLE(Size), .ORDER(Radix4),
        .BEFORE(steps_before(Size - 2) - TwiddleSteps)
      ) u_twiddle (
        .clk_i, .rst_ni, .clear_i, .step_i(step_q), .data_i(second), .data_o(between[i+1])
      );
    end
  end

  // Their results put together.

  complex_t    even, odd;
  logic [31:0] low_q, high_q;

  delay_line #(.DEPTH(TwiddleSteps), .WIDTH($bits(complex_t))) u_even (
    .clk_i, .rst_ni, .step_i(step_q), .data_i(between[Pairs][0]), .data_o(even)
  );

  fft_twiddle #(
    .LANES(1), .LOG2_PLACES(Log2Words), .LOG2_CIRCLE(LOG2_POINTS), .ORDER(Reversed),
    .BEFORE(BeforeLast)
  ) u_odd (
    .clk_i, .rst_ni, .clear_i, .step_i(step_q), .data_i(between[Pairs][1]), .data_o(odd)
  );

  // Half of the sum, without the bit below.
  function automatic logic [15:0] rounded(logic signed [18:0] sum);
    logic signed [18:0] quarter;
    quarter = (sum + 19'sd2) >>> 2;
    // All bits from the sign on are the same where it fits.
    if (quarter[18:15] == '0 || quarter[18:15] == '1) begin
      return quarter[15:0];
    end else begin
      return {quarter[18], {15{!quarter[18]}}};
    end
  endfunction

  always_ff @(posedge clk_i) begin
    if (step_q) begin
      low_q  <= {rounded(19'(even.im) + 19'(odd.im)), rounded(19'(even.re) + 19'(odd.re))};
      high_q <= {rounded(19'(even.im) - 19'(odd.im)), rounded(19'(even.re) - 19'(odd.re))};
    end
  end

  // In order. A result's place has the bits of its k reversed: the highest says whether k is odd.
  // Even k are in one memory and odd ones in another, each beside the one N/2 later.

  typedef logic [Log2Words-1:0] address_t;

  address_t    wr_address, rd_address;
  logic [63:0] memory_even [Words];
  logic [63:0] memory_odd [Words];
  logic [63:0] even_q, odd_q;
  word_t       rd_place_q;
  logic        rd_half_q, upper_q, advance, rd;

  for (genvar i = 0; i < Log2Words - 1; i++) begin : gen_reversed
    assign wr_address[i] = wr_place_q[Log2Words-2-i];
  end
  assign wr_address[Log2Words-1] = wr_half_q;

  assign advance    = !out_valid_o || out_ready_i;
  assign rd         = advance && filled_q != 2'd0;
  assign free       = rd && rd_place_q == '1;
  assign rd_address = {rd_half_q, rd_place_q[Log2Words-2:0]};

  always_ff @(posedge clk_i) begin
    if (wr_q && !wr_place_q[Log2Words-1]) memory_even[wr_address] <= {high_q, low_q};
    if (wr_q && wr_place_q[Log2Words-1]) memory_odd[wr_address] <= {high_q, low_q};
    if (rd) begin
      even_q  <= memory_even[rd_address];
      odd_q   <= memory_odd[rd_address];
      upper_q <= rd_place_q[Log2Words-1];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {rd_half_q, rd_place_q} <= '0;
      out_valid_o             <= 1'b0;
    end else if (clear_i) begin
      {rd_half_q, rd_place_q} <= '0;
      out_valid_o             <= 1'b0;
    end else begin
      if (rd) {rd_half_q, rd_place_q} <= {rd_half_q, rd_place_q} + 1'b1;
      if (advance) out_valid_o <= rd;
    end
  end

  assign out_data_o = upper_q ? {odd_q[63:32], even_q[63:32]} : {odd_q[31:0], even_q[31:0]};

endmodule
