// What stands in for a reconfigurable region in simulation: all tasks that fit into it, of which
// the one that it is loaded with drives the outputs.
//
// While it is being reconfigured, and while it is empty, the outputs are what hardware's may be:
// anything. They change in every cycle, to random bits, or to what the tasks drive inverted, or to
// all ones; the same for the same SEED. A task that is not loaded is in reset. With rests_i they
// stay as they are.
module region_partition #(
  parameter int unsigned TASKS = 1,
  // The number of each task, the first in the lowest byte; 0 is none.
  parameter logic [8*TASKS-1:0] NUMBERS = 8'd1,
  parameter logic [31:0] SEED = 32'd1
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  input  logic       rests_i,
  input  logic       reconfiguring_i,
  input  logic [7:0] loaded_i,

  input  region_pkg::from_task_t [TASKS-1:0] from_tasks_i,
  output region_pkg::to_task_t [TASKS-1:0]   to_tasks_o,

  output region_pkg::from_task_t from_region_o,
  input  region_pkg::to_task_t   to_region_i
);

  localparam int unsigned Width = $bits(region_pkg::from_task_t);
  localparam int unsigned Words = (Width + 31) / 32;

  // As many generators as it takes, each begun elsewhere: xorshift, 32 bits (Marsaglia 2003).
  logic [Words-1:0][31:0] random_q;

  function automatic logic [31:0] xorshift(logic [31:0] x);
    logic [31:0] y;
    y = x ^ (x << 13);
    y = y ^ (y >> 17);
    return y ^ (y << 5);
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int unsigned i = 0; i < Words; i++) begin
        random_q[i] <= (SEED ^ (32'h9e37_79b9 * (i + 1))) | 32'd1;
      end
    end else if (!rests_i) begin
      for (int unsigned i = 0; i < Words; i++) random_q[i] <= xorshift(random_q[i]);
    end
  end

  region_pkg::from_task_t selected;
  logic                   there;

  always_comb begin
    selected   = '0;
    there      = 1'b0;
    to_tasks_o = '0;
    for (int unsigned i = 0; i < TASKS; i++) begin
      if (!reconfiguring_i && loaded_i != '0 && loaded_i == NUMBERS[8*i+:8]) begin
        selected      = from_tasks_i[i];
        to_tasks_o[i] = to_region_i;
        there         = 1'b1;
      end
    end
    if (there) begin
      from_region_o = selected;
    end else begin
      case (random_q[0][5:4])
        2'd0:    from_region_o = ~from_tasks_i[0];
        2'd1:    from_region_o = '1;
        default: from_region_o = Width'(random_q);
      endcase
    end
  end

endmodule
