// The time stamps over AXI4-Lite: what software relies on, whatever it did before.
//
// Beside the bus's properties: cycles count every cycle; both words read one after the other are of
// one cycle; the interrupt rises only at the cycle compared with, and not without being enabled.
module stamp_formal (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        awvalid,
  input logic [11:0] awaddr,
  input logic        wvalid,
  input logic [31:0] wdata,
  input logic [3:0]  wstrb,
  input logic        bready,
  input logic        arvalid,
  input logic [11:0] araddr,
  input logic        rready
);

  logic        awready, wready, bvalid, arready, rvalid, irq;
  logic [1:0]  bresp, rresp;
  logic [31:0] rdata;

  stamp dut (
    .clk_i, .rst_ni,
    .s_axil_awvalid(awvalid), .s_axil_awready(awready), .s_axil_awaddr(awaddr),
    .s_axil_awprot(3'b000),
    .s_axil_wvalid(wvalid), .s_axil_wready(wready), .s_axil_wdata(wdata), .s_axil_wstrb(wstrb),
    .s_axil_bvalid(bvalid), .s_axil_bready(bready), .s_axil_bresp(bresp),
    .s_axil_arvalid(arvalid), .s_axil_arready(arready), .s_axil_araddr(araddr),
    .s_axil_arprot(3'b000),
    .s_axil_rvalid(rvalid), .s_axil_rready(rready), .s_axil_rdata(rdata),
    .s_axil_rresp(rresp),
    .irq_o(irq)
  );

  axil_props #(
    .SLAVE_PROVED(1'b1), .MASTER_PROVED(1'b0),
    .OUTSTANDING_MAX(2), .ANSWER_CYCLES_MAX(5), .READY_CYCLES_MAX(2)
  ) bus (
    .clk_i, .rst_ni,
    .axil_awvalid(awvalid), .axil_awready(awready), .axil_awaddr(awaddr), .axil_awprot(3'b000),
    .axil_wvalid(wvalid), .axil_wready(wready), .axil_wdata(wdata), .axil_wstrb(wstrb),
    .axil_bvalid(bvalid), .axil_bready(bready), .axil_bresp(bresp),
    .axil_arvalid(arvalid), .axil_arready(arready), .axil_araddr(araddr), .axil_arprot(3'b000),
    .axil_rvalid(rvalid), .axil_rready(rready), .axil_rdata(rdata), .axil_rresp(rresp)
  );

  logic began_q = 1'b0;
  always_ff @(posedge clk_i) began_q <= 1'b1;
  always_ff @(posedge clk_i) begin_in_reset: assume (rst_ni == began_q);

  // One read at a time, so that each answer is that of the last address; writes as they like. What
  // is read of the counter is of a cycle between the request and the answer.
  localparam logic [11:0] Id = 12'h000, CyclesLow = 12'h008, CyclesHigh = 12'h00c;

  logic        reading_q;
  logic [11:0] read_addr_q;
  logic [63:0] now_q, asked_q, kept_q, read_at;
  logic        kept_valid_q, irq_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      now_q        <= '0;
      reading_q    <= 1'b0;
      kept_valid_q <= 1'b0;
    end else begin
      now_q     <= now_q + 1'b1;
      reading_q <= (reading_q || (arvalid && arready)) && !(rvalid && rready);
      if (rvalid && rready && read_addr_q == CyclesLow) kept_valid_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    irq_q <= irq;
    if (arvalid && arready) begin
      read_addr_q <= araddr;
      asked_q     <= now_q;
    end
    if (rvalid && rready && read_addr_q == CyclesLow) kept_q <= read_at;
  end

  assign read_at = asked_q + 64'(32'(rdata - asked_q[31:0]));

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      one_read: assume (!arvalid || !reading_q);
      aligned: assume (araddr[1:0] == 2'b00 && awaddr[1:0] == 2'b00);

      if (rvalid && read_addr_q == Id) id_same: assert (rresp == 2'b00 && rdata == 32'h5354_0001);
      if (rvalid && read_addr_q == CyclesLow) begin
        low_now: assert (64'(now_q - read_at - 1'b1) < 64'd8);
      end
      if (rvalid && read_addr_q == CyclesHigh && kept_valid_q) begin
        high_kept: assert (rdata == kept_q[63:32]);
      end
      read_back: cover (rvalid && read_addr_q == CyclesHigh && kept_valid_q);
      interrupts: cover (irq && !irq_q);
      if (rvalid && read_addr_q > 12'h020) nothing_there: assert (rresp == 2'b10);

`ifndef CUT
      // What makes the rest follow by induction: the registers answer at once.
      state_idle: assert (!dut.u_slave.wait_q && !dut.u_slave.stalled_q);
      state_aw: assert (bus.aw_count_q == 2'(!awready) + 2'(bvalid));
      state_w: assert (bus.w_count_q == 2'(!wready) + 2'(bvalid));
      state_ar: assert (bus.ar_count_q == 2'(!arready) + 2'(rvalid));
      state_reading: assert (bus.ar_count_q == 2'(reading_q));
      state_kept_address: assert (arready || dut.u_slave.u_ar.data_q == read_addr_q);
      state_now: assert (dut.cycles_q == now_q);
      state_asked: assert (!reading_q || 64'(now_q - asked_q - 1'b1) < 64'd8);
      // A read of the lower word that is answered but not taken has changed the copy already.
      state_copy: assert (
        (rvalid && read_addr_q == CyclesLow)
        ? dut.u_regs.rbuf_storage.CYCLES.data == read_at
        : (reading_q && !arready && read_addr_q == CyclesLow) || !kept_valid_q
          || dut.u_regs.rbuf_storage.CYCLES.data == kept_q);
`endif
    end
  end

endmodule
