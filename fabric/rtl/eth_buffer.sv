// The bytes of a frame that came: a memory with a port to write and one to read. What is read comes
// a cycle after its address.
module eth_buffer (
  input  logic        clk_i,
  input  logic        write_i,
  input  logic [10:0] write_addr_i,
  input  logic [7:0]  data_i,
  input  logic [10:0] addr_i,
  output logic [7:0]  data_o
);

  logic [7:0] memory [2048];

  always_ff @(posedge clk_i) if (write_i) memory[write_addr_i] <= data_i;
  always_ff @(posedge clk_i) data_o <= memory[addr_i];

endmodule
