// Gives interfaces regions at the hypervisor's request, without the device manager where no
// judgement is needed.
//
// A request is one write to the hypervisor's page (s_axil_requests, regs/region_allocator.rdl). It
// is decided within nine cycles, in which further writes to the page are stalled; what it needs
// then is done by the region's region_allocation. Answers go to coherent memory, and raise an
// interrupt there. What the allocator may do, and bitstreams, are in the device manager's page
// (s_axil_table, regs/allocation_table.rdl).
//
// The region is what region_solution finds, but none that a request which waits in the region
// monitor's list could use, at the same priority or above. Where there is none, a region that is
// being prepared for a lower priority is taken over.
module region_allocator #(
  parameter int unsigned REGIONS    = 3,  // at most 4
  parameter int unsigned INTERFACES = 8   // at most 8
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        s_axil_requests_awvalid,
  output logic        s_axil_requests_awready,
  input  logic [11:0] s_axil_requests_awaddr,
  input  logic [2:0]  s_axil_requests_awprot,
  input  logic        s_axil_requests_wvalid,
  output logic        s_axil_requests_wready,
  input  logic [31:0] s_axil_requests_wdata,
  input  logic [3:0]  s_axil_requests_wstrb,
  output logic        s_axil_requests_bvalid,
  input  logic        s_axil_requests_bready,
  output logic [1:0]  s_axil_requests_bresp,
  input  logic        s_axil_requests_arvalid,
  output logic        s_axil_requests_arready,
  input  logic [11:0] s_axil_requests_araddr,
  input  logic [2:0]  s_axil_requests_arprot,
  output logic        s_axil_requests_rvalid,
  input  logic        s_axil_requests_rready,
  output logic [31:0] s_axil_requests_rdata,
  output logic [1:0]  s_axil_requests_rresp,

  input  logic        s_axil_table_awvalid,
  output logic        s_axil_table_awready,
  input  logic [11:0] s_axil_table_awaddr,
  input  logic [2:0]  s_axil_table_awprot,
  input  logic        s_axil_table_wvalid,
  output logic        s_axil_table_wready,
  input  logic [31:0] s_axil_table_wdata,
  input  logic [3:0]  s_axil_table_wstrb,
  output logic        s_axil_table_bvalid,
  input  logic        s_axil_table_bready,
  output logic [1:0]  s_axil_table_bresp,
  input  logic        s_axil_table_arvalid,
  output logic        s_axil_table_arready,
  input  logic [11:0] s_axil_table_araddr,
  input  logic [2:0]  s_axil_table_arprot,
  output logic        s_axil_table_rvalid,
  input  logic        s_axil_table_rready,
  output logic [31:0] s_axil_table_rdata,
  output logic [1:0]  s_axil_table_rresp,

  output logic        irq_o,
  // It goes on by itself, but for what it waits for of a region.
  output logic        busy_o,

  // The region monitor: its compatibility index, and the requests that wait in its list.
  input  logic [31:0]                    compatibility_i,
  input  logic [INTERFACES-1:0]          waiting_i,
  input  logic [INTERFACES-1:0][2:0]     waiting_task_i,
  input  logic [INTERFACES-1:0][7:0]     waiting_priority_i,

  // The regions, the smallest first.
  input  region_pkg::state_e [REGIONS-1:0] state_i,
  input  logic [REGIONS-1:0][7:0]        loaded_i,
  input  logic [REGIONS-1:0][7:0]        priority_i,
  input  logic [REGIONS-1:0]             connected_i,
  input  logic [REGIONS-1:0][3:0]        client_i,
  input  logic [REGIONS-1:0]             drained_i,
  output region_pkg::from_allocator_t [REGIONS-1:0] command_o,

  // The interfaces: they have stopped a computation, and are to resume it.
  input  logic [INTERFACES-1:0]          unfinished_i,
  output logic [INTERFACES-1:0]          resume_o,

  // The configuration port. What is to be loaded stands from load_valid_o to load_ready_i.
  output logic        load_valid_o,
  input  logic        load_ready_i,
  output logic [3:0]  load_region_o,
  output logic [2:0]  load_task_o,
  output logic [39:6] load_source_o,
  output logic [31:0] load_bytes_o,
  input  logic        load_over_i,
  input  logic [3:0]  load_error_i,

  // Memory; nothing is read.
  output logic        m_axi_awvalid,
  input  logic        m_axi_awready,
  output logic [39:0] m_axi_awaddr,
  output logic [7:0]  m_axi_awlen,
  output logic [2:0]  m_axi_awsize,
  output logic [1:0]  m_axi_awburst,
  output logic [3:0]  m_axi_awcache,
  output logic [2:0]  m_axi_awprot,
  output logic        m_axi_wvalid,
  input  logic        m_axi_wready,
  output logic [63:0] m_axi_wdata,
  output logic [7:0]  m_axi_wstrb,
  output logic        m_axi_wlast,
  input  logic        m_axi_bvalid,
  output logic        m_axi_bready,
  input  logic [1:0]  m_axi_bresp
);

  import region_pkg::*;

  localparam int unsigned ClientBits = unsigned'($clog2(INTERFACES));
  localparam int unsigned RegionBits = unsigned'($clog2(REGIONS));

  // The hypervisor's page.

  logic        req, req_is_wr, stall_wr, stall_rd, rd_ack, rd_err, wr_ack, wr_err, deciding;
  logic [11:0] addr;
  logic [31:0] wr_data, wr_biten, rd_data;

  region_allocator_regs_pkg::region_allocator__in_t  to_regs;
  region_allocator_regs_pkg::region_allocator__out_t from_regs;

  axil_slave #(.ADDR_WIDTH(12), .DATA_WIDTH(32)) u_requests_slave (
    .clk_i, .rst_ni,
    .s_axil_awvalid(s_axil_requests_awvalid), .s_axil_awready(s_axil_requests_awready),
    .s_axil_awaddr(s_axil_requests_awaddr), .s_axil_awprot(s_axil_requests_awprot),
    .s_axil_wvalid(s_axil_requests_wvalid), .s_axil_wready(s_axil_requests_wready),
    .s_axil_wdata(s_axil_requests_wdata), .s_axil_wstrb(s_axil_requests_wstrb),
    .s_axil_bvalid(s_axil_requests_bvalid), .s_axil_bready(s_axil_requests_bready),
    .s_axil_bresp(s_axil_requests_bresp),
    .s_axil_arvalid(s_axil_requests_arvalid), .s_axil_arready(s_axil_requests_arready),
    .s_axil_araddr(s_axil_requests_araddr), .s_axil_arprot(s_axil_requests_arprot),
    .s_axil_rvalid(s_axil_requests_rvalid), .s_axil_rready(s_axil_requests_rready),
    .s_axil_rdata(s_axil_requests_rdata), .s_axil_rresp(s_axil_requests_rresp),
    .req_o(req), .req_is_wr_o(req_is_wr), .addr_o(addr),
    .wr_data_o(wr_data), .wr_biten_o(wr_biten),
    .req_stall_wr_i(stall_wr || deciding), .req_stall_rd_i(stall_rd),
    .rd_ack_i(rd_ack), .rd_err_i(rd_err), .rd_data_i(rd_data),
    .wr_ack_i(wr_ack), .wr_err_i(wr_err)
  );

  region_allocator_regs u_regs (
    .clk(clk_i), .arst_n(rst_ni),
    .s_cpuif_req(req && !(req_is_wr && deciding)), .s_cpuif_req_is_wr(req_is_wr),
    .s_cpuif_addr(addr), .s_cpuif_wr_data(wr_data), .s_cpuif_wr_biten(wr_biten),
    .s_cpuif_req_stall_wr(stall_wr), .s_cpuif_req_stall_rd(stall_rd),
    .s_cpuif_rd_ack(rd_ack), .s_cpuif_rd_err(rd_err), .s_cpuif_rd_data(rd_data),
    .s_cpuif_wr_ack(wr_ack), .s_cpuif_wr_err(wr_err),
    .hwif_in(to_regs), .hwif_out(from_regs)
  );

  // The device manager's page.

  logic        table_req, table_is_wr, table_stall_wr, table_stall_rd;
  logic        table_rd_ack, table_rd_err, table_wr_ack, table_wr_err;
  logic [11:0] table_addr;
  logic [31:0] table_wr_data, table_wr_biten, table_rd_data;

  allocation_table_regs_pkg::allocation_table__in_t  to_table;
  allocation_table_regs_pkg::allocation_table__out_t from_table;

  axil_slave #(.ADDR_WIDTH(12), .DATA_WIDTH(32)) u_table_slave (
    .clk_i, .rst_ni,
    .s_axil_awvalid(s_axil_table_awvalid), .s_axil_awready(s_axil_table_awready),
    .s_axil_awaddr(s_axil_table_awaddr), .s_axil_awprot(s_axil_table_awprot),
    .s_axil_wvalid(s_axil_table_wvalid), .s_axil_wready(s_axil_table_wready),
    .s_axil_wdata(s_axil_table_wdata), .s_axil_wstrb(s_axil_table_wstrb),
    .s_axil_bvalid(s_axil_table_bvalid), .s_axil_bready(s_axil_table_bready),
    .s_axil_bresp(s_axil_table_bresp),
    .s_axil_arvalid(s_axil_table_arvalid), .s_axil_arready(s_axil_table_arready),
    .s_axil_araddr(s_axil_table_araddr), .s_axil_arprot(s_axil_table_arprot),
    .s_axil_rvalid(s_axil_table_rvalid), .s_axil_rready(s_axil_table_rready),
    .s_axil_rdata(s_axil_table_rdata), .s_axil_rresp(s_axil_table_rresp),
    .req_o(table_req), .req_is_wr_o(table_is_wr), .addr_o(table_addr),
    .wr_data_o(table_wr_data), .wr_biten_o(table_wr_biten),
    .req_stall_wr_i(table_stall_wr), .req_stall_rd_i(table_stall_rd),
    .rd_ack_i(table_rd_ack), .rd_err_i(table_rd_err), .rd_data_i(table_rd_data),
    .wr_ack_i(table_wr_ack), .wr_err_i(table_wr_err)
  );

  allocation_table_regs u_table (
    .clk(clk_i), .arst_n(rst_ni),
    .s_cpuif_req(table_req), .s_cpuif_req_is_wr(table_is_wr), .s_cpuif_addr(table_addr),
    .s_cpuif_wr_data(table_wr_data), .s_cpuif_wr_biten(table_wr_biten),
    .s_cpuif_req_stall_wr(table_stall_wr), .s_cpuif_req_stall_rd(table_stall_rd),
    .s_cpuif_rd_ack(table_rd_ack), .s_cpuif_rd_err(table_rd_err),
    .s_cpuif_rd_data(table_rd_data),
    .s_cpuif_wr_ack(table_wr_ack), .s_cpuif_wr_err(table_wr_err),
    .hwif_in(to_table), .hwif_out(from_table)
  );

  logic [31:0] bitstreams;
  logic [7:0]  routines;
  logic [19:0] limit;

  assign bitstreams = from_table.BITSTREAMS.regions.value;
  assign routines   = {from_table.CONTROL.routines.value, 1'b0};
  assign limit      = from_table.LIMIT.cycles.value;

  // Its entries: written and read by the manager, a cycle after its access is on the bus, and
  // read here.

  logic        entry_write_q, reads_q, looked_up_q, read_q, written_q;
  logic [5:0]  entry_addr, manager_addr_q;
  logic [31:0] entry, manager_entry, manager_entry_q, entry_data_q;

  logic unused_entry;
  assign unused_entry = ^from_table.ENTRIES.addr[1:0];

  context_buffer #(.WORDS(64)) u_entries (
    .clk_i,
    .task_write_i(1'b0), .task_addr_i(entry_addr), .task_data_i('0), .task_data_o(entry),
    .manager_write_i(entry_write_q), .manager_addr_i(manager_addr_q),
    .manager_data_i(entry_data_q), .manager_data_o(manager_entry)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      entry_write_q <= 1'b0;
      reads_q       <= 1'b0;
      looked_up_q   <= 1'b0;
      read_q        <= 1'b0;
      written_q     <= 1'b0;
    end else begin
      entry_write_q <= from_table.ENTRIES.req && from_table.ENTRIES.req_is_wr
                       && from_table.ENTRIES.wr_biten == '1;
      reads_q       <= from_table.ENTRIES.req && !from_table.ENTRIES.req_is_wr;
      looked_up_q   <= reads_q;
      read_q        <= looked_up_q;
      written_q     <= from_table.ENTRIES.req && from_table.ENTRIES.req_is_wr;
    end
  end

  always_ff @(posedge clk_i) begin
    manager_addr_q  <= from_table.ENTRIES.addr[7:2];
    entry_data_q    <= from_table.ENTRIES.wr_data;
    manager_entry_q <= manager_entry;
  end

  assign to_table.ENTRIES.rd_data = manager_entry_q;
  assign to_table.ENTRIES.rd_ack  = read_q;
  assign to_table.ENTRIES.wr_ack  = written_q;

  // A request, a phase a cycle. One that finds in Decide that what was chosen is no more, since
  // a region has gone on by itself, is looked at once more.

  typedef enum logic [2:0] {
    Rest    = 3'd0,
    Compare = 3'd1,  // with those that wait, and those that are under way
    Search  = 3'd2,
    Choose  = 3'd3,
    Decide  = 3'd4
  } phase_e;

  phase_e     phase_q;
  logic       go, again_q, misses;
  logic [3:0] req_client_q;
  logic [2:0] req_task_q;
  logic [7:0] req_priority_q, req_tag_q;

  // Of an interface that there is, while there is a place for answers.
  assign go = from_regs.REQUEST.go.value && from_regs.ANSWERS.on.value
              && 32'(from_regs.REQUEST.client.value) < INTERFACES;

  assign deciding = from_regs.REQUEST.go.value || phase_q != Rest;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      phase_q <= Rest;
      again_q <= 1'b0;
    end else begin
      case (phase_q)
        Rest:    if (go) phase_q <= Compare;
        Compare: phase_q <= Search;
        Search:  phase_q <= Choose;
        Choose:  phase_q <= Decide;
        Decide:  phase_q <= misses && !again_q ? Compare : Rest;
        default: phase_q <= Rest;
      endcase
      if (phase_q == Rest) again_q <= 1'b0;
      else if (phase_q == Decide) again_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (go) begin
      req_client_q   <= from_regs.REQUEST.client.value;
      req_task_q     <= from_regs.REQUEST.task_number.value;
      req_priority_q <= from_regs.REQUEST.prio.value;
      req_tag_q      <= from_regs.REQUEST.tag.value;
    end
  end

  // The regions that each task fits into, or for which it has a bitstream.
  function automatic logic [REGIONS-1:0] of_task(logic [31:0] index, logic [2:0] number);
    return number == '0 ? '0 : REGIONS'(index[{number, 2'b00}+:4]);
  endfunction

  logic [REGIONS-1:0]    owned, targeted, replaceable, told_before;
  target_t [REGIONS-1:0] target;

  // Compare: what waits for a region, and goes before the request, reserves it. A region that is
  // being prepared for this interface; or for one that it may take it from; or is its own.

  logic [REGIONS-1:0] reserved_d, reserved_q, under_way_q, lower_q, joined_q, same_task_q;
  logic [REGIONS-1:0] fitting_q, with_bitstream_q;
  logic               unfinished_q;

  always_comb begin
    reserved_d = '0;
    for (int unsigned i = 0; i < INTERFACES; i++) begin
      if (waiting_i[i] && waiting_priority_i[i] >= req_priority_q) begin
        reserved_d = reserved_d | of_task(compatibility_i, waiting_task_i[i]);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    reserved_q       <= reserved_d;
    fitting_q        <= of_task(compatibility_i, req_task_q);
    with_bitstream_q <= of_task(bitstreams, req_task_q);
    unfinished_q     <= unfinished_i[req_client_q[ClientBits-1:0]];
    for (int unsigned r = 0; r < REGIONS; r++) begin
      under_way_q[r] <= targeted[r] && target[r].client == req_client_q;
      lower_q[r]     <= replaceable[r] && target[r].prio < req_priority_q;
      joined_q[r]    <= connected_i[r] && client_i[r] == req_client_q;
      same_task_q[r] <= loaded_i[r] == 8'(req_task_q);
    end
  end

  // Search.

  state_e [REGIONS-1:0] to_have;
  logic [REGIONS-1:0]   solution_d, solution_q, taken_over_d, taken_over_q, kept_q, under_q;
  logic                 solved_q, reconfigure_q, elsewhere_q;
  logic [1:0]           method;
  logic                 reconfigure;
  logic [3:0]           solution;

  always_comb begin
    taken_over_d = '0;
    for (int unsigned r = REGIONS; r > 0; r--) begin
      // As for region_solution, which takes no region in Switch.
      to_have[r-1]    = owned[r-1] || reserved_q[r-1] ? Switch : state_i[r-1];
      solution_d[r-1] = solution == 4'(r - 1);
      if (lower_q[r-1] && !reserved_q[r-1] && fitting_q[r-1]
          && (same_task_q[r-1] || with_bitstream_q[r-1])) begin
        taken_over_d      = '0;
        taken_over_d[r-1] = 1'b1;
      end
    end
  end

  region_solution #(.REGIONS(REGIONS)) u_solution (
    .state_i(to_have), .loaded_i(loaded_i), .priority_i(priority_i),
    .compatibility_i(compatibility_i), .task_i(req_task_q), .task_priority_i(req_priority_q),
    .method_o(method), .reconfigure_o(reconfigure), .region_o(solution)
  );

  always_ff @(posedge clk_i) begin
    under_q       <= under_way_q;
    solved_q      <= method != '0;
    reconfigure_q <= reconfigure;
    solution_q    <= solution_d;
    taken_over_q  <= taken_over_d;
    elsewhere_q   <= joined_q != '0;
    for (int unsigned r = 0; r < REGIONS; r++) begin
      // One that it is about to lose is none.
      kept_q[r] <= joined_q[r] && !owned[r] && state_i[r] != Preempt;
    end
  end

  // Choose: the region that is begun with, or is taken over, or was asked for before; or none of
  // these, and the answer.

  logic [REGIONS-1:0] begin_q, replace_q, retag_q;
  logic               answer_q;
  answer_t            chosen_q;
  logic [31:0]        hold_q;

  function automatic logic [3:0] number_of(logic [REGIONS-1:0] region);
    logic [3:0] number;
    number = '0;
    for (int unsigned r = 0; r < REGIONS; r++) if (region[r]) number = number | 4'(r);
    return number;
  endfunction

  reason_e refusal;

  always_comb begin
    refusal = NoReason;
    if (!from_table.CONTROL.enable.value) refusal = Off;
    else if (elsewhere_q) refusal = Elsewhere;
    else if (unfinished_q && routines[req_task_q]) refusal = Routine;
    else if (solved_q && reconfigure_q && (solution_q & with_bitstream_q) == '0) begin
      refusal = NoBitstream;
    end else if (!solved_q && taken_over_q == '0) refusal = NoRegion;
  end

  always_ff @(posedge clk_i) begin
    begin_q   <= '0;
    replace_q <= '0;
    retag_q   <= under_q;
    answer_q  <= 1'b0;
    hold_q    <= entry;
    chosen_q         <= '0;
    chosen_q.last    <= under_q == '0;
    chosen_q.outcome <= AskManager;
    if (under_q != '0) begin
      // What comes of it is the answer to both.
      chosen_q.outcome <= Preparing;
      chosen_q.region  <= number_of(under_q);
    end else if (kept_q != '0) begin
      answer_q         <= 1'b1;
      chosen_q.outcome <= Connected;
      chosen_q.region  <= number_of(kept_q);
    end else if (refusal != NoReason) begin
      answer_q        <= 1'b1;
      chosen_q.reason <= refusal;
    end else if (solved_q) begin
      begin_q <= solution_q;
    end else begin
      // The other one is told; this one hears of it when the region is its own, or waits.
      replace_q       <= taken_over_q;
      chosen_q.region <= number_of(taken_over_q);
      chosen_q.reason <= TakenOver;
    end
  end

  // Decide.

  logic [REGIONS-1:0] begins, replaces, retags;
  logic               decides, decided_later;
  logic [3:0]         decided_client;
  answer_t            decided;

  always_comb begin
    begins         = '0;
    replaces       = '0;
    retags         = '0;
    decided_later  = 1'b0;
    decided_client = req_client_q;
    decided        = chosen_q;
    decided.tag    = req_tag_q;
    if (phase_q == Decide) begin
      begins   = begin_q;
      replaces = replace_q & replaceable;
      retags   = retag_q & targeted;
    end
    misses  = (replace_q != '0 || retag_q != '0) && (replaces | retags) == '0;
    decides = phase_q == Decide && (answer_q || (replaces | retags) != '0 || (misses && again_q));
    for (int unsigned r = 0; r < REGIONS; r++) begin
      if (replaces[r]) begin
        decided_client = target[r].client;
        decided_later  = told_before[r];
        decided.tag    = target[r].tag;
      end
    end
    if (misses) begin
      decided.last    = 1'b1;
      decided.outcome = AskManager;
      decided.reason  = Changed;
    end
  end

  // The regions' own.

  target_t              arrival;
  logic [REGIONS-1:0]   tells, told, loads, load_begins, resumes;
  answer_t [REGIONS-1:0] answers;

  assign arrival = '{client: req_client_q, number: req_task_q, prio: req_priority_q,
                     tag: req_tag_q, hold: hold_q};

  for (genvar r = 0; r < int'(REGIONS); r++) begin : gen_region
    logic [7:0] with_bitstream;

    for (genvar t = 0; t < 8; t++) begin : gen_task
      assign with_bitstream[t] = t != 0 && bitstreams[4*t+r];
    end

    region_allocation #(.REGION(4'(r))) u_allocation (
      .clk_i, .rst_ni,
      .begin_i(begins[r]), .replace_i(replaces[r]), .target_i(arrival), .retag_i(retags[r]),
      .bitstreams_i(with_bitstream), .routines_i(routines), .limit_i(limit),
      .state_i(state_i[r]), .loaded_i(loaded_i[r]), .priority_i(priority_i[r]),
      .connected_i(connected_i[r]), .client_i(client_i[r]), .drained_i(drained_i[r]),
      .command_o(command_o[r]), .resume_o(resumes[r]),
      .load_o(loads[r]), .load_begins_i(load_begins[r]),
      .load_over_i(load_over_i && load_region_o == unsigned'(4'(r))), .load_error_i,
      .tell_o(tells[r]), .told_i(told[r]), .answer_o(answers[r]), .told_o(told_before[r]),
      .targeted_o(targeted[r]), .replaceable_o(replaceable[r]), .target_o(target[r])
    );

    assign owned[r] = command_o[r].owned;
  end

  always_comb begin
    resume_o = '0;
    for (int unsigned r = 0; r < REGIONS; r++) begin
      if (resumes[r]) resume_o[target[r].client[ClientBits-1:0]] = 1'b1;
    end
  end

  // Answers, one a cycle: what is decided goes first.

  logic                  answers_valid, answers_later, answers_busy, answered_q, later_q;
  logic [3:0]            answers_client, client_q;
  answer_t               answers_answer, answer_now_q;
  logic [15:0]           order_q;
  logic [INTERFACES-1:0] due;
  logic                  event_first, event_later, event_error;

  always_comb begin
    told           = '0;
    answers_valid  = decides;
    answers_client = decided_client;
    answers_later  = decided_later;
    answers_answer = decided;
    if (!decides) begin
      for (int unsigned r = REGIONS; r > 0; r--) begin
        if (tells[r-1]) begin
          told           = '0;
          told[r-1]      = 1'b1;
          answers_valid  = 1'b1;
          answers_client = target[r-1].client;
          answers_later  = told_before[r-1];
          answers_answer = answers[r-1];
        end
      end
    end
    answers_answer.order = order_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      order_q    <= '0;
      answered_q <= 1'b0;
    end else begin
      order_q    <= order_q + 16'(answers_valid);
      answered_q <= answers_valid;
    end
  end

  always_ff @(posedge clk_i) begin
    later_q      <= answers_later;
    client_q     <= answers_client;
    answer_now_q <= answers_answer;
  end

  // It is one that there is: go.
  logic unused_client;
  assign unused_client = ^client_q;

  logic        wr_valid, wr_ready, wr_data_valid, wr_data_ready, wr_done, wr_error;
  logic [39:0] wr_addr;
  logic [63:0] wr_data_word;
  logic [7:0]  wr_strobe;

  allocation_answers #(.INTERFACES(INTERFACES)) u_answers (
    .clk_i, .rst_ni,
    .line_i(from_regs.ANSWERS.addr.value),
    .valid_i(answered_q), .client_i(client_q[ClientBits-1:0]), .later_i(later_q),
    .answer_i(answer_now_q),
    .due_o(due), .busy_o(answers_busy),
    .first_o(event_first), .later_o(event_later), .error_o(event_error),
    .wr_valid_o(wr_valid), .wr_ready_i(wr_ready), .wr_addr_o(wr_addr),
    .wr_data_valid_o(wr_data_valid), .wr_data_ready_i(wr_data_ready), .wr_data_o(wr_data_word),
    .wr_strobe_o(wr_strobe), .wr_done_i(wr_done), .wr_error_i(wr_error)
  );

  logic        unused_rd_ready, unused_rd_valid, unused_rd_last, unused_rd_error, unused_busy;
  logic        unused_arvalid, unused_rready;
  logic [39:0] unused_araddr;
  logic [7:0]  unused_arlen;
  logic [2:0]  unused_arsize, unused_arprot;
  logic [1:0]  unused_arburst;
  logic [3:0]  unused_arcache;
  logic [63:0] unused_rd_data;

  axi_master #(
    .ADDR_WIDTH(40), .DATA_WIDTH(64), .LOG2_WORDS_WIDTH(1), .READS_MAX(2), .WRITES_MAX(2),
    .COHERENT(1'b1), .SECURE(1'b1)
  ) u_master (
    .clk_i, .rst_ni,
    .rd_valid_i(1'b0), .rd_ready_o(unused_rd_ready), .rd_addr_i('0), .rd_log2_words_i('0),
    .rd_data_valid_o(unused_rd_valid), .rd_data_ready_i(1'b0), .rd_data_o(unused_rd_data),
    .rd_data_last_o(unused_rd_last), .rd_data_error_o(unused_rd_error),
    .wr_valid_i(wr_valid), .wr_ready_o(wr_ready), .wr_addr_i(wr_addr), .wr_log2_words_i('0),
    .wr_data_valid_i(wr_data_valid), .wr_data_ready_o(wr_data_ready), .wr_data_i(wr_data_word),
    .wr_strobe_i(wr_strobe), .wr_done_o(wr_done), .wr_error_o(wr_error), .busy_o(unused_busy),
    .m_axi_awvalid, .m_axi_awready, .m_axi_awaddr, .m_axi_awlen, .m_axi_awsize, .m_axi_awburst,
    .m_axi_awcache, .m_axi_awprot, .m_axi_wvalid, .m_axi_wready, .m_axi_wdata, .m_axi_wstrb,
    .m_axi_wlast, .m_axi_bvalid, .m_axi_bready, .m_axi_bresp,
    .m_axi_arvalid(unused_arvalid), .m_axi_arready(1'b0), .m_axi_araddr(unused_araddr),
    .m_axi_arlen(unused_arlen), .m_axi_arsize(unused_arsize), .m_axi_arburst(unused_arburst),
    .m_axi_arcache(unused_arcache), .m_axi_arprot(unused_arprot),
    .m_axi_rvalid(1'b0), .m_axi_rready(unused_rready), .m_axi_rdata('0), .m_axi_rresp('0),
    .m_axi_rlast(1'b0)
  );

  // The configuration port: of the regions that are to be configured the one of the highest
  // priority, looked for one a cycle. Its entry is read when no request reads a hold time.

  typedef enum logic [2:0] {
    Pick   = 3'd0,
    Low    = 3'd1,
    High   = 3'd2,
    Have   = 3'd3,
    Offer  = 3'd4,
    Loads  = 3'd5
  } load_e;

  load_e                 load_q;
  logic [RegionBits-1:0] looked_at_q, picked_q;
  logic [2:0]            load_task_q;
  logic [7:0]            picked_priority_q;
  logic [31:0]           low_q, high_q;
  logic                  low_read_q, stale, has_picked_q, picks, looked;

  assign picks  = load_q == Pick && loads[looked_at_q]
                  && (!has_picked_q || target[looked_at_q].prio > picked_priority_q);
  assign looked = looked_at_q == RegionBits'(REGIONS - 1);

  assign entry_addr = phase_q == Search
                      ? {3'd0, req_client_q[2:0]}
                      : {load_task_q, 2'({1'b0, picked_q}), load_q == High};

  // Another interface has taken the place, and needs another task, or none.
  assign stale = !loads[picked_q] || target[picked_q].number != load_task_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      load_q       <= Pick;
      looked_at_q  <= '0;
      has_picked_q <= 1'b0;
    end else begin
      // With nothing to be configured it rests.
      looked_at_q  <= load_q == Pick && loads != '0 && !looked ? looked_at_q + 1'b1 : '0;
      has_picked_q <= load_q == Pick && loads != '0 && !looked && (has_picked_q || picks);
      case (load_q)
        Pick:  if (looked && (has_picked_q || picks)) load_q <= Low;
        Low:   if (phase_q != Search) load_q <= High;
        High:  if (phase_q != Search) load_q <= Have;
        Have:  load_q <= Offer;
        Offer: if (load_ready_i) load_q <= Loads;
        Loads: if (load_over_i) load_q <= Pick;
        default: load_q <= Pick;
      endcase
      if (load_q inside {Low, High, Have, Offer} && !(load_valid_o && load_ready_i) && stale) begin
        load_q <= Pick;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (picks) begin
      picked_q          <= looked_at_q;
      picked_priority_q <= target[looked_at_q].prio;
      load_task_q       <= target[looked_at_q].number;
    end
    low_read_q <= load_q == Low && phase_q != Search;
    if (low_read_q) low_q <= entry;
    if (load_q == Have) high_q <= entry;
  end

  assign load_valid_o  = load_q == Offer && loads[picked_q];
  assign load_region_o = 4'(picked_q);
  assign load_task_o   = load_task_q;
  assign load_source_o = {high_q[7:0], low_q[31:6]};
  assign load_bytes_o  = {8'd0, high_q[31:8]};

  for (genvar r = 0; r < int'(REGIONS); r++) begin : gen_load
    assign load_begins[r] = load_valid_o && load_ready_i && picked_q == unsigned'(RegionBits'(r));
  end

  logic unused_low;
  assign unused_low = ^low_q[5:0];

  // What software sees.

  always_comb begin
    to_regs.STATUS.preparing.next = 4'(owned);
    to_regs.STATUS.unwritten.next = 8'({1'b0, due});
  end

  interrupt #(.EVENTS(3)) u_interrupt (
    .clk_i, .rst_ni,
    .event_i({event_error, event_later, event_first}),
    .clear_i({from_regs.IRQ_CLEAR.error.value, from_regs.IRQ_CLEAR.later.value,
              from_regs.IRQ_CLEAR.first.value}),
    .enable_i({from_regs.IRQ_ENABLE.error.value, from_regs.IRQ_ENABLE.later.value,
               from_regs.IRQ_ENABLE.first.value}),
    .pending_o({to_regs.IRQ_PENDING.error.next, to_regs.IRQ_PENDING.later.next,
                to_regs.IRQ_PENDING.first.next}),
    .irq_o
  );

  assign busy_o = deciding || answered_q || answers_busy || owned != '0;

endmodule
