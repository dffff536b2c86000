// An I/O port's page, whatever the VM does with it: each request that was written with room for it
// comes to the engine once, in order, as it was written, and each response to the VM likewise; the
// rest is refused and counted. After RESET there is none, but the request that has begun, which is
// dropped. Whatever the engine does, an access is answered within 10 cycles.
//
// The bus is arbitrary, one access at a time; so are the engine, that keeps to what is proved of
// it, and what is in the buffers.
module io_port_formal
  import io_pkg::*;
  import io_port_pkg::*;
  import memory_tree_pkg::*;
(
  input logic       clk_i,
  input logic       rst_ni,
  // The request and the response that are followed, by their numbers; any, but the same always.
  input logic [2:0] followed,
  // What is seen of the page where there is none.
  input logic [191:0] free
);

  logic [1:0]  bresp, rresp;
  logic        awready, wready, bvalid, arready, rvalid, irq, in_valid, access_valid;
  logic [31:0] rdata, in_data;
  logic [7:0]  ask;
  request_t    request;
  access_t     access;

  io_port dut (
    .clk_i, .rst_ni,
    .s_axil_awvalid(1'b0), .s_axil_awready(awready), .s_axil_awaddr('0), .s_axil_awprot('0),
    .s_axil_wvalid(1'b0), .s_axil_wready(wready), .s_axil_wdata('0), .s_axil_wstrb('0),
    .s_axil_bvalid(bvalid), .s_axil_bready(1'b0), .s_axil_bresp(bresp),
    .s_axil_arvalid(1'b0), .s_axil_arready(arready), .s_axil_araddr('0), .s_axil_arprot('0),
    .s_axil_rvalid(rvalid), .s_axil_rready(1'b0), .s_axil_rdata(rdata), .s_axil_rresp(rresp),
    .irq_o(irq), .devices_i('0), .window_base_i('0), .window_pages_i('0),
    .ask_o(ask), .grant_i(1'b0), .request_o(request), .in_valid_o(in_valid), .in_ready_i(1'b0),
    .in_data_o(in_data), .out_valid_i(1'b0), .out_data_i('0), .response_valid_i(1'b0),
    .response_i('0), .access_valid_o(access_valid), .access_ready_i(1'b0), .access_o(access),
    .reply_valid_i(1'b0), .reply_i('0)
  );

  localparam logic [11:0] Address = 12'h008, Place = 12'h00c, Request = 12'h010,
                          Response = 12'h014, Enable = 12'h018, Reset = 12'h024;

  logic        began_q = 1'b0, waits_q, writes_q, stored_q, enabled_q, waiting_q, asked_q;
  logic        resets_q, busy_q, dropped_q;
  // The bus behind axil_slave, and what goes between page and engine.
  logic        req, req_is_wr, rd_ack, wr_ack, over, answers, fetched, store_read, shown, room;
  logic        busy, drops;
  logic [11:0] addr;
  logic [31:0] wr_data, rd_data;
  answered_t   answer;
  queued_t     oldest;

`ifdef CUT
  assign {req, req_is_wr, rd_ack, wr_ack, over, answers, fetched, store_read, shown, room, busy,
          drops, addr, wr_data, rd_data, answer, oldest} = free;
`else
  assign {req, req_is_wr, rd_ack, wr_ack, over, answers, fetched, store_read, shown, room, busy,
          drops, addr, wr_data, rd_data, answer, oldest}
         = {dut.req, dut.req_is_wr, dut.rd_ack, dut.wr_ack, dut.over, dut.answers, dut.fetched,
            dut.store_read, dut.requests_q != '0, dut.responses_q != dut.Places, dut.busy,
            dut.dropped_q, dut.addr, dut.wr_data, dut.rd_data, dut.answer,
            dut.requests[dut.request_q]};
`endif

  logic [2:0]  followed_q, put_q, over_q, answered_q, taken_q;
  logic [3:0]  cycles_q, run_q;
  logic [7:0]  refused_q;
  logic [31:0] address_q, place_q, data_q;
  queued_t     word_q;
  answered_t   answer_q;
  logic        ack, taken, reads_response;

  assign ack            = rd_ack || wr_ack;
  assign reads_response = req && !req_is_wr && addr == Response;
  assign taken          = reads_response && answered_q != taken_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {waits_q, writes_q, stored_q, enabled_q, waiting_q, asked_q, resets_q, busy_q, dropped_q,
       put_q, over_q, answered_q, taken_q, cycles_q, run_q, refused_q, address_q, place_q,
       data_q} <= '0;
    end else begin
      waits_q    <= (waits_q || req) && !ack;
      cycles_q   <= waits_q ? cycles_q + 1'b1 : '0;
      run_q      <= fetched ? run_q + 1'b1 : '0;
      stored_q   <= store_read;
      asked_q    <= req && req_is_wr && addr == Request;
      data_q     <= wr_data;
      resets_q   <= req && req_is_wr && addr == Reset && wr_data[0];
      busy_q     <= busy && !over;
      if (req) writes_q <= req_is_wr;
      if (resets_q) enabled_q <= 1'b0;
      if (req && req_is_wr) begin
        if (addr == Address) address_q <= wr_data;
        if (addr == Place) place_q <= wr_data;
        if (addr == Enable) enabled_q <= wr_data[0];
      end
      if (asked_q && 3'(put_q - over_q) != 3'd4) put_q <= put_q + 1'b1;
      if (asked_q && 3'(put_q - over_q) == 3'd4 && refused_q != '1) refused_q <= refused_q + 1'b1;
      over_q     <= over_q + 3'(over);
      answered_q <= answered_q + 3'(answers);
      taken_q    <= taken_q + 3'(taken);
      if (over) dropped_q <= 1'b0;
      // The request that has begun is all that is left.
      if (resets_q) begin
        put_q      <= over_q + 3'(busy);
        refused_q  <= '0;
        answered_q <= taken_q + 3'(taken);
        dropped_q  <= busy && !over;
      end
      waiting_q  <= answered_q != taken_q && enabled_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (asked_q && put_q == followed && 3'(put_q - over_q) != 3'd4) begin
      word_q <= '{device: data_q[19:17], op: op_e'(data_q[16:15]), quiet: data_q[14],
                  memory: data_q[13], tag: data_q[12:11], length: data_q[10:0],
                  addr: address_q, place: place_q};
    end
    if (answers && answered_q == followed) answer_q <= answer;
  end

  always_ff @(posedge clk_i) begin
    began_q    <= 1'b1;
    followed_q <= followed;
    begin_in_reset: assume (rst_ni == began_q);
    if (began_q) one_followed: assume (followed == followed_q);

    if (rst_ni) begin
      // The bus: one access at a time, of whole words.
      alone: assume (!(waits_q && req));
`ifndef CUT
      whole: assume (dut.wr_biten == '1 && dut.addr[1:0] == '0);
`endif
      // The engine.
      over_due: assume (!over || busy_q);
      answers_over: assume (!answers || (over && !drops && 3'(answered_q - taken_q) != 3'd4));
      begins: assume (busy == (busy_q || (shown && room)));
      a_line: assume (!(fetched && run_q == 4'd8));
      a_row: assume (!(store_read && stored_q));

      if (shown && over_q == followed)
        request_own: assert (oldest == word_q);
      request_there: assert (shown == (put_q != over_q));
      room_told: assert (room == (3'(answered_q - taken_q) != 3'd4));
      if (reads_response) begin
        response_there: assert (rd_ack && rd_data[31] == (answered_q != taken_q));
        if (!taken) response_none: assert (rd_data == '0);
      end
      if (req && !req_is_wr && addr == 12'h004) begin
        status_told: assert (rd_data == {8'd0, refused_q, 5'd0, 3'(answered_q - taken_q), 5'd0,
                                             3'(3'd4 - 3'(put_q - over_q))});
      end
      line_told: assert (irq == waiting_q);
      dropped: assert (drops == dropped_q);

      answered: cover (taken);
      interrupts: cover (irq);
      waited: cover (ack && cycles_q == 4'd2);
      forgotten: cover (resets_q && busy);
`ifndef CUT
      if (taken && taken_q == followed) response_own: assert (rd_data[19:0] == answer_q);
      in_time: assert (!waits_q || cycles_q < 4'd10);

      // What makes the rest follow by induction.
      state_counts: assert (3'(put_q - over_q) <= 3'd4 && 3'(answered_q - taken_q) <= 3'd4
                            && dut.requests_q == 3'(put_q - over_q)
                            && dut.responses_q == 3'(answered_q - taken_q)
                            && dut.request_q == over_q[1:0] && dut.response_q == taken_q[1:0]);
      state_refused: assert (dut.refused_q == refused_q);
      state_resets: assert (dut.resets == resets_q && !(resets_q && asked_q));
      state_busy: assert (!busy_q || put_q != over_q);
      if (dropped_q) state_dropped: assert (busy_q);
      state_written: assert (dut.written_q == asked_q && (!asked_q || data_q[19:0]
          == {dut.from_regs.REQUEST.device.value, dut.from_regs.REQUEST.op.value,
              dut.from_regs.REQUEST.quiet.value, dut.from_regs.REQUEST.memory.value,
              dut.from_regs.REQUEST.tag.value, dut.from_regs.REQUEST.length.value}));
      state_kept: assert (dut.from_regs.ADDRESS.value.value == address_q
                          && dut.from_regs.DATA.place.value == place_q
                          && dut.from_regs.IRQ_ENABLE.response.value == enabled_q);
      state_request: assert (!(3'(followed - over_q) < 3'(put_q - over_q))
                             || dut.requests[followed[1:0]] == word_q);
      state_response: assert (!(3'(followed - taken_q) < 3'(answered_q - taken_q))
                              || dut.responses[followed[1:0]] == answer_q);
      state_waits: assert (waits_q == dut.page_valid_q && waits_q == dut.u_regs.external_pending
                           && (!waits_q || dut.page_is_wr_q == writes_q)
                           && (waits_q || !(dut.page_read_q || dut.page_there_q)));
      if (waits_q && writes_q) state_write: assert (cycles_q <= run_q && !dut.page_read_q
                                                    && !dut.page_there_q);
      if (waits_q && !writes_q) state_read: assert (dut.page_there_q ? !dut.page_read_q
                                                    && cycles_q >= 4'd2 && cycles_q <= 4'd3
                                                    : dut.page_read_q ? cycles_q != '0
                                                    && cycles_q <= 4'd2
                                                    : cycles_q == '0 || (cycles_q == 4'd1
                                                                         && stored_q));
      state_run: assert (run_q <= 4'd8);
`endif
    end
  end

endmodule
