// The interface's rules, looked at in the tests of the echo. One's own I/O VMM is bound alike.
bind io_echo io_vmm_rules #(.RESPONSE_CYCLES_MAX(2 * WORDS + 2), .READY_CYCLES_MAX(1)) u_checks (
  .clk_i, .rst_ni,
  .request_valid(request_valid_i), .request_ready(request_ready_o), .request(request_i),
  .in_valid(in_valid_i), .in_ready(in_ready_o), .out_valid(out_valid_o),
  .response_valid(response_valid_o), .response(response_o)
);
