// The ready queue's page and its side to memory together, on both buses: AXI's rules, in time, for
// any software and any memory. The queue itself is replaced by any that takes and answers commands
// as ready_queue is proved to, in fewer cycles.
`include "property.svh"

module ready_queue_top_formal
  import ready_queue_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input logic        event_i,
  input logic        s_awvalid,
  input logic [11:0] s_awaddr,
  input logic        s_wvalid,
  input logic [31:0] s_wdata,
  input logic [3:0]  s_wstrb,
  input logic        s_bready,
  input logic        s_arvalid,
  input logic [11:0] s_araddr,
  input logic        s_rready,
  input logic        m_awready,
  input logic        m_wready,
  input logic        m_bvalid,
  input logic [1:0]  m_bresp,
  input logic        m_arready,
  input logic        m_rvalid,
  input logic [63:0] m_rdata,
  input logic [1:0]  m_rresp,
  input logic        m_rlast
);

  // The queue's cycles, fewer than it has, so that all of it is seen in few.
  localparam int unsigned ClearCyclesMax = 2;
  localparam int unsigned QueueCyclesMax = 3;

  logic        s_awready, s_wready, s_bvalid, s_arready, s_rvalid;
  logic [1:0]  s_bresp, s_rresp;
  logic [31:0] s_rdata;
  logic        m_awvalid, m_wvalid, m_wlast, m_bready, m_arvalid, m_rready;
  logic [31:0] m_awaddr, m_araddr;
  logic [7:0]  m_awlen, m_arlen, m_wstrb;
  logic [2:0]  m_awsize, m_awprot, m_arsize, m_arprot;
  logic [1:0]  m_awburst, m_arburst;
  logic [3:0]  m_awcache, m_arcache;
  logic [63:0] m_wdata;

  ready_queue_top dut (
    .clk_i, .rst_ni, .event_i,
    .s_axil_awvalid(s_awvalid), .s_axil_awready(s_awready), .s_axil_awaddr(s_awaddr),
    .s_axil_awprot(3'b000), .s_axil_wvalid(s_wvalid), .s_axil_wready(s_wready),
    .s_axil_wdata(s_wdata), .s_axil_wstrb(s_wstrb), .s_axil_bvalid(s_bvalid),
    .s_axil_bready(s_bready), .s_axil_bresp(s_bresp), .s_axil_arvalid(s_arvalid),
    .s_axil_arready(s_arready), .s_axil_araddr(s_araddr), .s_axil_arprot(3'b000),
    .s_axil_rvalid(s_rvalid), .s_axil_rready(s_rready), .s_axil_rdata(s_rdata),
    .s_axil_rresp(s_rresp),
    .m_axi_awvalid(m_awvalid), .m_axi_awready(m_awready), .m_axi_awaddr(m_awaddr),
    .m_axi_awlen(m_awlen), .m_axi_awsize(m_awsize), .m_axi_awburst(m_awburst),
    .m_axi_awcache(m_awcache), .m_axi_awprot(m_awprot), .m_axi_wvalid(m_wvalid),
    .m_axi_wready(m_wready), .m_axi_wdata(m_wdata), .m_axi_wstrb(m_wstrb), .m_axi_wlast(m_wlast),
    .m_axi_bvalid(m_bvalid), .m_axi_bready(m_bready), .m_axi_bresp(m_bresp),
    .m_axi_arvalid(m_arvalid), .m_axi_arready(m_arready), .m_axi_araddr(m_araddr),
    .m_axi_arlen(m_arlen), .m_axi_arsize(m_arsize), .m_axi_arburst(m_arburst),
    .m_axi_arcache(m_arcache), .m_axi_arprot(m_arprot), .m_axi_rvalid(m_rvalid),
    .m_axi_rready(m_rready), .m_axi_rdata(m_rdata), .m_axi_rresp(m_rresp), .m_axi_rlast(m_rlast)
  );

  axil_props #(
    .SLAVE_PROVED(1'b1), .MASTER_PROVED(1'b0), .OUTSTANDING_MAX(2),
    // A command from memory, a write that goes first, another from memory, a clear, and its own.
    .ANSWER_CYCLES_MAX(26), .READY_CYCLES_MAX(2)
  ) page (
    .clk_i, .rst_ni,
    .axil_awvalid(s_awvalid), .axil_awready(s_awready), .axil_awaddr(s_awaddr),
    .axil_awprot(3'b000), .axil_wvalid(s_wvalid), .axil_wready(s_wready), .axil_wdata(s_wdata),
    .axil_wstrb(s_wstrb), .axil_bvalid(s_bvalid), .axil_bready(s_bready), .axil_bresp(s_bresp),
    .axil_arvalid(s_arvalid), .axil_arready(s_arready), .axil_araddr(s_araddr),
    .axil_arprot(3'b000), .axil_rvalid(s_rvalid), .axil_rready(s_rready), .axil_rdata(s_rdata),
    .axil_rresp(s_rresp)
  );

  axi_props #(
    .MASTER_PROVED(1'b1), .SLAVE_PROVED(1'b0), .READS_MAX(1), .WRITES_MAX(1),
    .ANSWER_CYCLES_MAX(3), .READY_CYCLES_MAX(3)
  ) memory (
    .clk_i, .rst_ni,
    .axi_awvalid(m_awvalid), .axi_awready(m_awready), .axi_awaddr(m_awaddr), .axi_awlen(m_awlen),
    .axi_awsize(m_awsize), .axi_awburst(m_awburst), .axi_awcache(m_awcache), .axi_awprot(m_awprot),
    .axi_wvalid(m_wvalid), .axi_wready(m_wready), .axi_wdata(m_wdata), .axi_wstrb(m_wstrb),
    .axi_wlast(m_wlast), .axi_bvalid(m_bvalid), .axi_bready(m_bready), .axi_bresp(m_bresp),
    .axi_arvalid(m_arvalid), .axi_arready(m_arready), .axi_araddr(m_araddr), .axi_arlen(m_arlen),
    .axi_arsize(m_arsize), .axi_arburst(m_arburst), .axi_arcache(m_arcache),
    .axi_arprot(m_arprot), .axi_rvalid(m_rvalid), .axi_rready(m_rready), .axi_rdata(m_rdata),
    .axi_rresp(m_rresp), .axi_rlast(m_rlast)
  );

  logic begun_q = 1'b0;
  always_ff @(posedge clk_i) begun_q <= 1'b1;
  always_ff @(posedge clk_i) begin_in_reset: assume (rst_ni == begun_q);

  // No read while a write is under way: the answer has to be there before the next command is read.
  logic writing_q, reading_q, read_q;  // read_q: a command was, some time
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {writing_q, reading_q, read_q} <= '0;
    end else begin
      writing_q <= (writing_q && !(m_bvalid && m_bready)) || m_awvalid;
      read_q    <= read_q || (m_rvalid && m_rready && m_rdata[31]);
      reading_q <= (reading_q && !(m_rvalid && m_rready && m_rlast)) || m_arvalid;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      one_access: assert (!(m_arvalid && (m_awvalid || writing_q)) && !(m_awvalid && reading_q));
      one_word: assert ((!m_arvalid || m_arlen == '0) && (!m_awvalid || m_awlen == '0));
      coherent: assert ((!m_arvalid || m_arcache == '1) && (!m_awvalid || m_awcache == '1));

      fetched: cover (m_wvalid && m_wstrb[0] && read_q);
      page_read: cover (s_rvalid && s_rdata[31]);
    end
  end

`ifndef CUT
  // What is proved of the queue.
  logic                              pending_q;
  logic [$clog2(QueueCyclesMax):0]   pending_cycles_q;
  logic [$clog2(ClearCyclesMax):0]   clear_cycles_q;
  logic                              command_q;   // a word with a command was read

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {pending_q, pending_cycles_q, clear_cycles_q, command_q} <= '0;
    end else begin
      pending_q        <= (pending_q && !dut.answered) || (dut.command_valid && dut.command_ready);
      pending_cycles_q <= pending_q && !dut.answered ? pending_cycles_q + 1'b1 : '0;
      clear_cycles_q   <= dut.queue_initialised || dut.clear ? '0 : clear_cycles_q + 1'b1;
      command_q        <= (command_q && !dut.fetched_answered) ||
                          (m_rvalid && m_rready && !m_rresp[1] && m_rdata[31]);
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      accepts: assume (dut.command_ready == (dut.queue_initialised && !dut.clear &&
                                             (!pending_q || dut.answered)));
      answers: assume (!dut.answered || pending_q);
      prompt: assume (!pending_q || dut.answered ||
                      32'(pending_cycles_q) < QueueCyclesMax - 1);
      clears: assume (dut.queue_initialised || 32'(clear_cycles_q) < ClearCyclesMax);
      stays: assume (!$past(rst_ni && dut.queue_initialised && !dut.clear) ||
                     dut.queue_initialised);
      cleared: assume (!$past(rst_ni && dut.clear) || !dut.queue_initialised);

      fetched_was_read: assert (!dut.fetched_valid || command_q);
    end
  end
`endif

endmodule
