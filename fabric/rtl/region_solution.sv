// The best region for a request, of those that the task fits into. In this order:
// * an idle one that is loaded with the task;
// * the smallest idle one, to be configured;
// * the smallest one that computes for a lower priority, to be preempted, and to be configured
//   where it is loaded with another task;
// * none.
// Regions are numbered by size, the smallest first. One that is held, or on its way from one state
// to another, may not be chosen.
module region_solution #(
  parameter int unsigned REGIONS = 3
) (
  input  region_pkg::state_e [REGIONS-1:0] state_i,
  input  logic [REGIONS-1:0][7:0]          loaded_i,
  input  logic [REGIONS-1:0][7:0]          priority_i,

  // Four bits a task: region_monitor.rdl.
  input  logic [31:0]                      compatibility_i,
  input  logic [2:0]                       task_i,
  input  logic [7:0]                       task_priority_i,

  // 0 unavailable, 1 assign, 2 preempt.
  output logic [1:0]                       method_o,
  output logic                             reconfigure_o,
  output logic [3:0]                       region_o
);

  import region_pkg::*;

  localparam logic [1:0] Unavailable = 2'd0;
  localparam logic [1:0] Assign      = 2'd1;
  localparam logic [1:0] Evict       = 2'd2;

  logic [3:0]         fits;
  logic [REGIONS-1:0] has_task, idle, lower;

  assign fits = task_i == '0 ? '0 : compatibility_i[{task_i, 2'b00}+:4];

  always_comb begin
    for (int unsigned i = 0; i < REGIONS; i++) begin
      has_task[i] = loaded_i[i] == 8'(task_i);
      idle[i]     = fits[i] && state_i[i] == Idle;
      lower[i]    = fits[i] && state_i[i] == Busy && priority_i[i] < task_priority_i;
    end
  end

  // From the largest down, so that the smallest is what stays.
  always_comb begin
    method_o      = Unavailable;
    reconfigure_o = 1'b0;
    region_o      = '0;
    if ((idle & has_task) != '0) begin
      method_o = Assign;
      for (int unsigned i = REGIONS; i > 0; i--) begin
        if (idle[i-1] && has_task[i-1]) region_o = 4'(i - 1);
      end
    end else if (idle != '0) begin
      method_o      = Assign;
      reconfigure_o = 1'b1;
      for (int unsigned i = REGIONS; i > 0; i--) begin
        if (idle[i-1]) region_o = 4'(i - 1);
      end
    end else if (lower != '0) begin
      method_o = Evict;
      for (int unsigned i = REGIONS; i > 0; i--) begin
        if (lower[i-1]) begin
          region_o      = 4'(i - 1);
          reconfigure_o = !has_task[i-1];
        end
      end
    end
  end

endmodule
