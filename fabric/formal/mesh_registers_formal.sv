// Registers at a place of the mesh, whatever packets come and whenever their accesses are answered.
//
// What comes: a packet of a place that may ask is kept whole, in the size that its first word says,
// or as its first word alone; of other places nothing is kept. What is carried out: the accesses of
// a request are those that it says, in order, with the number of the place that it comes from and
// no other, and none behind one with an error. Each request is answered once, or not at all if it
// is quiet, and what was read is in the answer. Both rules of AXI4-Lite and credits are kept.
//
// The queue between the two is arbitrary: of it is taken for granted that it has room for a first
// word where it has for another, and gives packets as they were kept.
module mesh_registers_formal
  import mesh_pkg::*;
  import mesh_registers_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input logic        out_credit,
  input logic        in_valid,
  input logic        in_last,
  input logic [31:0] in_data,
  input logic        awready,
  input logic        wready,
  input logic        bvalid,
  input logic [1:0]  bresp,
  input logic        arready,
  input logic        rvalid,
  input logic [31:0] rdata,
  input logic [1:0]  rresp,
  // The word of an answer that is followed; any, but the same always.
  input logic [7:0]  followed,
  // What is seen of the queue where there is none.
  input logic [72:0] free
);

  localparam int unsigned Depth = 2;

  logic        lost, out_valid, out_last, in_credit, awvalid, wvalid, bready, arvalid, rready;
  logic [31:0] out_data, wdata;
  logic [15:0] awaddr, araddr;
  logic [3:0]  wstrb;
  logic [2:0]  awprot, arprot;

  mesh_registers #(.DEPTH(Depth)) dut (
    .clk_i, .rst_ni, .lost_o(lost),
    .out_valid_o(out_valid), .out_last_o(out_last), .out_data_o(out_data),
    .out_credit_i(out_credit), .in_valid_i(in_valid), .in_last_i(in_last), .in_data_i(in_data),
    .in_credit_o(in_credit),
    .m_axil_awvalid(awvalid), .m_axil_awready(awready), .m_axil_awaddr(awaddr),
    .m_axil_awprot(awprot), .m_axil_wvalid(wvalid), .m_axil_wready(wready),
    .m_axil_wdata(wdata), .m_axil_wstrb(wstrb), .m_axil_bvalid(bvalid), .m_axil_bready(bready),
    .m_axil_bresp(bresp), .m_axil_arvalid(arvalid), .m_axil_arready(arready),
    .m_axil_araddr(araddr), .m_axil_arprot(arprot), .m_axil_rvalid(rvalid),
    .m_axil_rready(rready), .m_axil_rdata(rdata), .m_axil_rresp(rresp)
  );

  // What goes into the queue, and what comes out of it.
  logic        put, put_first, keep, room_first, room, there, take, put_last, last;
  logic [31:0] put_word, word;

`ifdef CUT
  assign {put, put_first, keep, room_first, room, there, take, put_last, last, put_word,
          word} = free;
`else
  assign {put, put_first, keep, room_first, room, there, take, put_last, last, put_word, word}
      = {dut.put, dut.put_first, dut.last_flit_q, dut.room_first, dut.room, dut.there, dut.take,
         dut.put_data[32], dut.last, dut.put_data[31:0], dut.word};
`endif

  // Places are four rows of four.
  function automatic logic known(logic [31:0] first);
    return !first[25] && !first[22];
  endfunction

  function automatic logic [3:0] number(place_t of);
    return {of.y[1:0], of.x[1:0]};
  endfunction

  // A packet's size, as its first word says.
  function automatic logic [9:0] size(head_t of);
    return of.write ? 10'd2 + 10'(of.words) : 10'd2;
  endfunction

  logic began_q = 1'b0;

  // What comes, in the cycle after: flits of the packet before this one, and whether all were put.
  logic        within_q, came_q, came_first_q, came_last_q, all_q;
  logic [31:0] came_data_q;
  head_t       came_head_q;
  logic [9:0]  flits_q;
  logic        mine, fits, whole;

  assign mine  = known(came_first_q ? came_data_q : came_head_q);
  assign whole = !came_first_q && flits_q + 10'd1 == size(came_head_q);
  assign fits  = came_first_q || (came_last_q && !whole) ? room_first : room && all_q;

  // What is carried out: words of the packet that have been taken, its first two, and the last one;
  // accesses that were answered.
  logic        owed_q, short_q, failed_q, held_q, last_q, right;
  logic [9:0]  taken_q, data_taken_q;
  logic [8:0]  made_q, answer_words;
  logic [7:0]  followed_q;
  logic [31:0] addr_q, data_q, head_q, read_q;
  head_t       request_q, answer;

  assign right = !short_q && request_q.reserved == '0 && request_q.words != '0
                 && request_q.words <= 9'd256 && addr_q[1:0] == '0 && addr_q[31:12] == '0
                 && (request_q.fixed || 13'(addr_q[11:0]) + {2'd0, request_q.words, 2'b00}
                                        <= 13'd4096);

  // The answer that is due.
  always_comb begin
    answer       = '0;
    answer.route = '{to: request_q.route.from, from: request_q.route.to};
    answer.tag   = request_q.tag;
    answer.write = request_q.write;
    answer.fixed = !right || failed_q;
    answer.words = answer.fixed || request_q.write ? '0 : request_q.words;
  end

  assign answer_words = answer.words;

  // The register of the access that is next.
  logic [15:0] target;
  assign target = {number(request_q.route.from),
                   addr_q[11:0] + (request_q.fixed ? 12'd0 : {1'b0, made_q, 2'b00})};

  // The answer's flits that are out, and those that the router has no room for.
  logic [8:0] out_q;
  logic [3:0] outside_q;
  logic       first_taken, over, done, any_q;

  assign first_taken = take && taken_q == '0;
  // None has begun, or its accesses are over.
  assign done        = !any_q || !right || failed_q || made_q == request_q.words;
  // Nothing of a request is left but an answer's last flit.
  assign over        = done && (!owed_q || request_q.quiet || (out_valid && out_last));

  // Accesses that are under way.
  logic aw_out_q, w_out_q, ar_out_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {within_q, came_q, all_q, flits_q, owed_q, short_q, failed_q, held_q, taken_q, data_taken_q,
       made_q, out_q, outside_q, aw_out_q, w_out_q, ar_out_q, any_q} <= '0;
    end else begin
      came_q <= in_valid;
      if (in_valid) within_q <= !in_last;
      if (came_q) begin
        all_q   <= fits;
        flits_q <= came_first_q ? 10'd1 : flits_q + 10'(flits_q != '1);
      end
      held_q <= there && !take;
      if (take) begin
        taken_q <= last ? '0 : taken_q + 10'd1;
        if (taken_q == '0) begin
          any_q        <= 1'b1;
          owed_q       <= 1'b1;
          short_q      <= last;
          failed_q     <= 1'b0;
          made_q       <= '0;
          data_taken_q <= '0;
        end else if (taken_q >= 10'd2) begin
          data_taken_q <= data_taken_q + 10'd1;
        end
      end
      if ((bvalid && bready) || (rvalid && rready)) begin
        made_q   <= made_q + 9'd1;
        failed_q <= bvalid && bready ? bresp != '0 : rresp != '0;
      end
      if (out_valid) begin
        out_q <= out_last ? '0 : out_q + 9'd1;
        if (out_q == '0 && !first_taken) owed_q <= 1'b0;
      end
      outside_q <= outside_q + 4'(out_valid) - 4'(out_credit);
      aw_out_q  <= (aw_out_q || (awvalid && awready)) && !(bvalid && bready);
      w_out_q   <= (w_out_q || (wvalid && wready)) && !(bvalid && bready);
      ar_out_q  <= (ar_out_q || (arvalid && arready)) && !(rvalid && rready);
    end
  end

  logic        aw_held_q, w_held_q, ar_held_q;
  logic [15:0] awaddr_q, araddr_q;
  logic [31:0] wdata_q;

  always_ff @(posedge clk_i) begin
    began_q      <= 1'b1;
    followed_q   <= followed;
    came_first_q <= !within_q;
    came_last_q  <= in_last;
    came_data_q  <= in_data;
    if (came_q && came_first_q) came_head_q <= head_t'(came_data_q);
    if (first_taken) request_q <= head_t'(word);
    if (take && taken_q == 10'd1) addr_q <= word;
    if (take && taken_q >= 10'd2) data_q <= word;
    if (rvalid && rready && made_q == 9'(followed)) read_q <= rdata;
    head_q    <= word;
    last_q    <= last;
    aw_held_q <= rst_ni && awvalid && !awready;
    w_held_q  <= rst_ni && wvalid && !wready;
    ar_held_q <= rst_ni && arvalid && !arready;
    {awaddr_q, araddr_q, wdata_q} <= {awaddr, araddr, wdata};

    begin_in_reset: assume (rst_ni == began_q);
    if (began_q) one_followed: assume (followed == followed_q);

    if (rst_ni) begin
      // The queue.
      room_for_first: assume (!room || room_first);
      stays: assume (!held_q || (there && word == head_q && last == last_q));
      all_there: assume (taken_q == '0 || there);
      if (taken_q != '0) in_size: assume (last == (taken_q + 10'd1 == size(request_q)));
      if (there && taken_q == '0) of_known: assume (known(word));
      // The router, and the registers.
      credit_due: assume (!out_credit || outside_q != '0);
      written_before: assume (!bvalid || (aw_out_q && w_out_q));
      read_before: assume (!rvalid || ar_out_q);

      // What comes.
      taken_at_once: assert (in_credit == came_q);
      if (put) begin
        put_known: assert (came_q && mine);
        put_room: assert (put_first ? room_first : room && all_q);
        put_as_came: assert (put_word == (came_last_q && !whole && !came_first_q
                                          ? 32'(came_head_q) : came_data_q));
        put_ends: assert (put_last == came_last_q && keep == came_last_q);
        if (came_last_q && !put_first) put_whole: assert (whole && all_q);
      end
      if (came_q) begin
        put_all: assert (put == (mine && fits));
        put_as_first: assert (put_first == (came_first_q || (came_last_q && !whole)));
      end
      lost_told: assert (lost == (came_q && mine && came_last_q && !fits));

      // Accesses.
      if (awvalid || wvalid || bready) begin
        writes_right: assert (right && !failed_q && owed_q && request_q.write
                              && made_q < request_q.words);
        writes_there: assert (awaddr == target);
        writes_word: assert (data_taken_q == 10'(made_q) + 10'd1 && wdata == data_q
                             && wstrb == 4'hf);
      end
      if (arvalid || rready) begin
        reads_right: assert (right && !failed_q && owed_q && !request_q.write
                             && made_q < request_q.words);
        reads_there: assert (araddr == target);
      end
      one_kind: assert (!((awvalid || wvalid || bready) && (arvalid || rready)));
      if (aw_held_q) aw_stays: assert (awvalid && awaddr == awaddr_q);
      if (w_held_q) w_stays: assert (wvalid && wdata == wdata_q);
      if (ar_held_q) ar_stays: assert (arvalid && araddr == araddr_q);
      once: assert (!(awvalid && aw_out_q) && !(wvalid && w_out_q) && !(arvalid && ar_out_q));
      taken: assert (bready == (awvalid || aw_out_q) && bready == (wvalid || w_out_q)
                     && rready == (arvalid || ar_out_q));

      // Answers.
      no_more_than_room: assert (outside_q + 4'(out_valid) <= 4'(Depth));
      if (out_valid) begin
        answers_when_done: assert (any_q && done && !request_q.quiet && taken_q == '0);
        answers_once: assert (owed_q == (out_q == '0));
        if (out_q == '0) answer_right: assert (out_data == answer);
        answer_ends: assert (out_last == (out_q == answer_words));
        if (out_q == 9'(followed) + 9'd1) as_read: assert (out_data == read_q);
      end
      if (out_q != '0) answer_goes_on: assert (!owed_q && out_q <= answer_words);
      if (first_taken) begins_alone: assert (over && !awvalid && !wvalid && !bready && !arvalid
                                             && !rready);
      if (take) takes_there: assert (there);

      reads: cover (out_valid && out_last && out_q == 9'd2);
      writes: cover (made_q == 9'd1 && bvalid && bready);
      fails: cover (out_valid && failed_q);
`ifndef CUT
      // What makes the rest follow by induction.
      state_came: assert (dut.flit_q == came_q && dut.within_q == within_q);
      if (came_q) begin
        state_flit: assert (dut.first_q == came_first_q && dut.last_flit_q == came_last_q
                            && dut.data_q == came_data_q && dut.known_q == mine);
      end
      if (within_q || (came_q && !came_first_q)) begin
        state_within: assert (came_q ? (came_first_q || flits_q != '0) : flits_q != '0);
      end
      if (came_q && !came_first_q) begin
        state_packet: assert (flits_q != '0 && dut.came_q == came_head_q && dut.all_q == all_q
                              && dut.known_q == known(came_head_q)
                              && dut.sized_q == (flits_q <= size(came_head_q))
                              && (!dut.sized_q
                                  || dut.left_q == size(came_head_q) - flits_q));
      end
      if (!came_q && within_q) begin
        state_rests: assert (flits_q != '0 && dut.came_q == came_head_q && dut.all_q == all_q
                             && dut.known_q == known(came_head_q)
                             && dut.sized_q == (flits_q <= size(came_head_q))
                             && (!dut.sized_q
                                 || dut.left_q == size(came_head_q) - flits_q));
      end
      state_follows: assert (!came_q || within_q == !came_last_q);

      state_credits: assert (4'(dut.credit_q) + outside_q + 4'(out_valid) == 4'(Depth)
                             && outside_q <= 4'(Depth));
      if (taken_q != '0) state_size: assert (taken_q < size(request_q));
      state_accesses: assert (dut.b_q == bready && dut.r_q == rready
                              && (dut.b_q || dut.r_q) == (dut.state_q == 3'd4)
                              && !(dut.b_q && dut.r_q));
      if (dut.state_q != 3'd0) begin
        state_request: assert (dut.head_q == request_q && known(request_q));
      end
      if (dut.state_q != 3'd0 && dut.state_q != 3'd7) begin
        state_owed: assert (any_q && owed_q && out_q == '0 && !out_valid);
      end
      unique case (dut.state_q)
        3'd0: begin
          state_idle: assert ((any_q || !owed_q) && taken_q == '0 && done
                              && (!owed_q || request_q.quiet || (out_valid && out_q == '0)));
          state_idle_out: assert ((out_q == '0 && !out_valid) || (out_valid && out_last));
        end
        3'd1: state_address: assert (dut.last_q == short_q && taken_q == 10'(!short_q)
                                     && made_q == '0 && !failed_q && data_taken_q == '0
                                     && dut.done_q == '0 && !dut.failed_q);
        3'd2: state_check: assert (!short_q && dut.address_q == addr_q && made_q == '0
                                   && taken_q == (dut.last_q ? 10'd0 : 10'd2) && !failed_q
                                   && dut.last_q == (size(request_q) == 10'd2)
                                   && data_taken_q == '0 && dut.done_q == '0);
        3'd3: state_fetch: assert (right && request_q.write && !failed_q && !dut.last_q
                                   && taken_q == 10'd2 + 10'(made_q)
                                   && data_taken_q == 10'(made_q));
        3'd4: begin
          state_access: assert (right && !failed_q && dut.b_q == request_q.write);
          if (request_q.write) begin
            state_write: assert (data_taken_q == 10'(made_q) + 10'd1
                                 && dut.last_q == (10'(made_q) + 10'd1 == 10'(request_q.words))
                                 && taken_q == (dut.last_q ? 10'd0 : 10'd3 + 10'(made_q)));
          end else begin
            state_read: assert (dut.last_q && taken_q == '0);
          end
        end
        3'd5: state_drop: assert (dut.failed_q && request_q.write && (!right || failed_q)
                                  && !short_q && dut.last_q == (taken_q == '0));
        3'd6: state_answer: assert (taken_q == '0 && done && dut.failed_q == answer.fixed);
        3'd7: begin
          state_send: assert (any_q && taken_q == '0 && done && dut.failed_q == answer.fixed
                              && !request_q.quiet);
          state_sent: assert (dut.send_first_q == (out_q == '0 && !out_valid)
                              && owed_q == (out_q == '0) && !(out_valid && out_last)
                              && dut.send_left_q == (dut.send_first_q ? answer_words
                                 : answer_words - (out_q + 9'(out_valid) - 9'd1))
                              && 9'(dut.index_q) == (dut.send_first_q ? 9'd0
                                 : out_q + 9'(out_valid) - 9'd1)
                              && out_q + 9'(out_valid) <= answer_words);
          if (dut.index_q == followed && made_q > 9'(followed) && !request_q.write) begin
            state_word: assert (dut.word_q == read_q);
          end
        end
      endcase
      if (dut.state_q == 3'd3 || dut.state_q == 3'd4) begin
        state_counts: assert (dut.done_q == made_q && made_q < request_q.words
                              && dut.left_words_q == request_q.words - made_q
                              && dut.sender_q == number(request_q.route.from)
                              && {dut.place_q, 2'b00} == target[11:0]);
      end
      if (dut.state_q == 3'd6 || dut.state_q == 3'd7 || dut.state_q == 3'd4) begin
        if (made_q > 9'(followed) && !request_q.write) begin
          state_kept: assert (dut.words[followed] == read_q);
        end
      end
      if (dut.state_q == 3'd2) begin
        state_sender: assert (dut.sender_q == number(request_q.route.from));
      end
`endif
    end
  end

endmodule
