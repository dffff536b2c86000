// What came in comes out DEPTH steps later.
//
// Long ones are memories, and have to have a power of two for DEPTH. What comes out in the first
// DEPTH steps is undefined.
module delay_line #(
  parameter int unsigned DEPTH = 16,
  parameter int unsigned WIDTH = 36
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             step_i,
  input  logic [WIDTH-1:0] data_i,
  output logic [WIDTH-1:0] data_o
);

  if (DEPTH >= 16) begin : gen_memory
    localparam int unsigned AddressBits = unsigned'($clog2(DEPTH));
    typedef logic [AddressBits-1:0] address_t;

    logic [WIDTH-1:0] memory [DEPTH];
    logic [WIDTH-1:0] word_q;
    address_t         at_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        at_q <= '0;
      end else if (step_i) begin
        at_q <= at_q + 1'b1;
      end
    end

    // The word that is overwritten two steps later comes out in that step: a memory takes most of a
    // cycle, and so has a register behind it.
    always_ff @(posedge clk_i) begin
      if (step_i) begin
        memory[at_q] <= data_i;
        word_q       <= memory[at_q + address_t'(2)];
        data_o       <= word_q;
      end
    end
  end else begin : gen_registers
    typedef logic [DEPTH-1:0][WIDTH-1:0] words_t;
    words_t words_q;

    assign data_o = words_q[DEPTH-1];

    always_ff @(posedge clk_i) begin
      if (step_i) words_q <= words_t'((DEPTH*WIDTH)'({words_q, data_i}));
    end

    logic unused_reset;
    assign unused_reset = rst_ni;
  end

endmodule
