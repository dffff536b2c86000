// The arbiter's turns, for all time, whatever memory does: between two writes of a master that
// asks, each of the others has one at most. Between two of its reads, each of its like has one at
// most, and the last master READS_AHEAD before each of these and before its own; where it is the
// last master itself, all others together have one.
//
// The upper bits of an address are the number of its master: so what is on the bus tells whose turn
// it was.
module memory_arbiter_turns_formal #(
  parameter int unsigned MASTERS    = 3,
  parameter int unsigned ADDR_WIDTH = 4,
  parameter int unsigned DATA_WIDTH = 8,
  parameter int unsigned READS_AHEAD = 2
) (
  input logic                                 clk_i,
  input logic                                 rst_ni,
  input logic [MASTERS-1:0]                   s_awvalid,
  input logic [MASTERS-1:0][ADDR_WIDTH-1:0]   s_awaddr,
  input logic [MASTERS-1:0]                   s_wvalid,
  input logic [MASTERS-1:0]                   s_wlast,
  input logic [MASTERS-1:0]                   s_bready,
  input logic [MASTERS-1:0]                   s_arvalid,
  input logic [MASTERS-1:0][ADDR_WIDTH-1:0]   s_araddr,
  input logic [MASTERS-1:0]                   s_rready,
  input logic                                 awready,
  input logic                                 wready,
  input logic                                 bvalid,
  input logic                                 arready,
  input logic                                 rvalid,
  input logic                                 rlast,
  // The master that is looked at; any, but the same all the time.
  input logic [1:0]                           looked
);

  logic [MASTERS-1:0]    s_awready, s_wready, s_bvalid, s_arready, s_rvalid;
  logic                  awvalid, wvalid, wlast, bready, arvalid, rready;
  logic [ADDR_WIDTH-1:0] awaddr, araddr;

  memory_arbiter #(
    .MASTERS(MASTERS), .ADDR_WIDTH(ADDR_WIDTH), .DATA_WIDTH(DATA_WIDTH), .BURSTS_MAX(4),
    .READS_AHEAD(READS_AHEAD)
  ) dut (
    .clk_i, .rst_ni,
    .s_axi_awvalid(s_awvalid), .s_axi_awready(s_awready), .s_axi_awaddr(s_awaddr),
    .s_axi_awlen('0), .s_axi_wvalid(s_wvalid), .s_axi_wready(s_wready), .s_axi_wdata('0),
    .s_axi_wstrb('0), .s_axi_wlast(s_wlast),
    .s_axi_bvalid(s_bvalid), .s_axi_bready(s_bready), .s_axi_bresp(),
    .s_axi_arvalid(s_arvalid), .s_axi_arready(s_arready), .s_axi_araddr(s_araddr),
    .s_axi_arlen('0), .s_axi_rvalid(s_rvalid), .s_axi_rready(s_rready),
    .s_axi_rdata(), .s_axi_rresp(), .s_axi_rlast(),
    .m_axi_awvalid(awvalid), .m_axi_awready(awready), .m_axi_awaddr(awaddr), .m_axi_awlen(),
    .m_axi_awsize(), .m_axi_awburst(), .m_axi_awcache(), .m_axi_awprot(),
    .m_axi_wvalid(wvalid), .m_axi_wready(wready), .m_axi_wdata(), .m_axi_wstrb(),
    .m_axi_wlast(wlast),
    .m_axi_bvalid(bvalid), .m_axi_bready(bready), .m_axi_bresp('0),
    .m_axi_arvalid(arvalid), .m_axi_arready(arready), .m_axi_araddr(araddr), .m_axi_arlen(),
    .m_axi_arsize(), .m_axi_arburst(), .m_axi_arcache(), .m_axi_arprot(),
    .m_axi_rvalid(rvalid), .m_axi_rready(rready), .m_axi_rdata('0), .m_axi_rresp('0),
    .m_axi_rlast(rlast)
  );

  logic       began_q = 1'b0;
  logic [1:0] looked_q;
  always_ff @(posedge clk_i) begin
    began_q  <= 1'b1;
    looked_q <= looked;
    begin_in_reset: assume (rst_ni == began_q);
    one_looked: assume (32'(looked) < MASTERS && (!began_q || looked == looked_q));
  end

  // AXI's rules for the masters: what is asked stays until it is taken. Whose it is, is part of it.

  for (genvar m = 0; m < int'(MASTERS); m++) begin : gen_master
    logic                  ar_held_q, aw_held_q;
    logic [ADDR_WIDTH-1:0] ar_q, aw_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        {ar_held_q, aw_held_q} <= '0;
      end else begin
        ar_held_q <= s_arvalid[m] && !s_arready[m];
        aw_held_q <= s_awvalid[m] && !s_awready[m];
      end
    end

    always_ff @(posedge clk_i) begin
      ar_q <= s_araddr[m];
      aw_q <= s_awaddr[m];
      ar_marked: assume (s_araddr[m][ADDR_WIDTH-1-:2] == 2'(m));
      aw_marked: assume (s_awaddr[m][ADDR_WIDTH-1-:2] == 2'(m));
      if (!rst_ni) none_in_reset: assume (!s_arvalid[m] && !s_awvalid[m]);
      if (rst_ni && ar_held_q) ar_stays: assume (s_arvalid[m] && s_araddr[m] == ar_q);
      if (rst_ni && aw_held_q) aw_stays: assume (s_awvalid[m] && s_awaddr[m] == aw_q);
    end
  end

  // What the master has asked for and is not on the bus yet; and how many bursts of others have
  // come to be there meanwhile: of reads those of the last master by themselves.

  localparam logic [1:0] First       = 2'(MASTERS - 1);
  localparam int unsigned FirstsMax  = READS_AHEAD * (MASTERS - 1);

  logic       ar_held_q, aw_held_q, ar_new, aw_new, ar_mine, aw_mine, ar_first;
  logic [2:0] ar_asked_q, aw_asked_q, ar_asked, aw_asked, ar_others_q, aw_others_q;
  logic [2:0] ar_others, ar_firsts_q, ar_firsts;
  logic       s_ar_held_q, s_aw_held_q;

  assign ar_new   = arvalid && !ar_held_q;
  assign aw_new   = awvalid && !aw_held_q;
  assign ar_mine  = ar_new && araddr[ADDR_WIDTH-1-:2] == looked;
  assign aw_mine  = aw_new && awaddr[ADDR_WIDTH-1-:2] == looked;
  assign ar_first = ar_new && araddr[ADDR_WIDTH-1-:2] == First;
  assign ar_asked = ar_asked_q - 3'(ar_mine);
  assign ar_others = ar_others_q + 3'(ar_new && !ar_mine && !ar_first && ar_asked_q != '0);
  assign ar_firsts = ar_firsts_q + 3'(!ar_mine && ar_first && ar_asked_q != '0);
  assign aw_asked = aw_asked_q - 3'(aw_mine);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {ar_held_q, aw_held_q, s_ar_held_q, s_aw_held_q} <= '0;
      {ar_asked_q, aw_asked_q, ar_others_q, aw_others_q, ar_firsts_q} <= '0;
    end else begin
      ar_held_q   <= arvalid && !arready;
      aw_held_q   <= awvalid && !awready;
      s_ar_held_q <= s_arvalid[looked] && !s_arready[looked];
      s_aw_held_q <= s_awvalid[looked] && !s_awready[looked];
      ar_asked_q  <= ar_asked + 3'(s_arvalid[looked] && !s_ar_held_q);
      aw_asked_q  <= aw_asked + 3'(s_awvalid[looked] && !s_aw_held_q);
      ar_others_q <= ar_mine ? '0 : ar_others;
      ar_firsts_q <= ar_mine ? '0 : ar_firsts;
      aw_others_q <= aw_mine || aw_asked_q == '0 ? '0 : aw_others_q + 3'(aw_new);
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      ar_turn: assert (ar_others <= (looked == First ? 3'd1 : 3'(MASTERS - 2)));
      ar_first_turn: assert (ar_firsts <= 3'(FirstsMax));
      aw_turn: assert (aw_others_q + 3'(aw_new && !aw_mine && aw_asked_q != '0)
                       <= 3'(MASTERS - 1));
      ar_asked_for: assert (!ar_mine || ar_asked_q != '0);
      aw_asked_for: assert (!aw_mine || aw_asked_q != '0);
      ar_waited: cover (ar_mine && ar_others_q == 3'(MASTERS - 2)
                        && ar_firsts_q == 3'(FirstsMax));
      ar_first_waited: cover (ar_mine && ar_first && ar_others_q == 3'd1);
      aw_waited: cover (aw_mine && aw_others_q == 3'(MASTERS - 1));

    end
  end

`ifndef CUT
  // What makes the rest follow by induction: those that could still come before, and those that
  // have, are no more than there are others.

  logic [MASTERS-1:0] ar_kept, aw_kept;
  logic [2:0]         ar_before, ar_firsts_before, aw_before, ar_could, aw_could;

  for (genvar m = 0; m < int'(MASTERS); m++) begin : gen_kept
    assign ar_kept[m] = dut.gen_master[m].u_ar_in.kept_q;
    assign aw_kept[m] = dut.gen_master[m].u_aw_in.kept_q;
  end

  // Masters between the last one and the one that is looked at, of so many.
  function automatic logic [2:0] between(logic [1:0] last, logic [1:0] looked_at,
                                         int unsigned masters);
    return looked_at > last ? 3'(looked_at) - 3'(last) - 3'd1
                            : 3'(masters - 1) - 3'(last) + 3'(looked_at);
  endfunction

  assign ar_before        = ar_mine ? '0 : ar_others;
  assign ar_firsts_before = ar_mine ? '0 : ar_firsts;
  assign aw_before = aw_mine ? '0 : aw_others_q + 3'(aw_new && aw_asked_q != '0);
  assign ar_could  = between(dut.ar_last_q, looked, MASTERS - 1);
  assign aw_could  = between(dut.aw_last_q, looked, MASTERS);

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      state_last: assert (32'(dut.ar_last_q) < MASTERS - 1 && 32'(dut.aw_last_q) < MASTERS);
      state_ahead: assert (32'(dut.ar_ahead_q) <= READS_AHEAD);
      state_ar_shown: assert (!ar_new || ar_first
                              || (araddr[ADDR_WIDTH-1-:2] == dut.ar_last_q
                                  && dut.ar_ahead_q == '0));
      state_aw_shown: assert (!aw_new || awaddr[ADDR_WIDTH-1-:2] == dut.aw_last_q);
      state_ar_asked: assert (ar_asked == 3'(ar_kept[looked]) + 3'(s_ar_held_q));
      state_aw_asked: assert (aw_asked == 3'(aw_kept[looked]) + 3'(s_aw_held_q));
      state_ar_held: assert (!s_ar_held_q || s_arvalid[looked]);
      state_aw_held: assert (!s_aw_held_q || s_awvalid[looked]);
      state_ar_turn: assert (ar_asked == '0 || looked == First
                             || ar_before + ar_could <= 3'(MASTERS - 2));
      state_ar_firsts: assert (ar_asked == '0 || looked == First
                               || 6'(ar_firsts_before)
                                  <= 6'(READS_AHEAD) * 6'(ar_before) + 6'(dut.ar_ahead_q));
      state_ar_first: assert (ar_asked == '0 || looked != First || ar_before == '0
                              || (ar_before == 3'd1 && dut.ar_ahead_q == '0));
      state_ar_none: assert (ar_asked_q != '0 || (ar_others_q == '0 && ar_firsts_q == '0));
      state_ar_own: assert (looked != First || ar_firsts_q == '0);
      state_aw_turn: assert (aw_asked == '0 || aw_before + aw_could <= 3'(MASTERS - 1));
    end
  end

  for (genvar m = 0; m < int'(MASTERS); m++) begin : gen_marks
    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        state_ar_mark: assert (!ar_kept[m]
                               || dut.gen_master[m].u_ar_in.data_q[ADDR_WIDTH-1-:2] == 2'(m));
        state_aw_mark: assert (!aw_kept[m]
                               || dut.gen_master[m].u_aw_in.data_q[ADDR_WIDTH-1-:2] == 2'(m));
      end
    end
  end
`endif

endmodule
