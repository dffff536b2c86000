// A memory that is written at one port and read at another, a cycle after its address.
//
// What is read while the same word is written is undefined, and nobody looks at it.
module timed_io_memory #(
  parameter int unsigned WORDS = 64,
  parameter int unsigned WIDTH = 72,
  localparam int unsigned ADDRESS_BITS = WORDS > 1 ? $clog2(WORDS) : 1
) (
  input  logic                    clk_i,

  input  logic                    write_i,
  input  logic [ADDRESS_BITS-1:0] write_address_i,
  input  logic [WIDTH-1:0]        write_data_i,

  input  logic [ADDRESS_BITS-1:0] read_address_i,
  output logic [WIDTH-1:0]        read_data_o
);

  logic [WIDTH-1:0] memory [WORDS];

  always_ff @(posedge clk_i) begin
    if (write_i) memory[write_address_i] <= write_data_i;
    read_data_o <= memory[read_address_i];
  end

endmodule
