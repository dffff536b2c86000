// Loads regions with tasks: reads a bitstream from memory, at 32 bits a cycle.
//
// One configuration at a time. The region is the port's from the beginning (configure_o while
// configurable_i) until the end (configured_o), which tells it its new task, or 0 where the
// bitstream was refused. After a refusal no more is read, and the port is free when memory has
// answered what it was asked.
//
// Memory that owes words and gives none for SILENT_CYCLES is not waited for any longer: what was
// begun fails, and the port is free. Words that it gives after all are dropped; until the last of
// them a configuration that begins ends at once, with the same error.
//
// The region allocator's configurations are as the device manager's, but that the page shows
// nothing of them: one that the manager begins meanwhile waits for its end, and is the next. So
// each of the two waits for at most one configuration of the other.
module configuration_port #(
  parameter int unsigned REGIONS = 3,
  parameter int unsigned SILENT_CYCLES = 4096,
  // The length of each region's bitstreams, with their headers; multiples of 4.
  parameter logic [REGIONS-1:0][31:0] REGION_BYTES = {32'd168840, 32'd113400, 32'd32340}
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic               s_axil_awvalid,
  output logic               s_axil_awready,
  input  logic [11:0]        s_axil_awaddr,
  input  logic [2:0]         s_axil_awprot,
  input  logic               s_axil_wvalid,
  output logic               s_axil_wready,
  input  logic [31:0]        s_axil_wdata,
  input  logic [3:0]         s_axil_wstrb,
  output logic               s_axil_bvalid,
  input  logic               s_axil_bready,
  output logic [1:0]         s_axil_bresp,
  input  logic               s_axil_arvalid,
  output logic               s_axil_arready,
  input  logic [11:0]        s_axil_araddr,
  input  logic [2:0]         s_axil_arprot,
  output logic               s_axil_rvalid,
  input  logic               s_axil_rready,
  output logic [31:0]        s_axil_rdata,
  output logic [1:0]         s_axil_rresp,
  output logic               irq_o,
  // It reads, or memory owes it something.
  output logic               busy_o,

  // Each region's: see region_control.
  output logic [REGIONS-1:0] configure_o,
  input  logic [REGIONS-1:0] configurable_i,
  output logic [REGIONS-1:0] configured_o,
  output logic [7:0]         configured_task_o,

  // The region allocator: what stands with its valid is begun when the port is free, for a region
  // that is configurable; over, for a cycle, with the region's configured_o, and with its error.
  input  logic               allocator_valid_i,
  output logic               allocator_ready_o,
  input  logic [3:0]         allocator_region_i,
  input  logic [2:0]         allocator_task_i,
  input  logic [39:6]        allocator_source_i,
  input  logic [31:0]        allocator_bytes_i,
  output logic               allocator_over_o,
  output logic [3:0]         allocator_error_o,
  // The regions that are its own: the manager configures none of them.
  input  logic [REGIONS-1:0] owned_i,

  // What the region's configuration memory is written with.
  output logic               config_valid_o,
  output logic [3:0]         config_region_o,
  output logic [31:0]        config_data_o,

  // Memory; nothing is written.
  output logic               m_axi_arvalid,
  input  logic               m_axi_arready,
  output logic [39:0]        m_axi_araddr,
  output logic [7:0]         m_axi_arlen,
  output logic [2:0]         m_axi_arsize,
  output logic [1:0]         m_axi_arburst,
  output logic [3:0]         m_axi_arcache,
  output logic [2:0]         m_axi_arprot,
  input  logic               m_axi_rvalid,
  output logic               m_axi_rready,
  input  logic [63:0]        m_axi_rdata,
  input  logic [1:0]         m_axi_rresp,
  input  logic               m_axi_rlast
);

  localparam logic [3:0] NotFree    = 4'd1;
  localparam logic [3:0] BadLength  = 4'd6;
  localparam logic [3:0] Silent     = 4'd9;
  // Bursts of 8 words: a line of the caches.
  localparam logic [31:0] BurstBytes = 32'd64;

  // The page.

  logic        req, req_is_wr, stall_wr, stall_rd;
  logic [11:0] addr;
  logic [31:0] wr_data, wr_biten, rd_data;
  logic        rd_ack, rd_err, wr_ack, wr_err;

  configuration_port_regs_pkg::configuration_port__in_t  to_regs;
  configuration_port_regs_pkg::configuration_port__out_t from_regs;

  axil_slave #(.ADDR_WIDTH(12), .DATA_WIDTH(32)) u_slave (
    .clk_i, .rst_ni,
    .s_axil_awvalid, .s_axil_awready, .s_axil_awaddr, .s_axil_awprot,
    .s_axil_wvalid, .s_axil_wready, .s_axil_wdata, .s_axil_wstrb,
    .s_axil_bvalid, .s_axil_bready, .s_axil_bresp,
    .s_axil_arvalid, .s_axil_arready, .s_axil_araddr, .s_axil_arprot,
    .s_axil_rvalid, .s_axil_rready, .s_axil_rdata, .s_axil_rresp,
    .req_o(req), .req_is_wr_o(req_is_wr), .addr_o(addr),
    .wr_data_o(wr_data), .wr_biten_o(wr_biten),
    .req_stall_wr_i(stall_wr), .req_stall_rd_i(stall_rd),
    .rd_ack_i(rd_ack), .rd_err_i(rd_err), .rd_data_i(rd_data),
    .wr_ack_i(wr_ack), .wr_err_i(wr_err)
  );

  configuration_port_regs u_regs (
    .clk(clk_i), .arst_n(rst_ni),
    .s_cpuif_req(req), .s_cpuif_req_is_wr(req_is_wr), .s_cpuif_addr(addr),
    .s_cpuif_wr_data(wr_data), .s_cpuif_wr_biten(wr_biten),
    .s_cpuif_req_stall_wr(stall_wr), .s_cpuif_req_stall_rd(stall_rd),
    .s_cpuif_rd_ack(rd_ack), .s_cpuif_rd_err(rd_err), .s_cpuif_rd_data(rd_data),
    .s_cpuif_wr_ack(wr_ack), .s_cpuif_wr_err(wr_err),
    .hwif_in(to_regs), .hwif_out(from_regs)
  );

  // What is asked for, and how long the region's bitstreams are.

  // own: of the manager. postponed: the manager has asked while the allocator had the port.
  logic        go, go_free, postponed_q, wants_own, own_q;
  logic [3:0]  wanted_region;
  logic [7:0]  wanted_task;
  logic [31:0] region_bytes;

  assign go            = from_regs.TARGET.go.value;
  assign wants_own     = !allocator_valid_i || postponed_q;
  assign wanted_region = wants_own ? from_regs.TARGET.region_number.value : allocator_region_i;
  assign wanted_task   = wants_own ? from_regs.TARGET.task_number.value : 8'(allocator_task_i);

  always_comb begin
    go_free      = 1'b0;
    region_bytes = '0;
    for (int unsigned i = 0; i < REGIONS; i++) begin
      if (wanted_region == 4'(i)) begin
        go_free      = configurable_i[i] && wanted_task != '0 && !(wants_own && owned_i[i]);
        region_bytes = REGION_BYTES[i];
      end
    end
  end

  // busy: from the beginning until memory owes nothing. loading: until the bitstream is decided.
  // owed: memory has been given up, and owes something.
  logic        busy_q, loading_q, truncated_q, owed_q, wants, begins, refused, ends, over;
  logic        load_over;
  logic [3:0]  error_q, load_error, over_error, region_q;
  logic [7:0]  task_q;
  logic [31:0] bytes_q, cycles_q;

  assign wants   = !busy_q && (!wants_own || go || postponed_q);
  assign begins  = wants && go_free;
  assign refused = wants && wants_own && !go_free;
  assign over    = loading_q && (load_over || truncated_q || owed_q);

  // Reads.

  logic        rd_valid, rd_ready, rd_data_valid, rd_data_ready, rd_error, reads_busy;
  logic [63:0] rd_word;
  logic [39:0] rd_addr_q;
  logic [31:0] unasked_q;
  logic        second_q, word_valid_q, word_error_q;
  logic [31:0] word_q;

  // Room for the words of all reads that are under way: they are taken from memory as they come,
  // twice as fast as they are used, since others wait for memory.
  localparam int unsigned KeptBits = 6;

  typedef logic [KeptBits:0] kept_t;

  // Words so far, modulo twice as many as there is room for: asked for, come, used.
  kept_t       asked_q, come_q, used_q;
  logic        come, come_error, kept_used;
  logic [63:0] come_word;
  logic [64:0] kept_words [1 << KeptBits];

  assign rd_valid = loading_q && !owed_q && unasked_q != '0
                    && asked_q - used_q <= kept_t'((1 << KeptBits) - 8);

  assign rd_data_valid       = come_q != used_q;
  assign kept_used           = rd_data_valid && rd_data_ready;
  assign {rd_error, rd_word} = kept_words[used_q[KeptBits-1:0]];

  always_ff @(posedge clk_i) begin
    if (come) kept_words[come_q[KeptBits-1:0]] <= {come_error, come_word};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      asked_q <= '0;
      come_q  <= '0;
      used_q  <= '0;
    end else begin
      if (rd_valid && rd_ready) asked_q <= asked_q + kept_t'(8);
      come_q <= come_q + kept_t'(come);
      used_q <= used_q + kept_t'(kept_used);
    end
  end

  logic unused_last, unused_wr_ready, unused_wr_data_ready, unused_done, unused_wr_error;
  logic unused_awvalid, unused_wvalid, unused_wlast, unused_bready;
  logic [39:0] unused_awaddr;
  logic [7:0]  unused_awlen, unused_wstrb;
  logic [2:0]  unused_awsize, unused_awprot;
  logic [1:0]  unused_awburst;
  logic [3:0]  unused_awcache;
  logic [63:0] unused_wdata;

  axi_master #(
    .ADDR_WIDTH(40), .DATA_WIDTH(64), .LOG2_WORDS_WIDTH(2), .READS_MAX(8), .WRITES_MAX(2),
    .COHERENT(1'b1)
  ) u_master (
    .clk_i, .rst_ni,
    .rd_valid_i(rd_valid), .rd_ready_o(rd_ready), .rd_addr_i(rd_addr_q), .rd_log2_words_i(2'd3),
    .rd_data_valid_o(come), .rd_data_ready_i(1'b1), .rd_data_o(come_word),
    .rd_data_last_o(unused_last), .rd_data_error_o(come_error),
    .wr_valid_i(1'b0), .wr_ready_o(unused_wr_ready), .wr_addr_i('0), .wr_log2_words_i('0),
    .wr_data_valid_i(1'b0), .wr_data_ready_o(unused_wr_data_ready), .wr_data_i('0),
    .wr_strobe_i('0), .wr_done_o(unused_done), .wr_error_o(unused_wr_error),
    .busy_o(reads_busy),
    .m_axi_awvalid(unused_awvalid), .m_axi_awready(1'b0), .m_axi_awaddr(unused_awaddr),
    .m_axi_awlen(unused_awlen), .m_axi_awsize(unused_awsize), .m_axi_awburst(unused_awburst),
    .m_axi_awcache(unused_awcache), .m_axi_awprot(unused_awprot),
    .m_axi_wvalid(unused_wvalid), .m_axi_wready(1'b0), .m_axi_wdata(unused_wdata),
    .m_axi_wstrb(unused_wstrb), .m_axi_wlast(unused_wlast),
    .m_axi_bvalid(1'b0), .m_axi_bready(unused_bready), .m_axi_bresp('0),
    .m_axi_arvalid, .m_axi_arready, .m_axi_araddr, .m_axi_arlen, .m_axi_arsize, .m_axi_arburst,
    .m_axi_arcache, .m_axi_arprot,
    .m_axi_rvalid, .m_axi_rready, .m_axi_rdata, .m_axi_rresp, .m_axi_rlast
  );

  // Two cycles for a word of 64 bits; one, to be rid of it, when all is decided.
  assign rd_data_ready = !loading_q || second_q;

  // From memory's word to the checksum is a path too long.
  always_ff @(posedge clk_i) begin
    word_q       <= second_q ? rd_word[63:32] : rd_word[31:0];
    word_error_q <= rd_error;
  end

  configuration_loader u_loader (
    .clk_i, .rst_ni,
    .begin_i(begins), .task_i(task_q), .region_i(region_q), .bytes_i(bytes_q),
    .word_valid_i(word_valid_q && loading_q), .word_i(word_q), .word_error_i(word_error_q),
    .config_valid_o, .config_data_o,
    .over_o(load_over), .error_o(load_error)
  );

  assign config_region_o = region_q;

  // Over: the region is told, and then what is still under way is waited for.

  logic rests;

  assign rests = !reads_busy && !rd_data_valid;
  assign ends  = busy_q && !loading_q && (rests || owed_q);

  // Or it is not waited for any longer.

  localparam int unsigned SilentBits = unsigned'($clog2(SILENT_CYCLES + 1));

  logic [SilentBits-1:0] silent_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      silent_q <= '0;
      owed_q   <= 1'b0;
    end else begin
      if (come || !reads_busy) begin
        silent_q <= '0;
      end else if (silent_q != SilentBits'(SILENT_CYCLES)) begin
        silent_q <= silent_q + 1'b1;
      end
      owed_q <= !rests && (owed_q || (busy_q && silent_q == SilentBits'(SILENT_CYCLES)));
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q       <= 1'b0;
      postponed_q  <= 1'b0;
      own_q        <= 1'b0;
      loading_q    <= 1'b0;
      truncated_q  <= 1'b0;
      error_q      <= '0;
      region_q     <= '0;
      task_q       <= '0;
      bytes_q      <= '0;
      cycles_q     <= '0;
      rd_addr_q    <= '0;
      unasked_q    <= '0;
      second_q     <= 1'b0;
      word_valid_q <= 1'b0;
    end else begin
      busy_q       <= begins || (busy_q && !ends);
      postponed_q  <= (postponed_q || (go && (busy_q ? !own_q : !wants_own)))
                      && !(wants && wants_own);
      if (begins) own_q <= wants_own;
      loading_q    <= begins || (loading_q && !over);
      // Not all of it is there.
      truncated_q  <= loading_q && !over
                      && bytes_q > (own_q ? from_regs.LENGTH.bytes.value : allocator_bytes_i);
      word_valid_q <= loading_q && rd_data_valid;
      if (begins) begin
        region_q  <= wanted_region;
        task_q    <= wanted_task;
        bytes_q   <= region_bytes;
        rd_addr_q <= {wants_own ? from_regs.SOURCE.addr.value : allocator_source_i, 6'd0};
        unasked_q <= region_bytes;
        second_q  <= 1'b0;
      end else begin
        if (rd_valid && rd_ready) begin
          rd_addr_q <= rd_addr_q + 40'(BurstBytes);
          unasked_q <= unasked_q > BurstBytes ? unasked_q - BurstBytes : '0;
        end
        if (loading_q && rd_data_valid) second_q <= !second_q;
      end
      // Shown to the manager: of its own.
      if (begins && wants_own) begin
        error_q  <= '0;
        cycles_q <= '0;
      end else if (over && own_q) begin
        error_q <= over_error;
      end else if (refused) begin
        error_q <= NotFree;
      end
      if (loading_q && own_q) cycles_q <= cycles_q + 1'b1;
    end
  end

  for (genvar i = 0; i < int'(REGIONS); i++) begin : gen_region
    assign configure_o[i]  = begins && wanted_region == unsigned'(4'(i));
    assign configured_o[i] = over && region_q == unsigned'(4'(i));
  end

  assign configured_task_o = load_over && load_error == '0 && !owed_q ? task_q : '0;

  assign over_error        = owed_q ? Silent : load_over ? load_error : BadLength;
  assign allocator_ready_o = begins && !wants_own;
  assign allocator_over_o  = over && !own_q;
  assign allocator_error_o = over_error;

  assign busy_o                    = busy_q || owed_q;
  assign to_regs.STATUS.busy.next  = (busy_q && own_q) || postponed_q;
  assign to_regs.STATUS.owed.next  = owed_q;
  assign to_regs.STATUS.error.next = error_q;
  assign to_regs.CYCLES.value.next = cycles_q;

  interrupt #(.EVENTS(1)) u_interrupt (
    .clk_i, .rst_ni,
    .event_i((ends && own_q) || refused), .clear_i(from_regs.IRQ_CLEAR.over.value),
    .enable_i(from_regs.IRQ_ENABLE.over.value), .pending_o(to_regs.IRQ_PENDING.over.next),
    .irq_o
  );

endmodule
