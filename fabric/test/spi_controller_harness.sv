// The SPI controller with a flash whose times are short.
module spi_controller_harness (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        s_axil_awvalid,
  output logic        s_axil_awready,
  input  logic [11:0] s_axil_awaddr,
  input  logic [2:0]  s_axil_awprot,
  input  logic        s_axil_wvalid,
  output logic        s_axil_wready,
  input  logic [31:0] s_axil_wdata,
  input  logic [3:0]  s_axil_wstrb,
  output logic        s_axil_bvalid,
  input  logic        s_axil_bready,
  output logic [1:0]  s_axil_bresp,
  input  logic        s_axil_arvalid,
  output logic        s_axil_arready,
  input  logic [11:0] s_axil_araddr,
  input  logic [2:0]  s_axil_arprot,
  output logic        s_axil_rvalid,
  input  logic        s_axil_rready,
  output logic [31:0] s_axil_rdata,
  output logic [1:0]  s_axil_rresp,

  output logic        cs_no,
  output logic        busy_o,
  output logic        ignored_o
);

  logic       sck;
  logic [3:0] to_part, drives, from_part;

  spi_controller u_controller (
    .clk_i, .rst_ni,
    .s_axil_awvalid, .s_axil_awready, .s_axil_awaddr, .s_axil_awprot,
    .s_axil_wvalid, .s_axil_wready, .s_axil_wdata, .s_axil_wstrb,
    .s_axil_bvalid, .s_axil_bready, .s_axil_bresp,
    .s_axil_arvalid, .s_axil_arready, .s_axil_araddr, .s_axil_arprot,
    .s_axil_rvalid, .s_axil_rready, .s_axil_rdata, .s_axil_rresp,
    .cs_no, .sck_o(sck), .io_o(to_part), .io_oe_o(drives), .io_i(from_part)
  );

  flash_part #(
    .PROGRAM_CYCLES(600), .SECTOR_CYCLES(1_000), .BLOCK_CYCLES(1_500)
  ) u_part (
    .clk_i, .power_i(1'b1), .seed_i('0),
    .cs_ni(cs_no), .sck_i(sck), .io_i(to_part), .io_oe_i(drives), .io_o(from_part),
    .busy_o, .ignored_o
  );

endmodule
