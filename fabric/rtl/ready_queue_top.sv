// The ready queue as a block of its own: a page of registers by which commands are given (GP), and
// a doubleword in coherent memory, which has the vCPU that comes first (hybrid) or the commands as
// well (ACP). docs/src/reference/ready-queue.md is for authors of software for it.
module ready_queue_top
  import ready_queue_pkg::*;
#(
  parameter int unsigned DEPTH = 1024
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // A cycle each: a command may be in memory. From another clock domain by event_crossing.
  input  logic        event_i,

  input  logic        s_axil_awvalid,
  output logic        s_axil_awready,
  input  logic [11:0] s_axil_awaddr,
  input  logic [2:0]  s_axil_awprot,
  input  logic        s_axil_wvalid,
  output logic        s_axil_wready,
  input  logic [31:0] s_axil_wdata,
  input  logic [3:0]  s_axil_wstrb,
  output logic        s_axil_bvalid,
  input  logic        s_axil_bready,
  output logic [1:0]  s_axil_bresp,
  input  logic        s_axil_arvalid,
  output logic        s_axil_arready,
  input  logic [11:0] s_axil_araddr,
  input  logic [2:0]  s_axil_arprot,
  output logic        s_axil_rvalid,
  input  logic        s_axil_rready,
  output logic [31:0] s_axil_rdata,
  output logic [1:0]  s_axil_rresp,

  output logic        m_axi_awvalid,
  input  logic        m_axi_awready,
  output logic [31:0] m_axi_awaddr,
  output logic [7:0]  m_axi_awlen,
  output logic [2:0]  m_axi_awsize,
  output logic [1:0]  m_axi_awburst,
  output logic [3:0]  m_axi_awcache,
  output logic [2:0]  m_axi_awprot,
  output logic        m_axi_wvalid,
  input  logic        m_axi_wready,
  output logic [63:0] m_axi_wdata,
  output logic [7:0]  m_axi_wstrb,
  output logic        m_axi_wlast,
  input  logic        m_axi_bvalid,
  output logic        m_axi_bready,
  input  logic [1:0]  m_axi_bresp,
  output logic        m_axi_arvalid,
  input  logic        m_axi_arready,
  output logic [31:0] m_axi_araddr,
  output logic [7:0]  m_axi_arlen,
  output logic [2:0]  m_axi_arsize,
  output logic [1:0]  m_axi_arburst,
  output logic [3:0]  m_axi_arcache,
  output logic [2:0]  m_axi_arprot,
  input  logic        m_axi_rvalid,
  output logic        m_axi_rready,
  input  logic [63:0] m_axi_rdata,
  input  logic [1:0]  m_axi_rresp,
  input  logic        m_axi_rlast
);

  localparam int unsigned CountBits = unsigned'($clog2(DEPTH + 1));

  // The page.

  logic        req, is_wr, stall, rd_ack, rd_err, wr_ack, wr_err;
  logic [11:0] addr;
  logic [31:0] wr_data, wr_biten, rd_data;

  axil_slave u_slave (
    .clk_i, .rst_ni,
    .s_axil_awvalid, .s_axil_awready, .s_axil_awaddr, .s_axil_awprot,
    .s_axil_wvalid, .s_axil_wready, .s_axil_wdata, .s_axil_wstrb,
    .s_axil_bvalid, .s_axil_bready, .s_axil_bresp,
    .s_axil_arvalid, .s_axil_arready, .s_axil_araddr, .s_axil_arprot,
    .s_axil_rvalid, .s_axil_rready, .s_axil_rdata, .s_axil_rresp,
    .req_o(req), .req_is_wr_o(is_wr), .addr_o(addr), .wr_data_o(wr_data), .wr_biten_o(wr_biten),
    .req_stall_wr_i(stall), .req_stall_rd_i(stall),
    .rd_ack_i(rd_ack), .rd_err_i(rd_err), .rd_data_i(rd_data),
    .wr_ack_i(wr_ack), .wr_err_i(wr_err)
  );

  logic        page_valid, page_ready, page_answered, page_clear, access_written;
  command_t    page_command;
  scheme_e     scheme;
  logic [31:3] address;
  answer_t     answer;
  logic        initialised, error, pending;
  logic [CountBits-1:0] count;
  logic [31:0] first_q, commands_q;

  ready_queue_page #(.DEPTH(DEPTH)) u_page (
    .clk_i, .rst_ni,
    .req_i(req), .req_is_wr_i(is_wr), .addr_i(addr), .wr_data_i(wr_data), .wr_biten_i(wr_biten),
    .req_stall_o(stall), .rd_ack_o(rd_ack), .rd_err_o(rd_err), .rd_data_o(rd_data),
    .wr_ack_o(wr_ack), .wr_err_o(wr_err),
    .command_valid_o(page_valid), .command_ready_i(page_ready), .command_o(page_command),
    .answered_i(page_answered), .clear_o(page_clear),
    .scheme_o(scheme), .address_o(address), .access_written_o(access_written),
    .answer_i(answer), .ready_i(initialised), .error_i(error), .pending_i(pending),
    .count_i(16'(count)), .commands_i(commands_q)
  );

  // Memory.

  logic        fetched_valid, fetched_ready, fetched_answered;
  command_t    fetched;
  logic        answered, first_changed;
  logic [31:0] memory_addr;
  logic        rd_valid, rd_ready, rd_data_valid, rd_data_error;
  logic [63:0] memory_rd_data, memory_wr_data;
  logic [7:0]  wr_strobe;
  logic        wr_valid, wr_ready, wr_data_valid, wr_data_ready, wr_done, wr_error;

  ready_queue_memory u_memory (
    .clk_i, .rst_ni,
    .begin_i(access_written), .scheme_i(scheme), .address_i(address),
    .pending_o(pending), .error_o(error), .event_i,
    .first_i(first_q), .first_changes_i(first_changed),
    .commands_i(commands_q), .answers_i(answered),
    .command_valid_o(fetched_valid), .command_ready_i(fetched_ready), .command_o(fetched),
    .answered_i(fetched_answered), .answer_i(answer),
    .rd_valid_o(rd_valid), .rd_ready_i(rd_ready), .addr_o(memory_addr),
    .rd_data_valid_i(rd_data_valid), .rd_data_i(memory_rd_data), .rd_data_error_i(rd_data_error),
    .wr_valid_o(wr_valid), .wr_ready_i(wr_ready), .wr_data_valid_o(wr_data_valid),
    .wr_data_ready_i(wr_data_ready), .wr_data_o(memory_wr_data), .wr_strobe_o(wr_strobe),
    .wr_done_i(wr_done), .wr_error_i(wr_error)
  );

  // A read is of one word, and over with its last, whatever else memory gives.
  logic rd_word_valid, rd_data_last, unused_busy;
  assign rd_data_valid = rd_word_valid && rd_data_last;

  axi_master #(.SECURE(1'b1)) u_master (
    .clk_i, .rst_ni,
    .rd_valid_i(rd_valid), .rd_ready_o(rd_ready), .rd_addr_i(memory_addr), .rd_log2_words_i('0),
    .rd_data_valid_o(rd_word_valid), .rd_data_ready_i(1'b1), .rd_data_o(memory_rd_data),
    .rd_data_last_o(rd_data_last), .rd_data_error_o(rd_data_error),
    .wr_valid_i(wr_valid), .wr_ready_o(wr_ready), .wr_addr_i(memory_addr), .wr_log2_words_i('0),
    .wr_data_valid_i(wr_data_valid), .wr_data_ready_o(wr_data_ready), .wr_data_i(memory_wr_data),
    .wr_strobe_i(wr_strobe), .wr_done_o(wr_done), .wr_error_o(wr_error), .busy_o(unused_busy),
    .m_axi_awvalid, .m_axi_awready, .m_axi_awaddr, .m_axi_awlen, .m_axi_awsize, .m_axi_awburst,
    .m_axi_awcache, .m_axi_awprot, .m_axi_wvalid, .m_axi_wready, .m_axi_wdata, .m_axi_wstrb,
    .m_axi_wlast, .m_axi_bvalid, .m_axi_bready, .m_axi_bresp, .m_axi_arvalid, .m_axi_arready,
    .m_axi_araddr, .m_axi_arlen, .m_axi_arsize, .m_axi_arburst, .m_axi_arcache, .m_axi_arprot,
    .m_axi_rvalid, .m_axi_rready, .m_axi_rdata, .m_axi_rresp, .m_axi_rlast
  );

  // The queue.

  logic     clear, queue_initialised, command_valid, command_ready;
  command_t command;

  ready_queue_turn u_turn (
    .clk_i, .rst_ni,
    .page_valid_i(page_valid), .page_ready_o(page_ready), .page_command_i(page_command),
    .page_answered_o(page_answered), .clear_i(page_clear),
    .fetched_valid_i(fetched_valid), .fetched_ready_o(fetched_ready), .fetched_command_i(fetched),
    .fetched_answered_o(fetched_answered), .initialised_o(initialised),
    .clear_o(clear), .initialised_i(queue_initialised), .command_valid_o(command_valid),
    .command_ready_i(command_ready), .command_o(command), .answered_i(answered)
  );

  status_e     status;
  logic [15:0] handle, first_handle;
  logic [7:0]  level, first_level;
  logic        first_valid;

  ready_queue #(.DEPTH(DEPTH)) u_queue (
    .clk_i, .rst_ni,
    .clear_i(clear), .initialised_o(queue_initialised),
    .command_valid_i(command_valid), .command_ready_o(command_ready),
    .command_op_i(command.op), .command_priority_i(command.level),
    .command_handle_i(command.handle),
    .answer_valid_o(answered), .answer_status_o(status), .answer_handle_o(handle),
    .answer_priority_o(level),
    .first_valid_o(first_valid), .first_handle_o(first_handle), .first_priority_o(first_level),
    .first_changed_o(first_changed), .count_o(count)
  );

  assign answer = status == Done ? '{status: Done, level: level, handle: handle}
                                 : '{status: status, level: '0, handle: '0};

  // At the same edge, so that they always belong together.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q    <= '0;
      commands_q <= '0;
    end else begin
      first_q <= first_valid ? {1'b1, 7'b0, first_level, first_handle} : '0;
      if (answered) commands_q <= commands_q + 1'b1;
    end
  end

endmodule
