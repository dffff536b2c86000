// A memory that is written at one port and read at another, a cycle after its address: block RAM,
// however few its words are. What it keeps would be flip-flops and LUTs for each VM.
//
// What is read while the same word is written is undefined, and is not used.
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

  // Of one word it would be no memory.
  (* ram_style = "block", no_rw_check *)
  logic [WIDTH-1:0] memory [WORDS > 1 ? WORDS : 2];

  always_ff @(posedge clk_i) begin
    if (write_i) memory[write_address_i] <= write_data_i;
    read_data_o <= memory[read_address_i];
  end

endmodule
