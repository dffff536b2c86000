// The design with the hypervisor's ready queue alone, at the start of the GP port, with ACP and the
// event.
module ready_queue_design import fabric_pkg::*; (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  gp_req_t               gp_req_i,
  output gp_rsp_t               gp_rsp_o,
  output axi_req_t              acp_req_o,
  input  axi_rsp_t              acp_rsp_i,
  output axi_req_t              hp_req_o,
  input  axi_rsp_t              hp_rsp_i,
  input  logic                  event_i,
  output logic [Interrupts-1:0] irq_o,
  output logic [31:0]           quiet_o
);

  logic [31:0] awaddr, araddr;
  logic [2:0]  awsize, arsize, awprot, arprot;
  logic [1:0]  awburst, arburst;
  logic [3:0]  awcache, arcache;

  // The block answers in its page, and in the pages above as in this one.
  ready_queue_top u_top (
    .clk_i, .rst_ni, .event_i,
    .s_axil_awvalid(gp_req_i.awvalid), .s_axil_awready(gp_rsp_o.awready),
    .s_axil_awaddr(gp_req_i.awaddr[11:0]), .s_axil_awprot('0),
    .s_axil_wvalid(gp_req_i.wvalid), .s_axil_wready(gp_rsp_o.wready),
    .s_axil_wdata(gp_req_i.wdata), .s_axil_wstrb(gp_req_i.wstrb),
    .s_axil_bvalid(gp_rsp_o.bvalid), .s_axil_bready(gp_req_i.bready),
    .s_axil_bresp(gp_rsp_o.bresp),
    .s_axil_arvalid(gp_req_i.arvalid), .s_axil_arready(gp_rsp_o.arready),
    .s_axil_araddr(gp_req_i.araddr[11:0]), .s_axil_arprot('0),
    .s_axil_rvalid(gp_rsp_o.rvalid), .s_axil_rready(gp_req_i.rready),
    .s_axil_rdata(gp_rsp_o.rdata), .s_axil_rresp(gp_rsp_o.rresp),
    .m_axi_awvalid(acp_req_o.awvalid), .m_axi_awready(acp_rsp_i.awready),
    .m_axi_awaddr(awaddr), .m_axi_awlen(acp_req_o.awlen), .m_axi_awsize(awsize),
    .m_axi_awburst(awburst), .m_axi_awcache(awcache), .m_axi_awprot(awprot),
    .m_axi_wvalid(acp_req_o.wvalid), .m_axi_wready(acp_rsp_i.wready),
    .m_axi_wdata(acp_req_o.wdata), .m_axi_wstrb(acp_req_o.wstrb), .m_axi_wlast(acp_req_o.wlast),
    .m_axi_bvalid(acp_rsp_i.bvalid), .m_axi_bready(acp_req_o.bready),
    .m_axi_bresp(acp_rsp_i.bresp),
    .m_axi_arvalid(acp_req_o.arvalid), .m_axi_arready(acp_rsp_i.arready),
    .m_axi_araddr(araddr), .m_axi_arlen(acp_req_o.arlen), .m_axi_arsize(arsize),
    .m_axi_arburst(arburst), .m_axi_arcache(arcache), .m_axi_arprot(arprot),
    .m_axi_rvalid(acp_rsp_i.rvalid), .m_axi_rready(acp_req_o.rready),
    .m_axi_rdata(acp_rsp_i.rdata), .m_axi_rresp(acp_rsp_i.rresp), .m_axi_rlast(acp_rsp_i.rlast)
  );

  assign acp_req_o.awaddr = {8'b0, awaddr};
  assign acp_req_o.araddr = {8'b0, araddr};
  assign hp_req_o         = '0;
  assign irq_o            = '0;

  logic unused;
  assign unused = ^{gp_req_i.awaddr[GpAddressWidth-1:12], gp_req_i.araddr[GpAddressWidth-1:12],
                    hp_rsp_i, awsize, arsize, awburst, arburst, awcache, arcache, awprot, arprot};

  // Nothing changes while it waits, for software, for an event, or for memory. That it does when
  // nothing has moved for some cycles: the longest that anything stands still otherwise is a
  // register of the page, for a cycle. A queue that is emptied, or looks for commands, moves.
  logic       moves;
  logic [2:0] settled_q;

  assign moves = gp_req_i.awvalid || gp_req_i.wvalid || gp_req_i.arvalid
              || gp_rsp_o.bvalid || gp_rsp_o.rvalid || event_i
              || acp_req_o.awvalid || acp_req_o.wvalid || acp_req_o.arvalid
              || acp_rsp_i.rvalid || acp_rsp_i.bvalid
              || u_top.page_valid || u_top.command_valid || !u_top.initialised;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      settled_q <= '0;
    end else if (moves) begin
      settled_q <= '0;
    end else if (settled_q != '1) begin
      settled_q <= settled_q + 1'b1;
    end
  end

  assign quiet_o = settled_q == '1 ? QuietForever : '0;

endmodule
