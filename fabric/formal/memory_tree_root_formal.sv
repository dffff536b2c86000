// The root of the memory tree: where memory answers within Answer cycles of what it waits for, an
// access is taken within a time that is made of it; each has its replies, with its number, and
// nothing else has.
module memory_tree_root_formal
  import memory_tree_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input logic        valid_i,
  input logic        write_i,
  input logic [1:0]  log2_words_i,
  input logic [3:0]  addr_i,
  input logic [1:0]  data_i,
  input logic        number_i,
  input logic        awready,
  input logic        wready,
  input logic        bvalid,
  input logic [1:0]  bresp,
  input logic        arready,
  input logic        rvalid,
  input logic [1:0]  rdata_i,
  input logic [1:0]  rresp,
  input logic        rlast
);

  // Memory takes a command or a word, and gives an answer or the next word, within so many cycles.
  localparam int unsigned Answer = 2;
  // A read of eight words: its address is taken, and each word comes; then a cycle. A write takes
  // less.
  localparam int unsigned TakenMax = Answer + 8 * Answer + 1;

  access_t     access;
  logic        ready, reply_valid, reply_number;
  reply_t      reply;
  logic        awvalid, wvalid, wlast, bready, arvalid, rready;
  logic [31:0] awaddr, araddr;
  logic [7:0]  awlen, arlen, wstrb;
  logic [2:0]  awsize, arsize, awprot, arprot;
  logic [1:0]  awburst, arburst;
  logic [3:0]  awcache, arcache;
  logic [63:0] wdata, rdata;

  assign access = '{write: write_i, log2_words: log2_words_i, addr: 32'(addr_i) << 6,
                    data: 64'(data_i), strobe: 8'hff};
  assign rdata  = 64'(rdata_i);

  memory_tree_root #(.NUMBER_WIDTH(1)) dut (
    .clk_i, .rst_ni,
    .valid_i, .ready_o(ready), .access_i(access), .number_i,
    .reply_valid_o(reply_valid), .reply_number_o(reply_number), .reply_o(reply),
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
    .MASTER_PROVED(1'b1), .SLAVE_PROVED(1'b0), .READS_MAX(1), .WRITES_MAX(1),
    .ANSWER_CYCLES_MAX(Answer), .READY_CYCLES_MAX(3), .NON_SECURE(1'b1)
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
  logic       held_q, write_q, number_q;
  logic [9:0] offer_q, offer;
  logic [1:0] data_q;
  logic [7:0] wait_q;
  logic       due_q, due_write_q, due_number_q;  // whose replies are due
  logic [3:0] words_q;                           // how many words
  logic       taken, last;

  assign offer = {write_i, log2_words_i, addr_i, data_i, number_i};
  assign taken = valid_i && ready;
  assign last  = reply_valid && reply.last;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {held_q, wait_q, due_q, words_q} <= '0;
    end else begin
      held_q <= valid_i && !ready;
      wait_q <= valid_i && !ready ? wait_q + 8'd1 : '0;
      due_q  <= taken || (due_q && !last);
      if (taken) words_q <= write_i ? 4'd1 : 4'd1 << log2_words_i;
      else if (reply_valid) words_q <= words_q - 4'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    began_q <= 1'b1;
    offer_q <= offer;
    if (taken) {due_write_q, due_number_q, data_q} <= {write_i, number_i, data_i};

    begin_in_reset: assume (rst_ni == began_q);
    if (rst_ni) begin
      stays: assume (!held_q || (valid_i && offer == offer_q));

      in_time: assert (wait_q < 8'(TakenMax));
      one_at_a_time: assert (!taken || !due_q);
      replies_due: assert (!reply_valid || due_q);
      number_same: assert (!reply_valid || reply_number == due_number_q);
      kind_same: assert (!reply_valid || reply.write == due_write_q);
      all_words: assert (!reply_valid || reply.last == (words_q == 4'd1));
      write_same: assert (!wvalid || wdata == 64'(data_q));
`ifndef CUT
      // What makes the rest follow by induction.
      state_busy: assert (dut.busy_q == due_q && !dut.u_master.u_r.kept_q
                          && dut.u_master.reads_q == 2'(due_q && !due_write_q)
                          && dut.u_master.writes_q == 2'(due_q && due_write_q));
      state_number: assert (!due_q || (dut.number_q == due_number_q && dut.data_q == 64'(data_q)));
      state_idle: assert (due_q || (!arvalid && !awvalid && !wvalid
                                    && !dut.word_q && bus.r_bursts_q == '0
                                    && bus.aw_count_q == '0 && bus.w_count_q == '0
                                    && bus.w_bursts_q == '0 && dut.u_master.words_q == '0));
      state_begun: assert (bus.w_word_q == '0 && (bus.r_bursts_q != '0 || bus.r_word_q == '0));
      if (due_q && !due_write_q) begin
        state_read: assert (!awvalid && !wvalid && !dut.word_q && bus.w_bursts_q == '0
                            && bus.aw_count_q == '0 && bus.w_count_q == '0
                            && dut.u_master.words_q == '0
                            && words_q != '0 && bus.r_bursts_q == 4'(!arvalid));
        if (arvalid) begin
          state_ar: assert (8'(words_q) == arlen + 8'd1 && wait_q <= 8'(bus.ar_wait_q));
        end else begin
          state_r: assert (8'(words_q) + bus.r_word_q == bus.r_len_q[0] + 8'd1
                           && bus.r_len_q[0] < 8'd8 && bus.r_word_q < 8'd8
                           && wait_q <= 8'(Answer) * (8'd1 + bus.r_word_q) + 8'(bus.r_wait_q));
        end
        state_length: assert (!arvalid || arlen < 8'd8);
      end
      if (due_q && due_write_q) begin
        state_write: assert (!arvalid && bus.r_bursts_q == '0 && words_q == 4'd1
                             && bus.aw_count_q == 4'(!awvalid)
                             && bus.w_count_q == 4'(!wvalid && !dut.word_q)
                             && dut.u_master.words_q == 8'(dut.word_q)
                             && (!awvalid || awlen == '0)
                             && (bus.w_bursts_q == '0 || bus.w_len_q[0] == '0)
                             && (!dut.word_q || !wvalid));
        state_aw: assert (!awvalid || wait_q <= 8'(bus.aw_wait_q));
        state_w: assert (!dut.word_q || wait_q == '0);
        state_sent: assert (!wvalid || (wlast && wait_q <= 8'(bus.w_wait_q) + 8'd1));
        state_answer: assert (awvalid || wvalid || dut.word_q
                              || wait_q <= 8'(Answer) + 8'd1 + 8'(bus.b_wait_q));
        // On the bus, and not sent.
        state_bursts: assert (bus.w_bursts_q + 4'(bus.aw_new) == 4'(wvalid || dut.word_q));
      end
`endif

      read: cover (last && !due_write_q && wait_q > 8'd6);
      write: cover (last && due_write_q && reply.error);
    end
  end

endmodule
