// Whose each pin is, and what is on it.
//
// Pin p carries line p modulo 8 of the VM that has it, and nothing of any other VM reaches it. A
// line has at most one pin, so that a VM reads what is on that pin. The owners are set by the
// manager's page; a pin without an owner is low.
//
// Whose a pin is is kept with the pin, and which pin it has with each line: a VM's lines are found
// again, all at once, when one of its pins comes or goes. A pin that changes hands is no VM's until
// the VM that had it has lost it.
module timed_io_pins import timed_io_pkg::*; #(
  parameter int unsigned VMS  = 4,
  parameter int unsigned PINS = 32,  // a multiple of 8
  localparam int unsigned VM_BITS  = VMS > 1 ? $clog2(VMS) : 1,
  localparam int unsigned PIN_BITS = $clog2(PINS)
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // The manager: one pin at a time, which stays until it is answered. Refused is what would give a
  // line a second pin. What is so already stays as it is, and the pin with it.
  input  logic                access_i,
  input  logic                set_i,
  input  logic [PIN_BITS-1:0] pin_i,
  input  logic                owned_i,
  input  logic [VM_BITS-1:0]  vm_i,
  output logic                answer_o,
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

  typedef enum logic [2:0] {
    Asked,
    Frees,   // the pin is no VM's
    Loses,   // nor has the line of the VM that had it a pin
    Gives,   // the pin is the VM's
    Gets     // and so is the line
  } step_e;

  step_e              step_q;
  logic [2:0]         line;
  logic               sets, is_so;
  logic [VM_BITS-1:0] loser_q;  // had the pin, if any has
  logic [VM_BITS-1:0] vm;       // whose lines are found
  logic [PINS-1:0]    is_vms;

  // Of its lines, whether there is a pin, and which.
  logic [Lines-1:0]                found;
  logic [Lines-1:0][GroupBits-1:0] found_group;

  assign line     = pin_i[2:0];
  assign owned_o  = owned_q[pin_i];
  assign vm_o     = owner_q[pin_i];
  assign vm       = step_q == Loses ? loser_q : vm_i;
  assign answer_o = access_i && (step_q == Gets || (step_q == Asked && !sets));
  assign is_so    = owned_i ? owned_o && vm_o == vm_i : !owned_o;
  assign sets     = set_i && !refused_o && !is_so;

  assign refused_o = owned_i && found[line] && !is_so;

  always_comb begin
    for (int unsigned p = 0; p < PINS; p++) is_vms[p] = owned_q[p] && owner_q[p] == vm;
    for (int unsigned l = 0; l < Lines; l++) begin
      found[l]       = 1'b0;
      found_group[l] = '0;
      for (int unsigned g = 0; g < Groups; g++) begin
        found[l] = found[l] || is_vms[Lines*g+l];
        for (int unsigned b = 0; b < GroupBits; b++) begin
          if (g[b]) found_group[l][b] = found_group[l][b] || is_vms[Lines*g+l];
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q <= Asked;
    end else begin
      case (step_q)
        Asked:   if (access_i && sets) step_q <= Frees;
        Frees:   step_q <= Loses;
        Loses:   step_q <= Gives;
        Gives:   step_q <= Gets;
        Gets:    step_q <= Asked;
        default: step_q <= Asked;
      endcase
    end
  end

  always_ff @(posedge clk_i) if (step_q == Asked) loser_q <= vm_o;

  // What each pin shows.

  for (genvar p = 0; p < PINS; p++) begin : gen_pin
    logic [VMS-1:0] candidates;
    for (genvar v = 0; v < VMS; v++) begin : gen_candidate
      assign candidates[v] = lines_i[v][p%Lines];
    end

    logic is_this;
    assign is_this = (step_q == Frees || step_q == Gives) && 32'(pin_i) == p;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        owned_q[p] <= 1'b0;
      end else begin
        if (is_this) owned_q[p] <= step_q == Gives && owned_i;
      end
    end

    always_ff @(posedge clk_i) begin
      if (is_this) owner_q[p] <= vm_i;
      if (!owned_q[p]) begin
        pins_o[p] <= 1'b0;
      end else begin
        pins_o[p] <= candidates[owner_q[p]];
      end
    end
  end

  // What each VM has.

  for (genvar v = 0; v < VMS; v++) begin : gen_vm
    logic                            finds;
    logic [Lines-1:0]                granted_q;
    logic [Lines-1:0][GroupBits-1:0] group_q;
    assign finds = (step_q == Loses || step_q == Gets) && 32'(vm) == v;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        granted_q <= '0;
      end else if (finds) begin
        granted_q <= found;
      end
    end

    always_ff @(posedge clk_i) begin
      if (finds) group_q <= found_group;
    end

    for (genvar l = 0; l < Lines; l++) begin : gen_line
      logic [Groups-1:0] candidates;
      for (genvar g = 0; g < Groups; g++) begin : gen_group
        assign candidates[g] = pins_i[Lines*g+l];
      end
      assign inputs_o[v][l] = candidates[group_q[l]];
    end

    assign granted_o[v] = granted_q;
  end

endmodule
