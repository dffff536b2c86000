// What AXI4 asks of both sides of a bus: ARM IHI 0022E, whose sections are named below. For buses
// with one ID, whose answers so come in the order of the requests (A5.3).
//
// MASTER_PROVED: the master's duties are proved and the slave's taken for granted; SLAVE_PROVED the
// other way round; both: everything is checked, as in simulation.
//
// Stricter than the specification, because the fabric needs no more: transfers are as wide as the
// bus and aligned to it, bursts increment, and no word of a write comes before its address is on
// the bus. The times are bounds for what the specification only says must happen some day:
// * a slave accepts within ANSWER_CYCLES_MAX, and so long after what it waits for answers;
// * a master takes an answer, and sends the next word of a write, within READY_CYCLES_MAX.
`include "property.svh"

module axi_props #(
  parameter int unsigned ADDR_WIDTH        = 32,
  parameter int unsigned DATA_WIDTH        = 64,
  parameter bit          MASTER_PROVED     = 1'b1,
  parameter bit          SLAVE_PROVED      = 1'b1,
  parameter int unsigned READS_MAX         = 2,
  parameter int unsigned WRITES_MAX        = 2,
  parameter int unsigned ANSWER_CYCLES_MAX = 4,
  parameter int unsigned READY_CYCLES_MAX  = 4,
  // The master acts for a VM: its accesses are unprivileged and non-secure.
  parameter bit          NON_SECURE        = 1'b0
) (
  input logic                    clk_i,
  input logic                    rst_ni,

  input logic                    axi_awvalid,
  input logic                    axi_awready,
  input logic [ADDR_WIDTH-1:0]   axi_awaddr,
  input logic [7:0]              axi_awlen,
  input logic [2:0]              axi_awsize,
  input logic [1:0]              axi_awburst,
  input logic [3:0]              axi_awcache,
  input logic [2:0]              axi_awprot,
  input logic                    axi_wvalid,
  input logic                    axi_wready,
  input logic [DATA_WIDTH-1:0]   axi_wdata,
  input logic [DATA_WIDTH/8-1:0] axi_wstrb,
  input logic                    axi_wlast,
  input logic                    axi_bvalid,
  input logic                    axi_bready,
  input logic [1:0]              axi_bresp,
  input logic                    axi_arvalid,
  input logic                    axi_arready,
  input logic [ADDR_WIDTH-1:0]   axi_araddr,
  input logic [7:0]              axi_arlen,
  input logic [2:0]              axi_arsize,
  input logic [1:0]              axi_arburst,
  input logic [3:0]              axi_arcache,
  input logic [2:0]              axi_arprot,
  input logic                    axi_rvalid,
  input logic                    axi_rready,
  input logic [DATA_WIDTH-1:0]   axi_rdata,
  input logic [1:0]              axi_rresp,
  input logic                    axi_rlast
);

  localparam int unsigned WordBits  = $clog2(DATA_WIDTH / 8);
  localparam int unsigned TimeWidth = $clog2(ANSWER_CYCLES_MAX + READY_CYCLES_MAX + 2);

  typedef logic [3:0]           count_t;
  typedef logic [TimeWidth-1:0] time_t;

  localparam time_t AnswerCyclesMax = time_t'(ANSWER_CYCLES_MAX);
  localparam time_t ReadyCyclesMax  = time_t'(READY_CYCLES_MAX);

  // A3.1.2: in reset, no VALID.

  `PROPERTY_IN_RESET(MASTER_PROVED, reset_aw, !axi_awvalid)
  `PROPERTY_IN_RESET(MASTER_PROVED, reset_w, !axi_wvalid)
  `PROPERTY_IN_RESET(MASTER_PROVED, reset_ar, !axi_arvalid)
  `PROPERTY_IN_RESET(SLAVE_PROVED, reset_b, !axi_bvalid)
  `PROPERTY_IN_RESET(SLAVE_PROVED, reset_r, !axi_rvalid)

  // A3.2.1: VALID, once up, stays until READY, and what it says stays with it.

  logic                      aw_held_q, w_held_q, b_held_q, ar_held_q, r_held_q;
  logic [ADDR_WIDTH+19:0]    aw, aw_q, ar, ar_q;
  logic [DATA_WIDTH*9/8:0]   w, w_q;
  logic [1:0]                b_q;
  logic [DATA_WIDTH+2:0]     r, r_q;

  assign aw = {axi_awaddr, axi_awlen, axi_awsize, axi_awburst, axi_awcache, axi_awprot};
  assign ar = {axi_araddr, axi_arlen, axi_arsize, axi_arburst, axi_arcache, axi_arprot};
  assign w  = {axi_wdata, axi_wstrb, axi_wlast};
  assign r  = {axi_rdata, axi_rresp, axi_rlast};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {aw_held_q, w_held_q, b_held_q, ar_held_q, r_held_q} <= '0;
    end else begin
      aw_held_q <= axi_awvalid && !axi_awready;
      w_held_q  <= axi_wvalid && !axi_wready;
      b_held_q  <= axi_bvalid && !axi_bready;
      ar_held_q <= axi_arvalid && !axi_arready;
      r_held_q  <= axi_rvalid && !axi_rready;
    end
  end

  always_ff @(posedge clk_i) begin
    aw_q <= aw;
    w_q  <= w;
    b_q  <= axi_bresp;
    ar_q <= ar;
    r_q  <= r;
  end

  `PROPERTY(MASTER_PROVED, aw_stays, !aw_held_q || axi_awvalid)
  `PROPERTY(MASTER_PROVED, aw_stable, !aw_held_q || aw_q == aw)
  `PROPERTY(MASTER_PROVED, w_stays, !w_held_q || axi_wvalid)
  `PROPERTY(MASTER_PROVED, w_stable, !w_held_q || w_q == w)
  `PROPERTY(SLAVE_PROVED, b_stays, !b_held_q || axi_bvalid)
  `PROPERTY(SLAVE_PROVED, b_stable, !b_held_q || b_q == axi_bresp)
  `PROPERTY(MASTER_PROVED, ar_stays, !ar_held_q || axi_arvalid)
  `PROPERTY(MASTER_PROVED, ar_stable, !ar_held_q || ar_q == ar)
  `PROPERTY(SLAVE_PROVED, r_stays, !r_held_q || axi_rvalid)
  `PROPERTY(SLAVE_PROVED, r_stable, !r_held_q || r_q == r)

  // A3.4.1: bursts. They increment, words are whole and aligned, and none crosses 4 KiB.

  logic [12:0] aw_end, ar_end;
  assign aw_end = 13'(axi_awaddr[11:0]) + 13'({axi_awlen, {WordBits{1'b1}}});
  assign ar_end = 13'(axi_araddr[11:0]) + 13'({axi_arlen, {WordBits{1'b1}}});

  `PROPERTY(MASTER_PROVED, aw_increments, !axi_awvalid || axi_awburst == 2'b01)
  `PROPERTY(MASTER_PROVED, aw_whole, !axi_awvalid || axi_awsize == 3'(WordBits))
  `PROPERTY(MASTER_PROVED, aw_aligned, !axi_awvalid || axi_awaddr[WordBits-1:0] == '0)
  `PROPERTY(MASTER_PROVED, aw_in_page, !axi_awvalid || !aw_end[12])
  `PROPERTY(MASTER_PROVED, ar_increments, !axi_arvalid || axi_arburst == 2'b01)
  `PROPERTY(MASTER_PROVED, ar_whole, !axi_arvalid || axi_arsize == 3'(WordBits))
  `PROPERTY(MASTER_PROVED, ar_aligned, !axi_arvalid || axi_araddr[WordBits-1:0] == '0)
  `PROPERTY(MASTER_PROVED, ar_in_page, !axi_arvalid || !ar_end[12])

  // A4.4: what cannot be modified does not allocate.

  `PROPERTY(MASTER_PROVED, aw_cache, !axi_awvalid || axi_awcache[1] || axi_awcache[3:2] == '0)
  `PROPERTY(MASTER_PROVED, ar_cache, !axi_arvalid || axi_arcache[1] || axi_arcache[3:2] == '0)

  // A4.7: protection.

  if (NON_SECURE) begin : gen_non_secure
    `PROPERTY(MASTER_PROVED, aw_non_secure, !axi_awvalid || axi_awprot[1:0] == 2'b10)
    `PROPERTY(MASTER_PROVED, ar_non_secure, !axi_arvalid || axi_arprot[1:0] == 2'b10)
  end

  // A3.3.1 and A3.4.1: a write's words are as many as its address said, the last one marked; its
  // answer comes after all of it. No answer is invented and none doubled.

  // Bursts that are on the bus and whose words are not all sent, the oldest first.
  logic [WRITES_MAX:0][7:0] w_len_q, w_len_d;
  count_t                   w_bursts_q, w_bursts_d;
  logic [7:0]               w_word_q;
  logic                     aw_new, w_sent, w_over;

  assign aw_new = axi_awvalid && !aw_held_q;
  assign w_sent = axi_wvalid && axi_wready;
  assign w_over = w_sent && axi_wlast;

  always_comb begin
    w_len_d    = w_len_q;
    w_bursts_d = w_bursts_q;
    if (w_over) begin
      w_len_d    = w_len_q >> 8;
      w_bursts_d = w_bursts_q - 4'd1;
    end
    if (aw_new) begin
      for (int unsigned i = 0; i <= WRITES_MAX; i++) begin
        if (w_bursts_d == 4'(i)) w_len_d[i] = axi_awlen;
      end
      w_bursts_d = w_bursts_d + 4'd1;
    end
  end

  // Accepted and not answered: addresses, and whole data.
  count_t aw_count_q, w_count_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      w_len_q    <= '0;
      w_bursts_q <= '0;
      w_word_q   <= '0;
      aw_count_q <= '0;
      w_count_q  <= '0;
    end else begin
      w_len_q    <= w_len_d;
      w_bursts_q <= w_bursts_d;
      if (w_sent) w_word_q <= axi_wlast ? '0 : w_word_q + 8'd1;
      aw_count_q <= aw_count_q + 4'(axi_awvalid && axi_awready) - 4'(axi_bvalid && axi_bready);
      w_count_q  <= w_count_q + 4'(w_over) - 4'(axi_bvalid && axi_bready);
    end
  end

  `PROPERTY(MASTER_PROVED, w_after_aw, !axi_wvalid || w_bursts_q != '0)
  `PROPERTY(MASTER_PROVED, w_last, !axi_wvalid || axi_wlast == (w_word_q == w_len_q[0]))
  `PROPERTY(MASTER_PROVED, aw_bounded, 4'(aw_count_q + 4'(axi_awvalid)) <= 4'(WRITES_MAX))
  `PROPERTY(SLAVE_PROVED, b_after_aw, !axi_bvalid || aw_count_q != '0)
  `PROPERTY(SLAVE_PROVED, b_after_w, !axi_bvalid || w_count_q != '0)

  // The same for reads: as many words as the address said, the last one marked.

  logic [READS_MAX:0][7:0] r_len_q, r_len_d;
  count_t                  r_bursts_q, r_bursts_d;
  logic [7:0]              r_word_q;
  logic                    r_taken, r_over;

  assign r_taken = axi_rvalid && axi_rready;
  assign r_over  = r_taken && axi_rlast;

  always_comb begin
    r_len_d    = r_len_q;
    r_bursts_d = r_bursts_q;
    if (r_over) begin
      r_len_d    = r_len_q >> 8;
      r_bursts_d = r_bursts_q - 4'd1;
    end
    if (axi_arvalid && axi_arready) begin
      for (int unsigned i = 0; i <= READS_MAX; i++) begin
        if (r_bursts_d == 4'(i)) r_len_d[i] = axi_arlen;
      end
      r_bursts_d = r_bursts_d + 4'd1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      r_len_q    <= '0;
      r_bursts_q <= '0;
      r_word_q   <= '0;
    end else begin
      r_len_q    <= r_len_d;
      r_bursts_q <= r_bursts_d;
      if (r_taken) r_word_q <= axi_rlast ? '0 : r_word_q + 8'd1;
    end
  end

  `PROPERTY(MASTER_PROVED, ar_bounded, 4'(r_bursts_q + 4'(axi_arvalid)) <= 4'(READS_MAX))
  `PROPERTY(SLAVE_PROVED, r_after_ar, !axi_rvalid || r_bursts_q != '0)
  `PROPERTY(SLAVE_PROVED, r_last, !axi_rvalid || axi_rlast == (r_word_q == r_len_q[0]))

  // A7.2: there are no exclusive accesses, so none succeeds.

  `PROPERTY(SLAVE_PROVED, b_not_exclusive, !axi_bvalid || axi_bresp != 2'b01)
  `PROPERTY(SLAVE_PROVED, r_not_exclusive, !axi_rvalid || axi_rresp != 2'b01)

  // Times.

  time_t aw_wait_q, w_wait_q, b_wait_q, ar_wait_q, r_wait_q;
  time_t w_ready_q, b_ready_q, r_ready_q;

  function automatic time_t waited(time_t so_far, logic waits);
    return !waits ? '0 : (so_far == '1 ? so_far : so_far + 1'b1);
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_wait_q <= '0;
      w_wait_q  <= '0;
      b_wait_q  <= '0;
      ar_wait_q <= '0;
      r_wait_q  <= '0;
      w_ready_q <= '0;
      b_ready_q <= '0;
      r_ready_q <= '0;
    end else begin
      aw_wait_q <= waited(aw_wait_q, axi_awvalid && !axi_awready);
      w_wait_q  <= waited(w_wait_q, axi_wvalid && !axi_wready);
      b_wait_q  <= waited(b_wait_q, !axi_bvalid && aw_count_q != '0 && w_count_q != '0);
      ar_wait_q <= waited(ar_wait_q, axi_arvalid && !axi_arready);
      r_wait_q  <= waited(r_wait_q, !axi_rvalid && r_bursts_q != '0);
      w_ready_q <= waited(w_ready_q, !axi_wvalid && w_bursts_q != '0);
      b_ready_q <= waited(b_ready_q, axi_bvalid && !axi_bready);
      r_ready_q <= waited(r_ready_q, axi_rvalid && !axi_rready);
    end
  end

  `PROPERTY(SLAVE_PROVED, aw_in_time, aw_wait_q < AnswerCyclesMax)
  `PROPERTY(SLAVE_PROVED, w_in_time, w_wait_q < AnswerCyclesMax)
  `PROPERTY(SLAVE_PROVED, b_in_time, b_wait_q < AnswerCyclesMax)
  `PROPERTY(SLAVE_PROVED, ar_in_time, ar_wait_q < AnswerCyclesMax)
  `PROPERTY(SLAVE_PROVED, r_in_time, r_wait_q < AnswerCyclesMax)
  `PROPERTY(MASTER_PROVED, w_sent_in_time, w_ready_q < ReadyCyclesMax)
  `PROPERTY(MASTER_PROVED, b_taken_in_time, b_ready_q < ReadyCyclesMax)
  `PROPERTY(MASTER_PROVED, r_taken_in_time, r_ready_q < ReadyCyclesMax)

endmodule
