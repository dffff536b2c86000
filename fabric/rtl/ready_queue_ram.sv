// A memory with a port that reads or writes and a port that writes: a true dual-port block RAM.
//
// Where both ports use one word in the same cycle and one of them writes it, what is read or stored
// is undefined.
module ready_queue_ram #(
  parameter int unsigned DEPTH = 1024,
  parameter int unsigned WIDTH = 11,
  localparam int unsigned ADDRESS_BITS = $clog2(DEPTH)
) (
  input  logic                    clk_i,

  input  logic [ADDRESS_BITS-1:0] a_address_i,
  input  logic                    a_write_i,
  input  logic [WIDTH-1:0]        a_data_i,
  output logic [WIDTH-1:0]        a_data_o,  // a cycle after the address; kept during writes

  input  logic [ADDRESS_BITS-1:0] b_address_i,
  input  logic                    b_write_i,
  input  logic [WIDTH-1:0]        b_data_i
);

  logic [WIDTH-1:0] memory [DEPTH];

  // Not always_ff, since the processes share the array; and not one process, since that would
  // promise an order of the two writes that a block RAM does not keep.
  // verilator lint_off MULTIDRIVEN
  always @(posedge clk_i) begin
    if (a_write_i) memory[a_address_i] <= a_data_i;
    else if (b_write_i && a_address_i == b_address_i) a_data_o <= 'x;
    else a_data_o <= memory[a_address_i];
  end

  always @(posedge clk_i) begin
    if (b_write_i) memory[b_address_i] <= b_data_i;
  end
  // verilator lint_on MULTIDRIVEN

endmodule
