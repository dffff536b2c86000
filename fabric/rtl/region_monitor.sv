// Finds a region for each request, and retries queued requests.
//
// A request is answered by region_solution a few cycles after it was written; until then further
// writes to the page are stalled, so that each request is answered or waits. Where there is no
// region it waits in request_list, which is looked through once from its first entry on, one a
// cycle, beside whatever software does. Each change of a region's descriptor, and of the list,
// restarts that: so what is found is for the first that there is a region for, of the highest
// priority, and of those the one that came first.
module region_monitor #(
  parameter int unsigned REGIONS = 3,
  // At least as many as there are interfaces, and none is refused.
  parameter int unsigned ENTRIES = 8
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        s_axil_awvalid,
  output logic        s_axil_awready,
  input  logic [11:0] s_axil_awaddr,
  input  logic [2:0]  s_axil_awprot,
  input  logic        s_axil_wvalid,
  output logic        s_axil_wready,
  input  logic [31:0] s_axil_wdata,
  input  logic [3:0]  s_axil_wstrb,
  output logic        s_axil_bvalid,
  input  logic        s_axil_bready,
  output logic [1:0]  s_axil_bresp,
  input  logic        s_axil_arvalid,
  output logic        s_axil_arready,
  input  logic [11:0] s_axil_araddr,
  input  logic [2:0]  s_axil_arprot,
  output logic        s_axil_rvalid,
  input  logic        s_axil_rready,
  output logic [31:0] s_axil_rdata,
  output logic [1:0]  s_axil_rresp,
  output logic        irq_o,

  // The regions' descriptors, the smallest region first.
  input  region_pkg::state_e [REGIONS-1:0] state_i,
  input  logic [REGIONS-1:0][7:0]          loaded_i,
  input  logic [REGIONS-1:0][7:0]          priority_i,

  // For the region allocator: the compatibility index, and the list, the first in the lowest place.
  output logic [31:0]                      compatibility_o,
  output logic [ENTRIES-1:0]               waiting_o,
  output logic [ENTRIES-1:0][2:0]          waiting_task_o,
  output logic [ENTRIES-1:0][7:0]          waiting_priority_o
);

  localparam int unsigned EntryBits = unsigned'($clog2(ENTRIES));

  localparam logic [1:0] Unavailable = 2'd0;
  localparam logic [1:0] NoRoom      = 2'd3;

  // The page.

  logic        req, req_is_wr, stall_wr, stall_rd;
  logic [11:0] addr;
  logic [31:0] wr_data, wr_biten, rd_data;
  logic        rd_ack, rd_err, wr_ack, wr_err;
  logic        answering;  // a request or a withdrawal is under way

  region_monitor_regs_pkg::region_monitor__in_t  to_regs;
  region_monitor_regs_pkg::region_monitor__out_t from_regs;

  axil_slave #(.ADDR_WIDTH(12), .DATA_WIDTH(32)) u_slave (
    .clk_i, .rst_ni,
    .s_axil_awvalid, .s_axil_awready, .s_axil_awaddr, .s_axil_awprot,
    .s_axil_wvalid, .s_axil_wready, .s_axil_wdata, .s_axil_wstrb,
    .s_axil_bvalid, .s_axil_bready, .s_axil_bresp,
    .s_axil_arvalid, .s_axil_arready, .s_axil_araddr, .s_axil_arprot,
    .s_axil_rvalid, .s_axil_rready, .s_axil_rdata, .s_axil_rresp,
    .req_o(req), .req_is_wr_o(req_is_wr), .addr_o(addr),
    .wr_data_o(wr_data), .wr_biten_o(wr_biten),
    .req_stall_wr_i(stall_wr || answering), .req_stall_rd_i(stall_rd),
    .rd_ack_i(rd_ack), .rd_err_i(rd_err), .rd_data_i(rd_data),
    .wr_ack_i(wr_ack), .wr_err_i(wr_err)
  );

  region_monitor_regs u_regs (
    .clk(clk_i), .arst_n(rst_ni),
    .s_cpuif_req(req && !(req_is_wr && answering)), .s_cpuif_req_is_wr(req_is_wr),
    .s_cpuif_addr(addr),
    .s_cpuif_wr_data(wr_data), .s_cpuif_wr_biten(wr_biten),
    .s_cpuif_req_stall_wr(stall_wr), .s_cpuif_req_stall_rd(stall_rd),
    .s_cpuif_rd_ack(rd_ack), .s_cpuif_rd_err(rd_err), .s_cpuif_rd_data(rd_data),
    .s_cpuif_wr_ack(wr_ack), .s_cpuif_wr_err(wr_err),
    .hwif_in(to_regs), .hwif_out(from_regs)
  );

  // A request: first it loses the place that its interface has, then it is answered.

  typedef enum logic [1:0] {
    Watch  = 2'd0,
    Remove = 2'd1,
    Answer = 2'd2
  } phase_e;

  phase_e     phase_q;
  logic [3:0] req_client_q, withdraw_client_q;
  logic [2:0] req_task_q;
  logic [7:0] req_priority_q;
  logic       withdraw_q, known_q;

  assign answering = from_regs.REQUEST.go.value || from_regs.WITHDRAW.go.value
                     || phase_q != Watch || withdraw_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      phase_q           <= Watch;
      req_client_q      <= '0;
      req_task_q        <= '0;
      req_priority_q    <= '0;
      withdraw_q        <= 1'b0;
      withdraw_client_q <= '0;
    end else begin
      if (from_regs.REQUEST.go.value) begin
        phase_q        <= Remove;
        req_client_q   <= from_regs.REQUEST.client.value;
        req_task_q     <= from_regs.REQUEST.task_number.value;
        req_priority_q <= from_regs.REQUEST.prio.value;
      end else begin
        phase_q <= phase_q == Remove ? Answer : Watch;
      end
      if (from_regs.WITHDRAW.go.value) begin
        withdraw_q        <= 1'b1;
        withdraw_client_q <= from_regs.WITHDRAW.client.value;
      end else if (phase_q == Watch) begin
        withdraw_q <= 1'b0;
      end
    end
  end

  // The list.

  logic                    insert, remove, full, there;
  logic [3:0]              list_client;
  logic [ENTRIES-1:0]      valid;
  logic [ENTRIES-1:0][3:0] clients;
  logic [ENTRIES-1:0][2:0] tasks;
  logic [ENTRIES-1:0][7:0] priorities;
  logic [1:0]              method;
  logic                    reconfigure;
  logic [3:0]              region_number;

  assign list_client = phase_q == Watch ? withdraw_client_q : req_client_q;
  assign insert      = phase_q == Answer && method == Unavailable && !full;
  assign remove      = there && (phase_q == Remove || (phase_q == Watch && withdraw_q));

  request_list #(.ENTRIES(ENTRIES)) u_list (
    .clk_i, .rst_ni,
    .insert_i(insert), .remove_i(remove), .client_i(list_client), .task_i(req_task_q),
    .priority_i(req_priority_q), .full_o(full), .there_o(there),
    .valid_o(valid), .client_o(clients), .task_o(tasks), .priority_o(priorities)
  );

  // What is looked at: the request, or an entry of the list.

  logic [EntryBits-1:0]               next_q, at_q;
  logic                               looking_q, changed, finds;
  logic [2:0]                         task_q;
  logic [7:0]                         task_priority_q;
  region_pkg::state_e [REGIONS-1:0]   state_q;
  logic [REGIONS-1:0][7:0]            loaded_q, priority_q;
  logic [31:0]                        compatibility_q;

  // Looked at is how the regions were a cycle ago.
  assign changed = insert || remove || phase_q != Watch || state_q != state_i
                   || loaded_q != loaded_i || priority_q != priority_i
                   || compatibility_q != from_regs.COMPATIBILITY.regions.value;

  region_solution #(.REGIONS(REGIONS)) u_solution (
    .state_i(state_q), .loaded_i(loaded_q), .priority_i(priority_q),
    .compatibility_i(compatibility_q), .task_i(task_q), .task_priority_i(task_priority_q),
    .method_o(method), .reconfigure_o(reconfigure), .region_o(region_number)
  );

  logic [1:0] found_method_q;
  logic       found_reconfigure_q;
  logic [3:0] found_region_q, found_client_q;
  logic [2:0] found_task_q;

  assign finds = looking_q && !changed && method != Unavailable && found_method_q == Unavailable;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q             <= '0;
      loaded_q            <= '0;
      priority_q          <= '0;
      compatibility_q     <= '0;
      next_q              <= '0;
      at_q                <= '0;
      looking_q           <= 1'b0;
      task_q              <= '0;
      task_priority_q     <= '0;
      found_method_q      <= Unavailable;
      found_reconfigure_q <= 1'b0;
      found_region_q      <= '0;
      found_client_q      <= '0;
      found_task_q        <= '0;
    end else begin
      state_q         <= state_i;
      loaded_q        <= loaded_i;
      priority_q      <= priority_i;
      compatibility_q <= from_regs.COMPATIBILITY.regions.value;

      at_q            <= next_q;
      looking_q       <= !changed && valid[next_q];
      // At the last one it rests: where nothing changes there is nothing new to find.
      next_q          <= changed ? '0 : next_q + EntryBits'(next_q != EntryBits'(ENTRIES - 1));
      task_q          <= phase_q == Remove ? req_task_q : tasks[next_q];
      task_priority_q <= phase_q == Remove ? req_priority_q : priorities[next_q];

      if (changed) begin
        found_method_q <= Unavailable;
      end else if (finds) begin
        found_method_q      <= method;
        found_reconfigure_q <= reconfigure;
        found_region_q      <= region_number;
        found_client_q      <= clients[at_q];
        found_task_q        <= task_q;
      end
    end
  end

  logic [1:0] solution_method_q;
  logic       solution_reconfigure_q;
  logic [3:0] solution_region_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      solution_method_q      <= Unavailable;
      solution_reconfigure_q <= 1'b0;
      solution_region_q      <= '0;
      known_q                <= 1'b0;
    end else if (from_regs.REQUEST.go.value) begin
      known_q <= 1'b0;
    end else if (phase_q == Answer) begin
      solution_method_q      <= method == Unavailable && full ? NoRoom : method;
      solution_reconfigure_q <= reconfigure;
      solution_region_q      <= region_number;
      known_q                <= 1'b1;
    end
  end

  assign to_regs.SOLUTION.method.next        = solution_method_q;
  assign to_regs.SOLUTION.reconfigure.next   = solution_reconfigure_q;
  assign to_regs.SOLUTION.region_number.next = solution_region_q;
  assign to_regs.SOLUTION.known.next         = known_q;

  assign compatibility_o    = from_regs.COMPATIBILITY.regions.value;
  assign waiting_o          = valid;
  assign waiting_task_o     = tasks;
  assign waiting_priority_o = priorities;

  logic there_is;
  assign there_is = found_method_q != Unavailable;

  assign to_regs.FOUND.method.next        = found_method_q;
  assign to_regs.FOUND.reconfigure.next   = there_is && found_reconfigure_q;
  assign to_regs.FOUND.region_number.next = there_is ? found_region_q : '0;
  assign to_regs.FOUND.client.next        = there_is ? found_client_q : '0;
  assign to_regs.FOUND.task_number.next   = there_is ? found_task_q : '0;

  always_comb begin
    to_regs.FOUND.waiting.next = '0;
    for (int unsigned i = 0; i < ENTRIES; i++) begin
      to_regs.FOUND.waiting.next = to_regs.FOUND.waiting.next + 5'(valid[i]);
    end
  end

  interrupt #(.EVENTS(1)) u_interrupt (
    .clk_i, .rst_ni,
    .event_i(finds), .clear_i(from_regs.IRQ_CLEAR.found.value),
    .enable_i(from_regs.IRQ_ENABLE.found.value), .pending_o(to_regs.IRQ_PENDING.found.next),
    .irq_o
  );

endmodule
