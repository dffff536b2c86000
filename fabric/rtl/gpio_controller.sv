// A GPIO controller as one has it: pins to write and to read, and a timer
// (regs/gpio_controller.rdl).
module gpio_controller (
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

  // In step with clk_i.
  input  logic [7:0]  pins_i,
  output logic [7:0]  pins_o
);

  // The page. A register between the bus and what is behind it: decoding takes a cycle.

  logic        req, req_is_wr, page_req_q, page_is_wr_q, unused_stall_wr, unused_stall_rd;
  logic [11:0] addr, page_addr_q;
  logic [31:0] wr_data, wr_biten, page_data_q, page_biten_q, rd_data;
  logic        rd_ack, rd_err, wr_ack, wr_err;

  gpio_controller_regs_pkg::gpio_controller__in_t  to_regs;
  gpio_controller_regs_pkg::gpio_controller__out_t from_regs;

  axil_slave #(.ADDR_WIDTH(12), .DATA_WIDTH(32)) u_slave (
    .clk_i, .rst_ni,
    .s_axil_awvalid, .s_axil_awready, .s_axil_awaddr, .s_axil_awprot,
    .s_axil_wvalid, .s_axil_wready, .s_axil_wdata, .s_axil_wstrb,
    .s_axil_bvalid, .s_axil_bready, .s_axil_bresp,
    .s_axil_arvalid, .s_axil_arready, .s_axil_araddr, .s_axil_arprot,
    .s_axil_rvalid, .s_axil_rready, .s_axil_rdata, .s_axil_rresp,
    .req_o(req), .req_is_wr_o(req_is_wr), .addr_o(addr),
    .wr_data_o(wr_data), .wr_biten_o(wr_biten),
    // It makes no other access before this one is answered.
    .req_stall_wr_i(1'b0), .req_stall_rd_i(1'b0),
    .rd_ack_i(rd_ack), .rd_err_i(rd_err), .rd_data_i(rd_data),
    .wr_ack_i(wr_ack), .wr_err_i(wr_err)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) page_req_q <= 1'b0;
    else page_req_q <= req;
  end

  always_ff @(posedge clk_i) begin
    {page_is_wr_q, page_addr_q, page_data_q, page_biten_q} <= {req_is_wr, addr, wr_data, wr_biten};
  end

  gpio_controller_regs u_regs (
    .clk(clk_i), .arst_n(rst_ni),
    .s_cpuif_req(page_req_q), .s_cpuif_req_is_wr(page_is_wr_q), .s_cpuif_addr(page_addr_q),
    .s_cpuif_wr_data(page_data_q), .s_cpuif_wr_biten(page_biten_q),
    .s_cpuif_req_stall_wr(unused_stall_wr), .s_cpuif_req_stall_rd(unused_stall_rd),
    .s_cpuif_rd_ack(rd_ack), .s_cpuif_rd_err(rd_err), .s_cpuif_rd_data(rd_data),
    .s_cpuif_wr_ack(wr_ack), .s_cpuif_wr_err(wr_err),
    .hwif_in(to_regs), .hwif_out(from_regs)
  );

  logic [63:0] cycles_q;
  logic        sets_q, clears_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cycles_q <= '0;
      sets_q   <= 1'b0;
      clears_q <= 1'b0;
      pins_o   <= '0;
    end else begin
      cycles_q <= cycles_q + 1'b1;
      sets_q   <= from_regs.SET.pins.swmod;
      clears_q <= from_regs.CLEAR.pins.swmod;
      // As late after a write of it as after one that sets or clears.
      pins_o   <= sets_q || clears_q ? to_regs.OUTPUTS.pins.next : from_regs.OUTPUTS.pins.value;
    end
  end

  assign to_regs.OUTPUTS.pins.we   = sets_q || clears_q;
  assign to_regs.OUTPUTS.pins.next = sets_q ? from_regs.OUTPUTS.pins.value
                                              | from_regs.SET.pins.value
                                            : from_regs.OUTPUTS.pins.value
                                              & ~from_regs.CLEAR.pins.value;
  assign to_regs.INPUTS.pins.next  = pins_i;
  assign to_regs.TIMER.cycles.next = cycles_q;

endmodule
