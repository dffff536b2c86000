// The UART's I/O VMM, whatever comes and whichever port asks: what comes goes to the reader alone,
// and not to one that was not the reader yet when it came; bytes are sent during a Write alone, as
// many as it has; each request is answered once.
module uart_vmm_formal
  import io_pkg::*;
(
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic [PortWidth-1:0] reader,
  input logic                 request_valid,
  input logic [50:0]          asked,
  input logic                 in_valid,
  input logic [31:0]          in_data,
  input logic                 tx_ready,
  input logic                 rx_valid,
  input logic [7:0]           rx_data
);

  request_t    request;
  logic        request_ready, in_ready, out_valid, response_valid, tx_valid;
  logic [31:0] out_data;
  logic [7:0]  tx_data;
  response_t   response;

  assign request = request_t'(asked);

  uart_vmm #(.QUEUE_BYTES(4)) dut (
    .clk_i, .rst_ni, .reader_i(reader),
    .request_valid_i(request_valid), .request_ready_o(request_ready), .request_i(request),
    .in_valid_i(in_valid), .in_ready_o(in_ready), .in_data_i(in_data),
    .out_valid_o(out_valid), .out_data_o(out_data),
    .response_valid_o(response_valid), .response_o(response),
    .tx_valid_o(tx_valid), .tx_ready_i(tx_ready), .tx_data_o(tx_data),
    .rx_valid_i(rx_valid), .rx_data_i(rx_data)
  );

  io_vmm_props #(.VMM_PROVED(1'b1), .PORTS(64)) bus (
    .clk_i, .rst_ni, .request_valid, .request_ready, .request, .in_valid, .in_ready, .out_valid,
    .response_valid, .response
  );

  logic                 began_q = 1'b0, out_q = 1'b0;
  logic [PortWidth-1:0] port_q, reader_q;
  logic [LengthWidth-1:0] sent_q;
  // Bytes that came since the reader is the reader: up to 7.
  logic [2:0]           came_q;

  always_ff @(posedge clk_i) begin
    began_q  <= 1'b1;
    reader_q <= reader;
    out_q    <= began_q;
    if (!rst_ni) begin
      port_q   <= '0;
      sent_q   <= '0;
      came_q   <= '0;
    end else begin
      if (request_valid && request_ready) begin
        port_q <= request.port;
        sent_q <= '0;
      end
      if (tx_valid && tx_ready) sent_q <= sent_q + 1'b1;
      if (reader != reader_q) came_q <= 3'(rx_valid);
      else if (rx_valid && came_q != 3'd7) came_q <= came_q + 1'b1;
    end

    begin_in_reset: assume (rst_ni == began_q);
    // A port takes longer for its first request; and the reader changes between requests alone.
    if (!out_q) not_at_once: assume (!request_valid);
    if (began_q && (!request_ready || request_valid)) reader_stays: assume (reader == reader_q);

    if (rst_ni) begin
      if (out_valid) reader_alone: assert (port_q == reader);
      if (response_valid && response.status == Done && bus.op_q == Read)
        after_it_came: assert (response.length <= 11'(came_q) || came_q == 3'd7);
      if (tx_valid) in_a_write: assert (bus.busy_q && bus.op_q == Write && sent_q < bus.length_q);
      if (response_valid && response.status == Done && bus.op_q == Write)
        all_sent: assert (sent_q == bus.length_q);
      given: cover (response_valid && response.length == 11'd2);
      wrote: cover (response_valid && response.status == Done && sent_q == 11'd2);
    end
  end

`ifndef CUT
  localparam logic [2:0] Idle = 3'd0, Check = 3'd1, Send = 3'd2, Receive = 3'd3, Respond = 3'd4;

  // What makes the rest follow by induction.
  always_ff @(posedge clk_i) begin
    if (rst_ni && began_q) begin
      states: assert (dut.state_q <= Respond);
      one: assert (bus.busy_q == (dut.state_q != Idle));
      if (bus.busy_q) same: assert (dut.op_q == bus.op_q && dut.port_q == port_q
                                    && dut.length_q <= bus.length_q && bus.length_q <= 11'd1536
                                    && dut.op_q != Reserved);
      if (dut.state_q == Check) none_yet: assert (sent_q == '0 && bus.out_words_q == '0
                                                  && dut.length_q == bus.length_q);
      if (dut.op_q != Read) same_length: assert (dut.length_q == bus.length_q || !bus.busy_q);
      no_words: assert (dut.op_q == Read || !bus.busy_q || bus.out_words_q == '0);
      if (dut.state_q == Send)
        sends: assert (dut.op_q == Write && dut.left_q != '0 && dut.status_q == Done
                       && sent_q + dut.left_q == bus.length_q && dut.left_q <= bus.length_q);
      if (dut.state_q == Receive) begin
        receives: assert (dut.op_q == Read && dut.left_q <= dut.length_q && dut.mine
                          && dut.status_q == Done && dut.left_q <= 11'(dut.count_q)
                          && dut.length_q <= 11'd4
                          && (dut.length_q <= 11'(came_q) || came_q == 3'd7));
        place: assert (dut.u_pack.place_q == 2'(dut.length_q - dut.left_q));
        came: assert (11'(bus.out_words_q) + 11'(dut.u_pack.valid_q)
                      == (dut.length_q - dut.left_q) >> 2);
      end
      if (dut.state_q == Respond && dut.op_q == Read && dut.status_q == Done) begin
        all_came: assert (11'(bus.out_words_q) + 11'(dut.u_pack.valid_q)
                          == (dut.length_q + 11'd3) >> 2 && dut.mine && dut.length_q <= 11'd4
                          && (dut.length_q <= 11'(came_q) || came_q == 3'd7));
      end
      if (dut.state_q == Respond && dut.op_q == Write && dut.status_q == Done)
        sent_all: assert (sent_q == bus.length_q);
      if (dut.state_q == Respond) no_control: assert (dut.op_q != Control
                                                      || dut.status_q != Done);
      if (dut.state_q != Receive) place_0: assert (dut.u_pack.place_q == '0);
      if (dut.state_q != Receive && (dut.state_q != Respond || dut.status_q != Done
          || dut.op_q != Read)) no_out: assert (!dut.u_pack.valid_q);
      queued: assert (dut.count_q <= 3'd4);
      in_queue: assert (3'(dut.count_q) <= came_q || came_q == 3'd7
                        || reader_q != dut.reader_q);
      if (out_q) same_reader: assert (dut.reader_q == reader_q);
      else fresh: assert (dut.state_q == Idle && dut.count_q == '0);
    end
  end
`endif

endmodule
