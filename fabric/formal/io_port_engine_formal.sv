// The engine of an I/O port, whatever the VM asks for, and whenever devices and memory answer:
// nothing that is not right comes to a device or to memory; no access leaves the VM's window; words
// of the buffers are only those that the request names; each request is over once, with its answer,
// or without, where it was dropped: then no further access of memory is made for it.
//
// What the port is given stays while there is a request, as the manager promises.
module io_port_engine_formal
  import io_pkg::*;
  import io_port_pkg::*;
  import memory_tree_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input logic [7:0]  devices,
  input logic [19:0] window_base,
  input logic [20:0] window_pages,
  input logic        request_valid,
  input logic [83:0] asked,
  input logic        room,
  input logic        drop,
  input logic [63:0] row_data,
  input logic        grant,
  input logic        in_ready,
  input logic        out_valid,
  input logic        response_valid,
  input logic [14:0] responded,
  input logic        access_ready,
  input logic        reply_valid,
  input logic        reply_error,
  input logic [63:0] reply_data
);

  queued_t    request;
  response_t  response;
  answered_t  answer;
  request_t   device_request;
  access_t    access;
  reply_t     reply;
  logic       over, busy, answer_valid, store_read, fetched, in_valid, access_valid;
  logic [9:0] next_place, place;
  logic [7:0] row, ask;

  assign request  = queued_t'(asked);
  assign response = response_t'(responded);

  io_port_engine #(.PORT(6'd3)) dut (
    .clk_i, .rst_ni, .devices_i(devices), .window_base_i(window_base),
    .window_pages_i(window_pages),
    .request_valid_i(request_valid), .request_i(request), .room_i(room), .drop_i(drop),
    .busy_o(busy), .over_o(over),
    .answer_valid_o(answer_valid), .answer_o(answer),
    .next_place_o(next_place), .place_o(place), .store_read_o(store_read), .row_o(row),
    .row_i(row_data), .fetched_o(fetched),
    .ask_o(ask), .grant_i(grant), .device_request_o(device_request), .in_valid_o(in_valid),
    .in_ready_i(in_ready), .out_valid_i(out_valid), .response_valid_i(response_valid),
    .response_i(response),
    .access_valid_o(access_valid), .access_ready_i(access_ready), .access_o(access),
    .reply_valid_i(reply_valid), .reply_i(reply)
  );

  // What is right, as the documentation has it.
  logic        formed, placed, right;
  logic [9:0]  first;
  logic [8:0]  words;
  status_e     refusal;

  assign formed  = request.op != Reserved && request.length <= 11'd1536;
  assign placed  = request.memory ? request.place % 64 == 0
                   : request.place % 4 == 0 && request.place < 2048
                     && request.place + 32'(request.length) <= 32'd2048;
  assign refusal = !formed || !placed ? Malformed
                   : request.device < 3'd1 || request.device > 3'd4 ? NoDevice
                   : !devices[request.device] ? Denied : Done;
  assign right   = refusal == Done;
  assign first   = request.memory ? 10'd512 : 10'(request.place[10:2]);
  assign words   = 9'((12'(request.length) + 12'd3) / 4);

  // The request under way: its turn, words so far; the access under way, and its words to come.
  logic        began_q = 1'b0, turn_q, turned_q, held_q, roomy_q, write_q, offered_q, failed_q;
  // It is begun; it was dropped a cycle ago, or two.
  logic        busy_q, dropped_q, dropped_twice_q;
  logic [83:0] asked_q;
  logic [7:0]  devices_q;
  logic [19:0] base_q;
  logic [20:0] pages_q;
  logic [8:0]  in_q, out_q;
  logic [3:0]  left_q;
  access_t     access_q;

  assign reply = '{write: write_q, last: left_q == 4'd1, error: reply_error, data: reply_data};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {turn_q, turned_q, held_q, roomy_q, write_q, offered_q, failed_q, busy_q, dropped_q,
       dropped_twice_q, in_q, out_q, left_q} <= '0;
    end else begin
      turn_q    <= grant || (turn_q && !response_valid);
      turned_q  <= (turned_q || response_valid) && !over;
      held_q    <= request_valid && !over;
      failed_q  <= (failed_q || (reply_valid && reply_error)) && !over;
      roomy_q   <= room && !answer_valid;
      busy_q    <= busy && !over;
      dropped_q <= drop && !over;
      dropped_twice_q <= dropped_q && !over;
      in_q      <= over ? '0 : in_q + 9'(in_valid && in_ready);
      out_q     <= over ? '0 : out_q + 9'(out_valid);
      offered_q <= access_valid && !access_ready;
      if (access_valid && access_ready) begin
        left_q  <= access.write ? 4'd1 : 4'd8;
        write_q <= access.write;
      end else begin
        left_q  <= left_q - 4'(reply_valid);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    asked_q   <= asked;
    devices_q <= devices;
    base_q    <= window_base;
    pages_q   <= window_pages;
    access_q  <= access;
    began_q   <= 1'b1;
  end

  // An access, counted from the window's beginning, in pages and bytes.
  logic [20:0] page;
  logic [32:0] offset;
  assign offset = 33'(access.addr) - 33'({window_base, 12'h000});
  assign page = 21'(access.addr[31:12]) - 21'(window_base);

  always_ff @(posedge clk_i) begin
    begin_in_reset: assume (rst_ni == began_q);

    if (rst_ni) begin
      // The page.
      if (held_q) request_stays: assume (request_valid && asked == asked_q);
      if (held_q) given_stays: assume (devices == devices_q && window_base == base_q
                                       && window_pages == pages_q);
      if (roomy_q) room_stays: assume (room);
      if (drop) drop_begun: assume (busy_q);
      if (dropped_q) drop_stays: assume (drop);
      // The device.
      asked_grant: assume (!grant || ask != '0);
      in_turn: assume (!(out_valid || response_valid || in_ready) || turn_q);
      of_read: assume (!out_valid || (request.op == Read && out_q < words));
      answers: assume (!response_valid || response.length == '0
                       || (request.op == Read && response.status == Done
                           && response.length <= request.length));
      // Memory.
      due: assume (!reply_valid || left_q != '0);

      // Devices.
      if (ask != '0) begin
        ask_right: assert (request_valid && right && ask == 8'd1 << request.device);
        ask_once: assert (!turn_q && !turned_q);
      end
      as_asked: assert (device_request.port == 6'd3 && device_request.op == request.op
                        && device_request.addr == request.addr
                        && device_request.length == request.length);
      words_all: assert (in_valid == (turn_q && request.op != Read && in_q < words));
      if (turn_q && in_valid) in_place: assert (place == first + 10'(in_q));
      if (out_valid) out_place: assert (place == first + 10'(out_q));
      if (turn_q) place_half: assert (!(in_valid || out_valid) || place[9] == request.memory);

      // Memory.
      if (access_valid) begin
        access_right: assert (request_valid && right && request.memory);
        access_window: assert (access.addr[31:12] >= window_base && page < window_pages);
        access_place: assert (offset == 33'(request.place) + 33'({row, 3'b000}));
        access_formed: assert (access.write == (request.op == Read)
                               && access.log2_words == (access.write ? 2'd0 : 2'd3)
                               && access.addr % (access.write ? 8 : 64) == 0);
        access_when: assert (access.write ? turned_q : !turned_q && !turn_q);
      end
      if (offered_q) access_stays: assert (access_valid && access == access_q);
      if (dropped_twice_q && access_valid) drop_ends: assert (offered_q);
      if (fetched) fetch_row: assert (reply_valid && !write_q && row < 8'd192);

      // The answer.
      busy_told: assert (busy == (busy_q || (request_valid && room)));
      if (over) begin
        over_due: assert (request_valid && !turn_q && left_q == '0);
        over_room: assert (room);
        answer_own: assert (answer.device == request.device && answer.tag == request.tag);
        answer_said: assert (answer_valid
                             == !(drop || (request.quiet && answer.status == Done)));
        refused: assert (right ? turned_q || answer.status == MemoryFailed || drop
                         : !turned_q && answer.status == refusal);
        answer_failed: assert (!failed_q || answer.status == MemoryFailed);
        answer_length: assert (answer.length == '0
                               || (answer.status == Done && request.op == Read
                                   && answer.length <= request.length));
      end else begin
        no_answer: assert (!answer_valid);
      end

      fetches: cover (over && request.memory && request.op == Write && answer.status == Done);
      stores: cover (over && request.memory && answer.length == 11'd13);
      reads: cover (over && !request.memory && answer.length == 11'd9 && out_q == 9'd3);
      drops: cover (over && drop && turned_q && request.op == Read && request.memory);
      outside: cover (over && answer.status == MemoryFailed && left_q == '0 && !turned_q);

`ifndef CUT
      // What makes the rest follow by induction.
      state_known: assert (dut.state_q <= 4'd8);
      state_turn: assert (turn_q == (dut.state_q == 4'd7));
      state_busy: assert (dut.state_q == 4'd0 || (held_q && roomy_q));
      state_begun: assert (busy_q == (dut.state_q != 4'd0));
      if (dropped_twice_q) state_dropped: assert (dut.state_q != 4'd3);
      state_right: assert (dut.state_q == 4'd0 || dut.state_q == 4'd1 || right
                           || dut.state_q == 4'd8);
      if (dut.state_q == 4'd0) state_idle: assert (!turned_q && in_q == '0 && out_q == '0);
      if (dut.state_q == 4'd1) begin
        state_check: assert (!turned_q && in_q == '0 && out_q == '0 && dut.status_q == refusal
                             && dut.length_q == '0 && dut.row_q == '0
                             && (!right || (place == first
                                 && dut.words_q == (request.op == Read ? '0 : words))));
      end
      if (dut.state_q >= 4'd2 && dut.state_q <= 4'd5) begin
        state_memory: assert (request.memory && dut.status_q == Done
                              && (request.op == Read) == turned_q
                              && (dut.row_q < dut.rows || dut.state_q == 4'd5));
      end
      if (dut.state_q == 4'd6 || dut.state_q == 4'd7) begin
        state_ask: assert (!turned_q && dut.status_q == Done && dut.length_q == '0);
      end
      if (!turned_q && dut.state_q >= 4'd2 && dut.state_q <= 4'd7) begin
        state_words: assert (dut.words_q == (request.op == Read ? '0 : words - in_q));
        state_place: assert (place == first + 10'(in_q) + 10'(out_q));
        state_counts: assert (in_q <= words && out_q <= words
                              && (request.op == Read ? in_q == '0 : out_q == '0));
        state_none: assert (dut.state_q == 4'd7 || (in_q == '0 && out_q == '0));
      end
      state_length: assert (dut.state_q == 4'd0 || dut.length_q == '0
                            || (turned_q && request.op == Read
                                && dut.length_q <= request.length));
      state_status: assert (dut.state_q != 4'd8 || dut.length_q == '0 || dut.status_q == Done
                            || dut.status_q == MemoryFailed);
      if (dut.state_q == 4'd3) state_load: assert (!dut.inside_q || dut.located_q[31:12]
                                                  >= window_base
                                                  && 21'(dut.located_q[31:12])
                                                     - 21'(window_base) < window_pages);
      if (dut.state_q == 4'd3 || dut.state_q == 4'd4) begin
        state_aligned: assert (dut.located_q % (request.op == Read ? 8 : 64) == 0
                               || !dut.inside_q);
      end
      if (dut.state_q == 4'd3 || dut.state_q == 4'd4) begin
        state_offset: assert (!dut.inside_q
                              || 33'(dut.located_q) - 33'({window_base, 12'h000})
                                 == 33'(request.place) + 33'({dut.row_q, 3'b000}));
      end
      if (dut.state_q == 4'd4) state_access: assert (dut.inside_q);
      if (!turned_q && dut.state_q >= 4'd2 && dut.state_q <= 4'd4) begin
        state_line: assert (dut.row_q % 8 == 0);
      end
      if (dut.state_q == 4'd5) begin
        state_reply: assert (left_q != '0 && write_q == (request.op == Read)
                             && (write_q ? left_q == 4'd1
                                 : left_q <= 4'd8 && (dut.row_q + 8'(left_q)) % 8 == 0
                                   && dut.row_q - (8'd8 - 8'(left_q)) < dut.rows));
      end else begin
        state_no_reply: assert (left_q == '0);
      end
      state_failed: assert (!failed_q || (dut.state_q == 4'd5 && dut.failed_q)
                            || (dut.state_q == 4'd8 && dut.status_q == MemoryFailed));
      if (dut.state_q == 4'd8) begin
        state_over: assert (right ? turned_q || dut.status_q == MemoryFailed || drop
                            : !turned_q && dut.status_q == refusal);
      end
`endif
    end
  end

endmodule
