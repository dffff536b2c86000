// The I/O VMM of Ethernet. Each port has an address, and a buffer for one frame.
//
// A Write sends a frame without its check sequence; the source address is the port's, whatever the
// frame has there. A Read gives the frame that came for the port, or nothing. One comes for it if
// it is whole and for the port's address or for all. While a port has not read one, those that
// come for it are lost, and no other port's.
module eth_vmm
  import io_pkg::*;
#(
  parameter int unsigned PORTS = 4
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The first byte that is sent is the highest. It does not change.
  input  logic [PORTS-1:0][47:0] mac_i,

  input  logic        request_valid_i,
  output logic        request_ready_o,
  input  request_t    request_i,
  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [31:0] in_data_i,
  output logic        out_valid_o,
  output logic [31:0] out_data_o,
  output logic        response_valid_o,
  output response_t   response_o,

  // The driver's halves.
  output logic        tx_valid_o,
  input  logic        tx_ready_i,
  output logic [10:0] tx_bytes_o,
  input  logic        tx_byte_ready_i,
  output logic [7:0]  tx_byte_o,
  input  logic        rx_begin_i,
  input  logic        rx_valid_i,
  input  logic [7:0]  rx_byte_i,
  input  logic        rx_end_i,
  input  logic        rx_good_i
);

  localparam int unsigned PortIndexWidth = PORTS > 1 ? unsigned'($clog2(PORTS)) : 1;
  typedef logic [PortIndexWidth-1:0] port_t;
  typedef logic [LengthWidth-1:0]    length_t;
  // Of a frame without its check sequence.
  localparam length_t HeaderBytes  = 11'd14;
  localparam length_t LongestBytes = 11'd1514;

  typedef enum logic [2:0] {
    Idle,
    Check,
    Begin,    // a frame, when the last one is gone and the first word is there
    Send,
    Fetch,    // the first byte is on its way from the buffer
    Receive,
    Respond
  } state_e;

  state_e  state_q;
  op_e     op_q;
  port_t   port_q;
  length_t length_q, left_q, place_q;
  logic    addressed_q;
  status_e status_q, refusal;

  logic [PORTS-1:0]       full_q, capture_q, match_q, fills;
  logic [PORTS-1:0][7:0]  read;
  length_t [PORTS-1:0]    bytes_q;
  length_t                waits, rx_count_q;
  logic                   for_all_q, unpacked_valid, pop;
  logic [7:0]             unpacked, read_q;
  logic [47:0]            mac_q;

  assign request_ready_o   = state_q == Idle;
  assign response_valid_o  = state_q == Respond;
  assign response_o.status = status_q;
  assign response_o.length = op_q == Read && status_q == Done ? length_q : '0;

  always_comb begin
    refusal = Done;
    if (op_q == Control) refusal = BadOp;
    else if (addressed_q) refusal = BadAddress;
    else if (length_q == '0) refusal = BadLength;
    else if (op_q == Write && (length_q < HeaderBytes || length_q > LongestBytes))
      refusal = BadLength;
  end

  // Sending: the source address is the port's.
  assign tx_valid_o = state_q == Begin && unpacked_valid;
  assign tx_bytes_o = length_q;
  always_comb begin
    tx_byte_o = unpacked;
    for (int unsigned i = 0; i < 6; i++) begin
      if (place_q == length_t'(6 + i)) tx_byte_o = mac_q[8*(5-i) +: 8];
    end
  end

  // Of the port that asks, from Begin on.
  always_ff @(posedge clk_i) mac_q <= mac_i[port_q];

  io_unpack u_unpack (
    .clk_i, .rst_ni, .clear_i(response_valid_o), .in_valid_i, .in_ready_o, .in_data_i,
    .byte_valid_o(unpacked_valid), .byte_ready_i(tx_byte_ready_i), .byte_o(unpacked)
  );

  // Receiving: what comes goes into every buffer that is free, and counts at its end.
  always_comb begin
    for (int unsigned i = 0; i < PORTS; i++) begin
      fills[i] = rx_end_i && rx_good_i && capture_q[i] && (match_q[i] || for_all_q);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      full_q     <= '0;
      capture_q  <= '0;
      match_q    <= '0;
      for_all_q  <= 1'b0;
      rx_count_q <= '0;
      bytes_q    <= '0;
    end else begin
      // Not one that came while nothing was being read.
      if (state_q == Respond && op_q == Read && status_q == Done && length_q != '0) begin
        full_q[port_q] <= 1'b0;
      end
      if (rx_begin_i) begin
        // One that is read at this moment is free for the next frame.
        capture_q  <= ~full_q;
        match_q    <= '1;
        for_all_q  <= 1'b1;
        rx_count_q <= '0;
      end else if (rx_valid_i) begin
        rx_count_q <= rx_count_q + 1'b1;
        for (int unsigned i = 0; i < 6; i++) begin
          if (rx_count_q == length_t'(i)) begin
            if (rx_byte_i != 8'hff) for_all_q <= 1'b0;
            for (int unsigned p = 0; p < PORTS; p++) begin
              if (rx_byte_i != mac_i[p][8*(5-i) +: 8]) match_q[p] <= 1'b0;
            end
          end
        end
      end
      if (rx_end_i) capture_q <= '0;
      for (int unsigned i = 0; i < PORTS; i++) begin
        if (fills[i]) begin
          full_q[i]  <= 1'b1;
          bytes_q[i] <= rx_count_q - 11'd4;
        end
      end
    end
  end

  for (genvar i = 0; i < PORTS; i++) begin : gen_buffer
    eth_buffer u_buffer (
      .clk_i, .write_i(rx_valid_i && capture_q[i]), .write_addr_i(rx_count_q), .data_i(rx_byte_i),
      .addr_i(place_q), .data_o(read[i])
    );
  end

  // The memories take half a cycle and more.
  always_ff @(posedge clk_i) read_q <= read[port_q];

  assign waits = full_q[port_q] ? bytes_q[port_q] : '0;
  assign pop   = state_q == Receive && left_q != '0;

  io_pack u_pack (
    .clk_i, .rst_ni, .clear_i(response_valid_o), .byte_valid_i(pop),
    .byte_last_i(left_q == length_t'(1)), .byte_i(read_q), .out_valid_o, .out_data_o
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= Idle;
      op_q        <= Read;
      port_q      <= '0;
      length_q    <= '0;
      left_q      <= '0;
      place_q     <= '0;
      addressed_q <= 1'b0;
      status_q    <= Done;
    end else begin
      unique case (state_q)
        Idle: begin
          place_q <= '0;
          if (request_valid_i) begin
            op_q        <= request_i.op;
            port_q      <= port_t'(request_i.port);
            length_q    <= request_i.length;
            addressed_q <= request_i.addr != '0;
            state_q     <= Check;
          end
        end
        Check: begin
          status_q <= refusal;
          left_q   <= length_q;
          if (refusal != Done) begin
            state_q <= Respond;
          end else if (op_q == Write) begin
            state_q <= Begin;
          end else begin
            state_q <= Fetch;
            place_q <= 11'd1;
            if (length_q > waits) begin
              length_q <= waits;
              left_q   <= waits;
            end
          end
        end
        Begin: if (tx_valid_o && tx_ready_i) state_q <= Send;
        Send: begin
          if (tx_byte_ready_i) begin
            place_q <= place_q + 1'b1;
            left_q  <= left_q - 1'b1;
            if (left_q == length_t'(1)) state_q <= Respond;
          end
        end
        Fetch: begin
          place_q <= place_q + 1'b1;
          state_q <= Receive;
        end
        Receive: begin
          place_q <= place_q + 1'b1;
          if (left_q != '0) left_q <= left_q - 1'b1;
          if (left_q <= length_t'(1)) state_q <= Respond;
        end
        Respond: state_q <= Idle;
      endcase
    end
  end

endmodule
