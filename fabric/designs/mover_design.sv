// A design that masters both ports of memory: it moves a burst between memory and a buffer of its
// own. For tests of the coupling, and as an example of a master.
//
// Registers: 0x00 identification; 0x04 address; 0x08 a write begins: bit 0 a write of memory, bit 1
// over HP and not ACP, bits 5:4 log2 of the words of 8 bytes, bit 8 when the next event comes; 0x0c
// bit 0 at work, bit 1 an error, bits 31:16 events so far; 0x10 a write takes the interrupt back,
// which comes at each end; from 0x40 on the buffer.
module mover_design import fabric_pkg::*; (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  gp_req_t               gp_req_i,
  output gp_rsp_t               gp_rsp_o,
  output axi_req_t              acp_req_o,
  input  axi_rsp_t              acp_rsp_i,
  output axi_req_t              hp_req_o,
  input  axi_rsp_t              hp_rsp_i,
  input  logic                  event_i,
  output logic [Interrupts-1:0] irq_o,
  output logic [31:0]           quiet_o
);

  localparam logic [31:0] Identification = 32'h4d56_0001;

  typedef enum logic [2:0] {Idle, Armed, Read, Fill, Write, Drain, Answer} state_e;

  // The registers.

  logic        req, req_is_wr, ack, bad;
  logic [11:0] addr;
  logic [31:0] wr_data, wr_biten, rd_data;

  axil_slave #(.ADDR_WIDTH(12), .DATA_WIDTH(32)) u_slave (
    .clk_i, .rst_ni,
    .s_axil_awvalid(gp_req_i.awvalid), .s_axil_awready(gp_rsp_o.awready),
    .s_axil_awaddr(gp_req_i.awaddr[11:0]), .s_axil_awprot('0),
    .s_axil_wvalid(gp_req_i.wvalid), .s_axil_wready(gp_rsp_o.wready),
    .s_axil_wdata(gp_req_i.wdata), .s_axil_wstrb(gp_req_i.wstrb),
    .s_axil_bvalid(gp_rsp_o.bvalid), .s_axil_bready(gp_req_i.bready),
    .s_axil_bresp(gp_rsp_o.bresp),
    .s_axil_arvalid(gp_req_i.arvalid), .s_axil_arready(gp_rsp_o.arready),
    .s_axil_araddr(gp_req_i.araddr[11:0]), .s_axil_arprot('0),
    .s_axil_rvalid(gp_rsp_o.rvalid), .s_axil_rready(gp_req_i.rready),
    .s_axil_rdata(gp_rsp_o.rdata), .s_axil_rresp(gp_rsp_o.rresp),
    .req_o(req), .req_is_wr_o(req_is_wr), .addr_o(addr),
    .wr_data_o(wr_data), .wr_biten_o(wr_biten),
    .req_stall_wr_i(1'b0), .req_stall_rd_i(1'b0),
    .rd_ack_i(ack), .rd_err_i(bad), .rd_data_i(rd_data),
    .wr_ack_i(ack), .wr_err_i(bad)
  );

  state_e      state_q;
  logic [31:0] address_q;
  logic        hp_q, write_q, error_q, done_q;
  logic [1:0]  log2_words_q;
  logic [2:0]  word_q;
  logic [15:0] events_q;
  logic [63:0] buffer_q [8];

  logic in_buffer, write;
  assign in_buffer = addr[11:6] == 6'h1;
  assign ack       = req;
  assign write     = req && req_is_wr && !bad;

  always_comb begin
    bad     = 1'b0;
    rd_data = '0;
    case (addr)
      12'h000: begin
        rd_data = Identification;
        bad     = req_is_wr;
      end
      12'h004: rd_data = address_q;
      // A command that comes while another is at work is refused.
      12'h008: bad = !req_is_wr || state_q != Idle;
      12'h00c: begin
        rd_data = {events_q, 14'b0, error_q, state_q != Idle};
        bad     = req_is_wr;
      end
      12'h010: rd_data = {31'b0, done_q};
      default: begin
        rd_data = addr[2] ? buffer_q[addr[5:3]][63:32] : buffer_q[addr[5:3]][31:0];
        bad     = !in_buffer;
      end
    endcase
  end

  // Both masters.

  logic [1:0]       rd_ready, rd_data_valid, rd_data_last, rd_data_error;
  logic [1:0]       wr_ready, wr_data_ready, wr_done, wr_error, busy;
  logic [1:0][63:0] rd_words;
  axi_req_t [1:0]   reqs;
  axi_rsp_t [1:0]   rsps;

  assign rsps      = {hp_rsp_i, acp_rsp_i};
  assign acp_req_o = reqs[0];
  assign hp_req_o  = reqs[1];

  for (genvar i = 0; i < 2; i++) begin : gen_master
    logic [2:0] awsize, arsize, awprot, arprot;
    logic [1:0] awburst, arburst;
    logic [3:0] awcache, arcache;
    logic       unused_axi;
    assign unused_axi = ^{awsize, arsize, awprot, arprot, awburst, arburst, awcache, arcache};

    axi_master #(.ADDR_WIDTH(40), .COHERENT(i == 0)) u_master (
      .clk_i, .rst_ni,
      .rd_valid_i(state_q == Read && hp_q == i[0]), .rd_ready_o(rd_ready[i]),
      .rd_addr_i({8'b0, address_q}), .rd_log2_words_i(log2_words_q),
      .rd_data_valid_o(rd_data_valid[i]), .rd_data_ready_i(1'b1), .rd_data_o(rd_words[i]),
      .rd_data_last_o(rd_data_last[i]), .rd_data_error_o(rd_data_error[i]),
      .wr_valid_i(state_q == Write && hp_q == i[0]), .wr_ready_o(wr_ready[i]),
      .wr_addr_i({8'b0, address_q}), .wr_log2_words_i(log2_words_q),
      .wr_data_valid_i(state_q == Drain && hp_q == i[0]), .wr_data_ready_o(wr_data_ready[i]),
      .wr_data_i(buffer_q[word_q]), .wr_strobe_i('1),
      .wr_done_o(wr_done[i]), .wr_error_o(wr_error[i]), .busy_o(busy[i]),
      .m_axi_awvalid(reqs[i].awvalid), .m_axi_awready(rsps[i].awready),
      .m_axi_awaddr(reqs[i].awaddr), .m_axi_awlen(reqs[i].awlen),
      .m_axi_awsize(awsize), .m_axi_awburst(awburst), .m_axi_awcache(awcache),
      .m_axi_awprot(awprot),
      .m_axi_wvalid(reqs[i].wvalid), .m_axi_wready(rsps[i].wready),
      .m_axi_wdata(reqs[i].wdata), .m_axi_wstrb(reqs[i].wstrb), .m_axi_wlast(reqs[i].wlast),
      .m_axi_bvalid(rsps[i].bvalid), .m_axi_bready(reqs[i].bready), .m_axi_bresp(rsps[i].bresp),
      .m_axi_arvalid(reqs[i].arvalid), .m_axi_arready(rsps[i].arready),
      .m_axi_araddr(reqs[i].araddr), .m_axi_arlen(reqs[i].arlen),
      .m_axi_arsize(arsize), .m_axi_arburst(arburst), .m_axi_arcache(arcache),
      .m_axi_arprot(arprot),
      .m_axi_rvalid(rsps[i].rvalid), .m_axi_rready(reqs[i].rready),
      .m_axi_rdata(rsps[i].rdata), .m_axi_rresp(rsps[i].rresp), .m_axi_rlast(rsps[i].rlast)
    );
  end

  logic last_word;
  assign last_word = word_q == 3'((4'd1 << log2_words_q) - 4'd1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= Idle;
      address_q    <= '0;
      {hp_q, write_q, error_q, done_q} <= '0;
      log2_words_q <= '0;
      word_q       <= '0;
      events_q     <= '0;
    end else begin
      events_q <= events_q + 16'(event_i);
      if (write && addr == 12'h004) begin
        address_q <= (address_q & ~wr_biten) | (wr_data & wr_biten);
      end
      if (write && addr == 12'h010) begin
        done_q <= 1'b0;
      end
      case (state_q)
        Idle: if (write && addr == 12'h008) begin
          write_q      <= wr_data[0];
          hp_q         <= wr_data[1];
          log2_words_q <= wr_data[5:4];
          error_q      <= 1'b0;
          word_q       <= '0;
          state_q      <= wr_data[8] ? Armed : wr_data[0] ? Write : Read;
        end
        Armed:  if (event_i) state_q <= write_q ? Write : Read;
        Read:   if (rd_ready[hp_q]) state_q <= Fill;
        Fill:   if (rd_data_valid[hp_q]) begin
          word_q  <= word_q + 1'b1;
          error_q <= error_q || rd_data_error[hp_q];
          if (rd_data_last[hp_q]) begin
            state_q <= Idle;
            done_q  <= 1'b1;
          end
        end
        Write:  if (wr_ready[hp_q]) state_q <= Drain;
        Drain:  if (wr_data_ready[hp_q]) begin
          word_q <= word_q + 1'b1;
          if (last_word) state_q <= Answer;
        end
        Answer: if (wr_done[hp_q]) begin
          error_q <= wr_error[hp_q];
          state_q <= Idle;
          done_q  <= 1'b1;
        end
        default: state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (write && in_buffer && !addr[2]) begin
      buffer_q[addr[5:3]][31:0] <= (buffer_q[addr[5:3]][31:0] & ~wr_biten) | (wr_data & wr_biten);
    end else if (write && in_buffer) begin
      buffer_q[addr[5:3]][63:32] <= (buffer_q[addr[5:3]][63:32] & ~wr_biten) | (wr_data & wr_biten);
    end
    if (state_q == Fill && rd_data_valid[hp_q]) begin
      buffer_q[word_q] <= rd_words[hp_q];
    end
  end

  assign irq_o = {{(Interrupts - 1){1'b0}}, done_q};

  logic unused;
  assign unused = ^{gp_req_i.awaddr[GpAddressWidth-1:12], gp_req_i.araddr[GpAddressWidth-1:12],
                    busy};

  // Nothing changes while it waits, for software, for an event, or for memory.
  logic       moves;
  logic [1:0] settled_q;

  assign moves = gp_req_i.awvalid || gp_req_i.wvalid || gp_req_i.arvalid
              || gp_rsp_o.bvalid || gp_rsp_o.rvalid || req || event_i
              || acp_req_o.awvalid || acp_req_o.wvalid || acp_req_o.arvalid
              || hp_req_o.awvalid || hp_req_o.wvalid || hp_req_o.arvalid
              || acp_rsp_i.rvalid || acp_rsp_i.bvalid || hp_rsp_i.rvalid || hp_rsp_i.bvalid
              || !(state_q inside {Idle, Armed, Fill, Answer});

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      settled_q <= '0;
    end else if (moves) begin
      settled_q <= '0;
    end else if (settled_q != '1) begin
      settled_q <= settled_q + 1'b1;
    end
  end

  assign quiet_o = settled_q == '1 ? QuietForever : '0;

endmodule
