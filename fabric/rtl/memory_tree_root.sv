// Between the memory tree and memory: accesses become bursts on AXI4, one at a time.
//
// One access is under way: so an access is taken within the time that memory takes for one, and
// nothing that a requester asked for earlier makes it longer. What was asked for while memory
// answers waits in the tree.
module memory_tree_root
  import memory_tree_pkg::*;
#(
  parameter int unsigned NUMBER_WIDTH = 4,
  parameter bit          COHERENT     = 1'b0
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  input  logic                    valid_i,
  output logic                    ready_o,
  input  access_t                 access_i,
  input  logic [NUMBER_WIDTH-1:0] number_i,
  output logic                    reply_valid_o,
  output logic [NUMBER_WIDTH-1:0] reply_number_o,
  output reply_t                  reply_o,

  output logic                    m_axi_awvalid,
  input  logic                    m_axi_awready,
  output logic [31:0]             m_axi_awaddr,
  output logic [7:0]              m_axi_awlen,
  output logic [2:0]              m_axi_awsize,
  output logic [1:0]              m_axi_awburst,
  output logic [3:0]              m_axi_awcache,
  output logic [2:0]              m_axi_awprot,
  output logic                    m_axi_wvalid,
  input  logic                    m_axi_wready,
  output logic [63:0]             m_axi_wdata,
  output logic [7:0]              m_axi_wstrb,
  output logic                    m_axi_wlast,
  input  logic                    m_axi_bvalid,
  output logic                    m_axi_bready,
  input  logic [1:0]              m_axi_bresp,
  output logic                    m_axi_arvalid,
  input  logic                    m_axi_arready,
  output logic [31:0]             m_axi_araddr,
  output logic [7:0]              m_axi_arlen,
  output logic [2:0]              m_axi_arsize,
  output logic [1:0]              m_axi_arburst,
  output logic [3:0]              m_axi_arcache,
  output logic [2:0]              m_axi_arprot,
  input  logic                    m_axi_rvalid,
  output logic                    m_axi_rready,
  input  logic [63:0]             m_axi_rdata,
  input  logic [1:0]              m_axi_rresp,
  input  logic                    m_axi_rlast
);

  // An access is under way; its word, if it is a write, is still to be taken.
  logic                    busy_q, word_q;
  logic [NUMBER_WIDTH-1:0] number_q;
  logic [63:0]             data_q;
  logic [7:0]              strobe_q;
  logic                    taken, over, rd_ready, wr_ready, word_taken;
  logic                    word_valid, word_last, word_error, wr_done, wr_error, unused_busy;
  logic [63:0]             word;

  assign ready_o = !busy_q && (access_i.write ? wr_ready : rd_ready);
  assign taken   = valid_i && ready_o;
  assign over    = wr_done || (word_valid && word_last);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      word_q <= 1'b0;
    end else begin
      busy_q <= taken || (busy_q && !over);
      word_q <= (taken && access_i.write) || (word_q && !word_taken);
    end
  end

  // Only looked at while one is under way.
  always_ff @(posedge clk_i) begin
    if (taken) begin
      number_q <= number_i;
      data_q   <= access_i.data;
      strobe_q <= access_i.strobe;
    end
  end

  axi_master #(.COHERENT(COHERENT)) u_master (
    .clk_i, .rst_ni,
    .rd_valid_i(valid_i && !busy_q && !access_i.write), .rd_ready_o(rd_ready),
    .rd_addr_i(access_i.addr), .rd_log2_words_i(access_i.log2_words),
    .rd_data_valid_o(word_valid), .rd_data_ready_i(1'b1), .rd_data_o(word),
    .rd_data_last_o(word_last), .rd_data_error_o(word_error),
    .wr_valid_i(valid_i && !busy_q && access_i.write), .wr_ready_o(wr_ready),
    .wr_addr_i(access_i.addr), .wr_log2_words_i(2'd0),
    .wr_data_valid_i(word_q), .wr_data_ready_o(word_taken), .wr_data_i(data_q),
    .wr_strobe_i(strobe_q), .wr_done_o(wr_done), .wr_error_o(wr_error),
    .busy_o(unused_busy),
    .m_axi_awvalid, .m_axi_awready, .m_axi_awaddr, .m_axi_awlen, .m_axi_awsize, .m_axi_awburst,
    .m_axi_awcache, .m_axi_awprot,
    .m_axi_wvalid, .m_axi_wready, .m_axi_wdata, .m_axi_wstrb, .m_axi_wlast,
    .m_axi_bvalid, .m_axi_bready, .m_axi_bresp,
    .m_axi_arvalid, .m_axi_arready, .m_axi_araddr, .m_axi_arlen, .m_axi_arsize, .m_axi_arburst,
    .m_axi_arcache, .m_axi_arprot,
    .m_axi_rvalid, .m_axi_rready, .m_axi_rdata, .m_axi_rresp, .m_axi_rlast
  );

  assign reply_valid_o  = wr_done || word_valid;
  assign reply_number_o = number_q;
  assign reply_o        = '{write: wr_done, last: wr_done || word_last,
                            error: wr_done ? wr_error : word_error, data: word};

endmodule
