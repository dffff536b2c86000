// Joins masters of memory onto one AXI4 bus with one ID: what each sees is what it would see if it
// had the bus to itself, only later.
//
// The masters take turns, round robin, a burst at a time; reads and writes each by themselves. So
// one that asks waits for a burst of each of the others at most. But the last master's reads come
// first: it has a deadline. READS_AHEAD of them in a row at most, and then, where another master
// asks, one of that: so the last master waits for one burst, and another for one of each of its
// like and READS_AHEAD before each of these and before its own. Answers come in the order of the
// requests, which is kept here, and go to whose turn it was.
//
// What is asked of the masters, beside AXI's rules: they take the words of reads, and the answers
// of writes, as they come, and send a write's words without a pause, since all wait for the one
// whose turn it is. The isolator does all of it whatever its region does.
//
// ready to a master comes from a flip-flop; so does all that memory is shown, but that rready and
// bready are those of the master whose turn it is.
module memory_arbiter #(
  parameter int unsigned MASTERS    = 4,
  parameter int unsigned ADDR_WIDTH = 40,
  parameter int unsigned DATA_WIDTH = 64,
  // Under way at most, of reads and of writes: all masters' together. A power of two.
  parameter int unsigned BURSTS_MAX = 16,
  // Of the last master, in a row.
  parameter int unsigned READS_AHEAD = 3
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,

  input  logic [MASTERS-1:0]                   s_axi_awvalid,
  output logic [MASTERS-1:0]                   s_axi_awready,
  input  logic [MASTERS-1:0][ADDR_WIDTH-1:0]   s_axi_awaddr,
  input  logic [MASTERS-1:0][7:0]              s_axi_awlen,
  input  logic [MASTERS-1:0]                   s_axi_wvalid,
  output logic [MASTERS-1:0]                   s_axi_wready,
  input  logic [MASTERS-1:0][DATA_WIDTH-1:0]   s_axi_wdata,
  input  logic [MASTERS-1:0][DATA_WIDTH/8-1:0] s_axi_wstrb,
  input  logic [MASTERS-1:0]                   s_axi_wlast,
  output logic [MASTERS-1:0]                   s_axi_bvalid,
  input  logic [MASTERS-1:0]                   s_axi_bready,
  output logic [1:0]                           s_axi_bresp,
  input  logic [MASTERS-1:0]                   s_axi_arvalid,
  output logic [MASTERS-1:0]                   s_axi_arready,
  input  logic [MASTERS-1:0][ADDR_WIDTH-1:0]   s_axi_araddr,
  input  logic [MASTERS-1:0][7:0]              s_axi_arlen,
  output logic [MASTERS-1:0]                   s_axi_rvalid,
  input  logic [MASTERS-1:0]                   s_axi_rready,
  output logic [DATA_WIDTH-1:0]                s_axi_rdata,
  output logic [1:0]                           s_axi_rresp,
  output logic                                 s_axi_rlast,

  output logic                                 m_axi_awvalid,
  input  logic                                 m_axi_awready,
  output logic [ADDR_WIDTH-1:0]                m_axi_awaddr,
  output logic [7:0]                           m_axi_awlen,
  output logic [2:0]                           m_axi_awsize,
  output logic [1:0]                           m_axi_awburst,
  output logic [3:0]                           m_axi_awcache,
  output logic [2:0]                           m_axi_awprot,
  output logic                                 m_axi_wvalid,
  input  logic                                 m_axi_wready,
  output logic [DATA_WIDTH-1:0]                m_axi_wdata,
  output logic [DATA_WIDTH/8-1:0]              m_axi_wstrb,
  output logic                                 m_axi_wlast,
  input  logic                                 m_axi_bvalid,
  output logic                                 m_axi_bready,
  input  logic [1:0]                           m_axi_bresp,
  output logic                                 m_axi_arvalid,
  input  logic                                 m_axi_arready,
  output logic [ADDR_WIDTH-1:0]                m_axi_araddr,
  output logic [7:0]                           m_axi_arlen,
  output logic [2:0]                           m_axi_arsize,
  output logic [1:0]                           m_axi_arburst,
  output logic [3:0]                           m_axi_arcache,
  output logic [2:0]                           m_axi_arprot,
  input  logic                                 m_axi_rvalid,
  output logic                                 m_axi_rready,
  input  logic [DATA_WIDTH-1:0]                m_axi_rdata,
  input  logic [1:0]                           m_axi_rresp,
  input  logic                                 m_axi_rlast
);

  localparam int unsigned StrobeWidth  = DATA_WIDTH / 8;
  localparam int unsigned BurstWidth   = ADDR_WIDTH + 8;
  localparam int unsigned WordWidth    = DATA_WIDTH + StrobeWidth + 1;
  localparam int unsigned MasterBits   = unsigned'($clog2(MASTERS));
  localparam int unsigned PlaceBits    = unsigned'($clog2(BURSTS_MAX));
  localparam int unsigned AheadBits    = unsigned'($clog2(READS_AHEAD + 1));
  localparam int unsigned First        = MASTERS - 1;

  typedef logic [MasterBits-1:0] master_t;
  typedef logic [BurstWidth-1:0] burst_t;
  typedef logic [WordWidth-1:0]  word_t;
  // How many bursts have come to some point, modulo twice as many as can be under way.
  typedef logic [PlaceBits:0]    count_t;
  typedef logic [AheadBits-1:0]  ahead_t;

  // Who is next of those that ask: the first behind the last one.
  function automatic master_t next_of(logic [MASTERS-1:0] asks, master_t last);
    master_t next;
    next = last;
    for (int unsigned i = MASTERS; i > 0; i--) begin
      if (asks[i-1]) next = master_t'(i - 1);
    end
    for (int unsigned i = MASTERS; i > 0; i--) begin
      if (asks[i-1] && i - 1 > 32'(last)) next = master_t'(i - 1);
    end
    return next;
  endfunction

  // All bursts are of words as wide as the bus, and increment. A4.4: write-back, allocating on
  // reads and writes. A4.7: unprivileged, non-secure, data.
  assign m_axi_awsize  = 3'($clog2(StrobeWidth));
  assign m_axi_awburst = 2'b01;
  assign m_axi_awcache = 4'b1111;
  assign m_axi_awprot  = 3'b010;
  assign m_axi_arsize  = 3'($clog2(StrobeWidth));
  assign m_axi_arburst = 2'b01;
  assign m_axi_arcache = 4'b1111;
  assign m_axi_arprot  = 3'b010;

  // Requests, as they come or as they wait.

  logic [MASTERS-1:0]   ar_valid, aw_valid, w_valid, ar_taken, aw_taken, w_taken;
  burst_t [MASTERS-1:0] ar, aw;
  word_t [MASTERS-1:0]  w;

  for (genvar i = 0; i < int'(MASTERS); i++) begin : gen_master
    skid_buffer #(.WIDTH(BurstWidth)) u_ar_in (
      .clk_i, .rst_ni,
      .in_valid_i(s_axi_arvalid[i]), .in_ready_o(s_axi_arready[i]),
      .in_data_i({s_axi_arlen[i], s_axi_araddr[i]}),
      .out_valid_o(ar_valid[i]), .out_ready_i(ar_taken[i]), .out_data_o(ar[i])
    );
    skid_buffer #(.WIDTH(BurstWidth)) u_aw_in (
      .clk_i, .rst_ni,
      .in_valid_i(s_axi_awvalid[i]), .in_ready_o(s_axi_awready[i]),
      .in_data_i({s_axi_awlen[i], s_axi_awaddr[i]}),
      .out_valid_o(aw_valid[i]), .out_ready_i(aw_taken[i]), .out_data_o(aw[i])
    );
    skid_buffer #(.WIDTH(WordWidth)) u_w_in (
      .clk_i, .rst_ni,
      .in_valid_i(s_axi_wvalid[i]), .in_ready_o(s_axi_wready[i]),
      .in_data_i({s_axi_wlast[i], s_axi_wstrb[i], s_axi_wdata[i]}),
      .out_valid_o(w_valid[i]), .out_ready_i(w_taken[i]), .out_data_o(w[i])
    );
  end

  // Reads.

  // ar_last_q: whose turn it was last, but of those of the last master, which are counted.
  master_t ar_next, ar_last_q, r_master;
  count_t  ar_count_q, r_count_q;
  ahead_t  ar_ahead_q;
  logic    ar_first, ar_free, ar_room, ar_goes, r_over;
  master_t rd_masters [BURSTS_MAX];

  assign ar_first = ar_valid[First]
                    && (ar_ahead_q != ahead_t'(READS_AHEAD) || ar_valid[First-1:0] == '0);
  assign ar_next  = ar_first ? master_t'(First)
                             : next_of({1'b0, ar_valid[First-1:0]}, ar_last_q);
  assign ar_room  = ar_count_q - r_count_q != count_t'(BURSTS_MAX);
  assign ar_goes  = ar_valid != '0 && ar_room && ar_free;
  assign r_master = rd_masters[r_count_q[PlaceBits-1:0]];
  assign r_over   = m_axi_rvalid && m_axi_rready && m_axi_rlast;

  stream_register #(.WIDTH(BurstWidth)) u_ar (
    .clk_i, .rst_ni,
    .in_valid_i(ar_valid != '0 && ar_room), .in_ready_o(ar_free), .in_data_i(ar[ar_next]),
    .out_valid_o(m_axi_arvalid), .out_ready_i(m_axi_arready),
    .out_data_o({m_axi_arlen, m_axi_araddr})
  );

  for (genvar i = 0; i < int'(MASTERS); i++) begin : gen_read
    assign ar_taken[i]     = ar_goes && ar_next == unsigned'(master_t'(i));
    assign s_axi_rvalid[i] = m_axi_rvalid && ar_count_q != r_count_q
                             && r_master == unsigned'(master_t'(i));
  end

  assign m_axi_rready = ar_count_q != r_count_q && s_axi_rready[r_master];
  assign s_axi_rdata  = m_axi_rdata;
  assign s_axi_rresp  = m_axi_rresp;
  assign s_axi_rlast  = m_axi_rlast;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ar_last_q  <= '0;
      ar_ahead_q <= '0;
      ar_count_q <= '0;
      r_count_q  <= '0;
    end else begin
      if (ar_goes && !ar_first) begin
        ar_last_q  <= ar_next;
        ar_ahead_q <= '0;
      end else if (ar_goes && ar_ahead_q != ahead_t'(READS_AHEAD)) begin
        ar_ahead_q <= ar_ahead_q + 1'b1;
      end
      ar_count_q <= ar_count_q + count_t'(ar_goes);
      r_count_q  <= r_count_q + count_t'(r_over);
    end
  end

  always_ff @(posedge clk_i) begin
    if (ar_goes) rd_masters[ar_count_q[PlaceBits-1:0]] <= ar_next;
  end

  // Writes. Words go with their address: the next burst's turn begins when the last word of the one
  // before is on its way.

  master_t aw_next, aw_last_q, b_master;
  count_t  aw_count_q, b_count_q;
  logic    aw_free, aw_room, aw_goes, w_free, w_goes, w_over, sending_q;
  master_t wr_masters [BURSTS_MAX];

  assign aw_next  = next_of(aw_valid, aw_last_q);
  assign aw_room  = aw_count_q - b_count_q != count_t'(BURSTS_MAX)
                    && (!sending_q || w_over);
  assign aw_goes  = aw_valid != '0 && aw_room && aw_free;
  // The words are of whose turn it was last.
  assign w_goes   = sending_q && w_valid[aw_last_q] && w_free;
  assign w_over   = w_goes && w[aw_last_q][WordWidth-1];
  assign b_master = wr_masters[b_count_q[PlaceBits-1:0]];

  stream_register #(.WIDTH(BurstWidth)) u_aw (
    .clk_i, .rst_ni,
    .in_valid_i(aw_valid != '0 && aw_room), .in_ready_o(aw_free), .in_data_i(aw[aw_next]),
    .out_valid_o(m_axi_awvalid), .out_ready_i(m_axi_awready),
    .out_data_o({m_axi_awlen, m_axi_awaddr})
  );

  stream_register #(.WIDTH(WordWidth)) u_w (
    .clk_i, .rst_ni,
    .in_valid_i(sending_q && w_valid[aw_last_q]), .in_ready_o(w_free), .in_data_i(w[aw_last_q]),
    .out_valid_o(m_axi_wvalid), .out_ready_i(m_axi_wready),
    .out_data_o({m_axi_wlast, m_axi_wstrb, m_axi_wdata})
  );

  for (genvar i = 0; i < int'(MASTERS); i++) begin : gen_write
    assign aw_taken[i]     = aw_goes && aw_next == unsigned'(master_t'(i));
    assign w_taken[i]      = w_goes && aw_last_q == unsigned'(master_t'(i));
    assign s_axi_bvalid[i] = m_axi_bvalid && aw_count_q != b_count_q
                             && b_master == unsigned'(master_t'(i));
  end

  assign m_axi_bready = aw_count_q != b_count_q && s_axi_bready[b_master];
  assign s_axi_bresp  = m_axi_bresp;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_last_q  <= '0;
      aw_count_q <= '0;
      b_count_q  <= '0;
      sending_q  <= 1'b0;
    end else begin
      if (aw_goes) aw_last_q <= aw_next;
      aw_count_q <= aw_count_q + count_t'(aw_goes);
      b_count_q  <= b_count_q + count_t'(m_axi_bvalid && m_axi_bready);
      sending_q  <= aw_goes || (sending_q && !w_over);
    end
  end

  always_ff @(posedge clk_i) begin
    if (aw_goes) wr_masters[aw_count_q[PlaceBits-1:0]] <= aw_next;
  end

endmodule
