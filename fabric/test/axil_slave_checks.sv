// The rules of AXI4-Lite, looked at in all tests of blocks with the slave. Their masters let both
// halves of a write, and answers, rest for a while at random.
bind axil_slave axil_props #(
  .ADDR_WIDTH(ADDR_WIDTH), .DATA_WIDTH(DATA_WIDTH),
  .OUTSTANDING_MAX(2), .ANSWER_CYCLES_MAX(200), .READY_CYCLES_MAX(200)
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
