// Whose commands a region gets, with the region's states: while it is the allocator's, the device
// manager's page brings it into no other state and connects no interface, and is told so. What
// became of the page's last command stays, whatever the allocator does.
module region_owner_formal (
  input logic        clk_i,
  input logic        rst_ni,
  input logic [4:0]  page,
  input logic [3:0]  page_client,
  input logic [7:0]  page_priority,
  input logic [31:0] page_hold,
  input region_pkg::from_allocator_t allocator,
  input logic        may_connect,
  input logic        configure,
  input logic        configured,
  input logic [7:0]  configured_task,
  input logic        start,
  input logic        abort,
  input logic        task_done,
  input logic        task_stopped,
  input logic        drained
);

  import region_pkg::*;

  logic [4:0]  commands;
  logic [3:0]  new_client, client;
  logic [7:0]  new_priority, loaded, prio;
  logic [31:0] hold;
  logic        page_refused, refused, connected, configurable;
  state_e      state;

  region_owner dut (
    .clk_i, .rst_ni,
    .page_i(page), .page_client_i(page_client), .page_priority_i(page_priority),
    .page_hold_i(page_hold), .page_refused_o(page_refused), .allocator_i(allocator),
    .command_o(commands), .client_o(new_client), .priority_o(new_priority), .hold_o(hold),
    .refused_i(refused)
  );

  region_control #(.DRAIN_CYCLES(4)) u_control (
    .clk_i, .rst_ni,
    .take_i(commands[4]), .preempt_i(commands[3]), .kill_i(commands[2]),
    .connect_i(commands[1]), .release_i(commands[0]), .new_client_i(new_client),
    .new_priority_i(new_priority), .may_connect_i(may_connect), .hold_cycles_i(hold),
    .refused_o(refused),
    .configure_i(configure), .configurable_o(configurable),
    .configured_i(configured), .configured_task_i(configured_task),
    .start_i(start), .abort_i(abort), .done_i(task_done), .stopped_i(task_stopped),
    .drained_i(drained),
    .state_o(state), .loaded_o(loaded), .connected_o(connected), .client_o(client),
    .priority_o(prio), .isolate_o(), .stop_o(), .task_rst_no(), .stopped_o(), .expired_o(),
    .overdue_o()
  );

  logic       began_q = 1'b0;
  logic       any_q, owned_q, connected_q, refused_q;
  logic [4:0] allocator_q, page_q;
  logic [3:0] allocator_client_q, page_client_q;
  logic [7:0] allocator_priority_q;
  state_e     state_q;

  always_ff @(posedge clk_i) begin
    began_q              <= 1'b1;
    any_q                <= page != '0;
    owned_q              <= allocator.owned;
    page_q               <= page;
    page_client_q        <= page_client;
    allocator_q          <= {allocator.take, allocator.preempt, allocator.kill, allocator.connect,
                             allocator.release_region};
    allocator_client_q   <= allocator.client;
    allocator_priority_q <= allocator.prio;
    connected_q          <= connected;
    refused_q            <= page_refused;
    state_q              <= state;

    begin_in_reset: assume (rst_ni == began_q);
    if (rst_ni && !$past(rst_ni)) begin
      none_refused: assert (!page_refused);
    end
    if (rst_ni && $past(rst_ni)) begin
      page_masked: assert (!any_q || !owned_q || page_refused);
      page_told: assert (!(page_q == 5'b00010 && !owned_q && !page_refused)
                         || (connected && client == page_client_q));
      page_kept: assert (any_q || page_refused == refused_q);
      connects_own: assert (!owned_q || connected_q || !connected
                            || (allocator_q[1] && client == allocator_client_q
                                && prio == allocator_priority_q));
      takes_own: assert (!owned_q || state_q == Switch || state != Switch || state_q == Reconfig
                         || state_q == Busy || state_q == Preempt || allocator_q[4]);
      releases_own: assert (!owned_q || state_q != Switch || state != Idle || allocator_q[0]);

      both: cover (owned_q && any_q && allocator_q[1] && connected && !connected_q);
      page_connects: cover (!owned_q && connected && !connected_q);
    end
  end

`ifndef CUT
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      state_known: assert (state inside {Idle, Busy, Preempt, Switch, Reconfig, Hold});
      state_own: assert (!connected || !(state inside {Switch, Reconfig}));
      state_client_there: assert (connected || !(state inside {Busy, Preempt, Hold}));
      start_free: assume (!start || (connected && (state == Idle || state == Hold)));
    end
  end
`endif

endmodule
