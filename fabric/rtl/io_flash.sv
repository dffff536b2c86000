// An SPI NOR flash behind the I/O hypervisor: I/O VMM and driver. The pins are in SPI mode 0; reads
// use four lines.
module io_flash
  import io_pkg::*;
#(
  parameter int unsigned PORTS           = 4,
  parameter int unsigned ADDR_WIDTH      = 22,
  parameter logic [23:0] ID              = 24'hef_40_16,
  parameter int unsigned HALF_CYCLES     = 1,
  parameter int unsigned DESELECT_CYCLES = 5,
  parameter int unsigned PROGRAM_CYCLES  = 330_000,
  parameter int unsigned SECTOR_CYCLES   = 44_000_000,
  parameter int unsigned BLOCK_CYCLES    = 220_000_000,
  localparam int unsigned SectorWidth    = ADDR_WIDTH - 12
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic [PORTS-1:0][SectorWidth-1:0] area_first_i,
  input  logic [PORTS-1:0][SectorWidth:0]   area_sectors_i,
  input  logic [PORTS-1:0]                  area_writable_i,

  input  logic        request_valid_i,
  output logic        request_ready_o,
  input  request_t    request_i,
  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [31:0] in_data_i,
  output logic        out_valid_o,
  output logic [31:0] out_data_o,
  output logic        response_valid_o,
  output response_t   response_o,
  input  logic        yield_i,

  output logic        cs_no,
  output logic        sck_o,
  output logic [3:0]  io_o,
  output logic [3:0]  io_oe_o,
  input  logic [3:0]  io_i
);

  flash_pkg::command_e command;
  logic        driver_valid, driver_ready, write_valid, write_ready, read_valid, cut, read_cut;
  logic [23:0] address;
  logic [15:0] bytes;
  logic [7:0]  write_data, read_data;

  flash_vmm #(
    .PORTS(PORTS), .ADDR_WIDTH(ADDR_WIDTH), .ID(ID), .PROGRAM_CYCLES(PROGRAM_CYCLES),
    .SECTOR_CYCLES(SECTOR_CYCLES), .BLOCK_CYCLES(BLOCK_CYCLES)
  ) u_vmm (
    .clk_i, .rst_ni, .area_first_i, .area_sectors_i, .area_writable_i,
    .request_valid_i, .request_ready_o, .request_i, .in_valid_i, .in_ready_o, .in_data_i,
    .out_valid_o, .out_data_o, .response_valid_o, .response_o, .yield_i,
    .driver_valid_o(driver_valid), .driver_ready_i(driver_ready), .driver_command_o(command),
    .driver_address_o(address), .driver_bytes_o(bytes),
    .write_valid_o(write_valid), .write_ready_i(write_ready), .write_data_o(write_data),
    .read_valid_i(read_valid), .read_data_i(read_data), .cut_o(cut), .read_cut_i(read_cut)
  );

  flash_driver #(.HALF_CYCLES(HALF_CYCLES), .DESELECT_CYCLES(DESELECT_CYCLES)) u_driver (
    .clk_i, .rst_ni,
    .valid_i(driver_valid), .ready_o(driver_ready), .command_i(command),
    .address_i(address), .bytes_i(bytes),
    .write_valid_i(write_valid), .write_ready_o(write_ready), .write_data_i(write_data),
    .read_valid_o(read_valid), .read_ready_i(1'b1), .read_data_o(read_data),
    .cut_i(cut), .read_cut_o(read_cut),
    .cs_no, .sck_o, .io_o, .io_oe_o, .io_i
  );

endmodule
