// Reads and writes memory over AXI4, in bursts: the fabric's side of the ACP and HP ports.
//
// A command names an address and how many words, a power of two. Its burst begins at the multiple
// of its own length at or below the address: so it never crosses 4 KiB (A3.4.1), and a line of a
// cache is one burst. Words of a read come in the order of the commands; a write's words are taken
// after its command. At most READS_MAX and WRITES_MAX bursts wait for answers, and what answers
// more than was asked is not listened to.
//
// There is one ID, which is not on the bus: the block around it ties the ID inputs to zero. With
// COHERENT, accesses are cacheable and allocate, so that a coherent port looks in the caches for
// them; without, they are bufferable only. No output to AXI depends on an input from it in the same
// cycle.
module axi_master #(
  parameter int unsigned ADDR_WIDTH       = 32,
  parameter int unsigned DATA_WIDTH       = 64,
  // Of the commands' length: with 2 bits a burst has 1, 2, 4 or 8 words, with 3 up to 128.
  parameter int unsigned LOG2_WORDS_WIDTH = 2,
  parameter int unsigned READS_MAX        = 2,
  parameter int unsigned WRITES_MAX       = 2,
  parameter bit          COHERENT         = 1'b1,
  // It acts for the hypervisor; otherwise for a VM.
  parameter bit          SECURE           = 1'b0
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,

  // Read commands, and the words that they bring.
  input  logic                        rd_valid_i,
  output logic                        rd_ready_o,
  input  logic [ADDR_WIDTH-1:0]       rd_addr_i,
  input  logic [LOG2_WORDS_WIDTH-1:0] rd_log2_words_i,
  output logic                        rd_data_valid_o,
  input  logic                        rd_data_ready_i,
  output logic [DATA_WIDTH-1:0]       rd_data_o,
  output logic                        rd_data_last_o,
  output logic                        rd_data_error_o,

  // Write commands, their words, and for each command one cycle that says that it is done.
  input  logic                        wr_valid_i,
  output logic                        wr_ready_o,
  input  logic [ADDR_WIDTH-1:0]       wr_addr_i,
  input  logic [LOG2_WORDS_WIDTH-1:0] wr_log2_words_i,
  input  logic                        wr_data_valid_i,
  output logic                        wr_data_ready_o,
  input  logic [DATA_WIDTH-1:0]       wr_data_i,
  input  logic [DATA_WIDTH/8-1:0]     wr_strobe_i,
  output logic                        wr_done_o,
  output logic                        wr_error_o,

  // Something was asked for and is not over.
  output logic                        busy_o,

  output logic                        m_axi_awvalid,
  input  logic                        m_axi_awready,
  output logic [ADDR_WIDTH-1:0]       m_axi_awaddr,
  output logic [7:0]                  m_axi_awlen,
  output logic [2:0]                  m_axi_awsize,
  output logic [1:0]                  m_axi_awburst,
  output logic [3:0]                  m_axi_awcache,
  output logic [2:0]                  m_axi_awprot,
  output logic                        m_axi_wvalid,
  input  logic                        m_axi_wready,
  output logic [DATA_WIDTH-1:0]       m_axi_wdata,
  output logic [DATA_WIDTH/8-1:0]     m_axi_wstrb,
  output logic                        m_axi_wlast,
  input  logic                        m_axi_bvalid,
  output logic                        m_axi_bready,
  input  logic [1:0]                  m_axi_bresp,
  output logic                        m_axi_arvalid,
  input  logic                        m_axi_arready,
  output logic [ADDR_WIDTH-1:0]       m_axi_araddr,
  output logic [7:0]                  m_axi_arlen,
  output logic [2:0]                  m_axi_arsize,
  output logic [1:0]                  m_axi_arburst,
  output logic [3:0]                  m_axi_arcache,
  output logic [2:0]                  m_axi_arprot,
  input  logic                        m_axi_rvalid,
  output logic                        m_axi_rready,
  input  logic [DATA_WIDTH-1:0]       m_axi_rdata,
  input  logic [1:0]                  m_axi_rresp,
  input  logic                        m_axi_rlast
);

  localparam int unsigned StrobeWidth = DATA_WIDTH / 8;
  localparam int unsigned WordBits    = unsigned'($clog2(StrobeWidth));
  localparam int unsigned ReadWidth   = unsigned'($clog2(READS_MAX + 1));
  localparam int unsigned WriteWidth  = unsigned'($clog2(WRITES_MAX + 1));

  localparam logic [1:0] Increment = 2'b01;
  // A4.4: write-back, allocating on reads and writes; or bufferable and not modifiable.
  localparam logic [3:0] Cache     = COHERENT ? 4'b1111 : 4'b0001;
  // A4.7: unprivileged, secure or non-secure, data.
  localparam logic [2:0] Protection = {1'b0, !SECURE, 1'b0};

  // The words of a burst, less one, as AXI counts.
  function automatic logic [7:0] burst_length(logic [LOG2_WORDS_WIDTH-1:0] log2_words);
    return 8'((9'd1 << log2_words) - 9'd1);
  endfunction

  function automatic logic [ADDR_WIDTH-1:0] burst_start(logic [ADDR_WIDTH-1:0]       addr,
                                                        logic [LOG2_WORDS_WIDTH-1:0] log2_words);
    return addr & ~ADDR_WIDTH'({burst_length(log2_words), {WordBits{1'b1}}});
  endfunction

  // Reads.

  logic [ReadWidth-1:0] reads_q;
  logic                 rd_taken, rd_over, rd_room, ar_ready, r_ready;

  assign rd_room    = reads_q != ReadWidth'(READS_MAX);
  assign rd_ready_o = ar_ready && rd_room;
  assign rd_taken   = rd_valid_i && rd_ready_o;

  stream_register #(.WIDTH(8 + ADDR_WIDTH)) u_ar (
    .clk_i, .rst_ni,
    .in_valid_i(rd_valid_i && rd_room), .in_ready_o(ar_ready),
    .in_data_i({burst_length(rd_log2_words_i), burst_start(rd_addr_i, rd_log2_words_i)}),
    .out_valid_o(m_axi_arvalid), .out_ready_i(m_axi_arready),
    .out_data_o({m_axi_arlen, m_axi_araddr})
  );

  assign m_axi_arsize  = 3'(WordBits);
  assign m_axi_arburst = Increment;
  assign m_axi_arcache = Cache;
  assign m_axi_arprot  = Protection;

  assign m_axi_rready = r_ready && reads_q != '0;
  assign rd_over      = m_axi_rvalid && m_axi_rready && m_axi_rlast;

  skid_buffer #(.WIDTH(2 + DATA_WIDTH)) u_r (
    .clk_i, .rst_ni,
    .in_valid_i(m_axi_rvalid && reads_q != '0), .in_ready_o(r_ready),
    .in_data_i({m_axi_rresp[1], m_axi_rlast, m_axi_rdata}),
    .out_valid_o(rd_data_valid_o), .out_ready_i(rd_data_ready_i),
    .out_data_o({rd_data_error_o, rd_data_last_o, rd_data_o})
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reads_q <= '0;
    end else begin
      reads_q <= reads_q + ReadWidth'(rd_taken) - ReadWidth'(rd_over);
    end
  end

  // Writes.

  logic [WriteWidth-1:0] writes_q;
  // Words of the last command that are still to be taken.
  logic [7:0]            words_q;
  logic                  wr_taken, wr_room, aw_ready, word_taken, w_ready;

  assign wr_room    = writes_q != WriteWidth'(WRITES_MAX)
                      && (words_q == 8'd0 || (word_taken && words_q == 8'd1));
  assign wr_ready_o = aw_ready && wr_room;
  assign wr_taken   = wr_valid_i && wr_ready_o;

  stream_register #(.WIDTH(8 + ADDR_WIDTH)) u_aw (
    .clk_i, .rst_ni,
    .in_valid_i(wr_valid_i && wr_room), .in_ready_o(aw_ready),
    .in_data_i({burst_length(wr_log2_words_i), burst_start(wr_addr_i, wr_log2_words_i)}),
    .out_valid_o(m_axi_awvalid), .out_ready_i(m_axi_awready),
    .out_data_o({m_axi_awlen, m_axi_awaddr})
  );

  assign m_axi_awsize  = 3'(WordBits);
  assign m_axi_awburst = Increment;
  assign m_axi_awcache = Cache;
  assign m_axi_awprot  = Protection;

  assign wr_data_ready_o = w_ready && words_q != 8'd0;
  assign word_taken      = wr_data_valid_i && wr_data_ready_o;

  stream_register #(.WIDTH(1 + StrobeWidth + DATA_WIDTH)) u_w (
    .clk_i, .rst_ni,
    .in_valid_i(wr_data_valid_i && words_q != 8'd0), .in_ready_o(w_ready),
    .in_data_i({words_q == 8'd1, wr_strobe_i, wr_data_i}),
    .out_valid_o(m_axi_wvalid), .out_ready_i(m_axi_wready),
    .out_data_o({m_axi_wlast, m_axi_wstrb, m_axi_wdata})
  );

  assign m_axi_bready = writes_q != '0;
  assign wr_done_o    = m_axi_bvalid && m_axi_bready;
  assign wr_error_o   = m_axi_bresp[1];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      writes_q <= '0;
      words_q  <= '0;
    end else begin
      writes_q <= writes_q + WriteWidth'(wr_taken) - WriteWidth'(wr_done_o);
      if (wr_taken) begin
        words_q <= burst_length(wr_log2_words_i) + 8'd1;
      end else if (word_taken) begin
        words_q <= words_q - 8'd1;
      end
    end
  end

  assign busy_o = reads_q != '0 || writes_q != '0 || rd_data_valid_o;

  // Which of two successes, and which of two errors, makes no difference here.
  logic unused_resp;
  assign unused_resp = ^{m_axi_bresp[0], m_axi_rresp[0]};

endmodule
