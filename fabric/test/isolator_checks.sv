// The rules of AXI4 on memory's side, looked at in all tests of the isolator, whatever the region
// drives. Memory rests for a while at random; the isolator never does.
bind isolator axi_props #(
  .ADDR_WIDTH(ADDR_WIDTH), .DATA_WIDTH(DATA_WIDTH),
  .READS_MAX(BURSTS_MAX), .WRITES_MAX(ANSWERS_MAX),
  .ANSWER_CYCLES_MAX(100), .READY_CYCLES_MAX(2)
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
