// Bits to the symbols of 16-QAM or 64-QAM: two symbols a cycle.
//
// The constellations are 3GPP TS 36.211's, 7.1.3 and 7.1.4, which are Gray coded and have a mean
// power of 1. I and Q are 16 bits each, of which 14 are behind the point: 64-QAM's outermost level
// is 7 / sqrt(42), more than 1. A symbol is I in the lower and Q in the upper half of 32 bits; the
// first of two is in the lower half of a word. The bits come in the order of the bytes, the highest
// of each byte first.
module qam #(
  // 4 or 6.
  parameter int unsigned SYMBOL_BITS = 4
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Begin with the first bit of a symbol.
  input  logic        clear_i,

  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [63:0] in_data_i,
  output logic        out_valid_o,
  input  logic        out_ready_i,
  output logic [63:0] out_data_o
);

  localparam int unsigned PairBits = 2 * SYMBOL_BITS;

  // Of 64 bits 6-bit symbols leave 4, which go before the next 64; of those 68 8 are left, and
  // nothing of the third word's 72. With 4-bit symbols nothing is ever left.
  localparam int unsigned RestMax  = SYMBOL_BITS == 6 ? 8 : 0;
  localparam int unsigned BitWidth = 64 + RestMax;

  // The first bit is the highest.
  logic [BitWidth-1:0] bits_q, kept, word;
  logic [63:0]         in_order;
  logic [3:0]          pairs_q, pairs_new;
  logic                load, take;

  for (genvar i = 0; i < 8; i++) begin : gen_order
    assign in_order[8*i+:8] = in_data_i[8*(7-i)+:8];
  end

  assign out_valid_o = pairs_q != 4'd0;
  assign take        = out_valid_o && out_ready_i;
  assign in_ready_o  = pairs_q == 4'd0 || (pairs_q == 4'd1 && out_ready_i);
  assign load        = in_valid_i && in_ready_o;
  assign kept        = take ? bits_q << PairBits : bits_q;

  if (SYMBOL_BITS == 6) begin : gen_rest
    logic [1:0] third_q;  // which of three words is next

    always_comb begin
      case (third_q)
        2'd0: begin
          word      = {in_order, 8'd0};
          pairs_new = 4'd5;
        end
        2'd1: begin
          word      = {4'd0, in_order, 4'd0};
          pairs_new = 4'd5;
        end
        default: begin
          word      = {8'd0, in_order};
          pairs_new = 4'd6;
        end
      endcase
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        third_q <= '0;
      end else if (clear_i) begin
        third_q <= '0;
      end else if (load) begin
        third_q <= third_q == 2'd2 ? 2'd0 : third_q + 2'd1;
      end
    end
  end else begin : gen_no_rest
    assign word      = in_order;
    assign pairs_new = 4'd8;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bits_q  <= '0;
      pairs_q <= '0;
    end else if (clear_i) begin
      bits_q  <= '0;
      pairs_q <= '0;
    end else begin
      // Behind what is kept are zeros.
      bits_q <= load ? kept | word : kept;
      if (load) begin
        pairs_q <= pairs_new;
      end else if (take) begin
        pairs_q <= pairs_q - 4'd1;
      end
    end
  end

  // An odd level of the constellation, for a mean power of 1.
  function automatic logic signed [15:0] level(int unsigned odd, int unsigned power);
    return 16'($rtoi($floor(16384.0 * real'(odd) / $sqrt(real'(power)) + 0.5)));
  endfunction

  localparam logic signed [15:0] Level16 [2] = '{level(1, 10), level(3, 10)};
  localparam logic signed [15:0] Level64 [4] = '{level(3, 42), level(1, 42),
                                                 level(5, 42), level(7, 42)};

  for (genvar i = 0; i < 4; i++) begin : gen_part
    // I and Q take turns in the bits: I's sign, Q's sign, I's magnitude, ...
    logic signed [15:0] size;
    localparam int unsigned Sign = BitWidth - 1 - SYMBOL_BITS * unsigned'(i / 2) - unsigned'(i % 2);
    if (SYMBOL_BITS == 6) begin : gen_64
      assign size = Level64[{bits_q[Sign-2], bits_q[Sign-4]}];
    end else begin : gen_16
      assign size = Level16[bits_q[Sign-2]];
    end
    assign out_data_o[16*i+:16] = unsigned'(bits_q[Sign] ? -size : size);
  end

endmodule
