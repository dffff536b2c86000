// The I/O VMM of no device: what a port has written, it reads back. For tests, and a template: it
// has the interface of each I/O VMM, which docs/src/reference/io-hypervisor.md describes, and
// `response` in the place where another has its driver.
//
// One port's bytes are kept: a Read of another port is Done with none of them, so that no port
// sees what is not its own. Addresses have to be 0. A request takes at most 2 WORDS + 2 cycles.
module io_echo
  import io_pkg::*;
#(
  // Words of 32 bits that are kept.
  parameter int unsigned WORDS = 64
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        request_valid_i,
  output logic        request_ready_o,
  input  request_t    request_i,
  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [31:0] in_data_i,
  output logic        out_valid_o,
  output logic [31:0] out_data_o,
  output logic        response_valid_o,
  output response_t   response_o
);

  localparam int unsigned IndexWidth = unsigned'($clog2(WORDS));

  typedef logic [IndexWidth:0] count_t;

  typedef enum logic [1:0] {
    Idle    = 2'd0,
    Take    = 2'd1,  // words of a Write
    Give    = 2'd2,  // words of a Read
    Respond = 2'd3
  } state_e;

  state_e                 state_q;
  response_t              response_q;
  logic [31:0]            kept [WORDS];
  // Whose bytes are kept, and how many.
  logic [PortWidth-1:0]   port_q;
  logic [LengthWidth-1:0] length_q;
  // The word that is next, and how many there are.
  count_t                 word_q, words_q;
  logic                   last;

  function automatic count_t words(logic [LengthWidth-1:0] bytes);
    return count_t'((32'(bytes) + 32'd3) >> 2);
  endfunction

  status_e                status;
  logic [LengthWidth-1:0] there, length;

  // What is refused changes nothing.
  assign status = request_i.op != Read && request_i.op != Write ? BadOp
                  : request_i.addr != '0 ? BadAddress
                  : 32'(request_i.length) > 4 * WORDS ? BadLength : Done;
  // Of a Read: what it asks for, or all there is for this port.
  assign there  = request_i.port == port_q ? length_q : '0;
  assign length = request_i.op == Write || request_i.length < there ? request_i.length : there;
  assign last   = word_q + 1'b1 == words_q;

  assign request_ready_o  = state_q == Idle;
  assign in_ready_o       = state_q == Take;
  assign response_valid_o = state_q == Respond;
  assign response_o       = response_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= Idle;
      response_q  <= '{status: Done, length: '0};
      port_q      <= '0;
      length_q    <= '0;
      word_q      <= '0;
      words_q     <= '0;
      out_valid_o <= 1'b0;
    end else begin
      out_valid_o <= state_q == Give;
      unique case (state_q)
        Idle: if (request_valid_i) begin
          word_q            <= '0;
          words_q           <= words(length);
          response_q.status <= status;
          response_q.length <= status == Done && request_i.op == Read ? length : '0;
          if (status != Done || length == '0) state_q <= Respond;
          else state_q <= request_i.op == Write ? Take : Give;
          if (status == Done && request_i.op == Write) begin
            port_q   <= request_i.port;
            length_q <= length;
          end
        end
        Take: if (in_valid_i) begin
          word_q <= word_q + 1'b1;
          if (last) state_q <= Respond;
        end
        Give: begin
          word_q <= word_q + 1'b1;
          if (last) state_q <= Respond;
        end
        Respond: state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Take && in_valid_i) kept[IndexWidth'(word_q)] <= in_data_i;
    out_data_o <= kept[IndexWidth'(word_q)];
  end

endmodule
