// The crossbar between interfaces and regions, whatever the device manager commands, the VMs write
// and the tasks say: no interface has two regions, and what goes between a region and an interface
// goes between those that are connected, and no others.
//
// The regions' states are those of region_control; commands, and all that the interfaces and the
// regions say, are free.
module interface_crossbar_formal #(
  parameter int unsigned INTERFACES = 3,
  parameter int unsigned REGIONS    = 3
) (
  input logic                           clk_i,
  input logic                           rst_ni,
  input logic [REGIONS-1:0]             take,
  input logic [REGIONS-1:0]             preempt,
  input logic [REGIONS-1:0]             kill,
  input logic [REGIONS-1:0]             connect,
  input logic [REGIONS-1:0]             release_it,
  input logic [REGIONS-1:0][3:0]        new_client,
  input logic [REGIONS-1:0]             configure,
  input logic [REGIONS-1:0]             configured,
  input logic [REGIONS-1:0][7:0]        configured_task,
  input logic [REGIONS-1:0]             task_done,
  input logic [REGIONS-1:0]             task_stopped,
  input logic [REGIONS-1:0]             drained,
  input region_pkg::from_interface_t [INTERFACES-1:0] from_interface,
  input region_pkg::to_interface_t [REGIONS-1:0]      from_region,
  // A region and an interface that are looked at; any, but the same all the time.
  input logic [1:0]                     r,
  input logic [1:0]                     i
);

  import region_pkg::*;

  logic [REGIONS-1:0]               connected, may_connect, region_drained;
  logic [REGIONS-1:0][3:0]          client;
  logic [INTERFACES-1:0]            told, told_drained;
  logic [INTERFACES-1:0][3:0]       told_region;
  from_interface_t [REGIONS-1:0]    to_region;
  to_interface_t [INTERFACES-1:0]   to_interface;

  interface_crossbar #(.INTERFACES(INTERFACES), .REGIONS(REGIONS)) dut (
    .clk_i, .rst_ni,
    .connected_i(connected), .client_i(client), .drained_i(region_drained), .connect_i(connect),
    .new_client_i(new_client),
    .may_connect_o(may_connect), .to_region_o(to_region), .from_region_i(from_region),
    .connected_o(told), .region_o(told_region), .drained_o(told_drained),
    .from_interface_i(from_interface),
    .to_interface_o(to_interface)
  );

  for (genvar k = 0; k < int'(REGIONS); k++) begin : gen_region
    state_e state;
    logic   isolate;

    assign region_drained[k] = isolate && drained[k];

    region_control u_control (
      .clk_i, .rst_ni,
      .take_i(take[k]), .preempt_i(preempt[k]), .kill_i(kill[k]), .connect_i(connect[k]),
      .release_i(release_it[k]), .new_client_i(new_client[k]), .new_priority_i('0),
      .may_connect_i(may_connect[k]), .hold_cycles_i(32'd3), .refused_o(),
      .configure_i(configure[k]), .configurable_o(), .configured_i(configured[k]),
      .configured_task_i(configured_task[k]),
      .start_i(connected[k] && (to_region[k].start || to_region[k].resume)),
      .abort_i(connected[k] && to_region[k].abort_task),
      .done_i(task_done[k]), .stopped_i(task_stopped[k]), .drained_i(drained[k]),
      .state_o(state), .loaded_o(), .connected_o(connected[k]), .client_o(client[k]), .priority_o(),
      .isolate_o(isolate), .stop_o(), .task_rst_no(), .stopped_o(), .expired_o(), .overdue_o()
    );

`ifndef CUT
    // What makes the rest follow by induction: region_control's own proof has it, too.
    always_ff @(posedge clk_i) begin
      if (rst_ni) own: assert (!connected[k] || (state != Switch && state != Reconfig));
    end
`endif
  end

  logic began_q = 1'b0;
  always_ff @(posedge clk_i) began_q <= 1'b1;
  always_ff @(posedge clk_i) begin_in_reset: assume (rst_ni == began_q);

  logic [1:0] r_q, i_q;
  always_ff @(posedge clk_i) begin
    {r_q, i_q} <= {r, i};
    looked_at: assume (32'(r) < REGIONS && 32'(i) < INTERFACES);
    if (began_q) same: assume (r == r_q && i == i_q);
  end

  // How many regions have the interface; whether the one looked at has it, and for how long.

  logic [2:0]      has;
  // Some region whose last client it is is not drained.
  logic            undrained;
  logic            joined, joined_q;
  from_interface_t said_q, said, shown;
  to_interface_t   given, taken;

  always_comb begin
    has = '0;
    undrained = 1'b0;
    for (int unsigned k = 0; k < REGIONS; k++) begin
      has       = has + 3'(connected[k] && client[k] == 4'(i));
      undrained = undrained || (client[k] == 4'(i) && !region_drained[k]);
    end
  end

  assign joined = connected[r] && client[r] == 4'(i);
  assign said   = from_interface[i];
  assign shown  = to_region[r];
  assign given  = from_region[r];
  assign taken  = to_interface[i];

  always_ff @(posedge clk_i) begin
    joined_q <= rst_ni && joined;
    said_q   <= said;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      one_region: assert (has <= 3'd1);
      one_there: assert (!connected[r] || 32'(client[r]) < INTERFACES);
      // It is told with its region's second cycle, and told that it is over at once.
      told_true: assert (!told[i] || has == 3'd1);
      if (joined) begin
        told_same: assert (told[i] == joined_q);
        told_number: assert (!told[i] || told_region[i] == 4'(r));
        ctx_shown: assert (shown.ctx_rdata == said.ctx_rdata);
      end
      if (joined && told[i]) begin
        start_shown: assert (shown.start == said.start && shown.resume == said.resume
                             && shown.abort_task == said.abort_task);
        rest_shown: assert ({shown.src, shown.dst, shown.length, shown.param, shown.window_base,
                             shown.window_pages}
                            == {said_q.src, said_q.dst, said_q.length, said_q.param,
                                said_q.window_base, said_q.window_pages});
        all_taken: assert (taken == given);
      end
      if (!(joined && told[i]) && has <= 3'd1 && (!connected[r] || client[r] == 4'(i))) begin
        no_other_starts: assert (!shown.start && !shown.resume && !shown.abort_task);
      end
      drained_told: assert (told_drained[i] == !undrained);
      if (!told[i]) begin
        nothing_taken: assert (!taken.done && !taken.stopped && !taken.ctx_we
                               && !taken.refused_outside && !taken.refused_illegal
                               && !taken.wrong_last);
      end
      // A connection that is a second one, or to no interface, is refused; any other may be.
      if (new_client[r] == 4'(i) && has != '0) second_refused: assert (!may_connect[r]);
      if (32'(new_client[r]) >= INTERFACES) absent_refused: assert (!may_connect[r]);
      if (new_client[r] == 4'(i) && has == '0 && connect == '0) begin
        free_allowed: assert (may_connect[r]);
      end

`ifndef CUT
      state_settled: assert (!joined || dut.settled_q[r] == joined_q);
`endif

      three: cover (connected == '1);
      at_once: cover (connect[0] && connect[1] && new_client[0] == 4'(i) && new_client[1] == 4'(i)
                      && may_connect[0] && !may_connect[1]);
      starts: cover (joined && told[i] && said.start);
      owed_after: cover (has == '0 && undrained);
    end
  end

endmodule
