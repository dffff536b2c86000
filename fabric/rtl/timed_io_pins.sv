// Whose each pin is, and what is on it.
//
// Pin p carries line p modulo 8 of the VM that has it, and nothing of any other VM reaches it. A
// line has at most one pin, so that a VM reads what is on that pin. The owners are set by the
// manager's page; a pin without an owner is low.
module timed_io_pins import timed_io_pkg::*; #(
  parameter int unsigned VMS  = 4,
  parameter int unsigned PINS = 32,  // a multiple of 8
  localparam int unsigned VM_BITS  = VMS > 1 ? $clog2(VMS) : 1,
  localparam int unsigned PIN_BITS = $clog2(PINS)
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // The manager: one pin at a time. Refused is what would give a line a second pin; the answer is
  // there in the same cycle.
  input  logic                set_i,
  input  logic [PIN_BITS-1:0] pin_i,
  input  logic                owned_i,
  input  logic [VM_BITS-1:0]  vm_i,
  output logic                refused_o,
  // Of pin_i, as it is.
  output logic                owned_o,
  output logic [VM_BITS-1:0]  vm_o,

  input  logic [VMS-1:0][Lines-1:0] lines_i,
  output logic [VMS-1:0][Lines-1:0] granted_o,
  output logic [VMS-1:0][Lines-1:0] inputs_o,

  input  logic [PINS-1:0]     pins_i,
  output logic [PINS-1:0]     pins_o
);

  localparam int unsigned Groups    = PINS / Lines;
  localparam int unsigned GroupBits = Groups > 1 ? $clog2(Groups) : 1;

  logic [PINS-1:0]              owned_q;
  logic [PINS-1:0][VM_BITS-1:0] owner_q;

  logic [2:0]           line;
  logic [GroupBits-1:0] group;
  logic [Lines-1:0]     granted_there;
  logic                 same, sets;

  assign line          = pin_i[2:0];
  assign group         = GroupBits'(32'(pin_i) >> 3);
  assign owned_o       = owned_q[pin_i];
  assign vm_o          = owner_q[pin_i];
  assign granted_there = granted_o[vm_i];
  assign same          = owned_o && vm_o == vm_i;
  assign refused_o     = owned_i && granted_there[line] && !same;
  assign sets          = set_i && !refused_o;

  // What each pin shows.

  for (genvar p = 0; p < PINS; p++) begin : gen_pin
    logic [VMS-1:0] candidates;
    for (genvar v = 0; v < VMS; v++) begin : gen_candidate
      assign candidates[v] = lines_i[v][p%Lines];
    end

    logic is_this;
    assign is_this = sets && 32'(pin_i) == p;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        owned_q[p] <= 1'b0;
        pins_o[p]  <= 1'b0;
      end else begin
        if (is_this) owned_q[p] <= owned_i;
        pins_o[p] <= owned_q[p] && candidates[owner_q[p]];
      end
    end

    always_ff @(posedge clk_i) begin
      if (is_this) owner_q[p] <= vm_i;
    end
  end

  // Of each line, whether it has a pin, and which. What is given to the VM that has it stays there.

  for (genvar v = 0; v < VMS; v++) begin : gen_vm
    logic gives, takes;
    assign gives = sets && owned_i && 32'(vm_i) == v;
    assign takes = sets && owned_o && 32'(vm_o) == v;

    for (genvar l = 0; l < Lines; l++) begin : gen_line
      logic                 granted_q;
      logic [GroupBits-1:0] group_q;
      logic [Groups-1:0]    candidates;

      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
          granted_q <= 1'b0;
        end else if ((gives || takes) && 32'(line) == l) begin
          granted_q <= gives;
        end
      end

      always_ff @(posedge clk_i) begin
        // A line that has no pin has any group: so both are changed at once.
        if ((gives || takes) && 32'(line) == l) group_q <= group;
      end

      for (genvar g = 0; g < Groups; g++) begin : gen_group
        assign candidates[g] = pins_i[Lines*g+l];
      end

      assign granted_o[v][l] = granted_q;
      assign inputs_o[v][l]  = candidates[group_q];
    end
  end

endmodule
