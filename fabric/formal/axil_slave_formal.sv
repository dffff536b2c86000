// The AXI4-Lite slave against the bus's rules, and against the register bus behind it.
//
// Beside the bus's properties: each request of AXI reaches the register bus once, unchanged and in
// order, and each answer comes back so. One request and one answer, of any number in the order of
// their kind, are followed through.
module axil_slave_formal #(
  parameter int unsigned ADDR_WIDTH = 4,
  parameter int unsigned DATA_WIDTH = 16
) (
  input logic                    clk_i,
  input logic                    rst_ni,
  input logic                    awvalid,
  input logic [ADDR_WIDTH-1:0]   awaddr,
  input logic [2:0]              awprot,
  input logic                    wvalid,
  input logic [DATA_WIDTH-1:0]   wdata,
  input logic [DATA_WIDTH/8-1:0] wstrb,
  input logic                    bready,
  input logic                    arvalid,
  input logic [ADDR_WIDTH-1:0]   araddr,
  input logic [2:0]              arprot,
  input logic                    rready,
  input logic                    stall_wr,
  input logic                    stall_rd,
  input logic                    rd_ack,
  input logic                    rd_err,
  input logic [DATA_WIDTH-1:0]   rd_data,
  input logic                    wr_ack,
  input logic                    wr_err,
  // The number of the request and of the answer that are followed; any, but the same all the time.
  input logic [2:0]              followed
);

  // The register bus accepts within this many cycles, and acknowledges within as many more.
  localparam int unsigned StallCyclesMax = 1;

  logic                    awready, wready, bvalid, arready, rvalid;
  logic [1:0]              bresp, rresp;
  logic [DATA_WIDTH-1:0]   rdata;
  logic                    req, req_is_wr;
  logic [ADDR_WIDTH-1:0]   addr;
  logic [DATA_WIDTH-1:0]   wr_data, wr_biten;

  axil_slave #(.ADDR_WIDTH(ADDR_WIDTH), .DATA_WIDTH(DATA_WIDTH)) dut (
    .clk_i, .rst_ni,
    .s_axil_awvalid(awvalid), .s_axil_awready(awready), .s_axil_awaddr(awaddr),
    .s_axil_awprot(awprot),
    .s_axil_wvalid(wvalid), .s_axil_wready(wready), .s_axil_wdata(wdata), .s_axil_wstrb(wstrb),
    .s_axil_bvalid(bvalid), .s_axil_bready(bready), .s_axil_bresp(bresp),
    .s_axil_arvalid(arvalid), .s_axil_arready(arready), .s_axil_araddr(araddr),
    .s_axil_arprot(arprot),
    .s_axil_rvalid(rvalid), .s_axil_rready(rready), .s_axil_rdata(rdata),
    .s_axil_rresp(rresp),
    .req_o(req), .req_is_wr_o(req_is_wr), .addr_o(addr),
    .wr_data_o(wr_data), .wr_biten_o(wr_biten),
    .req_stall_wr_i(stall_wr), .req_stall_rd_i(stall_rd),
    .rd_ack_i(rd_ack), .rd_err_i(rd_err), .rd_data_i(rd_data),
    .wr_ack_i(wr_ack), .wr_err_i(wr_err)
  );

  axil_props #(
    .ADDR_WIDTH(ADDR_WIDTH), .DATA_WIDTH(DATA_WIDTH),
    .SLAVE_PROVED(1'b1), .MASTER_PROVED(1'b0),
    // One answered and one kept, for each kind.
    .OUTSTANDING_MAX(2),
    // Its own way and a turn of the other kind, each with the register bus's times and the
    // master's.
    .ANSWER_CYCLES_MAX(9), .READY_CYCLES_MAX(2)
  ) bus (
    .clk_i, .rst_ni,
    .axil_awvalid(awvalid), .axil_awready(awready), .axil_awaddr(awaddr),
    .axil_awprot(awprot),
    .axil_wvalid(wvalid), .axil_wready(wready), .axil_wdata(wdata), .axil_wstrb(wstrb),
    .axil_bvalid(bvalid), .axil_bready(bready), .axil_bresp(bresp),
    .axil_arvalid(arvalid), .axil_arready(arready), .axil_araddr(araddr),
    .axil_arprot(arprot),
    .axil_rvalid(rvalid), .axil_rready(rready), .axil_rdata(rdata), .axil_rresp(rresp)
  );

  logic began_q = 1'b0;
  always_ff @(posedge clk_i) began_q <= 1'b1;
  always_ff @(posedge clk_i) begin_in_reset: assume (rst_ni == began_q);

  logic [2:0] followed_q;
  always_ff @(posedge clk_i) followed_q <= followed;
  always_ff @(posedge clk_i) if (began_q) one_followed: assume (followed == followed_q);

  // The register bus as it may be: stalls, and late acknowledges, both bounded; one acknowledge a
  // request.

  logic       accepted;
  logic       wait_q, wait_is_wr_q;
  logic [1:0] stall_q, ack_q;
  logic       stalled_q, stalled_is_wr_q;
  logic [ADDR_WIDTH+2*DATA_WIDTH-1:0] stalled_request_q, request;

  assign accepted = req && !(req_is_wr ? stall_wr : stall_rd);
  assign request  = {addr, req_is_wr ? {wr_data, wr_biten} : '0};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wait_q       <= 1'b0;
      wait_is_wr_q <= 1'b0;
      stall_q      <= '0;
      ack_q        <= '0;
      stalled_q    <= 1'b0;
    end else begin
      wait_q    <= (wait_q || accepted) && !rd_ack && !wr_ack;
      stall_q   <= req && !accepted ? stall_q + 1'b1 : '0;
      ack_q     <= wait_q ? ack_q + 1'b1 : '0;
      stalled_q <= req && !accepted;
      if (accepted) wait_is_wr_q <= req_is_wr;
    end
  end

  always_ff @(posedge clk_i) begin
    stalled_is_wr_q   <= req_is_wr;
    stalled_request_q <= request;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      stalls_end: assume (!(req && !accepted) || stall_q < 2'(StallCyclesMax));
      acks_come: assume (!wait_q || rd_ack || wr_ack || ack_q < 2'(StallCyclesMax));
      rd_ack_asked: assume (!rd_ack || (accepted && !req_is_wr) || (wait_q && !wait_is_wr_q));
      wr_ack_asked: assume (!wr_ack || (accepted && req_is_wr) || (wait_q && wait_is_wr_q));

      one_at_a_time: assert (!req || !wait_q);
      request_stays: assert (!stalled_q || req);
      kind_stable: assert (!stalled_q || req_is_wr == stalled_is_wr_q);
      request_stable: assert (!stalled_q || request == stalled_request_q);
      addr_aligned: assert (!req || addr[$clog2(DATA_WIDTH/8)-1:0] == '0);
    end
  end

  // One request and one answer are followed. The numbers count modulo eight; fewer are under way.

  logic [2:0] aw_n_q, w_n_q, wr_n_q, b_n_q, wr_ack_n_q, ar_n_q, rd_n_q, rd_ack_n_q, r_n_q;
  logic [ADDR_WIDTH-1:0]                    aw_seen_q, ar_seen_q;
  logic [DATA_WIDTH/8+DATA_WIDTH-1:0]       w_seen_q;
  logic                                     wr_err_seen_q;
  logic [DATA_WIDTH:0]                      rd_seen_q;
  logic                                     aw_now, w_now, ar_now, wr_ack_now, rd_ack_now;

  assign aw_now     = awvalid && awready && aw_n_q == followed;
  assign w_now      = wvalid && wready && w_n_q == followed;
  assign ar_now     = arvalid && arready && ar_n_q == followed;
  assign wr_ack_now = wr_ack && wr_ack_n_q == followed;
  assign rd_ack_now = rd_ack && rd_ack_n_q == followed;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {aw_n_q, w_n_q, wr_n_q, wr_ack_n_q, b_n_q, ar_n_q, rd_n_q, rd_ack_n_q, r_n_q} <= '0;
    end else begin
      aw_n_q     <= aw_n_q + 3'(awvalid && awready);
      w_n_q      <= w_n_q + 3'(wvalid && wready);
      wr_n_q     <= wr_n_q + 3'(accepted && req_is_wr);
      wr_ack_n_q <= wr_ack_n_q + 3'(wr_ack);
      b_n_q      <= b_n_q + 3'(bvalid && bready);
      ar_n_q     <= ar_n_q + 3'(arvalid && arready);
      rd_n_q     <= rd_n_q + 3'(accepted && !req_is_wr);
      rd_ack_n_q <= rd_ack_n_q + 3'(rd_ack);
      r_n_q      <= r_n_q + 3'(rvalid && rready);
    end
  end

  always_ff @(posedge clk_i) begin
    if (aw_now) aw_seen_q <= awaddr;
    if (w_now) w_seen_q <= {wstrb, wdata};
    if (ar_now) ar_seen_q <= araddr;
    if (wr_ack_now) wr_err_seen_q <= wr_err;
    if (rd_ack_now) rd_seen_q <= {rd_err, rd_data};
  end

  // Passed through in the cycle of the request, or kept from an earlier one.
  logic [ADDR_WIDTH-1:0]              aw_expected, ar_expected;
  logic [DATA_WIDTH/8+DATA_WIDTH-1:0] w_expected;
  logic [DATA_WIDTH-1:0]              biten_expected;

  assign aw_expected = aw_now ? awaddr : aw_seen_q;
  assign w_expected  = w_now ? {wstrb, wdata} : w_seen_q;
  assign ar_expected = ar_now ? araddr : ar_seen_q;

  for (genvar i = 0; i < DATA_WIDTH / 8; i++) begin : gen_biten
    assign biten_expected[8*i+:8] = {8{w_expected[DATA_WIDTH+i]}};
  end

  localparam int unsigned WordBits = $clog2(DATA_WIDTH / 8);
  logic [ADDR_WIDTH-1:0] word_mask;
  assign word_mask = ~ADDR_WIDTH'((1 << WordBits) - 1);

  // Where the requests are that have come: one kept for lack of a turn, one with the register bus,
  // one answer on AXI. So none is lost, doubled or made up.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      aw_kept: assert (3'(aw_n_q - wr_n_q) == 3'(!awready));
      w_kept: assert (3'(w_n_q - wr_n_q) == 3'(!wready));
      ar_kept: assert (3'(ar_n_q - rd_n_q) == 3'(!arready));
      wr_with_bus: assert (3'(wr_n_q - wr_ack_n_q) == 3'(wait_q && wait_is_wr_q));
      rd_with_bus: assert (3'(rd_n_q - rd_ack_n_q) == 3'(wait_q && !wait_is_wr_q));
      b_waits: assert (3'(wr_ack_n_q - b_n_q) == 3'(bvalid));
      r_waits: assert (3'(rd_ack_n_q - r_n_q) == 3'(rvalid));

`ifndef CUT
      // What makes the rest follow by induction.
      state_wait: assert (dut.wait_q == wait_q && (!wait_q || dut.wait_is_wr_q == wait_is_wr_q));
      state_stalled: assert (dut.stalled_q == stalled_q);
      state_aw: assert (3'(aw_n_q - b_n_q) == 3'(bus.aw_count_q));
      state_w: assert (3'(w_n_q - b_n_q) == 3'(bus.w_count_q));
      state_ar: assert (3'(ar_n_q - r_n_q) == 3'(bus.ar_count_q));
`endif
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (accepted && req_is_wr && wr_n_q == followed) begin
        wr_addr_same: assert (addr == (aw_expected & word_mask));
        wr_data_same: assert (wr_data == w_expected[DATA_WIDTH-1:0]);
        wr_biten_same: assert (wr_biten == biten_expected);
      end
      if (accepted && !req_is_wr && rd_n_q == followed) begin
        rd_addr_same: assert (addr == (ar_expected & word_mask));
      end
      if (bvalid && b_n_q == followed) begin
        b_same: assert (bresp == {wr_err_seen_q, 1'b0});
      end
      if (rvalid && r_n_q == followed) begin
        r_data_same: assert (rdata == rd_seen_q[DATA_WIDTH-1:0]);
        r_error_same: assert (rresp == {rd_seen_q[DATA_WIDTH], 1'b0});
      end

      // Two writes and two reads in four cycles: as fast as there are turns.
      write_done: cover (bvalid && bready && b_n_q == 3);
      read_done: cover (rvalid && rready && r_n_q == 3);
      both: cover (bvalid && rvalid);
      error: cover (rvalid && rresp == 2'b10);
      late: cover (wait_q && ack_q == 1);
    end
  end

endmodule
