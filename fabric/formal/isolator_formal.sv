// Whatever the region drives, and whenever it is cut off, memory sees a master that keeps the rules
// of AXI4 (axi_props) and stays within the window; what it had asked for is drained in time. The
// region gets answers only to what was taken from it since it was last connected.
//
// All inputs from the region are free. The proof has bursts of up to four words of two bytes, in
// pages few enough; the widths and lengths that the fabric has are in dma_window's proof and in the
// tests. With TIMES the time to drain is part of it; without, memory may rest longer, and more is
// under way.
module isolator_formal #(
  parameter int unsigned TASK_ADDR_WIDTH = 14,
  parameter int unsigned ADDR_WIDTH      = 15,
  parameter int unsigned DATA_WIDTH      = 16,
  parameter int unsigned BEATS_MAX       = 4,
  parameter int unsigned BURSTS_MAX      = 4,
  parameter int unsigned ANSWERS_MAX     = 8,
  parameter bit          TIMES           = 1'b0,
  // Of memory: see axi_props.
  parameter int unsigned ANSWER_CYCLES_MAX = 3
) (
  input logic                       clk_i,
  input logic                       rst_ni,
  input logic                       isolate,
  input logic [ADDR_WIDTH-13:0]     base,
  input logic [TASK_ADDR_WIDTH-12:0] pages,
  input logic                       s_awvalid,
  input logic [TASK_ADDR_WIDTH-1:0] s_awaddr,
  input logic [7:0]                 s_awlen,
  input logic [2:0]                 s_awsize,
  input logic [1:0]                 s_awburst,
  input logic                       s_wvalid,
  input logic [DATA_WIDTH-1:0]      s_wdata,
  input logic [DATA_WIDTH/8-1:0]    s_wstrb,
  input logic                       s_wlast,
  input logic                       s_bready,
  input logic                       s_arvalid,
  input logic [TASK_ADDR_WIDTH-1:0] s_araddr,
  input logic [7:0]                 s_arlen,
  input logic [2:0]                 s_arsize,
  input logic [1:0]                 s_arburst,
  input logic                       s_rready,
  input logic                       awready,
  input logic                       wready,
  input logic                       bvalid,
  input logic [1:0]                 bresp,
  input logic                       arready,
  input logic                       rvalid,
  input logic [DATA_WIDTH-1:0]      rdata,
  input logic [1:0]                 rresp,
  input logic                       rlast
);

  localparam int unsigned WordBits = $clog2(DATA_WIDTH / 8);
  // Handshakes that memory may owe when a region is cut off: of reads, and of writes.
  localparam int unsigned ReadStepsMax  = BURSTS_MAX * BEATS_MAX + 1;
  localparam int unsigned WriteStepsMax = ANSWERS_MAX + BEATS_MAX + 2;

  logic                    drained, refused_outside, refused_illegal, wrong_last;
  logic [TASK_ADDR_WIDTH-1:0] refused_addr;
  logic                    s_awready, s_wready, s_bvalid, s_arready, s_rvalid, s_rlast;
  logic [1:0]              s_bresp, s_rresp;
  logic [DATA_WIDTH-1:0]   s_rdata;
  logic                    awvalid, wvalid, wlast, bready, arvalid, rready;
  logic [ADDR_WIDTH-1:0]   awaddr, araddr;
  logic [7:0]              awlen, arlen;
  logic [2:0]              awsize, arsize, awprot, arprot;
  logic [1:0]              awburst, arburst;
  logic [3:0]              awcache, arcache;
  logic [DATA_WIDTH-1:0]   wdata;
  logic [DATA_WIDTH/8-1:0] wstrb;

  isolator #(
    .TASK_ADDR_WIDTH(TASK_ADDR_WIDTH), .ADDR_WIDTH(ADDR_WIDTH), .DATA_WIDTH(DATA_WIDTH),
    .BEATS_MAX(BEATS_MAX), .BURSTS_MAX(BURSTS_MAX), .ANSWERS_MAX(ANSWERS_MAX)
  ) dut (
    .clk_i, .rst_ni, .isolate_i(isolate), .drained_o(drained),
    .window_base_i(base), .window_pages_i(pages),
    .refused_outside_o(refused_outside), .refused_illegal_o(refused_illegal),
    .wrong_last_o(wrong_last), .refused_addr_o(refused_addr),
    .s_axi_awvalid(s_awvalid), .s_axi_awready(s_awready), .s_axi_awaddr(s_awaddr),
    .s_axi_awlen(s_awlen), .s_axi_awsize(s_awsize), .s_axi_awburst(s_awburst),
    .s_axi_wvalid(s_wvalid), .s_axi_wready(s_wready), .s_axi_wdata(s_wdata),
    .s_axi_wstrb(s_wstrb), .s_axi_wlast(s_wlast),
    .s_axi_bvalid(s_bvalid), .s_axi_bready(s_bready), .s_axi_bresp(s_bresp),
    .s_axi_arvalid(s_arvalid), .s_axi_arready(s_arready), .s_axi_araddr(s_araddr),
    .s_axi_arlen(s_arlen), .s_axi_arsize(s_arsize), .s_axi_arburst(s_arburst),
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
    .MASTER_PROVED(1'b1), .SLAVE_PROVED(1'b0), .READS_MAX(BURSTS_MAX), .WRITES_MAX(ANSWERS_MAX),
    .ANSWER_CYCLES_MAX(ANSWER_CYCLES_MAX), .READY_CYCLES_MAX(2), .NON_SECURE(1'b1)
  ) bus (
    .clk_i, .rst_ni,
    .axi_awvalid(awvalid), .axi_awready(awready), .axi_awaddr(awaddr), .axi_awlen(awlen),
    .axi_awsize(awsize), .axi_awburst(awburst), .axi_awcache(awcache), .axi_awprot(awprot),
    .axi_wvalid(wvalid), .axi_wready(wready), .axi_wdata(wdata), .axi_wstrb(wstrb),
    .axi_wlast(wlast),
    .axi_bvalid(bvalid), .axi_bready(bready), .axi_bresp(bresp),
    .axi_arvalid(arvalid), .axi_arready(arready), .axi_araddr(araddr), .axi_arlen(arlen),
    .axi_arsize(arsize), .axi_arburst(arburst), .axi_arcache(arcache), .axi_arprot(arprot),
    .axi_rvalid(rvalid), .axi_rready(rready), .axi_rdata(rdata), .axi_rresp(rresp),
    .axi_rlast(rlast)
  );

  logic                         began_q = 1'b0;
  logic                         isolate_q, drained_q, may_change_q;
  logic [ADDR_WIDTH-13:0]       base_q;
  logic [TASK_ADDR_WIDTH-12:0]  pages_q;

  always_ff @(posedge clk_i) begin
    began_q      <= 1'b1;
    isolate_q    <= isolate;
    drained_q    <= drained;
    base_q       <= base;
    pages_q      <= pages;
    may_change_q <= !rst_ni || (isolate && drained);
    begin_in_reset: assume (rst_ni == began_q);
    if (began_q && !may_change_q) window_stays: assume (base == base_q && pages == pages_q);
  end

  // Within the window, wholly.

  logic [ADDR_WIDTH+1:0] window_first, window_past, ar_past, aw_past;

  assign window_first = {2'b0, base, 12'b0};
  assign window_past  = window_first + (ADDR_WIDTH+2)'({pages, 12'b0});
  assign ar_past      = (ADDR_WIDTH+2)'(araddr) + (ADDR_WIDTH+2)'({arlen + 9'd1, {WordBits{1'b0}}});
  assign aw_past      = (ADDR_WIDTH+2)'(awaddr) + (ADDR_WIDTH+2)'({awlen + 9'd1, {WordBits{1'b0}}});

  // The region's side, since the region was last connected: reads and writes taken and not yet
  // answered. Of the writes whose words are still to come there are at most two.

  logic       cut, cut_q;
  logic [3:0] s_reads_q, s_whole_q;
  logic [1:0] s_partial_q, s_partial_d;
  logic [8:0] s_left_q, s_left_d, s_next_q;
  logic       s_ar_taken, s_aw_taken, s_w_last, s_ar_taken_q, s_w_last_q;

  assign cut        = isolate || cut_q;
  assign s_ar_taken = s_arvalid && s_arready;
  assign s_aw_taken = s_awvalid && s_awready;
  assign s_w_last   = s_wvalid && s_wready && s_left_q == 9'd1;

  always_comb begin
    s_partial_d = s_partial_q - 2'(s_w_last);
    s_left_d    = s_w_last ? s_next_q : s_left_q - 9'(s_wvalid && s_wready);
    if (s_partial_d == '0) s_left_d = s_aw_taken ? 9'(s_awlen) + 9'd1 : '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cut_q       <= 1'b1;
      s_reads_q   <= '0;
      s_whole_q   <= '0;
      s_partial_q <= '0;
      s_left_q    <= '0;
      s_next_q    <= '0;
      s_ar_taken_q <= 1'b0;
      s_w_last_q   <= 1'b0;
    end else begin
      s_ar_taken_q <= s_ar_taken;
      s_w_last_q   <= s_w_last;
      cut_q <= isolate || (cut_q && !drained);
      if (cut) begin
        s_reads_q   <= '0;
        s_whole_q   <= '0;
        s_partial_q <= '0;
        s_left_q    <= '0;
        s_next_q    <= '0;
      end else begin
        s_reads_q   <= s_reads_q + 4'(s_ar_taken)
                       - 4'(s_rvalid && s_rready && s_rlast);
        s_whole_q   <= s_whole_q + 4'(s_w_last) - 4'(s_bvalid && s_bready);
        s_partial_q <= s_partial_d + 2'(s_aw_taken);
        s_left_q    <= s_left_d;
        s_next_q    <= s_aw_taken ? 9'(s_awlen) + 9'd1 : s_next_q;
      end
    end
  end

  // Cycles for which the region has been cut off and reads, or writes, not drained.

  logic [7:0] rd_cut_q, wr_cut_q;
  logic       rd_drained, wr_drained;

  assign rd_drained = bus.r_bursts_q == '0 && !arvalid;
  assign wr_drained = bus.aw_count_q == '0 && !awvalid;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rd_cut_q <= '0;
      wr_cut_q <= '0;
    end else begin
      rd_cut_q <= (isolate || rd_cut_q != '0) && !rd_drained ? rd_cut_q + 8'd1 : '0;
      wr_cut_q <= (isolate || wr_cut_q != '0) && !wr_drained ? wr_cut_q + 8'd1 : '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (arvalid) begin
        ar_from_window: assert ((ADDR_WIDTH+2)'(araddr) >= window_first);
        ar_to_window: assert (ar_past <= window_past);
      end
      if (awvalid) begin
        aw_from_window: assert ((ADDR_WIDTH+2)'(awaddr) >= window_first);
        aw_to_window: assert (aw_past <= window_past);
      end
      r_owed: assert (!s_rvalid || s_reads_q != '0);
      b_owed: assert (!s_bvalid || s_whole_q != '0);
      w_owed: assert (!s_wready || s_partial_q != '0);
      if (cut) begin
        silent: assert (!s_awready && !s_wready && !s_bvalid && !s_arready && !s_rvalid);
      end
      if (isolate_q && began_q) begin
        no_new_read: assert (!arvalid || bus.ar_held_q);
        no_new_write: assert (!awvalid || bus.aw_held_q);
        no_strobe: assert (!wvalid || bus.w_held_q || wstrb == '0);
      end
      // What becomes of a task that is cut off is no fault of the task.
      no_fault: assert (!cut || !(refused_outside || refused_illegal || wrong_last));
      // Hence the time until it is drained is the longest from a cut on.
      if (isolate_q && began_q && isolate && drained_q) drained_stays: assert (drained);
      drained_told: assert (drained == (rd_drained && wr_drained));
      full_reads: cover (bus.r_bursts_q == 4'(BURSTS_MAX) && isolate && !isolate_q
                         && bus.r_len_q[BURSTS_MAX-1] != '0);
      two_writes: cover (bus.aw_count_q == 4'd2 && isolate && !isolate_q);
      written: cover (s_bvalid && s_bready && s_bresp == 2'b00);
      half_sent: cover (isolate_q && wvalid && !bus.w_held_q && wstrb == '0 && bus.w_word_q != '0);
      comes_back: cover (!isolate && s_rvalid && s_rlast && s_rresp == 2'b00
                         && bus.r_bursts_q == '0);
      refused: cover (refused_outside && s_arvalid);
      // As fast as the region may be: a read, or a word of a write, in each cycle.
      read_each_cycle: cover (s_ar_taken_q && arvalid && s_ar_taken);
      write_each_cycle: cover (s_w_last_q && s_wvalid && s_wready);
    end
  end

  if (TIMES) begin : gen_times
    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        rd_in_time: assert (rd_cut_q < 8'(ReadStepsMax * ANSWER_CYCLES_MAX));
        wr_in_time: assert (wr_cut_q < 8'(WriteStepsMax * ANSWER_CYCLES_MAX + 1));
      end
    end
  end

`ifndef CUT
  // What makes the rest follow by induction.

  localparam int unsigned SlotBits = $clog2(BURSTS_MAX);
  localparam int unsigned BeatBits = $clog2(BEATS_MAX);

  localparam int unsigned AnswerBits = $clog2(ANSWERS_MAX);

  typedef logic [SlotBits:0]   count_t;
  typedef logic [AnswerBits:0] writes_t;

  count_t     rd_owed, rd_unasked;
  writes_t    wr_owed;
  logic       next_kept, next_refused;
  logic [7:0] next_len;
  logic [8:0] w_words;
  logic       lengths_good;
  logic [7:0] rd_steps, wr_steps, rd_wait, wr_wait;

  assign rd_owed    = dut.rd_taken_q - dut.rd_arrived_q;
  assign rd_unasked = dut.rd_taken_q - dut.rd_asked_q;
  assign wr_owed    = dut.wr_sent_q - dut.wr_done_q;
  // The burst behind the one that is being taken.
  assign next_kept                = dut.u_next.kept_q;
  assign {next_refused, next_len} = dut.u_next.data_q;
  // Words of the burst that is being sent that are still to come.
  assign w_words  = dut.w_busy_q ? 9'(dut.w_left_q) + 9'd1 : '0;
  // Handshakes that memory still owes, at most; for how long it has owed the next of them.
  assign rd_steps = 8'({rd_owed, BeatBits'(0)}) - 8'(bus.r_word_q) + 8'(arvalid);
  assign wr_steps = 8'(wr_owed) + 8'(w_words) + 8'(wvalid) + 8'(awvalid);
  assign rd_wait  = bus.r_bursts_q != '0 ? 8'(bus.r_wait_q) : 8'(bus.ar_wait_q);
  assign wr_wait  = wvalid ? 8'(bus.w_wait_q) : (awvalid ? 8'(bus.aw_wait_q)
                                                       : 8'(bus.b_wait_q));

  // Whether a burst that is kept for memory is within the window and a page.
  function automatic logic burst_good(logic [BeatBits-1:0] len, logic [ADDR_WIDTH-1:0] addr);
    logic [ADDR_WIDTH+1:0] past;
    past = (ADDR_WIDTH+2)'(addr) + (((ADDR_WIDTH+2)'(len) + (ADDR_WIDTH+2)'(1)) << WordBits);
    return (ADDR_WIDTH+2)'(addr) >= window_first && past <= window_past
           && 13'(addr[11:0]) + 13'({len, {WordBits{1'b1}}}) < 13'h1000;
  endfunction

  for (genvar i = 0; i < int'(BURSTS_MAX); i++) begin : gen_slot
    logic [SlotBits-1:0] rd_place, wr_place;
    logic                rd_good, wr_good;

    // How far behind the next to be asked for, and to be sent.
    assign rd_place = SlotBits'(i) - dut.rd_asked_q[SlotBits-1:0];
    assign wr_place = SlotBits'(i) - dut.wr_sent_q[SlotBits-1:0];
    assign rd_good  = burst_good(dut.rd_bursts[i].len, {dut.rd_bursts[i].word, WordBits'(0)});
    assign wr_good  = burst_good(dut.wr_bursts[i].len, {dut.wr_bursts[i].word, WordBits'(0)});

    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        if (count_t'(rd_place) < rd_unasked) rd_slot_kept: assert (rd_good);
        if (writes_t'(wr_place) < writes_t'(dut.wr_taken_q - dut.wr_sent_q)) begin
          wr_slot_kept: assert (wr_good && dut.wr_bursts[i].len == dut.wr_lengths[i]);
        end
        if (dut.aw_busy_q && dut.w_slot_q == SlotBits'(i)) aw_slot_kept: assert (wr_good);
      end
    end
  end

  always_comb begin
    lengths_good = (!arvalid || arlen < 8'(BEATS_MAX)) && (!awvalid || awlen < 8'(BEATS_MAX));
    for (int unsigned i = 0; i <= BURSTS_MAX; i++) begin
      lengths_good = lengths_good && bus.r_len_q[i] < 8'(BEATS_MAX);
    end
    for (int unsigned i = 0; i <= ANSWERS_MAX; i++) begin
      lengths_good = lengths_good && bus.w_len_q[i] < 8'(BEATS_MAX);
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      state_reads: assert (count_t'(rd_owed - rd_unasked) == count_t'(bus.r_bursts_q)
                           && rd_unasked <= rd_owed && rd_owed <= count_t'(BURSTS_MAX)
                           && arvalid == (rd_unasked != '0));
      state_rd_unasked: assert (!dut.cut_q || rd_unasked <= count_t'(1));
      state_rd_used: assert (dut.rd_used <= count_t'(BURSTS_MAX));
      state_rd_cut: assert (!dut.cut_q || dut.rd_used == '0);
      state_rd_order: assert (dut.cut_q || rd_owed <= dut.rd_used);
      state_lengths: assert (lengths_good);
      state_r_word: assert (bus.r_word_q == 8'(dut.rd_arrived_beat_q)
                            && (bus.r_bursts_q == '0 ? bus.r_word_q == '0
                                                     : bus.r_word_q <= bus.r_len_q[0]));

      state_cut: assert (cut_q == dut.cut_q);
      state_s_reads: assert (dut.cut_q || s_reads_q == 4'(dut.rd_used) + 4'(dut.rd_refused_q));
      state_s_begins: assert (dut.rd_used != '0 || dut.rd_delivered_beat_q == '0);
      state_s_refused_read: assert (!dut.cut_q || !dut.rd_refused_q);
      state_s_whole: assert (dut.cut_q
                             || s_whole_q == 4'(writes_t'(dut.wr_whole_q - dut.wr_told_q))
                                             + 4'(dut.wr_refused_q && !dut.wr_busy_q));
      state_s_partial: assert (dut.cut_q
                               || (s_partial_q == 2'(dut.wr_busy_q) + 2'(next_kept)
                                   && s_left_q == (dut.wr_busy_q ? 9'(dut.wr_left_q) + 9'd1 : '0)
                                   && (!next_kept || s_next_q == 9'(next_len) + 9'd1)));

      state_wr_next: assert (!next_kept || (dut.wr_busy_q && !dut.wr_refused_q));
      state_wr_taken: assert (writes_t'(dut.wr_taken_q - dut.wr_whole_q)
                              == writes_t'(dut.wr_busy_q && !dut.wr_refused_q)
                                 + writes_t'(next_kept && !next_refused));
      state_wr_used: assert (dut.wr_used <= writes_t'(ANSWERS_MAX));
      // No word that is to be sent is written over.
      state_wr_kept: assert (dut.wr_kept <= writes_t'(BURSTS_MAX));
      state_wr_lengths: assert ((!dut.wr_busy_q || dut.wr_refused_q
                                 || dut.wr_left_q < 8'(BEATS_MAX))
                                && (!next_kept || next_refused || next_len < 8'(BEATS_MAX)));
      state_w_slot: assert (!(dut.aw_busy_q || dut.w_busy_q)
                            || dut.w_slot_q == dut.wr_sent_q[SlotBits-1:0] - SlotBits'(1));
      state_wr_cut: assert (!dut.cut_q || (dut.wr_taken_q == dut.wr_sent_q
                                           && dut.wr_whole_q == dut.wr_sent_q
                                           && dut.wr_told_q == dut.wr_done_q
                                           && !dut.wr_busy_q && !dut.wr_refused_q && !next_kept));
      state_wr_order: assert (writes_t'(dut.wr_taken_q - dut.wr_whole_q)
                              <= writes_t'(dut.wr_taken_q - dut.wr_sent_q)
                              && writes_t'(dut.wr_taken_q - dut.wr_sent_q)
                                 <= writes_t'(dut.wr_taken_q - dut.wr_done_q)
                              && writes_t'(dut.wr_taken_q - dut.wr_done_q) <= dut.wr_used);
      state_writes: assert (wr_owed == writes_t'(bus.aw_count_q + 4'(awvalid))
                            && wr_owed <= writes_t'(ANSWERS_MAX));
      // A burst is on the bus until its words are: some are to be sent, or the last one waits.
      state_bursts: assert (4'(bus.w_bursts_q + 4'(bus.aw_new))
                            == 4'(dut.w_busy_q) + 4'(wvalid && wlast));
      state_counts: assert (4'(bus.w_count_q + bus.w_bursts_q + 4'(bus.aw_new)) == 4'(wr_owed));
      state_new: assert (!bus.aw_new || w_words == 9'(awlen) + 9'd1);
      state_new_last: assert (!bus.aw_new || !wvalid || wlast);
      if (bus.w_bursts_q != '0) begin
        state_head: assert (9'(bus.w_len_q[0] + 8'd1 - bus.w_word_q)
                            == (wvalid && wlast ? 9'd1 : w_words + 9'(wvalid)));
      end
      if (bus.w_bursts_q == 4'd2) begin
        state_next: assert (w_words == 9'(bus.w_len_q[1]) + 9'd1);
      end
      state_begun: assert (bus.w_bursts_q != '0 || bus.w_word_q == '0);
      state_words: assert (bus.w_word_q < 8'(BEATS_MAX));
      state_sent: assert (bus.w_word_q <= bus.w_len_q[0] || bus.w_bursts_q == '0);

      state_still_cut: assert ((rd_cut_q == '0 && wr_cut_q == '0) || dut.cut_q);
      state_rd_time: assert (rd_cut_q == '0 || rd_cut_q <= rd_wait
                             + 8'(ANSWER_CYCLES_MAX) * (8'(ReadStepsMax) - rd_steps));
      // A word may have to get into the register on its way first.
      state_wr_time: assert (wr_cut_q == '0 || wr_cut_q <= wr_wait
                             + 8'(wvalid || !dut.w_busy_q)
                             + 8'(ANSWER_CYCLES_MAX) * (8'(WriteStepsMax) - wr_steps));
      state_steps: assert (rd_steps <= 8'(ReadStepsMax) && wr_steps <= 8'(WriteStepsMax));
    end
  end
`endif

endmodule
