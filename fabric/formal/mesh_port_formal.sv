// A place's port to the I/O hypervisor, whatever packets come and whenever devices answer.
//
// What comes: a packet is kept whole, in the size that its first word says, or as its first word
// alone. What is carried out: only what is right comes to a device, as it was sent; each request
// has its answer once, or none if it is quiet and done; an answer stays until it has been sent,
// with the words that the device gave, and while it does no device is asked.
//
// The queue between the two is arbitrary: of it is taken for granted that it has room for a first
// word where it has for another, and gives packets as they were kept.
module mesh_port_formal
  import io_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input logic [7:0]  devices,
  input logic        flit,
  input logic        flit_last,
  input logic [31:0] flit_data,
  input logic        sent,
  input logic [8:0]  word_index,
  input logic        grant,
  input logic        in_ready,
  input logic        out_valid,
  input logic [31:0] out_data,
  input logic        response_valid,
  input logic [14:0] responded,
  // The word of a response that is followed; any, but the same always.
  input logic [8:0]  followed,
  // What is seen of the queue where there is none.
  input logic [71:0] free
);

  logic        lost, answer_valid, in_valid, flit_first;
  logic [31:0] word_out, in_data;
  logic [7:0]  ask;
  answer_t     answer;
  request_t    request;
  response_t   response;

  assign response = response_t'(responded);

  mesh_port #(.PORT(6'd3)) dut (
    .clk_i, .rst_ni, .devices_i(devices),
    .flit_i(flit), .flit_first_i(flit_first), .flit_last_i(flit_last), .flit_data_i(flit_data),
    .lost_o(lost),
    .answer_valid_o(answer_valid), .answer_o(answer), .sent_i(sent), .word_i(word_index),
    .word_o(word_out),
    .ask_o(ask), .grant_i(grant), .request_o(request), .in_valid_o(in_valid),
    .in_ready_i(in_ready), .in_data_o(in_data), .out_valid_i(out_valid), .out_data_i(out_data),
    .response_valid_i(response_valid), .response_i(response)
  );

  // What goes into the queue, and what comes out of it.
  logic        put, put_first, room_first, room, there, take, put_last, last;
  logic [31:0] put_word, word;

`ifdef CUT
  assign {put, put_first, room_first, room, there, take, put_last, last, put_word, word}= free;
`else
  assign {put, put_first, room_first, room, there, take, put_last, last, put_word, word}
      = {dut.put, dut.put_first, dut.room_first, dut.room, dut.there, dut.take,
         dut.put_data[32], dut.last, dut.put_data[31:0], dut.word};
`endif

  function automatic logic [9:0] words(logic [LengthWidth-1:0] length);
    return 10'((13'(length) + 13'd3) / 4);
  endfunction

  // A packet's size, as its first word says.
  function automatic logic [9:0] size(header_t of);
    return of.op == Read ? 10'd2 : 10'd2 + words(of.length);
  endfunction

  logic    began_q = 1'b0;
  // What comes: flits of the packet so far, and those of them that were put; its first word.
  logic    within_q, all_q;
  logic [9:0] flits_q;
  header_t came_q;

  assign flit_first = !within_q;

  // What is carried out: words of the packet that have been taken, its first two; its turn.
  logic        turn_q, turned_q, owed_q, answered_q, short_q, held_q, last_q;
  logic [9:0]  taken_q, out_q;
  logic [8:0]  followed_q, index_q, index2_q;
  logic [31:0] addr_q, data_q, head_q;
  logic [7:0]  devices_q;
  header_t     request_q;
  answer_t     answer_q;
  response_t   response_q;
  status_e     refusal;
  logic        right;

  assign refusal = short_q || request_q.op == Reserved || request_q.length > 11'd1536
                   || request_q.memory ? Malformed
                   : request_q.device < 3'd1 || request_q.device > 3'd4 ? NoDevice
                   : !devices[request_q.device] ? Denied : Done;
  assign right   = refusal == Done;

  // A request is under way: until it has its answer, or is quiet and done.
  logic over, busy;
  assign over = request_q.quiet && turned_q && response_q.status == Done;
  assign busy = taken_q != '0 || answer_valid || (owed_q && !over);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {within_q, all_q, flits_q, turn_q, turned_q, owed_q, answered_q, held_q, taken_q, out_q,
       short_q} <= '0;
    end else begin
      if (flit) begin
        within_q <= !flit_last;
        all_q    <= put && (!within_q || all_q);
        flits_q  <= within_q ? flits_q + 10'(flits_q != '1) : 10'd1;
      end
      turn_q     <= grant || (turn_q && !response_valid);
      answered_q <= answer_valid && !sent;
      if (take) begin
        taken_q <= last ? '0 : taken_q + 10'd1;
        if (taken_q == '0) begin
          owed_q   <= 1'b1;
          short_q  <= last;
          turned_q <= 1'b0;
          out_q    <= '0;
        end
      end
      if (response_valid) turned_q <= 1'b1;
      if (out_valid) out_q <= out_q + 10'd1;
      if (answer_valid && !answered_q) owed_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    began_q    <= 1'b1;
    followed_q <= followed;
    {index_q, index2_q} <= {word_index, index_q};
    answer_q   <= answer;
    devices_q  <= devices;
    if (flit && !within_q) came_q <= header_t'(flit_data);
    if (take && taken_q == '0) request_q <= header_t'(word);
    if (take && taken_q == 10'd1) addr_q <= word;
    if (out_valid && out_q == 10'(followed)) data_q <= out_data;
    if (response_valid) response_q <= response;
    held_q <= rst_ni && there && !take;
    head_q <= word;
    last_q <= last;

    begin_in_reset: assume (rst_ni == began_q);
    if (began_q) one_followed: assume (followed == followed_q);

    if (rst_ni) begin
      // The queue.
      room_for_first: assume (!room || room_first);
      stays: assume (!held_q || (there && word == head_q && last == last_q));
      whole: assume (taken_q == '0 || there);
      if (taken_q != '0) in_size: assume (last == (taken_q + 10'd1 == size(request_q)));
      // The manager.
      if (busy) given_stays: assume (devices == devices_q);
      // Devices, as io_turn has them.
      asked_grant: assume (!grant || ask != '0);
      in_turn: assume (!(out_valid || response_valid || in_ready) || turn_q);
      of_read: assume (!out_valid || (request_q.op == Read && out_q < words(request_q.length)));
      answers: assume (!response_valid || response.length == '0
                       || (request_q.op == Read && response.status == Done
                           && words(response.length) == out_q + 10'(out_valid)));
      // The sender.
      sent_due: assume (!sent || answer_valid);

      // What comes.
      if (put) begin
        put_room: assert (flit && (put_first ? room_first : room));
        put_as_came: assert (put_word == (flit_last && put_first && within_q
                                          ? came_q : header_t'(flit_data)));
        put_ends: assert (put_last == flit_last);
        if (flit_last && !put_first) put_whole: assert (all_q && within_q
                                                        && flits_q + 10'd1 == size(came_q));
      end
      if (flit && !within_q) begins_first: assert (put_first);
      if (flit && within_q && !flit_last) goes_on: assert (!put_first);
      if (flit && flit_last) lost_told: assert (lost == !put && (put || !room_first));

      // Devices.
      if (ask != '0) begin
        ask_right: assert (right && ask == 8'd1 << request_q.device);
        ask_once: assert (!turn_q && !turned_q && owed_q);
        ask_room: assert (!answer_valid);
      end
      if (ask != '0 || turn_q) begin
        as_asked: assert (request.port == 6'd3 && request.op == request_q.op
                          && request.addr == addr_q && request.length == request_q.length);
      end
      words_all: assert (in_valid == (turn_q && request_q.op != Read && taken_q != '0));
      if (in_valid) in_order: assert (in_data == word && there && take == in_ready);

      // Answers.
      if (answered_q) answer_stays: assert (answer_valid && answer == answer_q);
      if (answer_valid) begin
        answer_due: assert (answered_q || (owed_q && taken_q == '0));
        answer_own: assert (answer.route == {request_q.route[5:0], request_q.route[11:6]}
                            && answer.device == request_q.device
                            && answer.tag == request_q.tag);
        answer_status: assert (answer.status == (turned_q ? response_q.status : refusal));
        answer_done: assert (turned_q == right);
        answer_length: assert (answer.length == (answer.status == Done ? response_q.length
                                                 : 11'(request_q.quiet)));
        answer_said: assert (!(request_q.quiet && answer.status == Done));
        // From its second cycle on.
        if (answered_q && index2_q == followed && out_q > 10'(followed)) begin
          as_given: assert (word_out == data_q);
        end
      end
      // The next request begins when the one before is over.
      if (take && taken_q == '0) begins_alone: assert (!turn_q && !busy);
      if (take) takes_there: assert (there);

      reads: cover (answer_valid && answer.length == 11'd5);
      leaves: cover (answer_valid && answer.status == DeviceFailed && request_q.op == Write
                     && request_q.length == 11'd8);
      shortens: cover (put && put_first && within_q && !room);
`ifndef CUT
      // What makes the rest follow by induction.
      state_known: assert (dut.state_q <= 3'd6);
      if (within_q) begin
        state_came: assert (dut.came_q == came_q && flits_q != '0
                            && (!dut.right_q || all_q)
                            && (!(dut.right_q) || (flits_q <= size(came_q)
                                && dut.left_q == size(came_q) - flits_q)));
      end
      state_taken: assert (taken_q == '0 || taken_q < size(request_q));
      if (dut.state_q == 3'd0) begin
        state_idle: assert (taken_q == '0 && !turn_q);
      end else begin
        state_header: assert (dut.header_q == request_q && owed_q && !answer_valid);
      end
      if (dut.state_q == 3'd1) begin
        state_address: assert (taken_q == 10'(!short_q) && dut.last_q == short_q && !turned_q
                               && out_q == '0 && dut.words_q == '0
                               && dut.status_q == Malformed);
      end
      if (dut.state_q >= 3'd2 && dut.state_q <= 3'd4) begin
        state_asks: assert (!short_q && !turned_q && dut.addr_q == addr_q
                            && dut.last_q == (taken_q == '0)
                            && (taken_q == '0 || (taken_q >= 10'd2 && request_q.op != Read))
                            && dut.words_q == out_q[8:0] && out_q <= 10'd384);
      end
      if (dut.state_q == 3'd2 || dut.state_q == 3'd3) state_none: assert (out_q == '0);
      if (dut.state_q == 3'd3 || dut.state_q == 3'd4) state_right: assert (right);
      state_turn: assert (turn_q == (dut.state_q == 3'd4));
      if (dut.state_q == 3'd5) state_drop: assert ((taken_q == '0 || taken_q >= 10'd2) && !short_q
                                                   && dut.last_q == (taken_q == '0));
      if (dut.state_q == 3'd6) state_respond: assert (taken_q == '0);
      if (dut.state_q == 3'd5 || dut.state_q == 3'd6 || answer_valid) begin
        state_status: assert (dut.header_q == request_q && (over || turned_q == right)
                              && dut.status_q == (turned_q ? response_q.status : refusal)
                              && (dut.status_q != Done || dut.length_q == response_q.length));
      end
      if (dut.state_q == 3'd0) begin
        state_over: assert (owed_q == (answer_valid && !answered_q) || (!answer_valid && over));
      end
      if ((dut.state_q >= 3'd4 || answer_valid) && out_q > 10'(followed)) begin
        state_word: assert (dut.words[followed] == data_q);
      end
      if (answer_valid && out_q > 10'(followed)) begin
        state_read: assert (index_q != followed || dut.word_q == data_q);
      end
`endif
    end
  end

endmodule
