// The configuration port and memory that does not answer: a region that the port has is given back
// within a bounded time after memory's last word, whatever the bitstream, software and memory do;
// and what memory still owes then is no part of a later configuration.
//
// Registers, the bus to them and the loader are arbitrary. Two regions.
module configuration_port_formal #(
  parameter int unsigned REGIONS       = 2,
  parameter int unsigned SILENT_CYCLES = 3
) (
  input logic               clk_i,
  input logic               rst_ni,
  input logic [REGIONS-1:0] configurable,
  input logic [REGIONS-1:0] owned,
  input logic               wanted,
  input logic [3:0]         wanted_region,
  input logic [2:0]         wanted_task,
  input logic [31:0]        wanted_bytes,
  input logic               arready,
  input logic               rvalid,
  input logic [1:0]         rresp,
  input logic               rlast
);

  logic [REGIONS-1:0] configure, configured;
  logic [7:0]         number;
  logic               irq, busy, config_valid, arvalid, rready, begins_wanted, over;
  logic [3:0]         error;

  configuration_port #(
    .REGIONS(REGIONS), .SILENT_CYCLES(SILENT_CYCLES), .REGION_BYTES({32'd324, 32'd100})
  ) dut (
    .clk_i, .rst_ni,
    .s_axil_awvalid('0), .s_axil_awready(), .s_axil_awaddr('0), .s_axil_awprot('0),
    .s_axil_wvalid('0), .s_axil_wready(), .s_axil_wdata('0), .s_axil_wstrb('0),
    .s_axil_bvalid(), .s_axil_bready('0), .s_axil_bresp(),
    .s_axil_arvalid('0), .s_axil_arready(), .s_axil_araddr('0), .s_axil_arprot('0),
    .s_axil_rvalid(), .s_axil_rready('0), .s_axil_rdata(), .s_axil_rresp(),
    .irq_o(irq), .busy_o(busy),
    .configure_o(configure), .configurable_i(configurable), .configured_o(configured),
    .configured_task_o(number),
    .allocator_valid_i(wanted), .allocator_ready_o(begins_wanted),
    .allocator_region_i(wanted_region), .allocator_task_i(wanted_task), .allocator_source_i('0),
    .allocator_bytes_i(wanted_bytes), .allocator_over_o(over), .allocator_error_o(error),
    .owned_i(owned),
    .config_valid_o(config_valid), .config_region_o(), .config_data_o(),
    .m_axi_arvalid(arvalid), .m_axi_arready(arready), .m_axi_araddr(), .m_axi_arlen(),
    .m_axi_arsize(), .m_axi_arburst(), .m_axi_arcache(), .m_axi_arprot(),
    .m_axi_rvalid(rvalid), .m_axi_rready(rready), .m_axi_rdata('0), .m_axi_rresp(rresp),
    .m_axi_rlast(rlast)
  );

  // From a region's beginning until it is told: whose it is, for how long, and whether memory owed
  // something when it began.
  logic [REGIONS-1:0] with_q;
  logic [1:0]         age_q;
  logic               late_q;
  // Bursts that memory has taken and not answered; for how long it has given nothing.
  logic [3:0]         owes_q;
  logic [3:0]         silent_q;
  // It is the allocator's; and that has waited for one of the manager's since it could begin.
  logic               wanted_q, waited_q, can_begin;
  logic               owes, given;

  assign can_begin = wanted && wanted_task != '0 && 32'(wanted_region) < REGIONS
                     && configurable[wanted_region[0]];
  assign owes  = arvalid || owes_q != '0;
  assign given = rvalid && rready;

  logic began_q = 1'b0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      with_q   <= '0;
      age_q    <= '0;
      late_q   <= 1'b0;
      owes_q   <= '0;
      silent_q <= '0;
      wanted_q <= 1'b0;
      waited_q <= 1'b0;
    end else begin
      if (configure != '0) wanted_q <= begins_wanted;
      waited_q <= can_begin && !begins_wanted && (waited_q || configure != '0);
      with_q   <= (with_q & ~configured) | configure;
      age_q    <= with_q == '0 ? '0 : age_q == '1 ? age_q : age_q + 1'b1;
      if (configure != '0) late_q <= owes && !(given && rlast && owes_q == 4'd1 && !arvalid);
      owes_q   <= owes_q + 4'(arvalid && arready) - 4'(given && rlast);
      silent_q <= !owes || given ? '0 : silent_q == '1 ? silent_q : silent_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    began_q <= 1'b1;
    begin_in_reset: assume (rst_ni == began_q);
    if (rst_ni) begin
      answers: assume (!rvalid || owes_q != '0);

      in_time: assert (silent_q < 4'(SILENT_CYCLES + 3) || with_q == '0 || age_q < 2'd2);
      one_begins: assert (configure == '0
                          || (with_q == '0 && (configure & (configure - 1'b1)) == '0));
      free_begins: assert ((configure & ~configurable) == '0);
      // The manager configures no region of the allocator, and the allocator what it wants alone.
      owned_begins: assert (begins_wanted || (configure & owned) == '0);
      wanted_begins: assert (!begins_wanted
                             || (can_begin && configure == REGIONS'(1) << wanted_region[0]));
      // Each is told of its own end, and the allocator with the error of what the region is told.
      told_over: assert (over == (configured != '0 && wanted_q));
      told_error: assert (!over || (error == '0) == (number != '0));
      in_turn: assert (!waited_q || !can_begin || configure == '0 || begins_wanted);
      told_once: assert ((configured & ~with_q) == '0);
      late_fails: assert (configured == '0 || !late_q || number == '0);
      owes_busy: assert (!owes || busy);

      given_up: cover (configured != '0 && silent_q > 4'(SILENT_CYCLES));
      refused: cover (configured != '0 && late_q);
      after_another: cover (begins_wanted && waited_q);
      good_wanted: cover (over && number != '0);
      good: cover (configured != '0 && number != '0);
    end
  end

`ifndef CUT
  logic [1:0] busy_age_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_age_q <= '0;
    end else begin
      busy_age_q <= !dut.busy_q ? '0 : busy_age_q == '1 ? busy_age_q : busy_age_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      state_reads: assert (4'(dut.u_master.reads_q) == owes_q + 4'(arvalid)
                           && dut.u_master.reads_q <= 4'd8 && dut.u_master.writes_q == '0);
      state_kept: assert (!dut.u_master.u_r.kept_q);
      state_silent: assert (4'(dut.silent_q) == (silent_q > 4'(SILENT_CYCLES)
                                                 ? 4'(SILENT_CYCLES) : silent_q));
      state_with: assert (with_q == (dut.loading_q ? REGIONS'(1) << dut.region_q : '0)
                          && (!dut.loading_q || 32'(dut.region_q) < REGIONS));
      state_loading: assert (!dut.loading_q || dut.busy_q);
      state_own: assert (!dut.loading_q || (dut.own_q != wanted_q && dut.task_q != '0));
      // What the manager asks for meanwhile is kept, once; and it is its own only before.
      state_turn: assert (!waited_q || (dut.postponed_q ? !dut.busy_q : dut.own_q || !dut.busy_q));
      state_owed: assert (dut.busy_q || dut.rests || dut.owed_q);
      state_age: assert (!dut.loading_q || busy_age_q >= age_q);
      state_given_up: assert (silent_q < 4'(SILENT_CYCLES + 1) || !dut.busy_q || busy_age_q == '0
                              || dut.owed_q);
      state_ended: assert (silent_q < 4'(SILENT_CYCLES + 2) || !dut.loading_q || age_q == '0);
      // The port is free as soon.
      busy_in_time: assert (silent_q < 4'(SILENT_CYCLES + 4) || !dut.busy_q || busy_age_q < 2'd3);
      // What comes late is no part of what begins.
      no_late_word: assert (!late_q || !dut.loading_q || !dut.word_valid_q);
      state_late: assert (!late_q || !dut.loading_q || dut.owed_q);
    end
  end
`endif

endmodule
