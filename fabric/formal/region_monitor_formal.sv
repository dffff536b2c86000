// The region monitor, whatever is written to its page and however the regions change: the list
// keeps its order and loses no request, and what is found is for the first in it that there is a
// region for. That solutions are the best there are is region_solution's proof.
//
// axil_slave is replaced by arbitrary behaviour: any write, in any cycle.
module region_monitor_formal #(
  parameter int unsigned REGIONS = 3,
  parameter int unsigned ENTRIES = 3
) (
  input logic                      clk_i,
  input logic                      rst_ni,
  input logic [REGIONS-1:0][2:0]   states,
  input logic [REGIONS-1:0][7:0]   loaded,
  input logic [REGIONS-1:0][7:0]   priorities,
  // Two clients; any, but the same all the time.
  input logic [3:0]                first,
  input logic [3:0]                second
);

  import region_pkg::*;

  logic irq;
  state_e [REGIONS-1:0] state;

  for (genvar i = 0; i < int'(REGIONS); i++) begin : gen_state
    assign state[i] = state_e'(states[i]);
  end

  region_monitor #(.REGIONS(REGIONS), .ENTRIES(ENTRIES)) dut (
    .clk_i, .rst_ni,
    .s_axil_awvalid('0), .s_axil_awready(), .s_axil_awaddr('0), .s_axil_awprot('0),
    .s_axil_wvalid('0), .s_axil_wready(), .s_axil_wdata('0), .s_axil_wstrb('0),
    .s_axil_bvalid(), .s_axil_bready('0), .s_axil_bresp(),
    .s_axil_arvalid('0), .s_axil_arready(), .s_axil_araddr('0), .s_axil_arprot('0),
    .s_axil_rvalid(), .s_axil_rready('0), .s_axil_rdata(), .s_axil_rresp(),
    .irq_o(irq), .state_i(state), .loaded_i(loaded), .priority_i(priorities),
    .compatibility_o(), .waiting_o(), .waiting_task_o(), .waiting_priority_o()
  );

  logic began_q = 1'b0;
  always_ff @(posedge clk_i) began_q <= 1'b1;
  always_ff @(posedge clk_i) begin_in_reset: assume (rst_ni == began_q);

  always_ff @(posedge clk_i) begin
    if (rst_ni && !$past(rst_ni)) begins_quiet: assert (!irq);
    if (rst_ni) found: cover (irq);
  end

`ifndef CUT
  // Whether each entry of the list has a solution, as the regions were a cycle ago.
  logic [ENTRIES-1:0] solvable;

  for (genvar i = 0; i < int'(ENTRIES); i++) begin : gen_entry
    logic [1:0] entry_method;
    logic       entry_reconfigure;
    logic [3:0] entry_region;

    region_solution #(.REGIONS(REGIONS)) entry (
      .state_i(dut.state_q), .loaded_i(dut.loaded_q), .priority_i(dut.priority_q),
      .compatibility_i(dut.compatibility_q), .task_i(dut.tasks[i]),
      .task_priority_i(dut.priorities[i]),
      .method_o(entry_method), .reconfigure_o(entry_reconfigure), .region_o(entry_region)
    );
    assign solvable[i] = dut.valid[i] && entry_method != 2'd0;
  end

  logic       sorted, unique_clients, first_in, second_in, first_was_in, second_was_in;
  logic [3:0] first_at, second_at, first_was_at, second_was_at;
  logic       nothing_before;

  always_comb begin
    sorted         = 1'b1;
    unique_clients = 1'b1;
    first_in       = 1'b0;
    second_in      = 1'b0;
    first_at       = '0;
    second_at      = '0;
    nothing_before = 1'b1;
    for (int unsigned i = 0; i < ENTRIES; i++) begin
      if (i > 0 && dut.valid[i]) begin
        sorted = sorted && dut.valid[i-1] && dut.priorities[i-1] >= dut.priorities[i];
      end
      for (int unsigned j = 0; j < i; j++) begin
        if (dut.valid[i] && dut.valid[j] && dut.clients[i] == dut.clients[j]) begin
          unique_clients = 1'b0;
        end
      end
      if (dut.valid[i] && dut.clients[i] == first) begin
        first_in = 1'b1;
        first_at = 4'(i);
      end
      if (dut.valid[i] && dut.clients[i] == second) begin
        second_in = 1'b1;
        second_at = 4'(i);
      end
      if (4'(i) < 4'(dut.at_q)) nothing_before = nothing_before && !solvable[i];
    end
  end

  always_ff @(posedge clk_i) begin
    first_was_in  <= first_in;
    second_was_in <= second_in;
    first_was_at  <= first_at;
    second_was_at <= second_at;
    if (rst_ni) begin
      // No request or withdrawal comes before the one before it is over.
      in_turn: assert (!(dut.from_regs.REQUEST.go.value || dut.from_regs.WITHDRAW.go.value)
                       || (dut.phase_q == 2'd0 && !dut.withdraw_q));
      one_go: assert (!dut.from_regs.REQUEST.go.value || !dut.from_regs.WITHDRAW.go.value);

      list_sorted: assert (sorted);
      list_unique: assert (unique_clients);
      if (dut.finds) begin
        finds_first: assert (nothing_before && solvable[dut.at_q]);
        finds_entry: assert (dut.task_q == dut.tasks[dut.at_q]);
      end
      entry_same: assert (!dut.looking_q || (dut.valid[dut.at_q]
                          && dut.task_q == dut.tasks[dut.at_q]
                          && dut.task_priority_q == dut.priorities[dut.at_q]));
      // Where the looking is, all before it have been looked at and had none.
      looked: assert (!dut.looking_q || dut.found_method_q != 2'd0 || dut.changed
                      || nothing_before);
      in_list: assert (dut.at_q < 2'(ENTRIES) && dut.next_q < 2'(ENTRIES));
      followed: assert (!dut.looking_q || dut.next_q == (dut.at_q == 2'(ENTRIES - 1)
                                                         ? dut.at_q : dut.at_q + 1'b1));

      full: cover (dut.full && dut.phase_q == 2'd2);
      second_found: cover (dut.finds && dut.at_q == 2'd1);
    end
    if (rst_ni && !$past(rst_ni)) begin
      begins_watching: assert (dut.phase_q == 2'd0 && !dut.withdraw_q && !dut.known_q);
    end
    if (rst_ni && $past(rst_ni)) begin
      same_clients: assume (first == $past(first) && second == $past(second));
      none_lost: assert (!first_was_in || first_in
                         || $past(dut.remove && dut.list_client == first));
      insert_kept: assert (!(first_was_in && second_was_in && first_in && second_in)
                           || (first_was_at < second_was_at) == (first_at < second_at));
      arrival_last: assert (!(first_was_in && first_in && second_in)
                            || !$past(dut.insert && dut.list_client == second)
                            || dut.priorities[first_at] != dut.priorities[second_at]
                            || first_at < second_at || first == second);
      // A request is answered two cycles later, and a withdrawal carried out in the next one.
      removed: assert (!$past(dut.from_regs.REQUEST.go.value) || dut.phase_q == 2'd1);
      answered: assert (!$past(dut.phase_q == 2'd1) || dut.phase_q == 2'd2);
      withdrawn: assert (!$past(dut.withdraw_q && dut.withdraw_client_q == first) || !first_in);
      waits: assert (!$past(dut.insert && dut.list_client == first) || first_in);
      unanswered: assert (!$past(dut.phase_q == 2'd2 && dut.method == 2'd0 && !dut.full
                                 && dut.req_client_q == first) || first_in);
    end
  end
`endif

endmodule
