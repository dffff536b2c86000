// The I/O hypervisor's side of an I/O VMM, for tests: sends a request with its data when told,
// keeps what comes back, and counts the cycles from one to the other.
module io_vmm_port
  import io_pkg::*;
#(
  parameter int unsigned PORTS = 4
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  // From the test: `go` for a cycle begins. What is sent is in `sends` then.
  input  logic              go_i,
  input  request_t          ask_i,
  // Over, and then: words that are in `came`; cycles, from the request's to the response's.
  output logic              done_o,
  output response_t         answer_o,
  output logic [8:0]        words_o,
  output logic [31:0]       cycles_o,

  output logic              request_valid_o,
  input  logic              request_ready_i,
  output request_t          request_o,
  output logic              in_valid_o,
  input  logic              in_ready_i,
  output logic [31:0]       in_data_o,
  input  logic              out_valid_i,
  input  logic [31:0]       out_data_i,
  input  logic              response_valid_i,
  input  response_t         response_i
);

  // The words that so many bytes take.
  function automatic logic [LengthWidth-3:0] words(logic [LengthWidth-1:0] length);
    return (LengthWidth-2)'((32'(length) + 32'd3) >> 2);
  endfunction

  // Written and read by the test.
  logic [31:0] sends [512];
  logic [31:0] came [512];

  logic        asks_q, busy_q, sends_q;
  logic [8:0]  sent_q, left_q;
  logic [15:0] random_q;

  assign request_valid_o = asks_q;
  assign request_o       = asks_q ? ask_i : request_t'({4{random_q}});
  // A word is there in the first or the second cycle behind the last one.
  assign in_valid_o      = busy_q && left_q != '0 && (sends_q || random_q[0]);
  assign in_data_o       = in_valid_o ? sends[sent_q] : {2{random_q}};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      asks_q   <= 1'b0;
      busy_q   <= 1'b0;
      sends_q  <= 1'b0;
      sent_q   <= '0;
      left_q   <= '0;
      done_o   <= 1'b0;
      answer_o <= '{status: Done, default: '0};
      words_o  <= '0;
      cycles_o <= '0;
      random_q <= 16'hace1;
    end else begin
      // A shift register with feedback, of the longest period.
      random_q <= {random_q[14:0], random_q[15] ^ random_q[13] ^ random_q[12] ^ random_q[10]};
      cycles_o <= cycles_o + 32'(busy_q);
      if (go_i) begin
        asks_q <= 1'b1;
        done_o <= 1'b0;
      end
      if (request_valid_o && request_ready_i) begin
        asks_q   <= 1'b0;
        busy_q   <= 1'b1;
        sends_q  <= 1'b0;
        sent_q   <= '0;
        words_o  <= '0;
        cycles_o <= '0;
        left_q   <= ask_i.op == Read ? '0 : words(ask_i.length);
      end
      if (busy_q) sends_q <= 1'b1;
      if (in_valid_o && in_ready_i) begin
        sends_q <= 1'b0;
        sent_q  <= sent_q + 1'b1;
        left_q  <= left_q - 1'b1;
      end
      if (out_valid_i) begin
        words_o <= words_o + 1'b1;
      end
      if (response_valid_i) begin
        busy_q   <= 1'b0;
        done_o   <= 1'b1;
        answer_o <= response_i;
      end
    end
  end

  always_ff @(posedge clk_i) if (out_valid_i) came[words_o] <= out_data_i;

  io_vmm_props #(.PORTS(PORTS)) u_props (
    .clk_i, .rst_ni,
    .request_valid(request_valid_o), .request_ready(request_ready_i), .request(request_o),
    .in_valid(in_valid_o), .in_ready(in_ready_i), .out_valid(out_valid_i),
    .response_valid(response_valid_i), .response(response_i)
  );

endmodule
