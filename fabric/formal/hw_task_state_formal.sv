// The state of a hardware task's core, and blocks without output, whatever the core gives and
// takes, the memory answers and the software asks for.
//
// A frame begins with the state's initial value; a resumed one with the words that the context has,
// each in its place, before the first word of input; a stopped task's context has the state as it
// is. Of a block without output no word is written, and each word of the others is, once.
module hw_task_state_formal
  import hw_task_pkg::*;
#(
  localparam int unsigned A           = 10,
  localparam int unsigned BLOCK_BYTES = 64,
  localparam int unsigned WORDS       = 2
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             start,
  input logic             resume,
  input logic [A-1:0]     src,
  input logic [A-1:0]     dst,
  input logic [A-1:0]     length,
  input logic [31:0]      param,
  input logic             stop,
  // The context buffer is whatever it was made while no task uses it.
  input logic [6:0][31:0] context_new,
  input logic             in_ready,
  input logic             out_valid,
  input logic [63:0]      out_data,
  input logic             silent,
  // What the core's state becomes when the last word of a block is taken, or a cycle later.
  input logic             change,
  input logic [1:0][31:0] state_new,
  input logic             awready,
  input logic             wready,
  input logic             bvalid,
  input logic [1:0]       bresp,
  input logic             arready,
  input logic             rvalid,
  input logic [63:0]      rdata,
  input logic [1:0]       rresp,
  input logic             rlast
);

  localparam logic [1:0][31:0] Initial = {32'h0123_4567, 32'h89ab_cdef};

  logic             busy, done, stopped, ctx_we, core_clear, out_ready;
  logic             begins, restores;
  logic [3:0]       error;
  logic [7:0]       ctx_addr;
  logic [6:0]       word;
  logic [31:0]      ctx_wdata, to_state;
  logic             awvalid, wvalid, wlast, bready, arvalid, rready;
  logic [A-1:0]     left;
  logic [6:0][31:0] context_q;
  logic [31:0]      ctx_rdata_q;
  logic [1:0][31:0] state_q;

  hw_task_stream #(
    .TASK(Crc32), .BLOCK_IN_BYTES(BLOCK_BYTES), .BLOCK_OUT_WORDS(BLOCK_BYTES / 8),
    .STATE_WORDS(WORDS), .WRITES_MAX(2), .ADDR_WIDTH(A)
  ) dut (
    .clk_i, .rst_ni,
    .start_i(start), .resume_i(resume), .src_i(src), .dst_i(dst), .length_i(length),
    .param_i(param), .stop_i(stop), .busy_o(busy), .done_o(done), .stopped_o(stopped),
    .error_o(error),
    .ctx_we_o(ctx_we), .ctx_addr_o(ctx_addr), .ctx_wdata_o(ctx_wdata), .ctx_rdata_i(ctx_rdata_q),
    .core_clear_o(core_clear), .core_param_o(),
    .in_valid_o(), .in_ready_i(in_ready), .in_data_o(),
    .out_valid_i(out_valid), .out_ready_o(out_ready), .out_data_i(out_data),
    .tail_in_bytes_o(), .tail_out_bytes_i(8'd64),
    .silent_i(silent), .core_left_o(left), .core_begin_o(begins), .core_restore_o(restores),
    .core_word_o(word), .core_state_o(to_state), .core_state_i(state_q[word[0]]),
    .m_axi_awvalid(awvalid), .m_axi_awready(awready), .m_axi_awaddr(), .m_axi_awlen(),
    .m_axi_awsize(), .m_axi_awburst(), .m_axi_awcache(), .m_axi_awprot(),
    .m_axi_wvalid(wvalid), .m_axi_wready(wready), .m_axi_wdata(), .m_axi_wstrb(),
    .m_axi_wlast(wlast),
    .m_axi_bvalid(bvalid), .m_axi_bready(bready), .m_axi_bresp(bresp),
    .m_axi_arvalid(arvalid), .m_axi_arready(arready), .m_axi_araddr(), .m_axi_arlen(),
    .m_axi_arsize(), .m_axi_arburst(), .m_axi_arcache(), .m_axi_arprot(),
    .m_axi_rvalid(rvalid), .m_axi_rready(rready), .m_axi_rdata(rdata), .m_axi_rresp(rresp),
    .m_axi_rlast(rlast)
  );

  logic began_q = 1'b0;

  always_ff @(posedge clk_i) begin
    began_q <= 1'b1;
    begin_in_reset: assume (rst_ni == began_q);
  end

  // The context buffer, the core's state, and what is known of the frame.

  logic             stopped_q, clear_q, out_q, waits_q, silent_q, gave_q;
  logic             resumed_q, fresh_q, silent_out, token;
  // Words of output that were taken of the core, and that went to memory.
  logic [7:0]       taken_q, sent_q;

  assign token      = out_valid && out_ready && silent;
  assign silent_out = out_valid && silent;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {stopped_q, out_q, waits_q, silent_q, gave_q} <= '0;
      {resumed_q, fresh_q, taken_q, sent_q}         <= '0;
      clear_q                                       <= 1'b1;
    end else begin
      stopped_q <= stopped;
      clear_q   <= core_clear;
      out_q     <= out_valid && out_ready;
      waits_q   <= out_valid && !out_ready && !core_clear;
      silent_q  <= silent;
      if (!busy) begin
        resumed_q         <= !start;
        fresh_q           <= 1'b1;
        {taken_q, sent_q} <= '0;
        gave_q            <= 1'b0;
      end else begin
        if (out_valid && out_ready) fresh_q <= 1'b0;
        if (out_valid && out_ready && !silent) gave_q <= 1'b1;
        taken_q <= taken_q + 8'(out_valid && out_ready && !silent);
        sent_q  <= sent_q + 8'(wvalid && wready);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    ctx_rdata_q <= ctx_addr < 8'd7 ? context_q[ctx_addr[2:0]] : '0;
    if (!busy && !stopped) begin
      context_q <= context_new;
    end else if (ctx_we && ctx_addr < 8'd7) begin
      context_q[ctx_addr[2:0]] <= ctx_wdata;
    end
    if (begins) begin
      state_q <= Initial;
    end else if (restores && word < 7'd2) begin
      state_q[word[0]] <= to_state;
    end else if (change && !clear_q && out_q) begin
      state_q <= state_new;
    end
  end

  // The core, and memory, as the proofs of frames have them.

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
      silent_first: assume (!gave_q || !silent_out);
      silent_stays: assume (!waits_q || (out_valid && silent == silent_q));
      b_due: assume (!bvalid || (aw_count_q != '0 && w_count_q != '0));
      r_due: assume (!rvalid || r_count_q != '0);
    end
  end

  // What is promised.

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (begins) begin
        begins_started: assert (busy && !resumed_q && core_clear);
      end
      if (restores) begin
        restores_resumed: assert (busy && resumed_q && core_clear);
        restores_word: assert (word < 7'd2 && to_state == context_q[3'd5 + 3'(word[0])]);
      end
      if (!core_clear && clear_q && fresh_q) begin
        begins_whole: assert (state_q == (resumed_q ? context_q[6:5] : Initial));
      end
      if (stopped && !stopped_q) begin
        saves_whole: assert (context_q[6:5] == state_q);
      end
      if (ctx_we) ctx_inside: assert (ctx_addr < 8'd7);

      // A token is no word of the output.
      if (token) begin
        token_in_turn: assert (taken_q == '0 && sent_q == '0);
      end
      sends_what_came: assert (!busy || error != NoError || sent_q <= taken_q);

      cover_token: cover (token);
      cover_saves: cover (stopped && !stopped_q && left != length);
      cover_restores: cover (!core_clear && clear_q && resumed_q);
      cover_done: cover (done && error == NoError);
    end
  end

`ifndef CUT
  always_ff @(posedge clk_i) begin
    if (rst_ni && silent_out) silent_asks_nothing: assert (!dut.wr_valid);
  end
`endif

endmodule
