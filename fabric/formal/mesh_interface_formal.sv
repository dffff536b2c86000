// A hart's interface to the mesh, whatever the hart does with the page.
//
// Each packet that goes out is whole, from this place, to one that it may send to, and as it was
// written; none goes without room at the router. What arrives goes into its queue, or is lost as a
// whole. With an I/O hypervisor that answers what it was asked and no more: it never has more words
// of requests than it has room for, it is owed one response at most, and no response is lost.
//
// The bus is arbitrary, one access at a time; the queues are the real ones.
module mesh_interface_formal
  import io_pkg::*;
  import mesh_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input logic [63:0] reach,
  input logic        out_credit,
  input logic        in_valid,
  input logic        in_last,
  input logic [31:0] in_data,
  // The word of the buffer that is followed; any, but the same always.
  input logic [8:0]  followed,
  // What is seen of the page where there is none.
  input logic [53:0] free
);

  logic [1:0]  bresp, rresp;
  logic        awready, wready, bvalid, arready, rvalid, irq, out_valid, out_last, in_credit;
  logic [31:0] rdata, out_data;

  localparam place_t Here = '{y: 3'd2, x: 3'd1};
  localparam place_t Io   = '{y: 3'd4, x: 3'd0};

  mesh_interface #(.PLACE(Here), .IO(Io), .DEPTH(2)) dut (
    .clk_i, .rst_ni,
    .s_axil_awvalid(1'b0), .s_axil_awready(awready), .s_axil_awaddr('0), .s_axil_awprot('0),
    .s_axil_wvalid(1'b0), .s_axil_wready(wready), .s_axil_wdata('0), .s_axil_wstrb('0),
    .s_axil_bvalid(bvalid), .s_axil_bready(1'b0), .s_axil_bresp(bresp),
    .s_axil_arvalid(1'b0), .s_axil_arready(arready), .s_axil_araddr('0), .s_axil_arprot('0),
    .s_axil_rvalid(rvalid), .s_axil_rready(1'b0), .s_axil_rdata(rdata), .s_axil_rresp(rresp),
    .irq_o(irq), .reach_i(reach),
    .out_valid_o(out_valid), .out_last_o(out_last), .out_data_o(out_data),
    .out_credit_i(out_credit), .in_valid_i(in_valid), .in_last_i(in_last), .in_data_i(in_data),
    .in_credit_o(in_credit)
  );

  localparam logic [11:0] Packet = 12'h010, Header = 12'h014, Response = 12'h018,
                          Message = 12'h01c;

  // The bus behind axil_slave. A packet that was written is to be checked, is to be sent, and is
  // counted. A response waits; which queues take the flit that comes, and keep its packet.
  logic        req, req_is_wr, begins, goes, counts, there;
  logic [1:0]  put, keep;
  logic [11:0] addr;
  logic [31:0] wr_data;

`ifdef CUT
  assign {req, req_is_wr, begins, goes, counts, there, put, keep, addr, wr_data} = free;
`else
  assign {req, req_is_wr, begins, goes, counts, there, put, keep, addr, wr_data}
         = {dut.page_req_q, dut.page_is_wr_q, dut.begins, dut.accepted, dut.requested_q,
            dut.there[0], dut.put, dut.keep, dut.page_addr_q, dut.page_data_q};
`endif

  logic        began_q = 1'b0;
  logic [8:0]  followed_q;
  // A word of a queue is read, for a second cycle: of the responses', of any.
  logic        writes, taken, reads, reads_q, waits_q;

  assign writes = req && req_is_wr;
  assign reads  = req && !req_is_wr && addr == Response;
  assign taken  = reads && there;

  // The page: PACKET, HEADER, and the followed word of BUFFER now, and one and two cycles before.
  logic [8:0]  place_q, words_q;
  header_t     head_q;
  logic        asked_for_q;
  logic [31:0] word_q, word1_q, word2_q;
  logic        written_word_q, written_word1_q, written_word2_q;

  // The packet that is checked or sent: its first word, where its others are, how many; flits of it
  // that have gone; and of all packets, those that the router has no room for.
  header_t     header_q;
  logic [8:0]  first_q, count_q, at;
  logic [9:0]  flits_q;
  logic        reached_q, sending_q, goes_q, due_q, unsent, room;
  logic [2:0]  outside_q;

  assign unsent = sending_q && !(out_valid && out_last);
  assign room   = outside_q + 3'(out_valid) < 3'd2;
  assign at     = first_q + 9'(flits_q - 10'd1);

  // The I/O hypervisor: words of requests since it last had none; quiet ones among them, and the
  // answer to the one that is not; words of responses that wait here.
  logic [9:0]  requests_q, quiets_q, answer_q, answer, waiting_q, came_q;
  logic        asked_q, is_request;

  assign is_request = place_t'(header_q.route[11:6]) == Io;
  assign answer     = header_q.op == Read
                      ? 10'd1 + 10'((13'(header_q.length) + 13'd3) / 4) : 10'd1;

  // Flits of the packet that have gone, with the one that does now.
  logic [9:0]  gone;
  assign gone = flits_q + 10'(out_valid);

  // What arrives.
  answer_t     coming;
  logic        within_q, from_io_q, quiet_q, all_q, from_io, quiet, over, over_quiet, credited_q;

  assign coming     = answer_t'(in_data);
  assign from_io    = within_q ? from_io_q : place_t'(in_data[25:20]) == Io;
  assign quiet      = within_q ? quiet_q : coming.status != Done && coming.length[0];
  assign over       = in_valid && in_last && from_io && !quiet;
  assign over_quiet = in_valid && in_last && from_io && quiet;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {place_q, words_q, asked_for_q, flits_q, sending_q, goes_q, due_q, outside_q, requests_q,
       quiets_q, waiting_q, came_q, asked_q, within_q, all_q, credited_q, written_word_q,
       written_word1_q, written_word2_q, reads_q, waits_q} <= '0;
    end else begin
      reads_q     <= reads;
      waits_q     <= req && !req_is_wr && (addr == Response || addr == Message);
      asked_for_q <= writes && addr == Header;
      credited_q  <= in_valid;
      written_word_q <= written_word_q || (writes && addr == {1'b1, followed, 2'b00});
      {written_word1_q, written_word2_q} <= {written_word_q, written_word1_q};
      if (writes && addr == Packet) {words_q, place_q} <= {wr_data[24:16], wr_data[8:0]};
      sending_q <= goes || unsent;
      goes_q    <= goes && is_request;
      flits_q   <= goes ? '0 : flits_q + 10'(out_valid);
      due_q     <= unsent && room;
      outside_q <= outside_q + 3'(out_valid) - 3'(out_credit);
      if (over) begin
        {requests_q, quiets_q, asked_q} <= '0;
      end else begin
        quiets_q <= quiets_q - 10'(over_quiet) + 10'(counts && header_q.quiet);
        if (counts) begin
          requests_q <= requests_q + 10'(count_q) + 10'd1;
          asked_q    <= !header_q.quiet;
        end
      end
      waiting_q <= waiting_q - 10'(taken) + (over || over_quiet ? came_q + 10'd1 : '0);
      if (in_valid) begin
        within_q <= !in_last;
        came_q   <= in_last || !from_io ? '0 : came_q + 10'd1;
        all_q    <= put != '0 && (!within_q || all_q);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    began_q    <= 1'b1;
    followed_q <= followed;
    if (writes && addr == Header) head_q <= {wr_data[31:26], Here, wr_data[19:0]};
    if (writes && addr == {1'b1, followed, 2'b00}) word_q <= wr_data;
    {word1_q, word2_q} <= {word_q, word1_q};
    if (begins) begin
      {header_q, first_q, count_q} <= {head_q, place_q, words_q};
      reached_q                    <= reach[head_q.route[11:6]];
    end
    if (counts && !header_q.quiet) answer_q <= answer;
    if (in_valid) {from_io_q, quiet_q} <= {from_io, quiet};

    begin_in_reset: assume (rst_ni == began_q);
    if (began_q) one_followed: assume (followed == followed_q);

    if (rst_ni) begin
`ifndef CUT
      whole_words: assume (dut.page_biten_q == '1 && dut.page_addr_q[1:0] == '0);
`endif
      alone: assume (!(waits_q && req));
      // The router.
      credit_due: assume (!out_credit || outside_q != '0);
      // The I/O hypervisor.
      if (in_valid && from_io && quiet) quiet_due: assume (in_last && !within_q && quiets_q != '0);
      if (in_valid && from_io && !quiet) answer_due: assume (asked_q && came_q < answer_q
                                                             && (in_last || came_q + 10'd1
                                                                 < answer_q));

      // Packets that go.
      when_written: assert (!begins || (asked_for_q && !unsent));
      goes_alone: assert (!goes || (reached_q && !sending_q));
      // When there is room, and then only.
      in_time: assert (out_valid == due_q);
      if (out_valid) begin
        last_right: assert (out_last == (flits_q == 10'(count_q)));
        if (flits_q == '0) first_right: assert (out_data == header_q);
        else if (at == followed && written_word2_q) word_right: assert (out_data == word2_q);
      end
      // Requests.
      counted: assert (counts == goes_q);
      if (counts) begin
        asks_alone: assert (!asked_q);
        asks_with_room: assert (requests_q + 10'(count_q) + 10'd1 <= (header_q.quiet ? 10'd510
                                                                      : 10'd512));
      end
      room_for_answers: assert (12'(waiting_q) + 12'(quiets_q) + (asked_q ? 12'(answer_q) : '0)
                                <= 12'd512);

      // What arrives.
      put_own: assert ((put & (from_io ? 2'b10 : 2'b01)) == '0 && (in_valid || put == '0));
      kept_whole: assert ((keep & ~put) == '0 && (keep == '0 || (in_last && (!within_q || all_q))));
      if (in_valid && from_io) response_kept: assert (put[0] && keep[0] == in_last);
      taken_at_once: assert (in_credit == credited_q);

      three: cover (out_valid && out_last && flits_q == 10'd2);
      answered: cover (over && came_q == 10'd1);
`ifndef CUT
      // What makes the rest follow by induction.
      state_page: assert (dut.from_regs.PACKET.first.value == place_q
                          && dut.from_regs.PACKET.words.value == words_q
                          && dut.written_q == asked_for_q
                          && (!asked_for_q || head_q
                              == {dut.from_regs.HEADER.y.value, dut.from_regs.HEADER.x.value, Here,
                                  dut.from_regs.HEADER.head.value}));
      state_reads: assert (dut.read_q == {waits_q && !reads_q, reads_q} && (waits_q || !reads_q)
                           && dut.u_regs.external_pending == waits_q);
      state_buffer: assert (dut.buffer[followed] == word_q || !written_word_q);
      state_sending: assert (dut.sending_q == unsent
                             && 3'(dut.credit_q) == 3'd2 - outside_q - 3'(out_valid)
                             && outside_q <= 3'd2 - 3'(out_valid)
                             && !(dut.checking_q && dut.sending_q));
      if (dut.checking_q) begin
        state_checking: assert (dut.header_q == header_q && dut.size_q == 10'(count_q) + 10'd1
                                && dut.is_request_q == is_request && dut.reached_q == reached_q
                                && dut.answer_size_q == (header_q.quiet ? 10'd1 : answer)
                                && dut.least_q == dut.size_q + (header_q.quiet ? 10'd2 : '0)
                                && dut.left_q == count_q && dut.first_q
                                && dut.place_q == first_q);
        state_free: assert (dut.requests_free_q <= 10'd512 - requests_q
                            && 12'(dut.responses_free_q) + 12'(waiting_q) + 12'(dut.coming_q)
                               <= 12'd512);
      end
      if (goes_q) begin
        state_counted: assert (unsent && is_request && dut.size_q == 10'(count_q) + 10'd1
                               && dut.answer_size_q == (header_q.quiet ? 10'd1 : answer)
                               && !asked_q && gone == '0
                               && requests_q + dut.least_q <= 10'd512
                               && dut.least_q == dut.size_q + (header_q.quiet ? 10'd2 : '0)
                               && 12'(dut.answer_size_q) + 12'(waiting_q) + 12'(dut.coming_q)
                                  <= 12'd512);
      end
      if (unsent) begin
        state_unsent: assert (dut.header_q == header_q && dut.first_q == (gone == '0)
                              && gone <= 10'(count_q)
                              && dut.left_q == count_q - (gone == '0 ? '0 : 9'(gone) - 9'd1)
                              && dut.place_q == first_q + (gone == '0 ? '0 : 9'(gone) - 9'd1));
      end
      state_word: assert (dut.place_q != followed || !written_word1_q || dut.word_q == word1_q);
      state_asked: assert (dut.asked_q == asked_q && dut.requests_q == requests_q
                           && requests_q <= 10'd512
                           && dut.coming_q == quiets_q + (asked_q ? answer_q : '0));
      state_within: assert (dut.within_q == within_q && (!within_q || (dut.others_q != from_io_q
                                                                      && dut.quiet_q == quiet_q)));
      state_queue: assert (10'(dut.gen_queue[0].u_queue.kept_q - dut.gen_queue[0].u_queue.taken_q)
                           == waiting_q && (waiting_q != '0 || !there));
      state_came: assert (within_q && from_io_q
                          ? came_q != '0 && asked_q && came_q < answer_q && !quiet_q && all_q
                            && !dut.spoiled_q[0]
                            && 10'(dut.gen_queue[0].u_queue.put_q
                                   - dut.gen_queue[0].u_queue.kept_q) == came_q
                          : came_q == '0);
      state_all: assert (!within_q || all_q == !dut.spoiled_q[!from_io_q]);
`endif
    end
  end

endmodule
