// The rules of both buses, looked at in all tests of the ready queue. The page may wait for as long
// as the queue is emptied, and a test's memory rests as long as it likes.
bind axil_slave axil_props #(
  .ADDR_WIDTH(ADDR_WIDTH), .DATA_WIDTH(DATA_WIDTH),
  .OUTSTANDING_MAX(2), .ANSWER_CYCLES_MAX(2000), .READY_CYCLES_MAX(200)
) u_checks (
  .clk_i, .rst_ni,
  .axil_awvalid(s_axil_awvalid), .axil_awready(s_axil_awready), .axil_awaddr(s_axil_awaddr),
  .axil_awprot(s_axil_awprot),
  .axil_wvalid(s_axil_wvalid), .axil_wready(s_axil_wready), .axil_wdata(s_axil_wdata),
  .axil_wstrb(s_axil_wstrb),
  .axil_bvalid(s_axil_bvalid), .axil_bready(s_axil_bready), .axil_bresp(s_axil_bresp),
  .axil_arvalid(s_axil_arvalid), .axil_arready(s_axil_arready), .axil_araddr(s_axil_araddr),
  .axil_arprot(s_axil_arprot),
  .axil_rvalid(s_axil_rvalid), .axil_rready(s_axil_rready), .axil_rdata(s_axil_rdata),
  .axil_rresp(s_axil_rresp)
);

bind axi_master axi_props #(
  .ADDR_WIDTH(ADDR_WIDTH), .DATA_WIDTH(DATA_WIDTH), .READS_MAX(READS_MAX), .WRITES_MAX(WRITES_MAX),
  .ANSWER_CYCLES_MAX(2000), .READY_CYCLES_MAX(100)
) u_checks (
  .clk_i, .rst_ni,
  .axi_awvalid(m_axi_awvalid), .axi_awready(m_axi_awready), .axi_awaddr(m_axi_awaddr),
  .axi_awlen(m_axi_awlen), .axi_awsize(m_axi_awsize), .axi_awburst(m_axi_awburst),
  .axi_awcache(m_axi_awcache), .axi_awprot(m_axi_awprot),
  .axi_wvalid(m_axi_wvalid), .axi_wready(m_axi_wready), .axi_wdata(m_axi_wdata),
  .axi_wstrb(m_axi_wstrb), .axi_wlast(m_axi_wlast),
  .axi_bvalid(m_axi_bvalid), .axi_bready(m_axi_bready), .axi_bresp(m_axi_bresp),
  .axi_arvalid(m_axi_arvalid), .axi_arready(m_axi_arready), .axi_araddr(m_axi_araddr),
  .axi_arlen(m_axi_arlen), .axi_arsize(m_axi_arsize), .axi_arburst(m_axi_arburst),
  .axi_arcache(m_axi_arcache), .axi_arprot(m_axi_arprot),
  .axi_rvalid(m_axi_rvalid), .axi_rready(m_axi_rready), .axi_rdata(m_axi_rdata),
  .axi_rresp(m_axi_rresp), .axi_rlast(m_axi_rlast)
);
