// An Ethernet controller as one has it: a MAC with a buffer for a frame each way
// (regs/ethernet_controller.rdl). The PHY's side is as in io_eth.
module ethernet_controller (
  input  logic        clk_i,
  input  logic        rst_ni,

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

  output logic        tx_en_o,
  output logic [7:0]  txd_o,
  input  logic        rx_dv_i,
  input  logic        rx_er_i,
  input  logic [7:0]  rxd_i
);

  // The page. A register between the bus and what is behind it: decoding takes a cycle.

  logic        req, req_is_wr, page_req_q, page_is_wr_q, unused_stall_wr, unused_stall_rd;
  logic [11:0] addr, page_addr_q;
  logic [31:0] wr_data, wr_biten, page_data_q, page_biten_q, rd_data;
  logic        rd_ack, rd_err, wr_ack, wr_err;

  ethernet_controller_regs_pkg::ethernet_controller__in_t  to_regs;
  ethernet_controller_regs_pkg::ethernet_controller__out_t from_regs;

  axil_slave #(.ADDR_WIDTH(12), .DATA_WIDTH(32)) u_slave (
    .clk_i, .rst_ni,
    .s_axil_awvalid, .s_axil_awready, .s_axil_awaddr, .s_axil_awprot,
    .s_axil_wvalid, .s_axil_wready, .s_axil_wdata, .s_axil_wstrb,
    .s_axil_bvalid, .s_axil_bready, .s_axil_bresp,
    .s_axil_arvalid, .s_axil_arready, .s_axil_araddr, .s_axil_arprot,
    .s_axil_rvalid, .s_axil_rready, .s_axil_rdata, .s_axil_rresp,
    .req_o(req), .req_is_wr_o(req_is_wr), .addr_o(addr),
    .wr_data_o(wr_data), .wr_biten_o(wr_biten),
    // It makes no other access before this one is answered.
    .req_stall_wr_i(1'b0), .req_stall_rd_i(1'b0),
    .rd_ack_i(rd_ack), .rd_err_i(rd_err), .rd_data_i(rd_data),
    .wr_ack_i(wr_ack), .wr_err_i(wr_err)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) page_req_q <= 1'b0;
    else page_req_q <= req;
  end

  always_ff @(posedge clk_i) begin
    {page_is_wr_q, page_addr_q, page_data_q, page_biten_q} <= {req_is_wr, addr, wr_data, wr_biten};
  end

  ethernet_controller_regs u_regs (
    .clk(clk_i), .arst_n(rst_ni),
    .s_cpuif_req(page_req_q), .s_cpuif_req_is_wr(page_is_wr_q), .s_cpuif_addr(page_addr_q),
    .s_cpuif_wr_data(page_data_q), .s_cpuif_wr_biten(page_biten_q),
    .s_cpuif_req_stall_wr(unused_stall_wr), .s_cpuif_req_stall_rd(unused_stall_rd),
    .s_cpuif_rd_ack(rd_ack), .s_cpuif_rd_err(rd_err), .s_cpuif_rd_data(rd_data),
    .s_cpuif_wr_ack(wr_ack), .s_cpuif_wr_err(wr_err),
    .hwif_in(to_regs), .hwif_out(from_regs)
  );

  localparam logic [10:0] LongestBytes = 11'd1514;

  // Sending: a frame is asked for, its words are written, and with the last one it goes.

  // What is written while it is read is not asked for.
  (* no_rw_check *)
  logic [31:0] tx_words [512];
  logic [31:0] tx_word_q;
  logic [8:0]  tx_index_q, tx_last_q;
  logic [10:0] tx_bytes_q, tx_left_q;
  logic        waits_q, armed_q, goes_q, begun_q, fetched_q, begins, ends, tx_put;
  logic        tx_ready, tx_word_ready, tx_byte_valid, tx_byte_ready;
  logic [7:0]  tx_byte;

  assign begins = waits_q && !goes_q;
  assign tx_put = from_regs.TXDATA.req && from_regs.TXDATA.req_is_wr;
  assign ends   = goes_q && tx_byte_ready && tx_left_q == 11'd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waits_q   <= 1'b0;
      armed_q   <= 1'b0;
      goes_q    <= 1'b0;
      begun_q   <= 1'b0;
      fetched_q <= 1'b0;
    end else begin
      waits_q <= from_regs.FRAME.req || (waits_q && !begins);
      if (begins) armed_q <= tx_bytes_q != '0 && tx_bytes_q <= LongestBytes;
      if (tx_put && armed_q && !goes_q && from_regs.TXDATA.addr[10:2] == tx_last_q) begin
        armed_q <= 1'b0;
        goes_q  <= 1'b1;
      end else if (ends) begin
        goes_q  <= 1'b0;
      end
      begun_q   <= goes_q && !ends && (begun_q || (tx_byte_valid && tx_ready));
      // A word is there in the cycle after its index.
      fetched_q <= goes_q && !ends && !(fetched_q && tx_word_ready);
    end
  end

  always_ff @(posedge clk_i) begin
    if (from_regs.FRAME.req) tx_bytes_q <= from_regs.FRAME.wr_data.bytes;
    if (begins) begin
      tx_last_q <= 9'((tx_bytes_q - 11'd1) >> 2);
      tx_left_q <= tx_bytes_q;
    end else if (tx_byte_ready) begin
      tx_left_q <= tx_left_q - 1'b1;
    end
    if (!goes_q) tx_index_q <= '0;
    else if (fetched_q && tx_word_ready) tx_index_q <= tx_index_q + 1'b1;
    if (tx_put) tx_words[from_regs.TXDATA.addr[10:2]] <= from_regs.TXDATA.wr_data;
    tx_word_q <= tx_words[tx_index_q];
  end

  io_unpack u_unpack (
    .clk_i, .rst_ni, .clear_i(!goes_q || ends), .in_valid_i(fetched_q),
    .in_ready_o(tx_word_ready), .in_data_i(tx_word_q),
    .byte_valid_o(tx_byte_valid), .byte_ready_i(tx_byte_ready), .byte_o(tx_byte)
  );

  eth_tx u_tx (
    .clk_i, .rst_ni, .valid_i(goes_q && !begun_q && tx_byte_valid), .ready_o(tx_ready),
    .bytes_i(tx_left_q), .byte_ready_o(tx_byte_ready), .byte_i(tx_byte), .tx_en_o, .txd_o
  );

  assign to_regs.FRAME.wr_ack   = begins;
  assign to_regs.TXDATA.wr_ack  = tx_put;
  assign to_regs.TXDATA.rd_ack  = 1'b0;
  assign to_regs.TXDATA.rd_data = '0;

  // Receiving: a frame is written as it comes, with its check sequence, if the buffer is free when
  // it begins.

  (* no_rw_check *)
  logic [31:0] rx_words [512];
  logic [31:0] rx_word_q, pack_word;
  logic [8:0]  rx_put_q, rx_index_q, rx_last_q;
  logic [10:0] rx_count_q, rx_bytes_q;
  logic [7:0]  lost_q, rx_byte;
  logic        full_q, capture_q, open_q, rx_begin, rx_valid, rx_end, rx_good, pack_valid, reads;

  eth_rx u_rx (
    .clk_i, .rst_ni, .rx_dv_i, .rx_er_i, .rxd_i,
    .begin_o(rx_begin), .valid_o(rx_valid), .byte_o(rx_byte), .end_o(rx_end), .good_o(rx_good)
  );

  io_pack u_pack (
    .clk_i, .rst_ni, .clear_i(rx_begin), .byte_valid_i(rx_valid), .byte_last_i(1'b0),
    .byte_i(rx_byte), .out_valid_o(pack_valid), .out_data_o(pack_word)
  );

  assign reads = from_regs.RXDATA.req && !from_regs.RXDATA.req_is_wr && open_q;

  // A read of RX_LENGTH, which waits for a frame, but not for ever.
  logic        asks_q, answers;
  logic [23:0] waited_q;

  assign answers = asks_q && (full_q || waited_q >= from_regs.PATIENCE.cycles.value);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      full_q    <= 1'b0;
      capture_q <= 1'b0;
      open_q    <= 1'b0;
      asks_q    <= 1'b0;
      lost_q    <= '0;
    end else begin
      asks_q <= from_regs.RX_LENGTH.req || (asks_q && !answers);
      if (rx_begin) capture_q <= !full_q;
      else if (rx_end) capture_q <= 1'b0;
      if (rx_end && rx_good && capture_q) full_q <= 1'b1;
      if (rx_end && rx_good && !capture_q && lost_q != '1) lost_q <= lost_q + 1'b1;
      if (answers) open_q <= full_q;
      if (from_regs.RELEASE.frame.value || (reads && rx_index_q == rx_last_q)) begin
        full_q <= 1'b0;
        open_q <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    waited_q <= asks_q ? waited_q + 1'b1 : '0;
    if (rx_begin) begin
      rx_count_q <= '0;
      rx_put_q   <= '0;
    end else begin
      rx_count_q <= rx_count_q + 11'(rx_valid);
      rx_put_q   <= rx_put_q + 9'(pack_valid);
    end
    if (rx_end && capture_q) rx_bytes_q <= rx_count_q - 11'd4;
    rx_last_q <= 9'((rx_bytes_q - 11'd1) >> 2);
    if (answers) rx_index_q <= '0;
    else if (reads) rx_index_q <= rx_index_q + 1'b1;
    if (pack_valid && capture_q) rx_words[rx_put_q] <= pack_word;
    rx_word_q <= rx_words[rx_index_q];
  end

  assign to_regs.RX_LENGTH.rd_ack     = answers;
  assign to_regs.RX_LENGTH.rd_data    = {21'd0, full_q ? rx_bytes_q : 11'd0};
  assign to_regs.RXDATA.rd_ack        = from_regs.RXDATA.req;
  assign to_regs.RXDATA.rd_data       = open_q ? rx_word_q : '0;
  assign to_regs.RXDATA.wr_ack        = 1'b0;
  assign to_regs.STATUS.sending.next  = waits_q || armed_q || goes_q || !tx_ready;
  assign to_regs.STATUS.received.next = full_q;
  assign to_regs.STATUS.lost.next     = lost_q;

  logic unused;
  assign unused = ^{from_regs.TXDATA.addr[1:0], from_regs.TXDATA.wr_biten, from_regs.RXDATA,
                    from_regs.FRAME, from_regs.RX_LENGTH.req_is_wr};

endmodule
