// Between a region's AXI master and memory: whatever the region drives, memory sees a master that
// keeps the rules and stays within its window.
//
// The region's side (s_axi) may drive anything at any time, as a region does that is being
// reconfigured, and a task that is broken or hostile. What the isolator gives to memory (m_axi)
// comes from its own state alone:
// * A request is looked at once, when it is taken: dma_window says whether it is legal and inside
//   the window, and where in memory it is. One that is not is answered with SLVERR, after all that
//   came before it, and reported.
// * A read is passed on when there is room for all its words, so that they are taken from memory as
//   they come. A write is passed on when all its words are there, so that they go to memory without
//   a pause. A task that rests, or never goes on, holds up no other task.
// * The lengths are the isolator's: WLAST is counted, and the task's is only looked at.
//
// With isolate_i the region is cut off within the cycle: nothing of it is taken, and it is shown
// nothing. What it had asked of memory is brought to its end: words of reads are dropped, those of
// a write that have not gone yet go with no strobe, so that they change nothing, and what memory
// has not been told of is forgotten. drained_o is up when nothing is left. The region stays cut off
// until then, even if isolate_i is not up any more.
//
// At most BURSTS_MAX reads and ANSWERS_MAX writes are under way. A write's words are kept until
// they are sent, its answer comes much later: so there is room for the words of BURSTS_MAX, and for
// the answers of more. The window has to stay as it is from the end of isolate_i until drained_o
// under the next. No output to memory or to the region depends on an input from memory, or from the
// region, in the same cycle (A3.2): whether a request can be taken is known before it comes. A
// read is taken in every cycle; a write's address while the words of the one before it still come,
// so that a word is taken in every cycle, too. No request is taken behind one that is refused.
module isolator #(
  parameter int unsigned TASK_ADDR_WIDTH = 32,
  parameter int unsigned ADDR_WIDTH      = 40,
  parameter int unsigned DATA_WIDTH      = 64,
  // Powers of two.
  parameter int unsigned BEATS_MAX       = 16,
  parameter int unsigned BURSTS_MAX      = 4,
  // Not less than BURSTS_MAX.
  parameter int unsigned ANSWERS_MAX     = 8,
  // As of axi_master.
  parameter bit          COHERENT        = 1'b1,
  localparam int unsigned TASK_PAGE_WIDTH = TASK_ADDR_WIDTH - 12,
  localparam int unsigned PAGE_WIDTH      = ADDR_WIDTH - 12
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,

  input  logic                       isolate_i,
  // Nothing that memory was asked for is outstanding.
  output logic                       drained_o,

  input  logic [PAGE_WIDTH-1:0]      window_base_i,
  input  logic [TASK_PAGE_WIDTH:0]   window_pages_i,

  // For a cycle each: a request was refused because it was outside the window, or broke the rules
  // of bursts; a word was marked as the last and was not, or the other way round.
  output logic                       refused_outside_o,
  output logic                       refused_illegal_o,
  output logic                       wrong_last_o,
  // Of what was refused, in that cycle.
  output logic [TASK_ADDR_WIDTH-1:0] refused_addr_o,

  input  logic                       s_axi_awvalid,
  output logic                       s_axi_awready,
  input  logic [TASK_ADDR_WIDTH-1:0] s_axi_awaddr,
  input  logic [7:0]                 s_axi_awlen,
  input  logic [2:0]                 s_axi_awsize,
  input  logic [1:0]                 s_axi_awburst,
  input  logic                       s_axi_wvalid,
  output logic                       s_axi_wready,
  input  logic [DATA_WIDTH-1:0]      s_axi_wdata,
  input  logic [DATA_WIDTH/8-1:0]    s_axi_wstrb,
  input  logic                       s_axi_wlast,
  output logic                       s_axi_bvalid,
  input  logic                       s_axi_bready,
  output logic [1:0]                 s_axi_bresp,
  input  logic                       s_axi_arvalid,
  output logic                       s_axi_arready,
  input  logic [TASK_ADDR_WIDTH-1:0] s_axi_araddr,
  input  logic [7:0]                 s_axi_arlen,
  input  logic [2:0]                 s_axi_arsize,
  input  logic [1:0]                 s_axi_arburst,
  output logic                       s_axi_rvalid,
  input  logic                       s_axi_rready,
  output logic [DATA_WIDTH-1:0]      s_axi_rdata,
  output logic [1:0]                 s_axi_rresp,
  output logic                       s_axi_rlast,

  output logic                       m_axi_awvalid,
  input  logic                       m_axi_awready,
  output logic [ADDR_WIDTH-1:0]      m_axi_awaddr,
  output logic [7:0]                 m_axi_awlen,
  output logic [2:0]                 m_axi_awsize,
  output logic [1:0]                 m_axi_awburst,
  output logic [3:0]                 m_axi_awcache,
  output logic [2:0]                 m_axi_awprot,
  output logic                       m_axi_wvalid,
  input  logic                       m_axi_wready,
  output logic [DATA_WIDTH-1:0]      m_axi_wdata,
  output logic [DATA_WIDTH/8-1:0]    m_axi_wstrb,
  output logic                       m_axi_wlast,
  input  logic                       m_axi_bvalid,
  output logic                       m_axi_bready,
  input  logic [1:0]                 m_axi_bresp,
  output logic                       m_axi_arvalid,
  input  logic                       m_axi_arready,
  output logic [ADDR_WIDTH-1:0]      m_axi_araddr,
  output logic [7:0]                 m_axi_arlen,
  output logic [2:0]                 m_axi_arsize,
  output logic [1:0]                 m_axi_arburst,
  output logic [3:0]                 m_axi_arcache,
  output logic [2:0]                 m_axi_arprot,
  input  logic                       m_axi_rvalid,
  output logic                       m_axi_rready,
  input  logic [DATA_WIDTH-1:0]      m_axi_rdata,
  input  logic [1:0]                 m_axi_rresp,
  input  logic                       m_axi_rlast
);

  localparam int unsigned StrobeWidth = DATA_WIDTH / 8;
  localparam int unsigned WordBits    = unsigned'($clog2(StrobeWidth));
  localparam int unsigned SlotBits    = unsigned'($clog2(BURSTS_MAX));
  localparam int unsigned AnswerBits  = unsigned'($clog2(ANSWERS_MAX));
  localparam int unsigned BeatBits    = unsigned'($clog2(BEATS_MAX));

  localparam logic [1:0] Okay     = 2'b00;
  localparam logic [1:0] SlaveErr = 2'b10;

  localparam logic [2:0] Size       = 3'($clog2(StrobeWidth));
  localparam logic [1:0] Increment  = 2'b01;
  // A4.4: write-back, allocating on reads and writes; or bufferable and not modifiable.
  localparam logic [3:0] Cache      = COHERENT ? 4'b1111 : 4'b0001;
  // A4.7: unprivileged, non-secure, data: what a task does is its VM's doing.
  localparam logic [2:0] Protection = 3'b010;

  // How many reads, or writes, have come to some point, modulo twice as many as can be under way;
  // the lower bits are the burst's slot, its place in the buffer.
  typedef logic [SlotBits:0]   count_t;
  typedef logic [AnswerBits:0] writes_t;
  typedef logic [BeatBits-1:0] beat_t;
  // As AxLEN counts: words less one.
  typedef logic [7:0]          length_t;

  // Good ones are of whole words.
  typedef struct packed {
    beat_t                        len;
    logic [ADDR_WIDTH-1:WordBits] word;
  } burst_t;

  // The region is cut off.

  logic cut, cut_q;

  assign cut = isolate_i || cut_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cut_q <= 1'b1;
    end else begin
      cut_q <= isolate_i || (cut_q && !drained_o);
    end
  end

  // Reads: taken from the region, asked of memory, arrived from there, delivered to the region.

  count_t                rd_taken_q, rd_taken_d, rd_asked_q, rd_arrived_q, rd_delivered_q, rd_used;
  beat_t                 rd_arrived_beat_q, rd_delivered_beat_q;
  // A refused read is to be answered, with so many words.
  logic                  rd_refused_q;
  length_t               rd_refused_len_q;
  logic                  ar_legal, ar_inside, ar_good, ar_taken, ar_refused;
  logic                  rd_waits, rd_refuses, r_stored, r_given, r_marked, r_last, r_error;
  logic [DATA_WIDTH-1:0] r_data;
  logic [ADDR_WIDTH-1:0] ar_addr;

  dma_window #(
    .TASK_ADDR_WIDTH(TASK_ADDR_WIDTH), .ADDR_WIDTH(ADDR_WIDTH), .DATA_WIDTH(DATA_WIDTH),
    .BEATS_MAX(BEATS_MAX)
  ) u_ar_window (
    .base_i(window_base_i), .pages_i(window_pages_i),
    .addr_i(s_axi_araddr), .len_i(s_axi_arlen), .size_i(s_axi_arsize), .burst_i(s_axi_arburst),
    .legal_o(ar_legal), .inside_o(ar_inside), .addr_o(ar_addr)
  );

  assign rd_used       = rd_taken_q - rd_delivered_q;
  assign ar_good       = ar_legal && ar_inside;
  assign s_axi_arready = !cut && !rd_refused_q && rd_used != count_t'(BURSTS_MAX);
  assign ar_taken      = s_axi_arvalid && s_axi_arready && ar_good;
  assign ar_refused    = s_axi_arvalid && s_axi_arready && !ar_good;

  // Those that memory was not asked for yet.
  burst_t rd_bursts [BURSTS_MAX];

  always_ff @(posedge clk_i) begin
    if (ar_taken) begin
      rd_bursts[rd_taken_q[SlotBits-1:0]] <= {s_axi_arlen[BeatBits-1:0],
                                              ar_addr[ADDR_WIDTH-1:WordBits]};
    end
  end

  assign m_axi_arvalid = rd_taken_q != rd_asked_q;
  assign {m_axi_arlen[BeatBits-1:0], m_axi_araddr[ADDR_WIDTH-1:WordBits]}
    = rd_bursts[rd_asked_q[SlotBits-1:0]];

  assign m_axi_arlen[7:BeatBits]    = '0;
  assign m_axi_araddr[WordBits-1:0] = '0;

  assign m_axi_arsize  = Size;
  assign m_axi_arburst = Increment;
  assign m_axi_arcache = Cache;
  assign m_axi_arprot  = Protection;

  assign m_axi_rready = rd_taken_q != rd_arrived_q;
  assign r_stored     = m_axi_rvalid && m_axi_rready;
  assign rd_waits     = rd_delivered_q != rd_arrived_q || rd_delivered_beat_q != rd_arrived_beat_q;
  assign r_given      = rd_waits && s_axi_rvalid && s_axi_rready;

  logic [DATA_WIDTH+1:0] rd_words [BURSTS_MAX*BEATS_MAX];

  always_ff @(posedge clk_i) begin
    if (r_stored) begin
      rd_words[{rd_arrived_q[SlotBits-1:0], rd_arrived_beat_q}] <= {m_axi_rlast, m_axi_rresp[1],
                                                            m_axi_rdata};
    end
  end

  assign {r_marked, r_error, r_data} = rd_words[{rd_delivered_q[SlotBits-1:0],
                                                  rd_delivered_beat_q}];
  // What has not arrived wholly is not delivered wholly.
  assign r_last = r_marked && rd_delivered_q != rd_arrived_q;

  // All that came before a refused read has been delivered.
  assign rd_refuses   = rd_refused_q && rd_used == '0;
  assign s_axi_rvalid = !cut && (rd_waits || rd_refuses);
  assign s_axi_rdata  = rd_waits ? r_data : '0;
  assign s_axi_rresp  = !rd_waits || r_error ? SlaveErr : Okay;
  assign s_axi_rlast  = rd_waits ? r_last : rd_refused_len_q == '0;

  // Of what memory was not asked for, a cut leaves only what is on the bus.
  assign rd_taken_d = cut ? rd_asked_q + count_t'(m_axi_arvalid) : rd_taken_q + count_t'(ar_taken);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rd_taken_q          <= '0;
      rd_asked_q          <= '0;
      rd_arrived_q        <= '0;
      rd_delivered_q      <= '0;
      rd_arrived_beat_q   <= '0;
      rd_delivered_beat_q <= '0;
      rd_refused_q        <= 1'b0;
    end else begin
      rd_taken_q <= rd_taken_d;
      rd_asked_q <= rd_asked_q + count_t'(m_axi_arvalid && m_axi_arready);
      if (r_stored) begin
        rd_arrived_q      <= rd_arrived_q + count_t'(m_axi_rlast);
        rd_arrived_beat_q <= m_axi_rlast ? '0 : rd_arrived_beat_q + 1'b1;
      end
      if (cut) begin
        // Whatever comes is not for this region any more.
        rd_delivered_q      <= rd_taken_d;
        rd_delivered_beat_q <= '0;
        rd_refused_q        <= 1'b0;
      end else begin
        if (r_given) begin
          rd_delivered_q      <= rd_delivered_q + count_t'(r_last);
          rd_delivered_beat_q <= r_last ? '0 : rd_delivered_beat_q + 1'b1;
        end
        if (ar_refused) begin
          rd_refused_q <= 1'b1;
        end else if (rd_refuses && s_axi_rready && s_axi_rlast) begin
          rd_refused_q <= 1'b0;
        end
      end
    end
  end

  // Only looked at while rd_refused_q is up.
  always_ff @(posedge clk_i) begin
    if (!rd_refused_q) begin
      rd_refused_len_q <= s_axi_arlen;
    end else if (rd_refuses && s_axi_rready) begin
      rd_refused_len_q <= rd_refused_len_q - 8'd1;
    end
  end

  // Writes, first half: taken from the region with all their words.

  writes_t               wr_taken_q, wr_whole_q, wr_sent_q, wr_done_q, wr_told_q, wr_used, wr_kept;
  // A burst's words are being taken, so many behind the next one.
  logic                  wr_busy_q;
  length_t               wr_left_q;
  // It is refused; its answer keeps this up until it is given.
  logic                  wr_refused_q;
  logic                  aw_legal, aw_inside, aw_good, aw_taken, aw_refused;
  logic                  w_taken, w_ends, w_whole, wr_refuses;
  logic                  next_free, next_valid, next_taken, next_refused;
  length_t               next_len;
  logic [ADDR_WIDTH-1:0] aw_addr;

  dma_window #(
    .TASK_ADDR_WIDTH(TASK_ADDR_WIDTH), .ADDR_WIDTH(ADDR_WIDTH), .DATA_WIDTH(DATA_WIDTH),
    .BEATS_MAX(BEATS_MAX)
  ) u_aw_window (
    .base_i(window_base_i), .pages_i(window_pages_i),
    .addr_i(s_axi_awaddr), .len_i(s_axi_awlen), .size_i(s_axi_awsize), .burst_i(s_axi_awburst),
    .legal_o(aw_legal), .inside_o(aw_inside), .addr_o(aw_addr)
  );

  assign wr_used       = wr_taken_q - wr_told_q;
  assign aw_good       = aw_legal && aw_inside;
  assign s_axi_awready = !cut && next_free && !wr_refused_q
                         && wr_used < writes_t'(ANSWERS_MAX) && wr_kept < writes_t'(BURSTS_MAX);
  assign aw_taken      = s_axi_awvalid && s_axi_awready && aw_good;
  assign aw_refused    = s_axi_awvalid && s_axi_awready && !aw_good;

  assign s_axi_wready  = !cut && wr_busy_q;
  assign w_taken       = s_axi_wvalid && s_axi_wready;
  assign w_ends        = w_taken && wr_left_q == '0;
  assign w_whole       = w_ends && !wr_refused_q;

  // The burst behind the one whose words are being taken.
  assign next_taken = !wr_busy_q || w_ends;

  skid_buffer #(.WIDTH(9)) u_next (
    .clk_i, .rst_ni,
    .in_valid_i(aw_taken || aw_refused), .in_ready_o(next_free),
    .in_data_i({!aw_good, s_axi_awlen}),
    .out_valid_o(next_valid), .out_ready_i(next_taken || cut),
    .out_data_o({next_refused, next_len})
  );

  // A word's place is how many come behind it.
  burst_t                            wr_bursts [BURSTS_MAX];
  beat_t                             wr_lengths [BURSTS_MAX];
  logic [StrobeWidth+DATA_WIDTH-1:0] wr_words [BURSTS_MAX*BEATS_MAX];

  always_ff @(posedge clk_i) begin
    if (aw_taken) begin
      wr_bursts[wr_taken_q[SlotBits-1:0]] <= {s_axi_awlen[BeatBits-1:0],
                                              aw_addr[ADDR_WIDTH-1:WordBits]};
      wr_lengths[wr_taken_q[SlotBits-1:0]] <= s_axi_awlen[BeatBits-1:0];
    end
    if (w_taken && !wr_refused_q) begin
      wr_words[{wr_whole_q[SlotBits-1:0], wr_left_q[BeatBits-1:0]}] <= {s_axi_wstrb, s_axi_wdata};
    end
  end

  // Writes, second half: sent to memory, done there, told to the region.

  // A burst's address is being sent; its words are, so many behind the next one.
  logic                   aw_busy_q, w_busy_q;
  beat_t                  w_left_q;
  logic [SlotBits-1:0]    w_slot_q;
  logic                   wr_send, w_free, w_sent, w_last, b_taken, b_given;
  logic [StrobeWidth-1:0] w_strobe;
  logic [DATA_WIDTH-1:0]  w_data;
  logic [ANSWERS_MAX-1:0] b_error_q;

  // Those that are not sent, and the one whose address or words are being sent.
  assign wr_kept = wr_taken_q - wr_sent_q + writes_t'(w_busy_q || aw_busy_q);
  assign w_sent  = w_busy_q && w_free;
  assign w_last  = w_left_q == '0;
  assign wr_send = !cut && wr_whole_q != wr_sent_q && (!aw_busy_q || m_axi_awready)
                   && (!w_busy_q || (w_free && w_last));

  assign m_axi_awvalid = aw_busy_q;
  assign {m_axi_awlen[BeatBits-1:0], m_axi_awaddr[ADDR_WIDTH-1:WordBits]} = wr_bursts[w_slot_q];

  assign {w_strobe, w_data} = wr_words[{w_slot_q, w_left_q}];

  assign m_axi_awlen[7:BeatBits]    = '0;
  assign m_axi_awaddr[WordBits-1:0] = '0;

  assign m_axi_awsize  = Size;
  assign m_axi_awburst = Increment;
  assign m_axi_awcache = Cache;
  assign m_axi_awprot  = Protection;

  stream_register #(.WIDTH(1 + StrobeWidth + DATA_WIDTH)) u_w (
    .clk_i, .rst_ni,
    .in_valid_i(w_busy_q), .in_ready_o(w_free),
    .in_data_i({w_last, cut ? StrobeWidth'(0) : w_strobe, w_data}),
    .out_valid_o(m_axi_wvalid), .out_ready_i(m_axi_wready),
    .out_data_o({m_axi_wlast, m_axi_wstrb, m_axi_wdata})
  );

  assign m_axi_bready = wr_sent_q != wr_done_q;
  assign b_taken      = m_axi_bvalid && m_axi_bready;

  // All that came before a refused write has been answered.
  assign wr_refuses   = wr_refused_q && !wr_busy_q && wr_used == '0;
  assign s_axi_bvalid = !cut && (wr_done_q != wr_told_q || wr_refuses);
  assign s_axi_bresp  = wr_refuses || b_error_q[wr_told_q[AnswerBits-1:0]] ? SlaveErr : Okay;
  assign b_given      = s_axi_bvalid && s_axi_bready;

  always_ff @(posedge clk_i) begin
    if (b_taken) b_error_q[wr_done_q[AnswerBits-1:0]] <= m_axi_bresp[1];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_taken_q   <= '0;
      wr_whole_q   <= '0;
      wr_sent_q    <= '0;
      wr_done_q    <= '0;
      wr_told_q    <= '0;
      wr_busy_q    <= 1'b0;
      wr_refused_q <= 1'b0;
      aw_busy_q    <= 1'b0;
      w_busy_q     <= 1'b0;
    end else begin
      if (cut) begin
        wr_taken_q   <= wr_sent_q;
        wr_whole_q   <= wr_sent_q;
        wr_told_q    <= wr_done_q + writes_t'(b_taken);
        wr_busy_q    <= 1'b0;
        wr_refused_q <= 1'b0;
      end else begin
        wr_taken_q <= wr_taken_q + writes_t'(aw_taken);
        wr_whole_q <= wr_whole_q + writes_t'(w_whole);
        wr_told_q  <= wr_told_q + writes_t'(b_given && !wr_refuses);
        if (next_taken) wr_busy_q <= next_valid;
        if (next_taken && next_valid) begin
          wr_refused_q <= next_refused;
        end else if (wr_refuses && s_axi_bready) begin
          wr_refused_q <= 1'b0;
        end
      end
      wr_done_q <= wr_done_q + writes_t'(b_taken);
      wr_sent_q <= wr_sent_q + writes_t'(wr_send);
      aw_busy_q <= wr_send || (aw_busy_q && !m_axi_awready);
      w_busy_q  <= wr_send || (w_busy_q && !(w_sent && w_last));
    end
  end

  // Only looked at while a burst's words are being taken, or being sent.
  always_ff @(posedge clk_i) begin
    if (next_taken) begin
      wr_left_q <= next_len;
    end else if (w_taken) begin
      wr_left_q <= wr_left_q - 8'd1;
    end
    if (wr_send) begin
      w_slot_q <= wr_sent_q[SlotBits-1:0];
      w_left_q <= wr_lengths[wr_sent_q[SlotBits-1:0]];
    end else if (w_sent) begin
      w_left_q <= w_left_q - 1'b1;
    end
  end

  assign drained_o = rd_taken_q == rd_arrived_q && wr_sent_q == wr_done_q;

  // Reports. Where a read and a write are refused in one cycle, the read's address is told.

  assign refused_outside_o = (ar_refused && ar_legal) || (aw_refused && aw_legal);
  assign refused_illegal_o = (ar_refused && !ar_legal) || (aw_refused && !aw_legal);
  assign refused_addr_o    = ar_refused ? s_axi_araddr : s_axi_awaddr;
  assign wrong_last_o      = w_taken && s_axi_wlast != (wr_left_q == '0);

  // Which of two successes, and which of two errors, makes no difference here; good addresses are
  // those of words.
  logic unused;
  assign unused = ^{m_axi_bresp[0], m_axi_rresp[0], ar_addr[WordBits-1:0], aw_addr[WordBits-1:0]};

endmodule
