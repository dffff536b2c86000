// What a tile's port leads to: its interface to the mesh, as page 0, and nothing else.
module manycore_tile
  import fabric_pkg::*;
#(
  // Where it is, and where the place is that answers into RESPONSE.
  parameter mesh_pkg::place_t PLACE = '{y: 3'd0, x: 3'd0},
  parameter mesh_pkg::place_t IO    = '{y: 3'd4, x: 3'd0},
  parameter int unsigned      DEPTH = 4
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  gp_req_t     tile_req_i,
  output gp_rsp_t     tile_rsp_o,
  output logic        irq_o,

  // As in mesh_interface.
  input  logic [63:0] reach_i,
  output logic        out_valid_o,
  output logic        out_last_o,
  output logic [31:0] out_data_o,
  input  logic        out_credit_i,
  input  logic        in_valid_i,
  input  logic        in_last_i,
  input  logic [31:0] in_data_i,
  output logic        in_credit_o
);

  // There are several in a design: what they do is compiled once.
  /*verilator no_inline_module*/

  logic        awvalid, awready, wvalid, wready, bvalid, bready;
  logic        arvalid, arready, rvalid, rready, unused_busy;
  logic [1:0]  bresp, rresp;
  logic [11:0] addr;
  logic [31:0] wdata, rdata;
  logic [3:0]  wstrb;

  page_decoder #(.SLAVES(1), .ADDR_WIDTH(GpAddressWidth), .PAGES(8'd0)) u_page (
    .clk_i, .rst_ni,
    .s_axil_awvalid(tile_req_i.awvalid), .s_axil_awready(tile_rsp_o.awready),
    .s_axil_awaddr(tile_req_i.awaddr), .s_axil_awprot('0),
    .s_axil_wvalid(tile_req_i.wvalid), .s_axil_wready(tile_rsp_o.wready),
    .s_axil_wdata(tile_req_i.wdata), .s_axil_wstrb(tile_req_i.wstrb),
    .s_axil_bvalid(tile_rsp_o.bvalid), .s_axil_bready(tile_req_i.bready),
    .s_axil_bresp(tile_rsp_o.bresp),
    .s_axil_arvalid(tile_req_i.arvalid), .s_axil_arready(tile_rsp_o.arready),
    .s_axil_araddr(tile_req_i.araddr), .s_axil_arprot('0),
    .s_axil_rvalid(tile_rsp_o.rvalid), .s_axil_rready(tile_req_i.rready),
    .s_axil_rdata(tile_rsp_o.rdata), .s_axil_rresp(tile_rsp_o.rresp),
    .busy_o(unused_busy),
    .m_axil_awvalid(awvalid), .m_axil_awready(awready),
    .m_axil_wvalid(wvalid), .m_axil_wready(wready),
    .m_axil_addr(addr), .m_axil_wdata(wdata), .m_axil_wstrb(wstrb),
    .m_axil_bvalid(bvalid), .m_axil_bready(bready), .m_axil_bresp(bresp),
    .m_axil_arvalid(arvalid), .m_axil_arready(arready),
    .m_axil_rvalid(rvalid), .m_axil_rready(rready), .m_axil_rdata(rdata), .m_axil_rresp(rresp)
  );

  mesh_interface #(.PLACE(PLACE), .IO(IO), .DEPTH(DEPTH)) u_interface (
    .clk_i, .rst_ni,
    .s_axil_awvalid(awvalid), .s_axil_awready(awready),
    .s_axil_awaddr(addr), .s_axil_awprot('0),
    .s_axil_wvalid(wvalid), .s_axil_wready(wready),
    .s_axil_wdata(wdata), .s_axil_wstrb(wstrb),
    .s_axil_bvalid(bvalid), .s_axil_bready(bready), .s_axil_bresp(bresp),
    .s_axil_arvalid(arvalid), .s_axil_arready(arready),
    .s_axil_araddr(addr), .s_axil_arprot('0),
    .s_axil_rvalid(rvalid), .s_axil_rready(rready),
    .s_axil_rdata(rdata), .s_axil_rresp(rresp),
    .irq_o, .reach_i,
    .out_valid_o, .out_last_o, .out_data_o, .out_credit_i,
    .in_valid_i, .in_last_i, .in_data_i, .in_credit_o
  );

endmodule
