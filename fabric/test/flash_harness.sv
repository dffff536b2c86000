// The flash's I/O VMM with a part, whose times are short.
module flash_harness
  import io_pkg::*;
#(
  parameter int unsigned HALF_CYCLES    = 1,
  parameter int unsigned PROGRAM_CYCLES = 600,
  parameter int unsigned SECTOR_CYCLES  = 1_000,
  parameter int unsigned BLOCK_CYCLES   = 1_500
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic [3:0][9:0]    area_first_i,
  input  logic [3:0][10:0]   area_sectors_i,
  input  logic [3:0]         area_writable_i,
  // The wires to the VMM are cut, and float high or low.
  input  logic               cut_i,
  input  logic               cut_level_i,
  // The part has power; what is torn without is drawn from the seed.
  input  logic               power_i,
  input  logic [63:0]        seed_i,

  input  logic               go_i,
  input  request_t           ask_i,
  output logic               done_o,
  output response_t          answer_o,
  output logic [8:0]         words_o,
  output logic [31:0]        cycles_o,

  output logic               cs_no,
  output logic               sck_o,
  output logic [3:0]         io_o,
  output logic [3:0]         io_oe_o,
  output logic               busy_o,
  output logic               ignored_o
);

  logic        request_valid, request_ready, in_valid, in_ready, out_valid, response_valid;
  logic [3:0]  from_part;
  request_t    request;
  logic [31:0] in_data, out_data;
  response_t   response;

  io_vmm_port u_port (
    .clk_i, .rst_ni, .go_i, .ask_i, .done_o, .answer_o, .words_o, .cycles_o,
    .request_valid_o(request_valid), .request_ready_i(request_ready), .request_o(request),
    .in_valid_o(in_valid), .in_ready_i(in_ready), .in_data_o(in_data),
    .out_valid_i(out_valid), .out_data_i(out_data),
    .response_valid_i(response_valid), .response_i(response)
  );

  io_flash #(
    .HALF_CYCLES(HALF_CYCLES), .PROGRAM_CYCLES(PROGRAM_CYCLES + PROGRAM_CYCLES / 10),
    .SECTOR_CYCLES(SECTOR_CYCLES + SECTOR_CYCLES / 10),
    .BLOCK_CYCLES(BLOCK_CYCLES + BLOCK_CYCLES / 10)
  ) u_flash (
    .clk_i, .rst_ni, .area_first_i, .area_sectors_i, .area_writable_i,
    .request_valid_i(request_valid), .request_ready_o(request_ready), .request_i(request),
    .in_valid_i(in_valid), .in_ready_o(in_ready), .in_data_i(in_data),
    .out_valid_o(out_valid), .out_data_o(out_data),
    .response_valid_o(response_valid), .response_o(response), .yield_i(1'b0),
    .cs_no, .sck_o, .io_o, .io_oe_o, .io_i(cut_i ? {4{cut_level_i}} : from_part)
  );

  flash_part #(
    .PROGRAM_CYCLES(PROGRAM_CYCLES), .SECTOR_CYCLES(SECTOR_CYCLES), .BLOCK_CYCLES(BLOCK_CYCLES)
  ) u_part (
    .clk_i, .power_i, .seed_i,
    .cs_ni(cs_no), .sck_i(sck_o), .io_i(io_o), .io_oe_i(io_oe_o), .io_o(from_part),
    .busy_o, .ignored_o
  );

endmodule
