// The I/O VMM of a UART: a Write sends its bytes one behind the other, and no other port's between
// them; a Read gives what has come, up to its length, to the one port that the input is for.
//
// What comes waits in a queue; what comes while it is full is lost. When the input becomes another
// port's, what waits is thrown away.
module uart_vmm
  import io_pkg::*;
#(
  // A power of two.
  parameter int unsigned QUEUE_BYTES = 64
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  // The port that reads.
  input  logic [PortWidth-1:0] reader_i,

  input  logic                 request_valid_i,
  output logic                 request_ready_o,
  input  request_t             request_i,
  input  logic                 in_valid_i,
  output logic                 in_ready_o,
  input  logic [31:0]          in_data_i,
  output logic                 out_valid_o,
  output logic [31:0]          out_data_o,
  output logic                 response_valid_o,
  output response_t            response_o,

  // The driver.
  output logic                 tx_valid_o,
  input  logic                 tx_ready_i,
  output logic [7:0]           tx_data_o,
  input  logic                 rx_valid_i,
  input  logic [7:0]           rx_data_i
);

  localparam int unsigned PlaceWidth = $clog2(QUEUE_BYTES);
  typedef logic [PlaceWidth-1:0]  place_t;
  typedef logic [PlaceWidth:0]    count_t;
  typedef logic [LengthWidth-1:0] length_t;

  typedef enum logic [2:0] {
    Idle,
    Check,
    Send,
    Receive,
    Respond
  } state_e;

  state_e               state_q;
  op_e                  op_q;
  logic [PortWidth-1:0] port_q, reader_q;
  length_t              length_q, left_q;
  logic                 addressed_q;
  status_e              status_q, refusal;

  logic   unpacked_valid, sent, pop, push, mine, changed;
  logic [7:0] queue [QUEUE_BYTES];
  place_t first_q, next_q;
  count_t count_q;

  assign request_ready_o   = state_q == Idle;
  assign response_valid_o  = state_q == Respond;
  assign response_o.status = status_q;
  assign response_o.length = op_q == Read && status_q == Done ? length_q : '0;
  assign mine              = port_q == reader_q;

  always_comb begin
    refusal = Done;
    if (op_q == Control) refusal = BadOp;
    else if (addressed_q) refusal = BadAddress;
    else if (length_q == '0) refusal = BadLength;
    else if (op_q == Read && !mine) refusal = Protected;
  end

  // The queue. While it is read its reader stays.
  assign changed = reader_i != reader_q && (state_q == Idle || state_q == Respond);
  assign push    = rx_valid_i && 32'(count_q) < QUEUE_BYTES && !changed;
  assign pop     = state_q == Receive && left_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reader_q <= '0;
      first_q  <= '0;
      next_q   <= '0;
      count_q  <= '0;
    end else begin
      if (changed) begin
        reader_q <= reader_i;
        first_q  <= next_q;
        count_q  <= '0;
      end else begin
        if (push) next_q <= next_q + 1'b1;
        if (pop) first_q <= first_q + 1'b1;
        count_q <= count_q + count_t'(push) - count_t'(pop);
      end
    end
  end

  always_ff @(posedge clk_i) if (push) queue[next_q] <= rx_data_i;

  // The words of a Write.
  assign tx_valid_o = unpacked_valid && state_q == Send;
  assign sent       = tx_valid_o && tx_ready_i;

  io_unpack u_unpack (
    .clk_i, .rst_ni, .clear_i(response_valid_o), .in_valid_i, .in_ready_o, .in_data_i,
    .byte_valid_o(unpacked_valid), .byte_ready_i(sent), .byte_o(tx_data_o)
  );

  io_pack u_pack (
    .clk_i, .rst_ni, .clear_i(response_valid_o), .byte_valid_i(pop),
    .byte_last_i(left_q == length_t'(1)), .byte_i(queue[first_q]), .out_valid_o, .out_data_o
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= Idle;
      op_q        <= Read;
      port_q      <= '0;
      length_q    <= '0;
      left_q      <= '0;
      addressed_q <= 1'b0;
      status_q    <= Done;
    end else begin
      unique case (state_q)
        Idle: begin
          if (request_valid_i) begin
            op_q        <= request_i.op;
            port_q      <= request_i.port;
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
            state_q <= Send;
          end else begin
            // As much as there is.
            state_q <= Receive;
            if (length_q > length_t'(count_q)) begin
              length_q <= length_t'(count_q);
              left_q   <= length_t'(count_q);
            end
          end
        end
        Send: begin
          if (sent) begin
            left_q <= left_q - 1'b1;
            if (left_q == length_t'(1)) state_q <= Respond;
          end
        end
        Receive: begin
          if (left_q != '0) left_q <= left_q - 1'b1;
          if (left_q <= length_t'(1)) state_q <= Respond;
        end
        Respond: state_q <= Idle;
      endcase
    end
  end

endmodule
