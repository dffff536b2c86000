// An SPI controller as one has it: queues of 512 bytes each way, and transfers of which software
// says the size (regs/spi_controller.rdl), on one line each way or on four. Mode 0, most
// significant bit first.
//
// The clock has half periods of HALF_CYCLES and does not rest within a transfer; what the part
// gives is sampled as the clock falls, as in flash_driver.
module spi_controller #(
  parameter int unsigned HALF_CYCLES     = 1,
  // For how long the part is not selected between two transfers.
  parameter int unsigned DESELECT_CYCLES = 5
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

  output logic        cs_no,
  output logic        sck_o,
  // The four lines: what is driven, which are, and what is on them. On one line that is 0 out and 1
  // in; 2 and 3 are high then.
  output logic [3:0]  io_o,
  output logic [3:0]  io_oe_o,
  input  logic [3:0]  io_i
);

  // The page. A register between the bus and what is behind it: decoding takes a cycle.

  logic        req, req_is_wr, page_req_q, page_is_wr_q, unused_stall_wr, unused_stall_rd;
  logic [11:0] addr, page_addr_q;
  logic [31:0] wr_data, wr_biten, page_data_q, page_biten_q, rd_data;
  logic        rd_ack, rd_err, wr_ack, wr_err;

  spi_controller_regs_pkg::spi_controller__in_t  to_regs;
  spi_controller_regs_pkg::spi_controller__out_t from_regs;

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

  spi_controller_regs u_regs (
    .clk(clk_i), .arst_n(rst_ni),
    .s_cpuif_req(page_req_q), .s_cpuif_req_is_wr(page_is_wr_q), .s_cpuif_addr(page_addr_q),
    .s_cpuif_wr_data(page_data_q), .s_cpuif_wr_biten(page_biten_q),
    .s_cpuif_req_stall_wr(unused_stall_wr), .s_cpuif_req_stall_rd(unused_stall_rd),
    .s_cpuif_rd_ack(rd_ack), .s_cpuif_rd_err(rd_err), .s_cpuif_rd_data(rd_data),
    .s_cpuif_wr_ack(wr_ack), .s_cpuif_wr_err(wr_err),
    .hwif_in(to_regs), .hwif_out(from_regs)
  );

  localparam int unsigned TimerMax   = HALF_CYCLES > DESELECT_CYCLES
                                       ? HALF_CYCLES : DESELECT_CYCLES;
  localparam int unsigned TimerWidth = $clog2(TimerMax + 1);
  typedef logic [TimerWidth-1:0] timer_t;

  // Cycles in which a word that is there comes to be sent, and more.
  localparam logic [3:0] Patience = 4'd15;

  typedef enum logic [2:0] {
    Idle,
    Empty,     // what was not read of the transfer before is thrown away
    Load,      // the first byte is on its way
    Shift,
    Deselect
  } state_e;

  state_e     state_q;
  timer_t     timer_q;
  logic [3:0] patience_q;
  logic       waits_q, keep_q, selected_q, sck_q, receives_q, overflow_q, underflow_q;
  logic       quad_q, dummies_q, asked_keep_q, asked_quad_q;
  logic       begins, ends, rise, fall, last_bit, byte_end, loads, none;
  logic [9:0] asked_send_q, asked_receive_q, send_left_q, receive_left_q;
  logic [3:0] asked_dummy_q, dummy_left_q;
  logic [7:0] words_left_q, shift_q, shifted;
  logic [2:0] bit_q;

  // Words to send, and their bytes: none of the next transfer's.

  logic        tx_put, tx_room, tx_there, tx_take, tx_ready, tx_byte_valid, tx_byte_take;
  logic        unused_tx_room, unused_tx_last;
  logic [31:0] tx_word;
  logic [7:0]  tx_byte, tx_used;

  assign tx_put = from_regs.TXDATA.req && from_regs.TXDATA.req_is_wr;

  mesh_queue #(.LOG2_WORDS(7)) u_tx (
    .clk_i, .rst_ni, .put_i(tx_put && tx_room), .first_i(1'b1), .keep_i(1'b1),
    .data_i({1'b0, from_regs.TXDATA.wr_data}), .room_first_o(tx_room), .room_o(unused_tx_room),
    .there_o(tx_there), .data_o({unused_tx_last, tx_word}), .take_i(tx_take), .used_o(tx_used)
  );

  assign tx_take = tx_there && tx_ready && words_left_q != '0;

  io_unpack u_unpack (
    .clk_i, .rst_ni, .clear_i(ends),
    .in_valid_i(tx_there && words_left_q != '0), .in_ready_o(tx_ready), .in_data_i(tx_word),
    .byte_valid_o(tx_byte_valid), .byte_ready_i(tx_byte_take), .byte_o(tx_byte)
  );

  // Bytes that were received, and their words.

  logic        pack_valid, rx_there, rx_take, rx_room, unused_rx_room, unused_rx_last;
  logic [31:0] pack_word, rx_word;
  logic [7:0]  rx_used;

  io_pack u_pack (
    .clk_i, .rst_ni, .clear_i(1'b0), .byte_valid_i(byte_end && receives_q),
    .byte_last_i(receive_left_q == '0), .byte_i(shifted),
    .out_valid_o(pack_valid), .out_data_o(pack_word)
  );

  mesh_queue #(.LOG2_WORDS(7)) u_rx (
    .clk_i, .rst_ni, .put_i(pack_valid && rx_room), .first_i(1'b1), .keep_i(1'b1),
    .data_i({1'b0, pack_word}), .room_first_o(rx_room), .room_o(unused_rx_room),
    .there_o(rx_there), .data_o({unused_rx_last, rx_word}), .take_i(rx_take), .used_o(rx_used)
  );

  // A read of RXDATA: a word, or that there will be none. It is given a cycle after it was taken,
  // as what comes from the queue's memory is late in its cycle.

  logic        reads_q, read_q, over;
  logic [31:0] read_word_q;

  assign over    = state_q == Idle && !pack_valid && rx_used == '0;
  assign rx_take = rx_there && (reads_q || state_q == Empty);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reads_q <= 1'b0;
      read_q  <= 1'b0;
    end else begin
      reads_q <= from_regs.RXDATA.req || (reads_q && !rx_there && !over);
      read_q  <= reads_q && (rx_there || over);
    end
  end

  always_ff @(posedge clk_i) read_word_q <= rx_there ? rx_word : '0;

  assign to_regs.RXDATA.rd_ack       = read_q;
  assign to_regs.RXDATA.rd_data.word = read_word_q;

  // Transfers.

  assign begins       = waits_q && state_q == Idle && !pack_valid;
  assign rise         = state_q == Shift && !sck_q && timer_q == '0;
  assign fall         = state_q == Shift && sck_q && timer_q == '0;
  assign last_bit     = dummies_q ? dummy_left_q == '0 : quad_q ? bit_q[2] : bit_q == 3'd7;
  assign byte_end     = fall && last_bit;
  assign loads        = state_q == Load || byte_end;
  assign none         = send_left_q == '0 && dummy_left_q == '0 && receive_left_q == '0;
  assign shifted      = quad_q ? {shift_q[3:0], io_i} : {shift_q[6:0], io_i[1]};
  assign tx_byte_take = loads && send_left_q != '0 && tx_byte_valid;
  assign ends         = loads && (none || (state_q == Load && patience_q == '0));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q        <= Idle;
      timer_q        <= '0;
      patience_q     <= '0;
      waits_q        <= 1'b0;
      keep_q         <= 1'b0;
      selected_q     <= 1'b0;
      sck_q          <= 1'b0;
      quad_q         <= 1'b0;
      receives_q     <= 1'b0;
      dummies_q      <= 1'b0;
      overflow_q     <= 1'b0;
      underflow_q    <= 1'b0;
      send_left_q    <= '0;
      dummy_left_q   <= '0;
      receive_left_q <= '0;
      words_left_q   <= '0;
      bit_q          <= '0;
    end else begin
      waits_q     <= from_regs.TRANSFER.req || (waits_q && !begins);
      overflow_q  <= (tx_put && !tx_room) || (overflow_q && !from_regs.CLEAR.overflow.value);
      underflow_q <= (ends && !none) || (underflow_q && !from_regs.CLEAR.underflow.value);
      if (timer_q != '0) timer_q <= timer_q - 1'b1;
      if (tx_take) words_left_q <= words_left_q - 1'b1;

      unique case (state_q)
        Idle: begin
          if (begins) begin
            state_q        <= Empty;
            keep_q         <= asked_keep_q;
            quad_q         <= asked_quad_q;
            send_left_q    <= asked_send_q;
            dummy_left_q   <= asked_dummy_q;
            receive_left_q <= asked_receive_q;
            words_left_q   <= 8'((11'(asked_send_q) + 11'd3) >> 2);
          end
        end
        Empty: begin
          patience_q <= Patience;
          if (rx_used == '0) state_q <= Load;
        end
        Load: patience_q <= patience_q - 1'b1;
        Shift: begin
          if (rise || fall) begin
            sck_q   <= rise;
            timer_q <= timer_t'(HALF_CYCLES - 1);
          end
          if (fall) bit_q <= bit_q + (quad_q ? 3'd4 : 3'd1);
          if (fall && dummies_q && !last_bit) dummy_left_q <= dummy_left_q - 1'b1;
          if (byte_end) patience_q <= Patience;
        end
        Deselect: if (timer_q == '0) state_q <= Idle;
      endcase

      if (ends) begin
        state_q      <= keep_q ? Idle : Deselect;
        selected_q   <= keep_q && selected_q;
        words_left_q <= '0;
        timer_q      <= timer_t'(DESELECT_CYCLES - 1);
      end else if (loads) begin
        receives_q <= send_left_q == '0 && dummy_left_q == '0;
        dummies_q  <= send_left_q == '0 && dummy_left_q != '0;
        bit_q      <= '0;
        if (send_left_q == '0 || tx_byte_valid) begin
          state_q    <= Shift;
          selected_q <= 1'b1;
          timer_q    <= timer_t'(HALF_CYCLES - 1);
        end else begin
          state_q    <= Load;
        end
        if (tx_byte_take) send_left_q <= send_left_q - 1'b1;
        else if (send_left_q == '0 && dummy_left_q != '0) dummy_left_q <= dummy_left_q - 1'b1;
        else if (send_left_q == '0) receive_left_q <= receive_left_q - 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (from_regs.TRANSFER.req) begin
      asked_send_q    <= from_regs.TRANSFER.wr_data.send_bytes;
      asked_receive_q <= from_regs.TRANSFER.wr_data.receive_bytes;
      asked_dummy_q   <= from_regs.TRANSFER.wr_data.dummy_clocks;
      asked_quad_q    <= from_regs.TRANSFER.wr_data.quad;
      asked_keep_q    <= from_regs.TRANSFER.wr_data.keep;
    end
    if (tx_byte_take) shift_q <= tx_byte;
    else if (fall) shift_q <= shifted;
  end

  assign cs_no   = !selected_q;
  assign sck_o   = sck_q;
  assign io_o    = quad_q ? shift_q[7:4] : {3'b110, shift_q[7] && !receives_q && !dummies_q};
  assign io_oe_o = !selected_q ? 4'b0000 : !quad_q ? 4'b1101
                   : state_q == Shift && !receives_q && !dummies_q ? 4'b1111 : 4'b0000;

  assign to_regs.TRANSFER.wr_ack        = begins;
  assign to_regs.TXDATA.wr_ack          = tx_put;
  assign to_regs.TXDATA.rd_ack          = 1'b0;
  assign to_regs.TXDATA.rd_data         = '0;
  assign to_regs.STATUS.busy.next       = state_q != Idle;
  assign to_regs.STATUS.overflow.next   = overflow_q;
  assign to_regs.STATUS.underflow.next  = underflow_q;
  assign to_regs.STATUS.selected.next   = selected_q;
  assign to_regs.STATUS.to_send.next    = tx_used;
  assign to_regs.STATUS.received.next   = rx_used;

  logic unused;
  assign unused = ^{from_regs.TXDATA.addr, from_regs.TXDATA.wr_biten,
                    from_regs.TRANSFER.req_is_wr, from_regs.TRANSFER.wr_data,
                    from_regs.TRANSFER.wr_biten, from_regs.RXDATA.req_is_wr};

endmodule
