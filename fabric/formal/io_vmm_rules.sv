// What the I/O hypervisor and an I/O VMM promise each other: docs/src/reference/io-hypervisor.md.
//
// VMM_PROVED: the I/O VMM's duties are proved and the hypervisor's taken for granted;
// HYPERVISOR_PROVED: the other way round; both: everything is checked, as in simulation.
// * the hypervisor has the next word of a request there within 2 cycles;
// * an I/O VMM responds within RESPONSE_CYCLES_MAX, and then takes the next request within
//   READY_CYCLES_MAX.
`include "property.svh"

module io_vmm_rules
  import io_pkg::*;
#(
  parameter bit          VMM_PROVED          = 1'b1,
  parameter bit          HYPERVISOR_PROVED   = 1'b1,
  parameter int unsigned PORTS               = 64,
  parameter int unsigned RESPONSE_CYCLES_MAX = 100,
  parameter int unsigned READY_CYCLES_MAX    = 4,
  // It can suspend a request.
  parameter bit          PREEMPTIBLE         = 1'b0
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

  localparam int unsigned TimeWidth = $clog2(RESPONSE_CYCLES_MAX + READY_CYCLES_MAX + 2);

  typedef logic [TimeWidth-1:0] time_t;

  logic       busy_q;              // a request is under way
  request_t   request_q, shown_q;  // that one; the one that was shown in the cycle before
  logic       held_q;
  logic [9:0] in_q, out_q;         // words of it that are left; that have come back
  time_t      time_q, ready_q;
  logic [1:0] in_wait_q;
  logic       taken;

  assign taken = request_valid && request_ready;

  function automatic logic [9:0] words(logic [LengthWidth-1:0] length);
    return 10'((12'(length) + 12'd3) >> 2);
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {busy_q, held_q, in_q, out_q, time_q, ready_q, in_wait_q} <= '0;
    end else begin
      busy_q    <= taken || (busy_q && !response_valid);
      held_q    <= request_valid && !request_ready;
      in_q      <= taken ? (request.op == Read ? '0 : words(request.length))
                         : response_valid ? '0 : in_q - 10'(in_valid && in_ready);
      out_q     <= taken ? '0 : out_q + 10'(out_valid);
      time_q    <= busy_q && !response_valid ? time_q + 1'b1 : '0;
      ready_q   <= request_valid && !request_ready ? ready_q + 1'b1 : '0;
      in_wait_q <= busy_q && in_q != '0 && !in_valid ? in_wait_q + 2'd1 : '0;
    end
  end

  always_ff @(posedge clk_i) begin
    shown_q <= request;
    if (taken) request_q <= request;
  end

  // The hypervisor.

  `PROPERTY(HYPERVISOR_PROVED, request_stays, !held_q || (request_valid && request == shown_q))
  `PROPERTY(HYPERVISOR_PROVED, request_alone, !request_valid || !busy_q)
  `PROPERTY(HYPERVISOR_PROVED, request_formed, !request_valid
            || (request.op != Reserved && request.length <= 11'd1536
                && 32'(request.port) < PORTS))
  `PROPERTY(HYPERVISOR_PROVED, in_due, !in_valid || (busy_q && in_q != '0))
  `PROPERTY(HYPERVISOR_PROVED, in_in_time, in_wait_q < 2'd2)

  // The I/O VMM.

  `PROPERTY(VMM_PROVED, response_due, !response_valid || busy_q)
  `PROPERTY(VMM_PROVED, response_in_time, time_q < time_t'(RESPONSE_CYCLES_MAX))
  `PROPERTY(VMM_PROVED, ready_in_time, ready_q < time_t'(READY_CYCLES_MAX))
  `PROPERTY(VMM_PROVED, out_due, !out_valid || (busy_q && request_q.op == Read))
  `PROPERTY(VMM_PROVED, out_not_more, !out_valid || out_q < words(request_q.length))
  `PROPERTY(VMM_PROVED, length_right, !response_valid || response.length == '0
            || (response.status == Done && request_q.op == Read
                && response.length <= request_q.length
                && words(response.length) == out_q + 10'(out_valid)))
  `PROPERTY(VMM_PROVED, done_right, !response_valid || response.status != Done
            || request_q.op != Read || words(response.length) == out_q + 10'(out_valid))
  // Words are left of a request that is suspended.
  `PROPERTY(VMM_PROVED, suspended_right, !response_valid || response.status != Suspended
            || (PREEMPTIBLE && request_q.op != Control
                && (request_q.op == Read ? out_q + 10'(out_valid) < words(request_q.length)
                                         : in_q > 10'(in_valid && in_ready))))
  `PROPERTY(VMM_PROVED, no_own_refusal, !response_valid
            || (response.status != Malformed && response.status != NoDevice
                && response.status != Denied))

endmodule
