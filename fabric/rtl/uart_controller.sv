// A UART as one has it: the driver, with a queue of 16 bytes each way (regs/uart_controller.rdl).
module uart_controller #(
  // Cycles of a bit.
  parameter int unsigned DIVISOR = 868
) (
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

  output logic        txd_o,
  input  logic        rxd_i
);

  // The page. A register between the bus and what is behind it: decoding takes a cycle.

  logic        req, req_is_wr, page_req_q, page_is_wr_q, unused_stall_wr, unused_stall_rd;
  logic [11:0] addr, page_addr_q;
  logic [31:0] wr_data, wr_biten, page_data_q, page_biten_q, rd_data;
  logic        rd_ack, rd_err, wr_ack, wr_err;

  uart_controller_regs_pkg::uart_controller__in_t  to_regs;
  uart_controller_regs_pkg::uart_controller__out_t from_regs;

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

  uart_controller_regs u_regs (
    .clk(clk_i), .arst_n(rst_ni),
    .s_cpuif_req(page_req_q), .s_cpuif_req_is_wr(page_is_wr_q), .s_cpuif_addr(page_addr_q),
    .s_cpuif_wr_data(page_data_q), .s_cpuif_wr_biten(page_biten_q),
    .s_cpuif_req_stall_wr(unused_stall_wr), .s_cpuif_req_stall_rd(unused_stall_rd),
    .s_cpuif_rd_ack(rd_ack), .s_cpuif_rd_err(rd_err), .s_cpuif_rd_data(rd_data),
    .s_cpuif_wr_ack(wr_ack), .s_cpuif_wr_err(wr_err),
    .hwif_in(to_regs), .hwif_out(from_regs)
  );

  logic       put_q, overflow_q, overrun_q;
  logic       tx_room, tx_there, tx_ready, rx_room, rx_there, rx_valid, rx_take;
  logic [7:0] tx_byte, rx_byte, rx_oldest;
  logic [4:0] tx_used, rx_used;

  byte_queue u_tx (
    .clk_i, .rst_ni, .put_i(put_q), .data_i(from_regs.TXDATA.character.value), .room_o(tx_room),
    .there_o(tx_there), .data_o(tx_byte), .take_i(tx_ready), .used_o(tx_used)
  );

  byte_queue u_rx (
    .clk_i, .rst_ni, .put_i(rx_valid), .data_i(rx_byte), .room_o(rx_room),
    .there_o(rx_there), .data_o(rx_oldest), .take_i(rx_take), .used_o(rx_used)
  );

  uart #(.DIVISOR(DIVISOR)) u_driver (
    .clk_i, .rst_ni,
    .tx_valid_i(tx_there), .tx_ready_o(tx_ready), .tx_data_i(tx_byte),
    .rx_valid_o(rx_valid), .rx_data_o(rx_byte), .txd_o, .rxd_i
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      put_q      <= 1'b0;
      overflow_q <= 1'b0;
      overrun_q  <= 1'b0;
    end else begin
      put_q      <= from_regs.TXDATA.character.swmod;
      overflow_q <= (put_q && !tx_room) || (overflow_q && !from_regs.CLEAR.overflow.value);
      overrun_q  <= (rx_valid && !rx_room) || (overrun_q && !from_regs.CLEAR.overrun.value);
    end
  end

  assign rx_take = from_regs.RXDATA.req;

  assign to_regs.RXDATA.rd_ack            = from_regs.RXDATA.req;
  assign to_regs.RXDATA.rd_data           = {rx_there, 23'd0, rx_there ? rx_oldest : 8'd0};
  assign to_regs.STATUS.to_send.next      = tx_used;
  assign to_regs.STATUS.received.next     = rx_used;
  assign to_regs.STATUS.busy.next         = put_q || tx_there || !tx_ready;
  assign to_regs.STATUS.overflow.next     = overflow_q;
  assign to_regs.STATUS.overrun.next      = overrun_q;

  logic unused;
  assign unused = from_regs.RXDATA.req_is_wr;

endmodule
