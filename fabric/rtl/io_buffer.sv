// A buffer of an I/O port: 4 KiB, in words of 64 bits. The lower half is what the VM sees; the
// upper half is for data on their way between a device and the VM's memory.
module io_buffer (
  input  logic        clk_i,

  input  logic [7:0]  write_i,
  input  logic [8:0]  write_row_i,
  input  logic [63:0] data_i,

  input  logic [8:0]  row_i,
  // In the cycle after.
  output logic [63:0] data_o
);

  logic [63:0] rows [512];

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 8; i++) begin
      if (write_i[i]) rows[write_row_i][8*i +: 8] <= data_i[8*i +: 8];
    end
    data_o <= rows[row_i];
  end

endmodule
