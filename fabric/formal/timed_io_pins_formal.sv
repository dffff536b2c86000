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
  input logic                       set,
  input logic [PIN_BITS-1:0]        pin,
  input logic                       owned,
  input logic [VM_BITS-1:0]         vm,
  input logic [VMS-1:0][Lines-1:0]  lines,
  input logic [PINS-1:0]            pins
);

  logic                      refused, owned_there;
  logic [VM_BITS-1:0]        vm_there;
  logic [VMS-1:0][Lines-1:0] granted, inputs;
  logic [PINS-1:0]           outputs;

  timed_io_pins #(.VMS(VMS), .PINS(PINS)) dut (
    .clk_i, .rst_ni,
    .set_i(set), .pin_i(pin), .owned_i(owned), .vm_i(vm), .refused_o(refused),
    .owned_o(owned_there), .vm_o(vm_there),
    .lines_i(lines), .granted_o(granted), .inputs_o(inputs),
    .pins_i(pins), .pins_o(outputs)
  );

  logic began_q = 1'b0;
  always_ff @(posedge clk_i) began_q <= 1'b1;
  always_ff @(posedge clk_i) begin_in_reset: assume (rst_ni == began_q);

  // Whose the pins are, as the manager has said so far; and what they showed had to be.

  logic [PINS-1:0]              has_q, shows_q, other_has, free_q;
  logic [PINS-1:0][VM_BITS-1:0] owner_q;
  logic [VMS-1:0][Lines-1:0]    has_pin, two_pins, reads_right;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      has_q   <= '0;
      shows_q <= '0;
      free_q  <= '0;
    end else begin
      if (set && !refused) has_q[pin] <= owned;
      for (int unsigned p = 0; p < PINS; p++) begin
        shows_q[p] <= has_q[p] && lines[owner_q[p]][p%Lines];
        free_q[p]  <= !has_q[p];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (set && !refused && owned) owner_q[pin] <= vm;
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
          reads_right[v][p%Lines] = inputs[v][p%Lines] == pins[p];
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_vm: assume (32'(vm) < VMS);

      // A function of the owner's line alone: no other VM's is in it.
      shows_owners_line: assert (outputs == shows_q);
      nobodys_is_low: assert ((outputs & free_q) == '0);
      granted_exactly: assert (granted == has_pin);
      reads_own_pin: assert (reads_right == '1);
      refused_exactly: assert (refused == (owned && other_has != '0));
      told: assert (owned_there == has_q[pin] && (!owned_there || vm_there == owner_q[pin]));

      two_vms: cover (outputs[0] && outputs[1] && owner_q[0] != owner_q[1]);
      taken_over: cover (set && !refused && owned && has_q[pin] && owner_q[pin] != vm);

`ifndef CUT
      state_one_pin: assert (two_pins == '0);
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
            right = 32'(dut.gen_vm[v].gen_line[l].group_q) == g;
          end
        end
      end
      always_ff @(posedge clk_i) if (rst_ni) same_group: assert (right);
    end
  end
`endif

endmodule
