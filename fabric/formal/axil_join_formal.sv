// Two masters in front of a slave, whatever they ask and whenever it answers: what comes to the
// slave is the one master's whose turn it is, as it made it, and an access of one kind at a time;
// an answer goes to the master that asked; and no master waits for two accesses of the other.
//
// Of the masters is taken for granted that each keeps to AXI4-Lite and makes one access at a time;
// of the slave, that it answers what it has taken.
module axil_join_formal (
  input logic             clk_i,
  input logic             rst_ni,
  input logic [1:0]       awvalid,
  input logic [1:0][15:0] awaddr,
  input logic [1:0]       wvalid,
  input logic [1:0][31:0] wdata,
  input logic [1:0][3:0]  wstrb,
  input logic [1:0]       bready,
  input logic [1:0]       arvalid,
  input logic [1:0][15:0] araddr,
  input logic [1:0]       rready,
  input logic             m_awready,
  input logic             m_wready,
  input logic             m_bvalid,
  input logic [1:0]       m_bresp,
  input logic             m_arready,
  input logic             m_rvalid,
  input logic [31:0]      m_rdata,
  input logic [1:0]       m_rresp
);

  logic [1:0]  awready, wready, bvalid, bresp, arready, rvalid, rresp;
  logic [31:0] rdata, m_wdata;
  logic [15:0] m_awaddr, m_araddr;
  logic [3:0]  m_wstrb;
  logic        m_awvalid, m_wvalid, m_bready, m_arvalid, m_rready;

  axil_join #(.ADDR_WIDTH(16)) dut (
    .clk_i, .rst_ni,
    .s_axil_awvalid(awvalid), .s_axil_awready(awready), .s_axil_awaddr(awaddr),
    .s_axil_wvalid(wvalid), .s_axil_wready(wready), .s_axil_wdata(wdata), .s_axil_wstrb(wstrb),
    .s_axil_bvalid(bvalid), .s_axil_bready(bready), .s_axil_bresp(bresp),
    .s_axil_arvalid(arvalid), .s_axil_arready(arready), .s_axil_araddr(araddr),
    .s_axil_rvalid(rvalid), .s_axil_rready(rready), .s_axil_rdata(rdata), .s_axil_rresp(rresp),
    .m_axil_awvalid(m_awvalid), .m_axil_awready(m_awready), .m_axil_awaddr(m_awaddr),
    .m_axil_wvalid(m_wvalid), .m_axil_wready(m_wready), .m_axil_wdata(m_wdata),
    .m_axil_wstrb(m_wstrb),
    .m_axil_bvalid(m_bvalid), .m_axil_bready(m_bready), .m_axil_bresp(m_bresp),
    .m_axil_arvalid(m_arvalid), .m_axil_arready(m_arready), .m_axil_araddr(m_araddr),
    .m_axil_rvalid(m_rvalid), .m_axil_rready(m_rready), .m_axil_rdata(m_rdata),
    .m_axil_rresp(m_rresp)
  );

  logic       began_q = 1'b0;
  // Halves of each master's access that were taken, and those that the slave has.
  logic [1:0] aw_q, w_q, ar_q, aw_takes, w_takes, ar_takes, b_over, r_over;
  logic [1:0] aw_held_q, w_held_q, ar_held_q;
  logic       m_aw_q, m_w_q, m_ar_q, m_aw_held_q, m_w_held_q, m_ar_held_q;
  logic [1:0] writes, reads;
  // Accesses of the other that were over since a master has begun to ask.
  logic [1:0][1:0] passed_q;

  logic [1:0][15:0] awaddr_q, araddr_q;
  logic [1:0][31:0] wdata_q;
  logic [15:0]      m_awaddr_q, m_araddr_q;
  logic [31:0]      m_wdata_q;

  assign aw_takes = awvalid & awready;
  assign w_takes  = wvalid & wready;
  assign ar_takes = arvalid & arready;
  assign b_over   = bvalid & bready;
  assign r_over   = rvalid & rready;
  assign writes   = awvalid | wvalid | aw_q | w_q;
  assign reads    = arvalid | ar_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {aw_q, w_q, ar_q, aw_held_q, w_held_q, ar_held_q, m_aw_q, m_w_q, m_ar_q, m_aw_held_q,
       m_w_held_q, m_ar_held_q, passed_q} <= '0;
    end else begin
      aw_q      <= (aw_q | aw_takes) & ~b_over;
      w_q       <= (w_q | w_takes) & ~b_over;
      ar_q      <= (ar_q | ar_takes) & ~r_over;
      aw_held_q <= awvalid & ~awready;
      w_held_q  <= wvalid & ~wready;
      ar_held_q <= arvalid & ~arready;
      m_aw_q    <= (m_aw_q || (m_awvalid && m_awready)) && !(m_bvalid && m_bready);
      m_w_q     <= (m_w_q || (m_wvalid && m_wready)) && !(m_bvalid && m_bready);
      m_ar_q    <= (m_ar_q || (m_arvalid && m_arready)) && !(m_rvalid && m_rready);
      m_aw_held_q <= m_awvalid && !m_awready;
      m_w_held_q  <= m_wvalid && !m_wready;
      m_ar_held_q <= m_arvalid && !m_arready;
      for (int unsigned i = 0; i < 2; i++) begin
        if (!(writes[i] || reads[i]) || b_over[i] || r_over[i]) passed_q[i] <= '0;
        else if (b_over[1-i] || r_over[1-i]) passed_q[i] <= passed_q[i] + 2'(passed_q[i] != '1);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    began_q <= 1'b1;
    {awaddr_q, araddr_q, wdata_q}       <= {awaddr, araddr, wdata};
    {m_awaddr_q, m_araddr_q, m_wdata_q} <= {m_awaddr, m_araddr, m_wdata};

    begin_in_reset: assume (rst_ni == began_q);

    if (rst_ni) begin
      // Masters: what they ask stays, and is one access; both halves of a write come together.
      aw_stays: assume ((aw_held_q & ~awvalid) == '0);
      w_stays: assume ((w_held_q & ~wvalid) == '0);
      ar_stays: assume ((ar_held_q & ~arvalid) == '0);
      aw_same_0: assume (!aw_held_q[0] || awaddr[0] == awaddr_q[0]);
      aw_same_1: assume (!aw_held_q[1] || awaddr[1] == awaddr_q[1]);
      w_same_0: assume (!w_held_q[0] || wdata[0] == wdata_q[0]);
      w_same_1: assume (!w_held_q[1] || wdata[1] == wdata_q[1]);
      ar_same_0: assume (!ar_held_q[0] || araddr[0] == araddr_q[0]);
      ar_same_1: assume (!ar_held_q[1] || araddr[1] == araddr_q[1]);
      one_write: assume ((awvalid & aw_q) == '0 && (wvalid & w_q) == '0);
      one_read: assume ((arvalid & ar_q) == '0);
      one_kind: assume ((writes & reads) == '0);
      both_halves: assume ((awvalid | aw_q) == (wvalid | w_q));
      answers_taken: assume ((bready & ~writes) == '0 && (rready & ~reads) == '0);
      // The slave.
      b_due: assume (!m_bvalid || (m_aw_q && m_w_q));
      r_due: assume (!m_rvalid || m_ar_q);

      // What comes to the slave is a master's, of one at a time.
      of_one_aw: assert (aw_takes == '0 || aw_takes == 2'b01 || aw_takes == 2'b10);
      aw_is_taken: assert ((aw_takes != '0) == (m_awvalid && m_awready));
      w_is_taken: assert ((w_takes != '0) == (m_wvalid && m_wready));
      ar_is_taken: assert ((ar_takes != '0) == (m_arvalid && m_arready));
      if (aw_takes[0]) aw_of_0: assert (m_awaddr == awaddr[0] && !w_q[1] && !ar_q[1]);
      if (aw_takes[1]) aw_of_1: assert (m_awaddr == awaddr[1] && !w_q[0] && !ar_q[0]);
      if (w_takes[0]) w_of_0: assert (m_wdata == wdata[0] && m_wstrb == wstrb[0] && !aw_q[1]);
      if (w_takes[1]) w_of_1: assert (m_wdata == wdata[1] && m_wstrb == wstrb[1] && !aw_q[0]);
      if (ar_takes[0]) ar_of_0: assert (m_araddr == araddr[0] && !ar_q[1] && !aw_q[1]);
      if (ar_takes[1]) ar_of_1: assert (m_araddr == araddr[1] && !ar_q[0] && !aw_q[0]);
      if (m_aw_held_q) m_aw_stays: assert (m_awvalid && m_awaddr == m_awaddr_q);
      if (m_w_held_q) m_w_stays: assert (m_wvalid && m_wdata == m_wdata_q);
      if (m_ar_held_q) m_ar_stays: assert (m_arvalid && m_araddr == m_araddr_q);

      // Answers go to who asked.
      b_asked: assert ((bvalid & ~(aw_q & w_q)) == '0 && (bvalid == '0 || bresp == m_bresp));
      r_asked: assert ((rvalid & ~ar_q) == '0
                       && (rvalid == '0 || (rdata == m_rdata && rresp == m_rresp)));
      b_passed: assert (m_bvalid == (bvalid != '0));
      r_passed: assert (m_rvalid == (rvalid != '0));
      b_taken: assert ((b_over != '0) == (m_bvalid && m_bready));
      r_taken: assert ((r_over != '0) == (m_rvalid && m_rready));
      turns: assert (passed_q[0] <= 2'd1 && passed_q[1] <= 2'd1);

      both_wait: cover (passed_q[0] == 2'd1 && aw_takes[0]);
`ifndef CUT
      // What makes the rest follow by induction.
      state_one: assert (dut.turn_q != 2'b11 && dut.last_q != 2'b11);
      state_had: assert ((~dut.turn_q & (aw_q | w_q | ar_q)) == '0);
      state_asks: assert ((dut.turn_q & ~(writes | reads)) == '0);
      state_slave: assert (m_aw_q == (aw_q != '0) && m_w_q == (w_q != '0)
                           && m_ar_q == (ar_q != '0));
      state_waits_0: assert (passed_q[0] == '0
                             || (dut.turn_q[1] == 1'b0 && dut.last_q == 2'b10));
      state_waits_1: assert (passed_q[1] == '0
                             || (dut.turn_q[0] == 1'b0 && dut.last_q == 2'b01));
`endif
    end
  end

endmodule
