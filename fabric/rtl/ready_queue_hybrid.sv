// The ready queue as the paper's hybrid has it (section 4.1): commands by a GP port, and whoever
// comes first kept ready in coherent memory.
//
// The doubleword at the mirror's address (a register of ready_queue_gp) holds whoever comes first
// in its lower half and the number of commands answered in its upper half. So a reader that counts
// the commands that it has given knows whether all of them are in the answer.
module ready_queue_hybrid #(
  parameter int unsigned DEPTH = 1024
) (
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

  output logic        m_axi_awvalid,
  input  logic        m_axi_awready,
  output logic [31:0] m_axi_awaddr,
  output logic [7:0]  m_axi_awlen,
  output logic [2:0]  m_axi_awsize,
  output logic [1:0]  m_axi_awburst,
  output logic [3:0]  m_axi_awcache,
  output logic [2:0]  m_axi_awprot,
  output logic        m_axi_wvalid,
  input  logic        m_axi_wready,
  output logic [63:0] m_axi_wdata,
  output logic [7:0]  m_axi_wstrb,
  output logic        m_axi_wlast,
  input  logic        m_axi_bvalid,
  output logic        m_axi_bready,
  input  logic [1:0]  m_axi_bresp,
  output logic        m_axi_arvalid,
  input  logic        m_axi_arready,
  output logic [31:0] m_axi_araddr,
  output logic [7:0]  m_axi_arlen,
  output logic [2:0]  m_axi_arsize,
  output logic [1:0]  m_axi_arburst,
  output logic [3:0]  m_axi_arcache,
  output logic [2:0]  m_axi_arprot,
  input  logic        m_axi_rvalid,
  output logic        m_axi_rready,
  input  logic [63:0] m_axi_rdata,
  input  logic [1:0]  m_axi_rresp,
  input  logic        m_axi_rlast
);

  logic [31:0] first, commands, wr_addr;
  logic        changed, enable, error;
  logic [31:3] address;
  logic        wr_valid, wr_ready, wr_data_valid, wr_data_ready, wr_done, wr_error;
  logic [63:0] wr_data;

  ready_queue_gp #(.DEPTH(DEPTH)) u_gp (
    .clk_i, .rst_ni,
    .s_axil_awvalid, .s_axil_awready, .s_axil_awaddr, .s_axil_awprot,
    .s_axil_wvalid, .s_axil_wready, .s_axil_wdata, .s_axil_wstrb,
    .s_axil_bvalid, .s_axil_bready, .s_axil_bresp,
    .s_axil_arvalid, .s_axil_arready, .s_axil_araddr, .s_axil_arprot,
    .s_axil_rvalid, .s_axil_rready, .s_axil_rdata, .s_axil_rresp,
    .first_o(first), .commands_o(commands), .changed_o(changed),
    .mirror_enable_o(enable), .mirror_address_o(address), .mirror_error_i(error)
  );

  ready_queue_mirror u_mirror (
    .clk_i, .rst_ni,
    .enable_i(enable), .address_i(address), .data_i({commands, first}), .changed_i(changed),
    .error_o(error),
    .wr_valid_o(wr_valid), .wr_ready_i(wr_ready), .wr_addr_o(wr_addr),
    .wr_data_valid_o(wr_data_valid), .wr_data_ready_i(wr_data_ready), .wr_data_o(wr_data),
    .wr_done_i(wr_done), .wr_error_i(wr_error)
  );

  // Only writes are used.
  logic        rd_ready, rd_data_valid, rd_data_last, rd_data_error, busy, unused;
  logic [63:0] rd_data;
  assign unused = ^{rd_ready, rd_data_valid, rd_data_last, rd_data_error, busy, rd_data};

  axi_master u_master (
    .clk_i, .rst_ni,
    .rd_valid_i(1'b0), .rd_ready_o(rd_ready), .rd_addr_i('0), .rd_log2_words_i('0),
    .rd_data_valid_o(rd_data_valid), .rd_data_ready_i(1'b1), .rd_data_o(rd_data),
    .rd_data_last_o(rd_data_last), .rd_data_error_o(rd_data_error),
    .wr_valid_i(wr_valid), .wr_ready_o(wr_ready), .wr_addr_i(wr_addr), .wr_log2_words_i('0),
    .wr_data_valid_i(wr_data_valid), .wr_data_ready_o(wr_data_ready), .wr_data_i(wr_data),
    .wr_strobe_i('1), .wr_done_o(wr_done), .wr_error_o(wr_error), .busy_o(busy),
    .m_axi_awvalid, .m_axi_awready, .m_axi_awaddr, .m_axi_awlen, .m_axi_awsize, .m_axi_awburst,
    .m_axi_awcache, .m_axi_awprot, .m_axi_wvalid, .m_axi_wready, .m_axi_wdata, .m_axi_wstrb,
    .m_axi_wlast, .m_axi_bvalid, .m_axi_bready, .m_axi_bresp, .m_axi_arvalid, .m_axi_arready,
    .m_axi_araddr, .m_axi_arlen, .m_axi_arsize, .m_axi_arburst, .m_axi_arcache, .m_axi_arprot,
    .m_axi_rvalid, .m_axi_rready, .m_axi_rdata, .m_axi_rresp, .m_axi_rlast
  );

endmodule
