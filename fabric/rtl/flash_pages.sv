// A page of the flash for each port: a memory with a port to write and one to read. What is read
// comes two cycles after its place, from the memory's register, as it is slow without.
module flash_pages #(
  parameter int unsigned PORTS       = 4,
  localparam int unsigned IndexWidth = PORTS > 1 ? unsigned'($clog2(PORTS)) : 1
) (
  input  logic                  clk_i,
  input  logic [IndexWidth-1:0] port_i,
  input  logic                  write_i,
  input  logic [7:0]            write_place_i,
  input  logic [7:0]            data_i,
  input  logic [7:0]            place_i,
  output logic [7:0]            data_o
);

  logic [7:0] memory [PORTS * 256];
  logic [7:0] data_q;

  always_ff @(posedge clk_i) if (write_i) memory[{port_i, write_place_i}] <= data_i;
  always_ff @(posedge clk_i) begin
    data_q <= memory[{port_i, place_i}];
    data_o <= data_q;
  end

endmodule
