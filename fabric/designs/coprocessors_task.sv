// A hardware task, by its number, behind the ports of a region.
module coprocessors_task #(
  parameter hw_task_pkg::task_e TASK = hw_task_pkg::Crc32
) (
  input  logic                   clk_i,
  input  region_pkg::to_task_t   to_task_i,
  output region_pkg::from_task_t from_task_o
);

  import hw_task_pkg::*;

  logic       busy;
  logic [3:0] awcache, arcache;
  logic [2:0] awprot, arprot;
  logic       unused;
  assign unused = ^{busy, awcache, arcache, awprot, arprot};

`define COPROCESSORS_TASK(MODULE) \
    MODULE u_task ( \
      .clk_i, .rst_ni(to_task_i.rst_n), \
      .start_i(to_task_i.start), .resume_i(to_task_i.resume), \
      .src_i(to_task_i.src), .dst_i(to_task_i.dst), .length_i(to_task_i.length), \
      .param_i(to_task_i.param), .stop_i(to_task_i.stop), \
      .busy_o(busy), .done_o(from_task_o.done), .stopped_o(from_task_o.stopped), \
      .error_o(from_task_o.error), \
      .ctx_we_o(from_task_o.ctx_we), .ctx_addr_o(from_task_o.ctx_addr), \
      .ctx_wdata_o(from_task_o.ctx_wdata), .ctx_rdata_i(to_task_i.ctx_rdata), \
      .m_axi_awvalid(from_task_o.awvalid), .m_axi_awready(to_task_i.awready), \
      .m_axi_awaddr(from_task_o.awaddr), .m_axi_awlen(from_task_o.awlen), \
      .m_axi_awsize(from_task_o.awsize), .m_axi_awburst(from_task_o.awburst), \
      .m_axi_awcache(awcache), .m_axi_awprot(awprot), \
      .m_axi_wvalid(from_task_o.wvalid), .m_axi_wready(to_task_i.wready), \
      .m_axi_wdata(from_task_o.wdata), .m_axi_wstrb(from_task_o.wstrb), \
      .m_axi_wlast(from_task_o.wlast), \
      .m_axi_bvalid(to_task_i.bvalid), .m_axi_bready(from_task_o.bready), \
      .m_axi_bresp(to_task_i.bresp), \
      .m_axi_arvalid(from_task_o.arvalid), .m_axi_arready(to_task_i.arready), \
      .m_axi_araddr(from_task_o.araddr), .m_axi_arlen(from_task_o.arlen), \
      .m_axi_arsize(from_task_o.arsize), .m_axi_arburst(from_task_o.arburst), \
      .m_axi_arcache(arcache), .m_axi_arprot(arprot), \
      .m_axi_rvalid(to_task_i.rvalid), .m_axi_rready(from_task_o.rready), \
      .m_axi_rdata(to_task_i.rdata), .m_axi_rresp(to_task_i.rresp), \
      .m_axi_rlast(to_task_i.rlast) \
    );

  if (TASK == Crc32) begin : gen_crc32
    `COPROCESSORS_TASK(hw_task_crc32)
  end else if (TASK == Sha256) begin : gen_sha256
    `COPROCESSORS_TASK(hw_task_sha256)
  end else if (TASK == Aes) begin : gen_aes
    `COPROCESSORS_TASK(hw_task_aes)
  end else begin : gen_convolution
    `COPROCESSORS_TASK(hw_task_convolution)
  end

`undef COPROCESSORS_TASK

endmodule
