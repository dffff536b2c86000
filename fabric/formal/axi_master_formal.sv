// The AXI4 master against the bus's rules, and against what its client asked for.
//
// Beside the bus's properties: each command reaches the bus once, as a burst over the right words,
// and each word and answer reaches the other side once, unchanged and in order. One command and one
// word of each kind, of any number in their order, are followed through.
module axi_master_formal #(
  parameter int unsigned ADDR_WIDTH = 14,
  parameter int unsigned DATA_WIDTH = 16
) (
  input logic                    clk_i,
  input logic                    rst_ni,
  input logic                    rd_valid,
  input logic [ADDR_WIDTH-1:0]   rd_addr,
  input logic [1:0]              rd_log2_words,
  input logic                    rd_data_ready,
  input logic                    wr_valid,
  input logic [ADDR_WIDTH-1:0]   wr_addr,
  input logic [1:0]              wr_log2_words,
  input logic                    wr_data_valid,
  input logic [DATA_WIDTH-1:0]   wr_data,
  input logic [DATA_WIDTH/8-1:0] wr_strobe,
  input logic                    awready,
  input logic                    wready,
  input logic                    bvalid,
  input logic [1:0]              bresp,
  input logic                    arready,
  input logic                    rvalid,
  input logic [DATA_WIDTH-1:0]   rdata,
  input logic [1:0]              rresp,
  input logic                    rlast,
  // The number of what is followed; any, but the same all the time.
  input logic [2:0]              followed
);

  localparam int unsigned WordBits = $clog2(DATA_WIDTH / 8);
  // The client gives a word of a write, and takes one of a read, within this many cycles.
  localparam int unsigned ClientCyclesMax = 2;

  logic                    rd_ready, rd_data_valid, rd_data_last, rd_data_error;
  logic [DATA_WIDTH-1:0]   rd_data;
  logic                    wr_ready, wr_data_ready, wr_done, wr_error, busy;
  logic                    awvalid, wvalid, wlast, bready, arvalid, rready;
  logic [ADDR_WIDTH-1:0]   awaddr, araddr;
  logic [7:0]              awlen, arlen;
  logic [2:0]              awsize, arsize, awprot, arprot;
  logic [1:0]              awburst, arburst;
  logic [3:0]              awcache, arcache;
  logic [DATA_WIDTH-1:0]   wdata;
  logic [DATA_WIDTH/8-1:0] wstrb;

  axi_master #(
    .ADDR_WIDTH(ADDR_WIDTH), .DATA_WIDTH(DATA_WIDTH), .LOG2_WORDS_WIDTH(2),
    .READS_MAX(2), .WRITES_MAX(2), .COHERENT(1'b1)
  ) dut (
    .clk_i, .rst_ni,
    .rd_valid_i(rd_valid), .rd_ready_o(rd_ready), .rd_addr_i(rd_addr),
    .rd_log2_words_i(rd_log2_words),
    .rd_data_valid_o(rd_data_valid), .rd_data_ready_i(rd_data_ready), .rd_data_o(rd_data),
    .rd_data_last_o(rd_data_last), .rd_data_error_o(rd_data_error),
    .wr_valid_i(wr_valid), .wr_ready_o(wr_ready), .wr_addr_i(wr_addr),
    .wr_log2_words_i(wr_log2_words),
    .wr_data_valid_i(wr_data_valid), .wr_data_ready_o(wr_data_ready), .wr_data_i(wr_data),
    .wr_strobe_i(wr_strobe), .wr_done_o(wr_done), .wr_error_o(wr_error), .busy_o(busy),
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
    .MASTER_PROVED(1'b1), .SLAVE_PROVED(1'b0), .READS_MAX(2), .WRITES_MAX(2),
    // The client's time, and a cycle for the register on the way.
    .ANSWER_CYCLES_MAX(3), .READY_CYCLES_MAX(ClientCyclesMax + 1), .NON_SECURE(1'b1)
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

  logic       began_q = 1'b0;
  logic [2:0] followed_q;

  always_ff @(posedge clk_i) begin
    began_q    <= 1'b1;
    followed_q <= followed;
    begin_in_reset: assume (rst_ni == began_q);
    if (began_q) one_followed: assume (followed == followed_q);
  end

  // The client's times.

  logic [1:0] word_wait_q, take_wait_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      word_wait_q <= '0;
      take_wait_q <= '0;
    end else begin
      word_wait_q <= wr_data_ready && !wr_data_valid ? word_wait_q + 1'b1 : '0;
      take_wait_q <= rd_data_valid && !rd_data_ready ? take_wait_q + 1'b1 : '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      words_come: assume (word_wait_q < 2'(ClientCyclesMax));
      words_taken: assume (take_wait_q < 2'(ClientCyclesMax));
    end
  end

  // How many of each have passed, modulo eight; fewer are under way.

  logic [2:0] rd_n_q, ar_n_q, r_n_q, rd_data_n_q, wr_n_q, aw_n_q, wr_data_n_q, w_n_q;
  logic [2:0] reads_q, writes_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {rd_n_q, ar_n_q, r_n_q, rd_data_n_q, wr_n_q, aw_n_q, wr_data_n_q, w_n_q} <= '0;
      {reads_q, writes_q} <= '0;
    end else begin
      rd_n_q      <= rd_n_q + 3'(rd_valid && rd_ready);
      ar_n_q      <= ar_n_q + 3'(arvalid && arready);
      r_n_q       <= r_n_q + 3'(rvalid && rready);
      rd_data_n_q <= rd_data_n_q + 3'(rd_data_valid && rd_data_ready);
      wr_n_q      <= wr_n_q + 3'(wr_valid && wr_ready);
      aw_n_q      <= aw_n_q + 3'(awvalid && awready);
      wr_data_n_q <= wr_data_n_q + 3'(wr_data_valid && wr_data_ready);
      w_n_q       <= w_n_q + 3'(wvalid && wready);
      reads_q     <= reads_q + 3'(rd_valid && rd_ready) - 3'(rvalid && rready && rlast);
      writes_q    <= writes_q + 3'(wr_valid && wr_ready) - 3'(wr_done);
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      ar_waits: assert (3'(rd_n_q - ar_n_q) == 3'(arvalid));
      aw_waits: assert (3'(wr_n_q - aw_n_q) == 3'(awvalid));
      w_waits: assert (3'(wr_data_n_q - w_n_q) == 3'(wvalid));
      r_waits: assert (3'(r_n_q - rd_data_n_q) <= 3'd1);
      r_shown: assert (rd_data_valid == (r_n_q != rd_data_n_q || (rvalid && rready)));
      done_told: assert (wr_done == (bvalid && bready));
      error_told: assert (!wr_done || wr_error == bresp[1]);
      busy_told: assert (busy == (reads_q != '0 || writes_q != '0 || rd_data_valid));

`ifndef CUT
      // What makes the rest follow by induction.
      state_reads: assert (3'(dut.reads_q) == reads_q && reads_q <= 3'd2
                           && reads_q == 3'(bus.r_bursts_q + 4'(arvalid)));
      state_writes: assert (3'(dut.writes_q) == writes_q && writes_q <= 3'd2
                            && writes_q == 3'(bus.aw_count_q + 4'(awvalid)));
      state_r: assert (dut.u_r.kept_q == (r_n_q != rd_data_n_q));
      // A burst is on the bus until its words are: some are to be taken, or the last one waits.
      state_bursts: assert (4'(bus.w_bursts_q + 4'(bus.aw_new))
                            == 4'(dut.words_q != '0) + 4'(wvalid && wlast));
      state_counts: assert (4'(bus.w_count_q + bus.w_bursts_q + 4'(bus.aw_new)) == 4'(writes_q));
      state_new: assert (!bus.aw_new || dut.words_q == 8'(awlen) + 8'd1);
      state_new_last: assert (!bus.aw_new || !wvalid || wlast);
      if (bus.w_bursts_q != '0) begin
        state_head: assert (8'(bus.w_len_q[0] + 8'd1 - bus.w_word_q)
                            == (wvalid && wlast ? 8'd1 : dut.words_q + 8'(wvalid)));
      end
      if (bus.w_bursts_q == 4'd2) begin
        state_next: assert (dut.words_q == 8'(bus.w_len_q[1] + 8'd1));
      end
      state_begun: assert (bus.w_bursts_q != '0 || bus.w_word_q == '0);
      state_words: assert (dut.words_q <= 8'd8 && bus.w_word_q < 8'd8);
      state_lengths: assert ((!awvalid || awlen < 8'd8) && bus.w_len_q[0] < 8'd8
                             && bus.w_len_q[1] < 8'd8 && bus.w_len_q[2] < 8'd8);
      state_sent: assert (bus.w_word_q <= bus.w_len_q[0] || bus.w_bursts_q == '0);
`endif

      read: cover (rd_data_valid && rd_data_last && r_n_q == 3);
      write: cover (wr_done && w_n_q == 4);
      two_reads: cover (reads_q == 2);
      two_writes: cover (writes_q == 2 && bvalid);
      failed: cover (wr_done && wr_error);
    end
  end

  // What is followed.

  function automatic logic [ADDR_WIDTH-1:0] start(logic [ADDR_WIDTH-1:0] addr,
                                                  logic [1:0]            log2_words);
    unique case (log2_words)
      2'd0: return {addr[ADDR_WIDTH-1:WordBits], WordBits'(0)};
      2'd1: return {addr[ADDR_WIDTH-1:WordBits+1], (WordBits+1)'(0)};
      2'd2: return {addr[ADDR_WIDTH-1:WordBits+2], (WordBits+2)'(0)};
      default: return {addr[ADDR_WIDTH-1:WordBits+3], (WordBits+3)'(0)};
    endcase
  endfunction

  logic [ADDR_WIDTH-1:0]                rd_start_q, wr_start_q;
  logic [7:0]                           rd_length_q, wr_length_q;
  logic [DATA_WIDTH/8+DATA_WIDTH-1:0]   word_q;
  logic [DATA_WIDTH+1:0]                r_word_q, r_word;

  assign r_word = {rresp[1], rlast, rdata};

  always_ff @(posedge clk_i) begin
    if (rd_valid && rd_ready && rd_n_q == followed) begin
      rd_start_q  <= start(rd_addr, rd_log2_words);
      rd_length_q <= 8'(1 << rd_log2_words) - 8'd1;
    end
    if (wr_valid && wr_ready && wr_n_q == followed) begin
      wr_start_q  <= start(wr_addr, wr_log2_words);
      wr_length_q <= 8'(1 << wr_log2_words) - 8'd1;
    end
    if (wr_data_valid && wr_data_ready && wr_data_n_q == followed) word_q <= {wr_strobe, wr_data};
    if (rvalid && rready && r_n_q == followed) r_word_q <= r_word;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (arvalid && ar_n_q == followed) begin
        ar_start: assert (araddr == rd_start_q);
        ar_length: assert (arlen == rd_length_q);
      end
      if (awvalid && aw_n_q == followed) begin
        aw_start: assert (awaddr == wr_start_q);
        aw_length: assert (awlen == wr_length_q);
      end
      if (wvalid && w_n_q == followed) w_same: assert ({wstrb, wdata} == word_q);
      if (rd_data_valid && rd_data_n_q == followed) begin
        r_same: assert ({rd_data_error, rd_data_last, rd_data}
                        == (r_n_q == rd_data_n_q ? r_word : r_word_q));
      end
    end
  end

endmodule
