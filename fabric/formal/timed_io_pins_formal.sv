// The pins of the timed I/O processor, whatever the manager and the VMs do: each shows its owner's
// line and nothing else, a VM reads its own pins alone, and the manager alone changes whose they
// are.
module timed_io_pins_formal import timed_io_pkg::*; #(
  parameter int unsigned VMS  = 3,
  parameter int unsigned PINS = 16,
  localparam int unsigned VM_BITS  = VMS > 1 ? $clog2(VMS) : 1,
  localparam int unsigned PIN_BITS = $clog2(PINS)
) (
  input logic                       clk_i,
  input logic                       rst_ni,
  input logic                       access,
  input logic                       set,
  input logic [PIN_BITS-1:0]        pin,
  input logic                       owned,
  input logic [VM_BITS-1:0]         vm,
  input logic [VMS-1:0][Lines-1:0]  lines,
  input logic [PINS-1:0]            pins
);

  logic                      answer, refused, owned_there;
  logic [VM_BITS-1:0]        vm_there;
  logic [VMS-1:0][Lines-1:0] granted, inputs;
  logic [PINS-1:0]           outputs;

  timed_io_pins #(.VMS(VMS), .PINS(PINS)) dut (
    .clk_i, .rst_ni,
    .access_i(access), .set_i(set), .pin_i(pin), .owned_i(owned), .vm_i(vm),
    .answer_o(answer), .refused_o(refused),
    .owned_o(owned_there), .vm_o(vm_there),
    .lines_i(lines), .granted_o(granted), .inputs_o(inputs),
    .pins_i(pins), .pins_o(outputs)
  );

  logic began_q = 1'b0;
  always_ff @(posedge clk_i) began_q <= 1'b1;
  always_ff @(posedge clk_i) begin_in_reset: assume (rst_ni == began_q);

  // An access stays as it is until it is answered. One that sets a pin takes so many steps.

  logic [PINS-1:0]              has_q, shows_q, other_has, free_q;
  logic [PINS-1:0][VM_BITS-1:0] owner_q;
  logic                         access_q, answer_q, set_q, owned_q, refuses, is_so;
  logic [PIN_BITS-1:0]          pin_q;
  logic [VM_BITS-1:0]           vm_q;
  logic [2:0]                   step_q;

  assign refuses = owned && other_has != '0;
  // What is given again stays.
  assign is_so   = owned ? has_q[pin] && owner_q[pin] == vm : !has_q[pin];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      access_q <= 1'b0;
      answer_q <= 1'b0;
      step_q   <= '0;
    end else begin
      access_q <= access;
      answer_q <= answer;
      step_q   <= step_q == 3'd0 ? 3'(access && set && !refuses && !is_so)
                  : step_q == 3'd4 ? 3'd0 : step_q + 3'd1;
    end
  end

  always_ff @(posedge clk_i) {set_q, pin_q, owned_q, vm_q} <= {set, pin, owned, vm};

  // Whose the pins are, as the manager has said so far; and what they showed had to be. A line of
  // the VM that loses or gets the pin follows a cycle later.

  logic                      follows, takes_over_q;
  logic [VMS-1:0][Lines-1:0] granted_1_q;
  assign follows = step_q == 3'd2 || step_q == 3'd4;
  always_ff @(posedge clk_i) begin
    granted_1_q <= granted;
    if (step_q == 3'd1) takes_over_q <= has_q[pin] && owned && owner_q[pin] != vm;
  end

  logic [VMS-1:0][Lines-1:0]    has_pin, two_pins, reads_right;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      has_q   <= '0;
      shows_q <= '0;
      free_q  <= '0;
    end else begin
      if (step_q == 3'd1) has_q[pin] <= 1'b0;
      if (step_q == 3'd3) has_q[pin] <= owned;
      for (int unsigned p = 0; p < PINS; p++) begin
        shows_q[p] <= has_q[p] && lines[owner_q[p]][p%Lines];
        free_q[p]  <= !has_q[p];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (step_q == 3'd3 && owned) owner_q[pin] <= vm;
  end

  always_comb begin
    has_pin     = '0;
    two_pins    = '0;
    reads_right = '1;
    other_has   = '0;
    for (int unsigned p = 0; p < PINS; p++) begin
      other_has[p] = has_q[p] && owner_q[p] == vm && PIN_BITS'(p) != pin
                     && 3'(p % Lines) == pin[2:0];
      for (int unsigned v = 0; v < VMS; v++) begin
        if (has_q[p] && 32'(owner_q[p]) == v) begin
          two_pins[v][p%Lines]    = two_pins[v][p%Lines] | has_pin[v][p%Lines];
          has_pin[v][p%Lines]     = 1'b1;
          reads_right[v][p%Lines] = inputs[v][p%Lines] == pins[p]
                                    || (step_q == 3'd4 && p == 32'(pin) && !granted[v][p%Lines]);
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_vm: assume (32'(vm) < VMS);
      access_kept: assume (!access_q || answer_q
                           || (access && {set, pin, owned, vm} == {set_q, pin_q, owned_q, vm_q}));

      answered: assert (answer == (access && (step_q == 3'd4
                                              || (step_q == 3'd0
                                                  && (!set || refuses || is_so)))));

      // A function of the owner's line alone: no other VM's is in it.
      shows_owners_line: assert (outputs == shows_q);
      free_is_low: assert ((outputs & free_q) == '0);
      granted_exactly: assert (granted == (follows ? granted_1_q : has_pin));
      reads_own_pin: assert (reads_right == '1);
      refused_exactly: assert (!answer || refused == refuses);
      told: assert (!answer || (owned_there == has_q[pin]
                                && (!owned_there || vm_there == owner_q[pin])));

      two_vms: cover (outputs[0] && outputs[1] && owner_q[0] != owner_q[1]);
      given_again: cover (access && set && owned && is_so && outputs[pin]);
      taken_over: cover (step_q == 3'd4 && takes_over_q);

`ifndef CUT
      state_one_pin: assert (two_pins == '0);
      state_step: assert (3'(dut.step_q) == step_q && step_q <= 3'd4 && (step_q == 3'd0 || access)
                          && (step_q == 3'd0 || (access_q && set)));
`endif
    end
  end

`ifndef CUT
  for (genvar p = 0; p < PINS; p++) begin : gen_state
    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        same_owner: assert (dut.owned_q[p] == has_q[p]
                            && (!has_q[p] || (dut.owner_q[p] == owner_q[p]
                                              && 32'(owner_q[p]) < VMS)));
      end
    end
  end
  for (genvar v = 0; v < VMS; v++) begin : gen_vm
    for (genvar l = 0; l < Lines; l++) begin : gen_line
      logic right;
      always_comb begin
        right = 1'b1;
        for (int unsigned g = 0; g < PINS / Lines; g++) begin
          if (has_q[Lines*g+l] && 32'(owner_q[Lines*g+l]) == v) begin
            right = 32'(dut.gen_vm[v].group_q[l]) == g
                    || (step_q == 3'd4 && 32'(pin) == Lines * g + l);
          end
        end
      end
      always_ff @(posedge clk_i) if (rst_ni) same_group: assert (right);
    end
  end
`endif

endmodule
