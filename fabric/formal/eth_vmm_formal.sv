// The I/O VMM of Ethernet, whatever comes, whichever port asks, and whenever the MAC takes: a Read
// gives a frame only if one came whole for the port's address, or for all, since the last one that
// it gave; frames go out with the port's address as their source; each request is answered once.
module eth_vmm_formal
  import io_pkg::*;
(
  input logic             clk_i,
  input logic             rst_ni,
  input logic [1:0][47:0] mac,
  input logic             request_valid,
  input logic [50:0]      asked,
  input logic             in_valid,
  input logic [31:0]      in_data,
  input logic             tx_ready,
  input logic             tx_byte_ready,
  // What the receiver says: the rest between frames, a frame's beginning, a byte, its end.
  input logic [1:0]       rx,
  input logic             rx_good,
  input logic [7:0]       rx_byte
);

  request_t    request;
  logic        request_ready, in_ready, out_valid, response_valid, tx_valid;
  logic        rx_begin, rx_valid, rx_end;
  logic [31:0] out_data;
  logic [10:0] tx_bytes;
  logic [7:0]  tx_byte;
  response_t   response;

  assign request  = request_t'(asked);
  assign rx_begin = rx == 2'd1;
  assign rx_valid = rx == 2'd2;
  assign rx_end   = rx == 2'd3;

  eth_vmm #(.PORTS(2)) dut (
    .clk_i, .rst_ni, .mac_i(mac),
    .request_valid_i(request_valid), .request_ready_o(request_ready), .request_i(request),
    .in_valid_i(in_valid), .in_ready_o(in_ready), .in_data_i(in_data),
    .out_valid_o(out_valid), .out_data_o(out_data),
    .response_valid_o(response_valid), .response_o(response),
    .tx_valid_o(tx_valid), .tx_ready_i(tx_ready), .tx_bytes_o(tx_bytes),
    .tx_byte_ready_i(tx_byte_ready), .tx_byte_o(tx_byte),
    .rx_begin_i(rx_begin), .rx_valid_i(rx_valid), .rx_byte_i(rx_byte), .rx_end_i(rx_end),
    .rx_good_i(rx_good)
  );

  io_vmm_props #(.VMM_PROVED(1'b1), .PORTS(2)) bus (
    .clk_i, .rst_ni, .request_valid, .request_ready, .request, .in_valid, .in_ready, .out_valid,
    .response_valid, .response
  );

  logic             began_q = 1'b0;
  logic             port_q, framing_q, sending_q;
  logic [1:0][47:0] mac_q;
  // Of the frame that comes: how many bytes, and the first six. Of each port: one came for it.
  logic [10:0]      count_q, sent_q;
  logic [47:0]      to_q;
  logic [1:0]       came_q;
  logic [5:0][7:0]  source;

  assign source = mac[port_q];

  always_ff @(posedge clk_i) begin
    began_q <= 1'b1;
    mac_q   <= mac;
    if (!rst_ni) begin
      port_q    <= 1'b0;
      framing_q <= 1'b0;
      sending_q <= 1'b0;
      count_q   <= '0;
      sent_q    <= '0;
      to_q      <= '0;
      came_q    <= '0;
    end else begin
      if (request_valid && request_ready) port_q <= request.port[0];
      if (response_valid && response.length != '0) came_q[port_q] <= 1'b0;
      if (rx_begin) begin
        framing_q <= 1'b1;
        count_q   <= '0;
      end
      if (rx_valid) begin
        count_q <= count_q + 1'b1;
        if (count_q < 11'd6) to_q <= {to_q[39:0], rx_byte};
      end
      if (rx_end) begin
        framing_q <= 1'b0;
        for (int unsigned p = 0; p < 2; p++) begin
          if (rx_good && (to_q == mac[p] || to_q == '1)) came_q[p] <= 1'b1;
        end
      end
      if (tx_valid && tx_ready) begin
        sending_q <= 1'b1;
        sent_q    <= '0;
      end else if (tx_byte_ready) begin
        sent_q <= sent_q + 1'b1;
        if (sent_q + 11'd1 == tx_bytes) sending_q <= 1'b0;
      end
    end

    begin_in_reset: assume (rst_ni == began_q);
    if (began_q) stays: assume (mac == mac_q);
    // The receiver: frames begin and end; a good one has 64 to 1,518 bytes. Fewer are as good here,
    // and sooner there.
    in_turn: assume (framing_q ? !rx_begin : !rx_valid && !rx_end);
    lengths: assume (!rx_end || !rx_good || (count_q >= 11'd7 && count_q <= 11'd1518));
    fits: assume (!rx_valid || count_q < 11'd2047);
    // The sender takes the bytes of a frame that it took.
    takes: assume (!tx_byte_ready || sending_q);

    if (rst_ni) begin
      if (response_valid && response.length != '0) for_the_port: assert (came_q[port_q]);
      if (tx_byte_ready && sent_q >= 11'd6 && sent_q < 11'd12)
        own_source: assert (tx_byte == source[11'd11 - sent_q]);
      if (tx_valid) whole: assert (tx_bytes >= 11'd14 && tx_bytes <= 11'd1514
                                   && bus.op_q == Write && bus.busy_q);
      sends: cover (tx_byte_ready && sent_q == 11'd7);
      nothing: cover (response_valid && response.status == Done && bus.op_q == Read);
    end
  end

`ifndef CUT
  localparam logic [2:0] Idle = 3'd0, Check = 3'd1, Begin = 3'd2, Send = 3'd3, Fetch = 3'd4,
    Receive = 3'd5, Respond = 3'd6;

  // The first bytes of a frame are a port's address, as far as they came.
  function automatic logic same_so_far(logic [47:0] to, logic [10:0] count, logic [47:0] address);
    case (count)
      11'd0:   return 1'b1;
      11'd1:   return to[7:0] == address[47:40];
      11'd2:   return to[15:0] == address[47:32];
      11'd3:   return to[23:0] == address[47:24];
      11'd4:   return to[31:0] == address[47:16];
      11'd5:   return to[39:0] == address[47:8];
      default: return to == address;
    endcase
  endfunction

  // What makes the rest follow by induction.
  always_ff @(posedge clk_i) begin
    if (rst_ni && began_q) begin
      states: assert (dut.state_q <= Respond);
      one: assert (bus.busy_q == (dut.state_q != Idle));
      never_suspends: assert (dut.status_q != Suspended);
      if (framing_q) begin
        counts: assert (dut.rx_count_q == count_q);
        matched: assert ((!dut.match_q[0] || same_so_far(to_q, count_q, mac[0]))
                         && (!dut.match_q[1] || same_so_far(to_q, count_q, mac[1])));
        all_of_them: assert (!dut.for_all_q || same_so_far(to_q, count_q, '1));
      end else begin
        no_capture: assert (dut.capture_q == '0);
      end
      no_double: assert ((dut.capture_q & dut.full_q) == '0);
      full_came: assert ((dut.full_q & ~came_q) == '0);
      if (dut.full_q[0]) bytes_0: assert (dut.bytes_q[0] >= 11'd3 && dut.bytes_q[0] <= 11'd1514);
      if (dut.full_q[1]) bytes_1: assert (dut.bytes_q[1] >= 11'd3 && dut.bytes_q[1] <= 11'd1514);
      if (bus.busy_q) begin
        same: assert (dut.op_q == bus.op_q && dut.port_q == port_q && dut.op_q != Reserved
                      && dut.length_q <= bus.length_q && bus.length_q <= 11'd1536);
        no_words: assert (dut.op_q == Read || bus.out_words_q == '0);
        if (dut.op_q != Read) same_length: assert (dut.length_q == bus.length_q);
      end
      if (dut.state_q == Check) fresh: assert (dut.length_q == bus.length_q && dut.place_q == '0
                                               && bus.out_words_q == '0);
      if (dut.state_q == Begin || dut.state_q == Send)
        writes: assert (dut.op_q == Write && dut.status_q == Done && dut.length_q >= 11'd14
                        && dut.length_q <= 11'd1514);
      if (dut.state_q == Begin || dut.state_q == Send) source_same: assert (dut.mac_q == source);
      if (dut.state_q == Begin) begins: assert (dut.left_q == dut.length_q && dut.place_q == '0);
      if (dut.state_q == Send) sending: assert (sending_q && dut.place_q == sent_q
        && dut.left_q != '0 && sent_q + dut.left_q == dut.length_q);
      else not_sending: assert (!sending_q);
      if (dut.state_q == Fetch || dut.state_q == Receive)
        reads: assert (dut.op_q == Read && dut.status_q == Done && dut.left_q <= dut.length_q
                       && (dut.length_q == '0 || dut.full_q[port_q]));
      if (dut.state_q == Fetch) fetches: assert (dut.left_q == dut.length_q
        && bus.out_words_q == '0);
      if (dut.state_q == Receive) begin
        place: assert (dut.u_pack.place_q == 2'(dut.length_q - dut.left_q));
        came: assert (11'(bus.out_words_q) + 11'(dut.u_pack.valid_q)
                      == (dut.length_q - dut.left_q) >> 2);
      end else begin
        place_0: assert (dut.u_pack.place_q == '0);
      end
      if (dut.state_q == Respond) begin
        no_control: assert (dut.op_q != Control || dut.status_q != Done);
        if (dut.op_q == Read && dut.status_q == Done)
          all_came: assert (11'(bus.out_words_q) + 11'(dut.u_pack.valid_q)
                            == 11'((12'(dut.length_q) + 12'd3) >> 2)
                            && (dut.length_q == '0 || dut.full_q[port_q]));
      end
      if (dut.state_q != Receive && !(dut.state_q == Respond && dut.op_q == Read
          && dut.status_q == Done)) no_out: assert (!dut.u_pack.valid_q);
    end
  end
`endif

endmodule
