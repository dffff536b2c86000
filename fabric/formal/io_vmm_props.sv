// The rules between the I/O hypervisor and an I/O VMM (docs/src/reference/io-hypervisor.md), for
// the side that is under proof; the other's are taken for granted. In simulation both are
// checked. How long a request takes is the device's matter, which here is anything: times are
// promised in io_vmm_rules, for I/O VMMs that know theirs.
`include "property.svh"

module io_vmm_props
  import io_pkg::*;
#(
  parameter bit          VMM_PROVED  = 1'b1,
  parameter int unsigned PORTS       = 4,
  // It can suspend a request.
  parameter bit          PREEMPTIBLE = 1'b0
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        request_valid,
  input logic        request_ready,
  input request_t    request,
  input logic        in_valid,
  input logic        in_ready,
  input logic        out_valid,
  input logic        response_valid,
  input response_t   response
);

  typedef logic [LengthWidth-3:0] words_t;

  // The words that so many bytes take.
  function automatic logic [LengthWidth-3:0] words(logic [LengthWidth-1:0] length);
    return (LengthWidth-2)'((32'(length) + 32'd3) >> 2);
  endfunction

  // The request under way: its words that have not come, and those that went back.
  logic        busy_q;
  op_e         op_q;
  logic [LengthWidth-1:0] length_q;
  words_t      in_left_q, out_words_q, out_words;

  assign out_words = out_words_q + words_t'(out_valid);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q      <= 1'b0;
      op_q        <= Read;
      length_q    <= '0;
      in_left_q   <= '0;
      out_words_q <= '0;
    end else begin
      out_words_q <= out_words;
      if (in_valid && in_ready) in_left_q <= in_left_q - 1'b1;
      if (response_valid) begin
        busy_q    <= 1'b0;
        in_left_q <= '0;
      end
      if (request_valid && request_ready) begin
        busy_q      <= 1'b1;
        op_q        <= request.op;
        length_q    <= request.length;
        in_left_q   <= request.op == Read ? '0 : words(request.length);
        out_words_q <= '0;
      end
    end
  end

  // The hypervisor.
  `PROPERTY(!VMM_PROVED, request_one, !(request_valid && busy_q))
  `PROPERTY(!VMM_PROVED, request_legal, !request_valid || (request.op != Reserved
            && request.length <= 11'd1536 && 32'(request.port) < PORTS))
  `PROPERTY(!VMM_PROVED, in_legal, !in_valid || (busy_q && in_left_q != '0))

  // The I/O VMM.
  `PROPERTY(VMM_PROVED, response_one, !response_valid || busy_q)
  `PROPERTY(VMM_PROVED, ready_one, !(request_ready && busy_q))
  `PROPERTY(VMM_PROVED, out_legal, !out_valid || (busy_q && op_q == Read
            && out_words <= words(length_q)))
  `PROPERTY(VMM_PROVED, response_words, !response_valid || response.status != Done
            || out_words == words(response.length))
  // Words are left of a request that is suspended.
  `PROPERTY(VMM_PROVED, response_suspended, !response_valid || response.status != Suspended
            || (PREEMPTIBLE && op_q != Control
                && (op_q == Read ? out_words < words(length_q)
                                 : in_left_q > words_t'(in_valid && in_ready))))
  `PROPERTY(VMM_PROVED, response_length, !response_valid || response.length == '0
            || (op_q == Read && response.status == Done && response.length <= length_q))

endmodule
