// The context of a hardware task: a memory that the task and the device manager both read and
// write.
//
// What is read comes a cycle after its address, and stays during writes. A word that one writes
// while the other reads or writes it is undefined in that cycle.
module context_buffer #(
  parameter int unsigned WORDS = 256,
  localparam int unsigned ADDRESS_BITS = $clog2(WORDS)
) (
  input  logic                    clk_i,

  input  logic                    task_write_i,
  input  logic [ADDRESS_BITS-1:0] task_addr_i,
  input  logic [31:0]             task_data_i,
  output logic [31:0]             task_data_o,

  input  logic                    manager_write_i,
  input  logic [ADDRESS_BITS-1:0] manager_addr_i,
  input  logic [31:0]             manager_data_i,
  output logic [31:0]             manager_data_o
);

  logic [31:0] memory [WORDS];

  // As in ready_queue_ram: two ports of a block RAM, and no order between them.
  // verilator lint_off MULTIDRIVEN
  always @(posedge clk_i) begin
    if (task_write_i) memory[task_addr_i] <= task_data_i;
    else if (manager_write_i && manager_addr_i == task_addr_i) task_data_o <= 'x;
    else task_data_o <= memory[task_addr_i];
  end

  always @(posedge clk_i) begin
    if (manager_write_i) memory[manager_addr_i] <= manager_data_i;
    else if (task_write_i && manager_addr_i == task_addr_i) manager_data_o <= 'x;
    else manager_data_o <= memory[manager_addr_i];
  end
  // verilator lint_on MULTIDRIVEN

endmodule
