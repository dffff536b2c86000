// The design with the block `stamp` alone, at the start of the GP port.
module stamp_design import fabric_pkg::*; (
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

  // The block answers in its page, and in the pages above as in this one.
  stamp u_stamp (
    .clk_i, .rst_ni,
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
    .irq_o(irq_o[0])
  );

  assign irq_o[Interrupts-1:1] = '0;
  assign acp_req_o             = '0;
  assign hp_req_o              = '0;

  logic unused;
  assign unused = ^{gp_req_i.awaddr[GpAddressWidth-1:12], gp_req_i.araddr[GpAddressWidth-1:12],
                    acp_rsp_i, hp_rsp_i, event_i};

  // Nothing but the counter changes from a moment after the last access until it has reached
  // COMPARE.
  logic        busy;
  logic [1:0]  settled_q;
  logic [63:0] left;

  assign busy = gp_req_i.awvalid || gp_req_i.wvalid || gp_req_i.arvalid
             || gp_rsp_o.bvalid || gp_rsp_o.rvalid
             || !gp_rsp_o.awready || !gp_rsp_o.wready || !gp_rsp_o.arready || u_stamp.req;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      settled_q <= '0;
    end else if (busy) begin
      settled_q <= '0;
    end else if (settled_q != '1) begin
      settled_q <= settled_q + 1'b1;
    end
  end

  assign left    = u_stamp.from_regs.COMPARE.value.value - u_stamp.cycles_q;
  assign quiet_o = settled_q != '1               ? '0 :
                   left >= {32'b0, QuietForever} ? QuietForever - 1'b1 : left[31:0];

endmodule
