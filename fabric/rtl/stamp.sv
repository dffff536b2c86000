// Time stamps: a counter of cycles, and an interrupt when it reaches a value.
//
// The smallest block that has all that a block has, and the example in the documentation:
// registers from regs/stamp.rdl behind AXI4-Lite, logic of its own, an interrupt line.
module stamp (
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

  output logic        irq_o
);

  // The registers.

  logic        req, req_is_wr, stall_wr, stall_rd;
  logic [11:0] addr;
  logic [31:0] wr_data, wr_biten, rd_data;
  logic        rd_ack, rd_err, wr_ack, wr_err;

  stamp_regs_pkg::stamp__in_t  to_regs;
  stamp_regs_pkg::stamp__out_t from_regs;

  axil_slave #(.ADDR_WIDTH(12), .DATA_WIDTH(32)) u_slave (
    .clk_i, .rst_ni,
    .s_axil_awvalid, .s_axil_awready, .s_axil_awaddr, .s_axil_awprot,
    .s_axil_wvalid, .s_axil_wready, .s_axil_wdata, .s_axil_wstrb,
    .s_axil_bvalid, .s_axil_bready, .s_axil_bresp,
    .s_axil_arvalid, .s_axil_arready, .s_axil_araddr, .s_axil_arprot,
    .s_axil_rvalid, .s_axil_rready, .s_axil_rdata, .s_axil_rresp,
    .req_o(req), .req_is_wr_o(req_is_wr), .addr_o(addr),
    .wr_data_o(wr_data), .wr_biten_o(wr_biten),
    .req_stall_wr_i(stall_wr), .req_stall_rd_i(stall_rd),
    .rd_ack_i(rd_ack), .rd_err_i(rd_err), .rd_data_i(rd_data),
    .wr_ack_i(wr_ack), .wr_err_i(wr_err)
  );

  stamp_regs u_regs (
    .clk(clk_i), .arst_n(rst_ni),
    .s_cpuif_req(req), .s_cpuif_req_is_wr(req_is_wr), .s_cpuif_addr(addr),
    .s_cpuif_wr_data(wr_data), .s_cpuif_wr_biten(wr_biten),
    .s_cpuif_req_stall_wr(stall_wr), .s_cpuif_req_stall_rd(stall_rd),
    .s_cpuif_rd_ack(rd_ack), .s_cpuif_rd_err(rd_err), .s_cpuif_rd_data(rd_data),
    .s_cpuif_wr_ack(wr_ack), .s_cpuif_wr_err(wr_err),
    .hwif_in(to_regs), .hwif_out(from_regs)
  );

  // What the block does.

  logic [63:0] cycles_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cycles_q <= '0;
    end else begin
      cycles_q <= cycles_q + 1'b1;
    end
  end

  assign to_regs.CYCLES.value.next = cycles_q;

  interrupt #(.EVENTS(1)) u_interrupt (
    .clk_i, .rst_ni,
    .event_i(cycles_q == from_regs.COMPARE.value.value),
    .clear_i(from_regs.IRQ_CLEAR.match.value),
    .enable_i(from_regs.IRQ_ENABLE.match.value),
    .pending_o(to_regs.IRQ_PENDING.match.next),
    .irq_o
  );

endmodule
