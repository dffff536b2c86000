// The decoder of pages: a slave sees accesses to its pages, whole and as software made them, and no
// others; their answers come back, and where there is no slave DECERR does. Both sides keep
// AXI4-Lite's rules (axil_props).
//
// Two slaves, at pages 1 and 2 of four.
module page_decoder_formal #(
  parameter int unsigned ADDR_WIDTH = 14,
  localparam int unsigned SLAVES = 2
) (
  input logic                    clk_i,
  input logic                    rst_ni,
  input logic                    awvalid,
  input logic [ADDR_WIDTH-1:0]   awaddr,
  input logic [2:0]              awprot,
  input logic                    wvalid,
  input logic [31:0]             wdata,
  input logic [3:0]              wstrb,
  input logic                    bready,
  input logic                    arvalid,
  input logic [ADDR_WIDTH-1:0]   araddr,
  input logic [2:0]              arprot,
  input logic                    rready,
  input logic [SLAVES-1:0]       m_awready,
  input logic [SLAVES-1:0]       m_wready,
  input logic [SLAVES-1:0]       m_bvalid,
  input logic [SLAVES-1:0][1:0]  m_bresp,
  input logic [SLAVES-1:0]       m_arready,
  input logic [SLAVES-1:0]       m_rvalid,
  input logic [SLAVES-1:0][31:0] m_rdata,
  input logic [SLAVES-1:0][1:0]  m_rresp
);

  localparam logic [SLAVES-1:0][1:0] Pages = {2'd2, 2'd1};

  logic              awready, wready, bvalid, arready, rvalid, busy;
  logic [1:0]        bresp, rresp;
  logic [31:0]       rdata, m_wdata;
  logic [3:0]        m_wstrb;
  logic [11:0]       m_addr;
  logic [SLAVES-1:0] m_awvalid, m_wvalid, m_bready, m_arvalid, m_rready;

  page_decoder #(.SLAVES(SLAVES), .ADDR_WIDTH(ADDR_WIDTH), .PAGES(Pages)) dut (
    .clk_i, .rst_ni,
    .s_axil_awvalid(awvalid), .s_axil_awready(awready), .s_axil_awaddr(awaddr),
    .s_axil_awprot(awprot),
    .s_axil_wvalid(wvalid), .s_axil_wready(wready), .s_axil_wdata(wdata), .s_axil_wstrb(wstrb),
    .s_axil_bvalid(bvalid), .s_axil_bready(bready), .s_axil_bresp(bresp),
    .s_axil_arvalid(arvalid), .s_axil_arready(arready), .s_axil_araddr(araddr),
    .s_axil_arprot(arprot),
    .s_axil_rvalid(rvalid), .s_axil_rready(rready), .s_axil_rdata(rdata), .s_axil_rresp(rresp),
    .busy_o(busy),
    .m_axil_awvalid(m_awvalid), .m_axil_awready(m_awready),
    .m_axil_wvalid(m_wvalid), .m_axil_wready(m_wready),
    .m_axil_addr(m_addr), .m_axil_wdata(m_wdata), .m_axil_wstrb(m_wstrb),
    .m_axil_bvalid(m_bvalid), .m_axil_bready(m_bready), .m_axil_bresp(m_bresp),
    .m_axil_arvalid(m_arvalid), .m_axil_arready(m_arready),
    .m_axil_rvalid(m_rvalid), .m_axil_rready(m_rready), .m_axil_rdata(m_rdata),
    .m_axil_rresp(m_rresp)
  );

  logic began_q = 1'b0;
  always_ff @(posedge clk_i) began_q <= 1'b1;
  always_ff @(posedge clk_i) begin_in_reset: assume (rst_ni == began_q);

  // What AXI asks of software's side, and of the slaves.

  logic                aw_held_q, w_held_q, ar_held_q;
  logic [ADDR_WIDTH-1:0] aw_q, ar_q;
  logic [35:0]           w_q;

  always_ff @(posedge clk_i) begin
    aw_held_q <= rst_ni && awvalid && !awready;
    w_held_q  <= rst_ni && wvalid && !wready;
    ar_held_q <= rst_ni && arvalid && !arready;
    aw_q      <= awaddr;
    w_q       <= {wstrb, wdata};
    ar_q      <= araddr;
    if (!rst_ni) none_in_reset: assume (!awvalid && !wvalid && !arvalid);
    if (rst_ni && aw_held_q) aw_stays: assume (awvalid && awaddr == aw_q);
    if (rst_ni && w_held_q) w_stays: assume (wvalid && {wstrb, wdata} == w_q);
    if (rst_ni && ar_held_q) ar_stays: assume (arvalid && araddr == ar_q);
  end

  // What software has asked for and was not answered: two of each kind at most, since no more are
  // taken.

  logic [2:0]            aw_count_q, w_count_q, ar_count_q;
  logic [ADDR_WIDTH-1:0] aw_first_q, ar_first_q, aw_second_q, ar_second_q;
  logic [35:0]           w_first_q, w_second_q;
  logic                  aw_taken, w_taken, ar_taken, b_over, r_over;

  assign aw_taken = awvalid && awready;
  assign w_taken  = wvalid && wready;
  assign ar_taken = arvalid && arready;
  assign b_over   = bvalid && bready;
  assign r_over   = rvalid && rready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_count_q <= '0;
      w_count_q  <= '0;
      ar_count_q <= '0;
    end else begin
      aw_count_q <= aw_count_q + 3'(aw_taken) - 3'(b_over);
      w_count_q  <= w_count_q + 3'(w_taken) - 3'(b_over);
      ar_count_q <= ar_count_q + 3'(ar_taken) - 3'(r_over);
    end
  end

  // The oldest of them; the one behind it is known only to the decoder.
  always_ff @(posedge clk_i) begin
    if (aw_taken && (aw_count_q == '0)) aw_first_q <= awaddr;
    if (w_taken && (w_count_q == '0)) w_first_q <= {wstrb, wdata};
    if (ar_taken && (ar_count_q == '0)) ar_first_q <= araddr;
    if (b_over && aw_count_q == 3'd2) aw_first_q <= aw_second_q;
    if (b_over && aw_count_q == 3'd1 && aw_taken) aw_first_q <= awaddr;
    if (b_over && w_count_q == 3'd2) w_first_q <= w_second_q;
    if (b_over && w_count_q == 3'd1 && w_taken) w_first_q <= {wstrb, wdata};
    if (r_over && ar_count_q == 3'd2) ar_first_q <= ar_second_q;
    if (r_over && ar_count_q == 3'd1 && ar_taken) ar_first_q <= araddr;
    if (aw_taken) aw_second_q <= awaddr;
    if (w_taken) w_second_q <= {wstrb, wdata};
    if (ar_taken) ar_second_q <= araddr;
  end

  // The slave's part of the access that is under way.
  logic [SLAVES-1:0] aw_here, ar_here;
  always_comb begin
    for (int unsigned i = 0; i < SLAVES; i++) begin
      aw_here[i] = aw_first_q[ADDR_WIDTH-1:12] == Pages[i];
      ar_here[i] = ar_first_q[ADDR_WIDTH-1:12] == Pages[i];
    end
  end

  // A slave answers what it has taken, once.
  for (genvar i = 0; i < int'(SLAVES); i++) begin : gen_slave
    logic aw_has_q, w_has_q, ar_has_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        {aw_has_q, w_has_q, ar_has_q} <= '0;
      end else begin
        aw_has_q <= (m_awvalid[i] && m_awready[i]) || (aw_has_q && !(m_bvalid[i] && m_bready[i]));
        w_has_q  <= (m_wvalid[i] && m_wready[i]) || (w_has_q && !(m_bvalid[i] && m_bready[i]));
        ar_has_q <= (m_arvalid[i] && m_arready[i]) || (ar_has_q && !(m_rvalid[i] && m_rready[i]));
      end
    end

    always_ff @(posedge clk_i) begin
      b_asked: assume (!m_bvalid[i] || (aw_has_q && w_has_q));
      r_asked: assume (!m_rvalid[i] || ar_has_q);
      if (rst_ni) begin
        aw_once: assert (!m_awvalid[i] || !aw_has_q);
        w_once: assert (!m_wvalid[i] || !w_has_q);
        ar_once: assert (!m_arvalid[i] || !ar_has_q);
        aw_mine: assert (!m_awvalid[i] || (aw_count_q != '0 && w_count_q != '0 && aw_here[i]
                                           && m_addr == aw_first_q[11:0]));
        w_mine: assert (!m_wvalid[i] || (aw_count_q != '0 && w_count_q != '0 && aw_here[i]
                                         && {m_wstrb, m_wdata} == w_first_q));
        ar_mine: assert (!m_arvalid[i] || (ar_count_q != '0 && ar_here[i]
                                           && m_addr == ar_first_q[11:0]));
`ifndef CUT
        state_has: assert (!(aw_has_q || w_has_q) || (dut.writing_q && dut.asked_q[i]));
        state_ar_has: assert (!ar_has_q || (dut.reading_q && dut.asked_q[i]));
        state_left: assert (!(dut.writing_q && dut.asked_q[i])
                            || (aw_has_q != dut.aw_left_q && w_has_q != dut.w_left_q));
        state_ar_left: assert (!(dut.reading_q && dut.asked_q[i]) || ar_has_q != dut.ar_left_q);
`endif
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      b_asked: assert (!bvalid || (aw_count_q != '0 && w_count_q != '0));
      r_asked: assert (!rvalid || ar_count_q != '0);
      if (bvalid) begin
        b_answer: assert (aw_here == '0 ? bresp == 2'b11
                          : (aw_here[0] ? m_bvalid[0] && bresp == m_bresp[0]
                                        : m_bvalid[1] && bresp == m_bresp[1]));
      end
      if (rvalid) begin
        r_answer: assert (ar_here == '0 ? rresp == 2'b11
                          : (ar_here[0]
                             ? m_rvalid[0] && {rresp, rdata} == {m_rresp[0], m_rdata[0]}
                             : m_rvalid[1] && {rresp, rdata} == {m_rresp[1], m_rdata[1]}));
      end
      b_through: assert (!(m_bvalid[0] && aw_here[0]) || bvalid);
      r_through: assert (!(m_rvalid[1] && ar_here[1]) || rvalid);
      one: assert (!((m_awvalid | m_wvalid) != '0 && m_arvalid != '0));
      busy_told: assert (busy || (m_awvalid | m_wvalid | m_arvalid) == '0);

      wrote: cover (b_over && aw_here[1] && bresp == '0);
      no_page: cover (r_over && ar_here == '0);
      two: cover (ar_count_q == 3'd2);
`ifndef CUT
      // What makes the rest follow by induction.
      state_counts: assert (aw_count_q == 3'(dut.writing_q) + 3'(dut.u_aw.kept_q)
                            && w_count_q == 3'(dut.writing_q) + 3'(dut.u_w.kept_q)
                            && ar_count_q == 3'(dut.reading_q) + 3'(dut.u_ar.kept_q));
      state_one: assert (!(dut.writing_q && dut.reading_q));
      state_left: assert ((!(dut.aw_left_q || dut.w_left_q) || dut.writing_q)
                          && (!dut.ar_left_q || dut.reading_q));
      state_asked: assert (!dut.writing_q || dut.asked_q == aw_here);
      state_ar_asked: assert (!dut.reading_q || dut.asked_q == ar_here);
      state_addr: assert (!dut.writing_q || (m_addr == aw_first_q[11:0]
                                             && {m_wstrb, m_wdata} == w_first_q));
      state_ar_addr: assert (!dut.reading_q || m_addr == ar_first_q[11:0]);
      state_kept: assert (!dut.u_aw.kept_q
                          || dut.u_aw.data_q == (dut.writing_q ? aw_second_q : aw_first_q));
      state_w_kept: assert (!dut.u_w.kept_q
                            || dut.u_w.data_q == (dut.writing_q ? w_second_q : w_first_q));
      state_ar_kept: assert (!dut.u_ar.kept_q
                             || dut.u_ar.data_q == (dut.reading_q ? ar_second_q : ar_first_q));
`endif
    end
  end

endmodule
