// Control and memory of a hardware task, whatever its core, its memory and who commands it do.
//
// Each start and each resumption ends once, done or stopped, with nothing on the bus. Reads go
// through the input and writes through the output, word after word, and never beyond; a frame that
// is done without an error was written to its last byte and no further; one that is stopped was
// written up to the end of a block, and its context says so. The core is not there: what it gives
// and takes is arbitrary. For blocks that give as many bytes as they take, but for the last one.
module hw_task_stream_formal
  import hw_task_pkg::*;
#(
  parameter int unsigned BLOCK_BYTES = 128,
  // As many bits of addresses as a few blocks need.
  parameter int unsigned A           = 10,
  parameter int unsigned WRITES_MAX  = 8,
  localparam int unsigned TailWidth  = $clog2(BLOCK_BYTES / 8 + 1) + 3
) (
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic                 start,
  input logic                 resume,
  input logic [A-1:0]         src,
  input logic [A-1:0]         dst,
  input logic [A-1:0]         length,
  input logic [31:0]          param,
  input logic                 stop,
  input logic [31:0]          ctx_rdata,
  input logic                 in_ready,
  input logic                 out_valid,
  input logic [63:0]          out_data,
  // What a last block gives: any, but the same for a whole frame.
  input logic [TailWidth-1:0] tail,
  input logic                 awready,
  input logic                 wready,
  input logic                 bvalid,
  input logic [1:0]           bresp,
  input logic                 arready,
  input logic                 rvalid,
  input logic [63:0]          rdata,
  input logic [1:0]           rresp,
  input logic                 rlast
);

  localparam int unsigned BlockWords = BLOCK_BYTES / 8;
  // Of bytes or words, and of sums of them.
  typedef logic [A+1:0] sum_t;
  localparam int unsigned BlockLog2  = $clog2(BLOCK_BYTES);

  logic                 busy, done, stopped, ctx_we, core_clear, in_valid, out_ready;
  logic [3:0]           error;
  logic [7:0]           ctx_addr;
  logic [31:0]          ctx_wdata, core_param;
  logic [63:0]          in_data;
  logic [BlockLog2-1:0] tail_in;
  logic                 awvalid, wvalid, wlast, bready, arvalid, rready;
  logic [A-1:0]         awaddr, araddr;
  logic [7:0]           awlen, arlen, wstrb;
  logic [2:0]           awsize, arsize, awprot, arprot;
  logic [1:0]           awburst, arburst;
  logic [3:0]           awcache, arcache;
  logic [63:0]          wdata;

  hw_task_stream #(
    .TASK(Passthrough), .BLOCK_IN_BYTES(BLOCK_BYTES), .BLOCK_OUT_WORDS(BlockWords),
    .WRITES_MAX(WRITES_MAX), .ADDR_WIDTH(A)
  ) dut (
    .clk_i, .rst_ni,
    .start_i(start), .resume_i(resume), .src_i(src), .dst_i(dst), .length_i(length),
    .param_i(param), .stop_i(stop), .busy_o(busy), .done_o(done), .stopped_o(stopped),
    .error_o(error),
    .ctx_we_o(ctx_we), .ctx_addr_o(ctx_addr), .ctx_wdata_o(ctx_wdata), .ctx_rdata_i(ctx_rdata),
    .core_clear_o(core_clear), .core_param_o(core_param),
    .in_valid_o(in_valid), .in_ready_i(in_ready), .in_data_o(in_data),
    .out_valid_i(out_valid), .out_ready_o(out_ready), .out_data_i(out_data),
    .tail_in_bytes_o(tail_in), .tail_out_bytes_i(tail),
    .silent_i(1'b0), .core_state_i('0), .core_left_o(), .core_begin_o(), .core_restore_o(),
    .core_word_o(), .core_state_o(),
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

  logic began_q = 1'b0;

  always_ff @(posedge clk_i) begin
    began_q <= 1'b1;
    begin_in_reset: assume (rst_ni == began_q);
  end

  // The frame: as it was started, or as the context that it was resumed from has it.

  logic                 busy_q, stopped_q, accepted, resumed, restoring_q;
  logic [2:0]           word_q;
  logic [A-1:0]         src_q, dst_q, length_q;
  logic [31:0]          param_q, tag_q;
  logic [TailWidth-1:0] tail_q;
  // Of the frame: words asked for, words sent, words asked to be read.
  sum_t                 aw_words_q, w_words_q, ar_words_q;
  logic                 b_failed_q;
  // The context as it was last written.
  logic [4:0][31:0]     saved_q;
  // Words of the whole output and input, and of the output's last word the bytes.
  sum_t                 out_words, in_words;
  logic [2:0]           out_tail;
  logic                 whole;

  assign accepted  = !busy && (start || resume);
  assign resumed   = accepted && !start;
  assign whole     = length_q[BlockLog2-1:0] == '0;
  assign out_words = (sum_t'(length_q[A-1:BlockLog2]) << (BlockLog2 - 3))
                     + (whole ? '0 : (sum_t'(tail_q) + sum_t'(7)) >> 3);
  assign out_tail  = whole ? '0 : tail_q[2:0];
  assign in_words  = (sum_t'(length_q) + sum_t'(7)) >> 3;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {busy_q, stopped_q, restoring_q, word_q, b_failed_q} <= '0;
      {src_q, dst_q, length_q, param_q, tag_q, saved_q}    <= '0;
      {aw_words_q, w_words_q, ar_words_q}                  <= '0;
    end else begin
      busy_q    <= busy;
      stopped_q <= stopped;
      // The word at an address comes a cycle later.
      word_q    <= restoring_q ? word_q + 3'd1 : 3'd0;
      if (resumed) begin
        restoring_q <= 1'b1;
      end else if (word_q == 3'd5) begin
        restoring_q <= 1'b0;
      end
      if (accepted) begin
        {src_q, dst_q, length_q, param_q}   <= {src, dst, length, param};
        tag_q                               <= {ContextMark, Passthrough};
        {aw_words_q, w_words_q, ar_words_q} <= '0;
        b_failed_q                          <= 1'b0;
      end else begin
        if (restoring_q) begin
          case (word_q)
            3'd1:    tag_q    <= ctx_rdata;
            3'd2:    src_q    <= ctx_rdata[A-1:0];
            3'd3:    dst_q    <= ctx_rdata[A-1:0];
            3'd4:    length_q <= ctx_rdata[A-1:0];
            3'd5:    param_q  <= ctx_rdata;
            default: ;
          endcase
        end
        if (awvalid && awready) aw_words_q <= aw_words_q + sum_t'(awlen) + sum_t'(1);
        if (arvalid && arready) ar_words_q <= ar_words_q + sum_t'(arlen) + sum_t'(1);
        if (wvalid && wready) w_words_q <= w_words_q + sum_t'(1);
        if (bvalid && bready && bresp[1]) b_failed_q <= 1'b1;
      end
      if (ctx_we && ctx_addr < 8'd5) saved_q[ctx_addr[2:0]] <= ctx_wdata;
    end
  end

  always_ff @(posedge clk_i) begin
    tail_q <= tail;
    if (rst_ni) begin
      tail_some: assume (tail != '0 && tail <= TailWidth'(BLOCK_BYTES));
      tail_same: assume (!busy || tail == tail_q);
    end
  end

  // Memory: it answers what it was asked, and nothing twice. Requests that were accepted and not
  // answered: addresses, whole data, reads.

  logic [3:0] aw_count_q, w_count_q, r_count_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {aw_count_q, w_count_q, r_count_q} <= '0;
    end else begin
      aw_count_q <= aw_count_q + 4'(awvalid && awready) - 4'(bvalid && bready);
      w_count_q  <= w_count_q + 4'(wvalid && wready && wlast) - 4'(bvalid && bready);
      r_count_q  <= r_count_q + 4'(arvalid && arready) - 4'(rvalid && rready && rlast);
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      b_due: assume (!bvalid || (aw_count_q != '0 && w_count_q != '0));
      r_due: assume (!rvalid || r_count_q != '0);
    end
  end

  // What is promised.

  logic [A-1:0] saved_bytes;
  assign saved_bytes = saved_q[ContextSource][A-1:0] - src_q;

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // Once, and either or.
      listens: assert (!(busy && !busy_q) || !done);
      ends_once: assert (!done || (busy_q && !busy));
      ends_done_or_stopped: assert (!(busy_q && !busy) || done != (stopped && !stopped_q));
      stops_once: assert (!(stopped && !stopped_q) || (busy_q && !busy));
      stopped_is_idle: assert (!stopped || !busy);
      stopped_without_error: assert (!stopped || error == NoError);

      at_rest: assert (busy || (aw_count_q == '0 && w_count_q == '0 && r_count_q == '0
                                && !awvalid && !wvalid && !arvalid));

      if (awvalid) begin
        aw_next: assert (sum_t'(awaddr) == sum_t'(dst_q) + (aw_words_q << 3));
        aw_inside: assert (aw_words_q + sum_t'(awlen) < out_words);
        aw_has_context: assert (tag_q == {ContextMark, Passthrough});
      end
      if (arvalid) begin
        ar_next: assert (sum_t'(araddr) == sum_t'(src_q) + (ar_words_q << 3));
        ar_inside: assert (ar_words_q + sum_t'(arlen) < in_words);
      end
      if (wvalid) begin
        w_inside: assert (w_words_q < out_words);
        w_bytes: assert (w_words_q + sum_t'(1) != out_words || out_tail == '0
                         || (wstrb >> out_tail) == '0);
      end

      if (done && error == NoError) begin
        done_whole: assert (w_words_q == out_words && aw_words_q == out_words);
        done_well: assert (!b_failed_q);
      end
      if (ctx_we) ctx_inside: assert (ctx_addr < 8'd5);
      if (stopped && !stopped_q) begin
        saved_task: assert (saved_q[ContextTag] == {ContextMark, Passthrough});
        saved_param: assert (saved_q[ContextParam] == param_q);
        saved_target: assert (saved_q[ContextTarget][A-1:0] == dst_q + saved_bytes);
        saved_rest: assert (saved_q[ContextLength][A-1:0] + saved_bytes == length_q
                            && saved_q[ContextLength][A-1:0] != '0);
        saved_at_block: assert (saved_bytes[BlockLog2-1:0] == '0);
        saved_is_written: assert (w_words_q << 3 == sum_t'(saved_bytes) && !b_failed_q);
      end

      cover_done: cover (done && error == NoError && out_tail != '0);
      cover_saves: cover (ctx_we);
      cover_read_failed: cover (done && error == ReadFailed);
      cover_write_failed: cover (done && error == WriteFailed);
      cover_restores: cover (busy && word_q == 3'd5);
    end
  end

`ifndef CUT
  // Which states there can be. The names are the design's.

  localparam logic [2:0] Idle = 3'd0, Restore = 3'd1, Measure = 3'd2, Check = 3'd3, Run = 3'd4,
                         Flush = 3'd5, Drain = 3'd6, Save = 3'd7;
  localparam logic [1:0] Block = 2'd0, Offer = 2'd2;

  // Words asked for, those of the block that is written, those in AW and AR that were not taken
  // yet, and the bytes of the blocks that came before.
  sum_t asked, block_words, aw_waits, ar_waits, gone;
  logic fails, in_frame;

  assign asked       = aw_words_q + aw_waits;
  assign block_words = dut.left_q >= A'(BLOCK_BYTES) ? sum_t'(BlockWords)
                                                     : (sum_t'(tail_q) + sum_t'(7)) >> 3;
  assign aw_waits    = awvalid ? sum_t'(awlen) + sum_t'(1) : '0;
  assign ar_waits    = arvalid ? sum_t'(arlen) + sum_t'(1) : '0;
  assign gone      = sum_t'(length_q) - sum_t'(dut.left_q);
  assign fails       = dut.error_q != NoError;
  assign in_frame    = dut.state_q == Run || dut.state_q == Flush || dut.state_q == Drain
                       || dut.state_q == Save;

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      s_write_states: assert (dut.write_q <= Offer);
      s_busy: assert (!restoring_q || dut.state_q == Restore);
      s_restore: assert (dut.state_q != Restore || (restoring_q && word_q == dut.context_q
                                                    && dut.context_q <= 3'd5));
      s_idle: assert (in_frame || (dut.u_master.reads_q == '0 && dut.u_master.writes_q == '0
                                   && !dut.u_master.rd_data_valid_o && dut.pending_q == '0));
      s_save: assert (dut.state_q != Save
                      || (dut.u_master.reads_q == '0 && dut.u_master.writes_q == '0
                          && !dut.u_master.rd_data_valid_o && dut.pending_q == '0 && !fails
                          && dut.stopping_q && dut.context_q <= 3'd4));
      s_done: assert (!done || dut.state_q == Idle);
      s_stopped: assert (!stopped || dut.state_q == Idle);
      s_stopped_well: assert (!stopped || !fails);

      // The master's counts, and the bus's.
      s_pending: assert (8'(dut.pending_q) == dut.u_master.words_q && dut.pending_q <= 5'd16);
      s_reads: assert (5'(dut.u_master.reads_q) == 5'(r_count_q) + 5'(arvalid));
      s_reads_max: assert (dut.u_master.reads_q <= 3'd4);
      s_writes: assert (5'(dut.u_master.writes_q) == 5'(aw_count_q) + 5'(awvalid));
      s_writes_max: assert (32'(dut.u_master.writes_q) <= WRITES_MAX);
      s_words: assert (5'(dut.u_master.writes_q)
                       == 5'(w_count_q) + 5'(dut.pending_q != '0) + 5'(wvalid && wlast));
      s_wlast: assert (!wvalid || wlast || dut.pending_q != '0);
      s_lengths: assert ((!awvalid || awlen < 8'd16) && (!arvalid || arlen < 8'd16));

      if (in_frame) begin
        s_context: assert (dut.state_q == Save || dut.context_q == '0);
        s_tag: assert (tag_q == {ContextMark, Passthrough});
        s_param: assert (dut.param_q == param_q);
        s_addresses: assert (src_q[2:0] == '0 && dst_q[2:0] == '0 && length_q != '0);
        s_in_range: assert (sum_t'(src_q) + sum_t'(length_q) <= sum_t'(1) << A);
        s_out_range: assert (sum_t'(dst_q) + sum_t'(length_q) + sum_t'(BLOCK_BYTES)
                             <= sum_t'(1) << A);
        s_within: assert (asked <= out_words && w_words_q <= asked && ar_words_q <= in_words
                          && aw_words_q <= out_words);
        s_target: assert (dut.target_q == dst_q + A'(asked << 3));
        s_sent: assert (asked == w_words_q + sum_t'(wvalid) + sum_t'(dut.pending_q));
        s_source: assert (dut.left_q == '0 || sum_t'(dut.source_q) == sum_t'(src_q) + gone);
        s_left: assert (dut.left_q <= length_q);
        s_blocks: assert (dut.left_q == '0 || gone[BlockLog2-1:0] == '0);
        s_block: assert (dut.left_q == '0 || dut.write_q != Block || fails || dut.state_q != Run
                         || asked == gone >> 3);
        s_in_block: assert (dut.state_q != Run || dut.write_q == Block
                            || (dut.left_q != '0
                                && asked + sum_t'(dut.block_left_q) == (gone >> 3) + block_words
                                && dut.block_left_q != '0
                                && sum_t'(dut.block_left_q) <= block_words));
        s_first: assert (dut.state_q != Run || dut.write_q == Block || !dut.first_q
                         || asked == gone >> 3);
        s_burst: assert (dut.state_q != Run || dut.write_q != Offer
                         || ((sum_t'(1) << dut.write_log2_q) <= sum_t'(dut.block_left_q)
                             && dut.write_log2_q <= 3'd4
                             && (dut.target_q & A'((8 << dut.write_log2_q) - 1)) == '0));
        s_block_tail: assert (dut.state_q != Run || dut.write_q == Block
                              || dut.block_tail_q
                                 == (dut.left_q >= A'(BLOCK_BYTES) ? 3'd0 : tail_q[2:0]));
        s_over: assert (dut.left_q != '0 || asked == out_words);
        s_pending_tail: assert (dut.pending_q == '0
                                || dut.pending_tail_q == (asked == out_words ? out_tail : 3'd0));
        s_ends: assert (dut.state_q == Run || fails
                        || (dut.stopping_q ? dut.left_q != '0 && asked == gone >> 3
                                           : dut.left_q == '0));
        s_runs: assert (dut.state_q != Run || !dut.stopping_q);
        s_failed: assert (!b_failed_q || fails);
        s_word: assert (!wvalid || fails || w_words_q + sum_t'(1) != out_words || out_tail == '0
                        || (wstrb >> out_tail) == '0);

        s_read_at: assert ({dut.read_at_q, 3'd0} == src_q + A'((ar_words_q + ar_waits) << 3));
        s_read_left: assert (sum_t'(dut.read_left_q) + ar_words_q + ar_waits == in_words);
        s_read_burst: assert (!dut.read_offer_q
                              || ((sum_t'(1) << dut.read_log2_q) <= sum_t'(dut.read_left_q)
                                  && dut.read_log2_q <= 3'd4
                                  && ({dut.read_at_q, 3'd0} & A'((8 << dut.read_log2_q) - 1))
                                     == '0));
      end
      if (dut.state_q == Check || dut.state_q == Measure || dut.state_q == Restore) begin
        s_none_yet: assert (aw_words_q == '0 && w_words_q == '0 && ar_words_q == '0 && !b_failed_q
                            && !fails && !dut.stopping_q);
        s_no_offer: assert (!dut.read_offer_q);
        s_restored_all: assert (dut.state_q == Restore
                                || (dut.source_q == src_q && dut.target_q == dst_q
                                    && dut.left_q == length_q && dut.param_q == param_q
                                    && dut.tag_ok_q == (tag_q == {ContextMark, Passthrough})));
      end
      if (dut.state_q == Check) begin
        s_measured: assert (sum_t'(dut.in_end_q) == sum_t'(src_q) + sum_t'(length_q)
                            && (A+8)'(dut.out_end_q) == (A+8)'(dst_q) + (A+8)'(length_q)
                                                        + (A+8)'(BLOCK_BYTES));
      end
      if (dut.state_q == Restore) begin
        s_restored: assert ((dut.context_q <= 3'd1
                             || dut.tag_ok_q == (tag_q == {ContextMark, Passthrough}))
                            && (dut.context_q <= 3'd2 || dut.source_q == src_q)
                            && (dut.context_q <= 3'd3 || dut.target_q == dst_q)
                            && (dut.context_q <= 3'd4 || dut.left_q == length_q));
      end
      if (dut.state_q == Save) begin
        s_saved: assert ((dut.context_q < 3'd1 || saved_q[0] == {ContextMark, Passthrough})
                         && (dut.context_q < 3'd2 || saved_q[1] == 32'(dut.source_q))
                         && (dut.context_q < 3'd3 || saved_q[2] == 32'(dut.target_q))
                         && (dut.context_q < 3'd4 || saved_q[3] == 32'(dut.left_q)));
      end
    end
  end
`endif

endmodule
