// The arbiter on the bus: masters that keep AXI's rules see memory that keeps them, and memory sees
// one master that does (axi_props); each word and each answer goes to whom it belongs.
//
// Two masters, with a read and a write of up to two words each under way. The upper bit of an
// address, and that of a word that is written, is the number of its master: so what is on the bus
// tells whose it is.
module memory_arbiter_formal #(
  parameter int unsigned ADDR_WIDTH = 14,
  parameter int unsigned DATA_WIDTH = 16,
  localparam int unsigned MASTERS = 2
) (
  input logic                                 clk_i,
  input logic                                 rst_ni,
  input logic [MASTERS-1:0]                   s_awvalid,
  input logic [MASTERS-1:0][ADDR_WIDTH-1:0]   s_awaddr,
  input logic [MASTERS-1:0][7:0]              s_awlen,
  input logic [MASTERS-1:0]                   s_wvalid,
  input logic [MASTERS-1:0][DATA_WIDTH-1:0]   s_wdata,
  input logic [MASTERS-1:0][DATA_WIDTH/8-1:0] s_wstrb,
  input logic [MASTERS-1:0]                   s_wlast,
  input logic [MASTERS-1:0]                   s_bready,
  input logic [MASTERS-1:0]                   s_arvalid,
  input logic [MASTERS-1:0][ADDR_WIDTH-1:0]   s_araddr,
  input logic [MASTERS-1:0][7:0]              s_arlen,
  input logic [MASTERS-1:0]                   s_rready,
  input logic                                 awready,
  input logic                                 wready,
  input logic                                 bvalid,
  input logic [1:0]                           bresp,
  input logic                                 arready,
  input logic                                 rvalid,
  input logic [DATA_WIDTH-1:0]                rdata,
  input logic [1:0]                           rresp,
  input logic                                 rlast
);

  localparam int unsigned BurstsMax = 1;
  localparam int unsigned LenMax    = 1;
  localparam int unsigned AllMax    = MASTERS * BurstsMax;

  logic [MASTERS-1:0]      s_awready, s_wready, s_bvalid, s_arready, s_rvalid;
  logic [1:0]              s_bresp, s_rresp;
  logic [DATA_WIDTH-1:0]   s_rdata;
  logic                    s_rlast;
  logic                    awvalid, wvalid, wlast, bready, arvalid, rready;
  logic [ADDR_WIDTH-1:0]   awaddr, araddr;
  logic [7:0]              awlen, arlen;
  logic [2:0]              awsize, arsize, awprot, arprot;
  logic [1:0]              awburst, arburst;
  logic [3:0]              awcache, arcache;
  logic [DATA_WIDTH-1:0]   wdata;
  logic [DATA_WIDTH/8-1:0] wstrb;

  memory_arbiter #(
    .MASTERS(MASTERS), .ADDR_WIDTH(ADDR_WIDTH), .DATA_WIDTH(DATA_WIDTH), .BURSTS_MAX(AllMax)
  ) dut (
    .clk_i, .rst_ni,
    .s_axi_awvalid(s_awvalid), .s_axi_awready(s_awready), .s_axi_awaddr(s_awaddr),
    .s_axi_awlen(s_awlen),
    .s_axi_wvalid(s_wvalid), .s_axi_wready(s_wready), .s_axi_wdata(s_wdata),
    .s_axi_wstrb(s_wstrb), .s_axi_wlast(s_wlast),
    .s_axi_bvalid(s_bvalid), .s_axi_bready(s_bready), .s_axi_bresp(s_bresp),
    .s_axi_arvalid(s_arvalid), .s_axi_arready(s_arready), .s_axi_araddr(s_araddr),
    .s_axi_arlen(s_arlen),
    .s_axi_rvalid(s_rvalid), .s_axi_rready(s_rready), .s_axi_rdata(s_rdata),
    .s_axi_rresp(s_rresp), .s_axi_rlast(s_rlast),
    .m_axi_awvalid(awvalid), .m_axi_awready(awready), .m_axi_awaddr(awaddr),
    .m_axi_awlen(awlen), .m_axi_awsize(awsize), .m_axi_awburst(awburst),
    .m_axi_awcache(awcache), .m_axi_awprot(awprot),
    .m_axi_wvalid(wvalid), .m_axi_wready(wready), .m_axi_wdata(wdata), .m_axi_wstrb(wstrb),
    .m_axi_wlast(wlast),
    .m_axi_bvalid(bvalid), .m_axi_bready(bready), .m_axi_bresp(bresp),
    .m_axi_arvalid(arvalid), .m_axi_arready(arready), .m_axi_araddr(araddr),
    .m_axi_arlen(arlen), .m_axi_arsize(arsize), .m_axi_arburst(arburst),
    .m_axi_arcache(arcache), .m_axi_arprot(arprot),
    .m_axi_rvalid(rvalid), .m_axi_rready(rready), .m_axi_rdata(rdata), .m_axi_rresp(rresp),
    .m_axi_rlast(rlast)
  );

  axi_props #(
    .ADDR_WIDTH(ADDR_WIDTH), .DATA_WIDTH(DATA_WIDTH),
    .MASTER_PROVED(1'b1), .SLAVE_PROVED(1'b0), .READS_MAX(AllMax), .WRITES_MAX(AllMax),
    .ANSWER_CYCLES_MAX(2), .READY_CYCLES_MAX(5), .NON_SECURE(1'b1)
  ) bus (
    .clk_i, .rst_ni,
    .axi_awvalid(awvalid), .axi_awready(awready), .axi_awaddr(awaddr), .axi_awlen(awlen),
    .axi_awsize(awsize), .axi_awburst(awburst), .axi_awcache(awcache),
    .axi_awprot(awprot),
    .axi_wvalid(wvalid), .axi_wready(wready), .axi_wdata(wdata), .axi_wstrb(wstrb),
    .axi_wlast(wlast),
    .axi_bvalid(bvalid), .axi_bready(bready), .axi_bresp(bresp),
    .axi_arvalid(arvalid), .axi_arready(arready), .axi_araddr(araddr), .axi_arlen(arlen),
    .axi_arsize(arsize), .axi_arburst(arburst), .axi_arcache(arcache),
    .axi_arprot(arprot),
    .axi_rvalid(rvalid), .axi_rready(rready), .axi_rdata(rdata), .axi_rresp(rresp),
    .axi_rlast(rlast)
  );

  logic began_q = 1'b0;
  always_ff @(posedge clk_i) began_q <= 1'b1;
  always_ff @(posedge clk_i) begin_in_reset: assume (rst_ni == began_q);

  // The masters: AXI's rules. Each sees memory that keeps them.

  for (genvar m = 0; m < int'(MASTERS); m++) begin : gen_master
    axi_props #(
      .ADDR_WIDTH(ADDR_WIDTH), .DATA_WIDTH(DATA_WIDTH),
      .MASTER_PROVED(1'b0), .SLAVE_PROVED(1'b1), .READS_MAX(BurstsMax), .WRITES_MAX(BurstsMax),
      .ANSWER_CYCLES_MAX(10), .READY_CYCLES_MAX(2)
    ) side (
      .clk_i, .rst_ni,
      .axi_awvalid(s_awvalid[m]), .axi_awready(s_awready[m]), .axi_awaddr(s_awaddr[m]),
      .axi_awlen(s_awlen[m]),
      .axi_awsize(3'd1), .axi_awburst(2'b01), .axi_awcache(4'b1111), .axi_awprot('0),
      .axi_wvalid(s_wvalid[m]), .axi_wready(s_wready[m]), .axi_wdata(s_wdata[m]),
      .axi_wstrb(s_wstrb[m]), .axi_wlast(s_wlast[m]),
      .axi_bvalid(s_bvalid[m]), .axi_bready(s_bready[m]), .axi_bresp(s_bresp),
      .axi_arvalid(s_arvalid[m]), .axi_arready(s_arready[m]), .axi_araddr(s_araddr[m]),
      .axi_arlen(s_arlen[m]),
      .axi_arsize(3'd1), .axi_arburst(2'b01), .axi_arcache(4'b1111), .axi_arprot('0),
      .axi_rvalid(s_rvalid[m]), .axi_rready(s_rready[m]), .axi_rdata(s_rdata),
      .axi_rresp(s_rresp), .axi_rlast(s_rlast)
    );

    always_ff @(posedge clk_i) begin
      short: assume (s_arlen[m] <= 8'(LenMax) && s_awlen[m] <= 8'(LenMax));
      marked: assume (s_araddr[m][ADDR_WIDTH-1] == 1'(m) && s_awaddr[m][ADDR_WIDTH-1] == 1'(m)
                      && s_wdata[m][DATA_WIDTH-1] == 1'(m));
    end
  end

  // Whose the bursts are that memory has taken and not answered, the oldest first.

  logic [AllMax-1:0] r_whose_q, b_whose_q;
  logic [2:0]        r_count_q, b_count_q;
  logic              r_whose, b_whose, r_over, b_over, r_begins, b_begins;

  assign r_whose  = r_whose_q[0];
  assign b_whose  = b_whose_q[0];
  assign r_begins = arvalid && arready;
  assign b_begins = awvalid && awready;
  assign r_over   = rvalid && rready && rlast;
  assign b_over   = bvalid && bready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      r_whose_q <= '0;
      b_whose_q <= '0;
      r_count_q <= '0;
      b_count_q <= '0;
    end else begin
      r_count_q <= r_count_q + 3'(r_begins) - 3'(r_over);
      b_count_q <= b_count_q + 3'(b_begins) - 3'(b_over);
      if (r_over) r_whose_q <= r_whose_q >> 1;
      if (b_over) b_whose_q <= b_whose_q >> 1;
      for (int unsigned i = 0; i < AllMax; i++) begin
        if (r_begins && 3'(i) == r_count_q - 3'(r_over)) r_whose_q[i] <= araddr[ADDR_WIDTH-1];
        if (b_begins && 3'(i) == b_count_q - 3'(b_over)) b_whose_q[i] <= awaddr[ADDR_WIDTH-1];
      end
    end
  end

  // Whose words come: of the address that was on the bus last.

  logic w_whose_q, aw_held_q;

  always_ff @(posedge clk_i) begin
    aw_held_q <= rst_ni && awvalid && !awready;
    if (awvalid && !aw_held_q) w_whose_q <= awaddr[ADDR_WIDTH-1];
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (rvalid) begin
        r_to: assert (s_rvalid == (2'b01 << r_whose));
        r_same: assert ({s_rdata, s_rresp, s_rlast} == {rdata, rresp, rlast});
        r_ready: assert (rready == s_rready[r_whose]);
      end else begin
        r_none: assert (s_rvalid == '0);
      end
      if (bvalid) begin
        b_to: assert (s_bvalid == (2'b01 << b_whose));
        b_same: assert (s_bresp == bresp);
        b_ready: assert (bready == s_bready[b_whose]);
      end else begin
        b_none: assert (s_bvalid == '0);
      end
      // Where one write is on the bus, the words are its own.
      if (wvalid && bus.w_bursts_q == 4'd1 && !(awvalid && !aw_held_q)) begin
        w_own: assert (wdata[DATA_WIDTH-1] == w_whose_q);
      end

      both_read: cover (r_count_q == 3'd2 && r_whose_q[0] != r_whose_q[1]);
      both_write: cover (b_over && b_count_q == 3'd2 && b_whose_q[0] != b_whose_q[1]);
    end
  end

endmodule
