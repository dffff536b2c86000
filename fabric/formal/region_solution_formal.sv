// The best region for a request, said in another way: of all regions at once.
module region_solution_formal #(
  parameter int unsigned REGIONS = 3
) (
  input logic                    clk_i,
  input logic [REGIONS-1:0][2:0] states,
  input logic [REGIONS-1:0][7:0] loaded,
  input logic [REGIONS-1:0][7:0] priorities,
  input logic [31:0]             asked_fits,
  input logic [2:0]              asked_task,
  input logic [7:0]              asked_priority
);

  import region_pkg::*;

  state_e [REGIONS-1:0] state;

  for (genvar i = 0; i < int'(REGIONS); i++) begin : gen_state
    assign state[i] = state_e'(states[i]);
  end

  logic [1:0]         method;
  logic               reconfigure;
  logic [3:0]         chosen;
  logic [REGIONS-1:0] fits, is_chosen, idle, has_task, lower, smaller;

  region_solution #(.REGIONS(REGIONS)) dut (
    .state_i(state), .loaded_i(loaded), .priority_i(priorities), .compatibility_i(asked_fits),
    .task_i(asked_task), .task_priority_i(asked_priority),
    .method_o(method), .reconfigure_o(reconfigure), .region_o(chosen)
  );

  for (genvar i = 0; i < int'(REGIONS); i++) begin : gen_region
    assign fits[i]      = asked_task != '0 && asked_fits[4*32'(asked_task)+i];
    assign is_chosen[i] = method != 2'd0 && chosen == 4'(i);
    assign idle[i]      = state[i] == Idle;
    assign has_task[i]  = loaded[i] == {5'd0, asked_task};
    assign lower[i]     = state[i] == Busy && priorities[i] < asked_priority;
    assign smaller[i]   = method != 2'd0 && 4'(i) < chosen;
  end

  always_ff @(posedge clk_i) begin
    chosen_fits: assert ((is_chosen & ~fits) == '0);
    chosen_there: assert (method == 2'd0 || chosen < 4'(REGIONS));
    assign_idle: assert (method != 2'd1 || (is_chosen & idle) != '0);
    evict_lower: assert (method != 2'd2 || (is_chosen & lower) != '0);
    evict_last: assert (method != 2'd2 || (fits & idle) == '0);
    nothing_last: assert (method != 2'd0 || (fits & (idle | lower)) == '0);
    loaded_first: assert (method != 2'd1 || !reconfigure || (fits & idle & has_task) == '0);
    told_right: assert (method == 2'd0 || reconfigure == ((is_chosen & has_task) == '0));
    smallest: assert ((smaller & fits & (method == 2'd2 ? lower
                                         : (reconfigure ? idle : idle & has_task))) == '0);

    assigned: cover (method == 2'd1 && !reconfigure && chosen == 4'd2);
    configured: cover (method == 2'd1 && reconfigure && chosen == 4'd1);
    evicted: cover (method == 2'd2 && !reconfigure);
    none: cover (method == 2'd0 && fits != '0);
  end

endmodule
