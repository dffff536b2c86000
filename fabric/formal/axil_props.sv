// What AXI4-Lite asks of both sides of a bus: ARM IHI 0022E, whose sections are named below.
//
// One module for all uses. SLAVE_PROVED: the slave's duties are proved and the master's taken for
// granted; MASTER_PROVED the other way round; both: everything is checked, as in simulation.
//
// The specification sets no times. The bounds here make "answers some day" a matter of cycles:
// * a slave accepts a request, and answers one that is complete, within ANSWER_CYCLES_MAX cycles,
//   in which it was not the master that it waited for;
// * a master takes an answer within READY_CYCLES_MAX, and has address and data of a write out
//   within READY_CYCLES_MAX of each other.
// No more than OUTSTANDING_MAX requests of a kind wait for their answers.
`include "property.svh"

module axil_props #(
  parameter int unsigned ADDR_WIDTH        = 12,
  parameter int unsigned DATA_WIDTH        = 32,
  parameter bit          SLAVE_PROVED      = 1'b1,
  parameter bit          MASTER_PROVED     = 1'b1,
  parameter int unsigned OUTSTANDING_MAX   = 2,
  parameter int unsigned ANSWER_CYCLES_MAX = 8,
  parameter int unsigned READY_CYCLES_MAX  = 2
) (
  input logic                    clk_i,
  input logic                    rst_ni,

  input logic                    axil_awvalid,
  input logic                    axil_awready,
  input logic [ADDR_WIDTH-1:0]   axil_awaddr,
  input logic [2:0]              axil_awprot,
  input logic                    axil_wvalid,
  input logic                    axil_wready,
  input logic [DATA_WIDTH-1:0]   axil_wdata,
  input logic [DATA_WIDTH/8-1:0] axil_wstrb,
  input logic                    axil_bvalid,
  input logic                    axil_bready,
  input logic [1:0]              axil_bresp,
  input logic                    axil_arvalid,
  input logic                    axil_arready,
  input logic [ADDR_WIDTH-1:0]   axil_araddr,
  input logic [2:0]              axil_arprot,
  input logic                    axil_rvalid,
  input logic                    axil_rready,
  input logic [DATA_WIDTH-1:0]   axil_rdata,
  input logic [1:0]              axil_rresp
);

  localparam int unsigned CountWidth = $clog2(OUTSTANDING_MAX + 2);
  localparam int unsigned TimeWidth  = $clog2(ANSWER_CYCLES_MAX + READY_CYCLES_MAX + 2);

  typedef logic [CountWidth-1:0] count_t;
  typedef logic [TimeWidth-1:0]  time_t;

  localparam count_t OutstandingMax  = count_t'(OUTSTANDING_MAX);
  localparam time_t  AnswerCyclesMax = time_t'(ANSWER_CYCLES_MAX);
  localparam time_t  ReadyCyclesMax  = time_t'(READY_CYCLES_MAX);

  // A3.1.2: in reset, no VALID.

  `PROPERTY_IN_RESET(MASTER_PROVED, reset_aw, !axil_awvalid)
  `PROPERTY_IN_RESET(MASTER_PROVED, reset_w, !axil_wvalid)
  `PROPERTY_IN_RESET(MASTER_PROVED, reset_ar, !axil_arvalid)
  `PROPERTY_IN_RESET(SLAVE_PROVED, reset_b, !axil_bvalid)
  `PROPERTY_IN_RESET(SLAVE_PROVED, reset_r, !axil_rvalid)

  // A3.2.1: VALID, once up, stays until READY, and what it says stays with it.

  logic                    aw_held_q, w_held_q, b_held_q, ar_held_q, r_held_q;
  logic [ADDR_WIDTH+2:0]   aw_q, ar_q;
  logic [DATA_WIDTH*9/8-1:0] w_q;
  logic [1:0]              b_q;
  logic [DATA_WIDTH+1:0]   r_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {aw_held_q, w_held_q, b_held_q, ar_held_q, r_held_q} <= '0;
    end else begin
      aw_held_q <= axil_awvalid && !axil_awready;
      w_held_q  <= axil_wvalid && !axil_wready;
      b_held_q  <= axil_bvalid && !axil_bready;
      ar_held_q <= axil_arvalid && !axil_arready;
      r_held_q  <= axil_rvalid && !axil_rready;
    end
  end

  always_ff @(posedge clk_i) begin
    aw_q <= {axil_awaddr, axil_awprot};
    w_q  <= {axil_wdata, axil_wstrb};
    b_q  <= axil_bresp;
    ar_q <= {axil_araddr, axil_arprot};
    r_q  <= {axil_rdata, axil_rresp};
  end

  `PROPERTY(MASTER_PROVED, aw_stays, !aw_held_q || axil_awvalid)
  `PROPERTY(MASTER_PROVED, aw_stable, !aw_held_q || aw_q == {axil_awaddr, axil_awprot})
  `PROPERTY(MASTER_PROVED, w_stays, !w_held_q || axil_wvalid)
  `PROPERTY(MASTER_PROVED, w_stable, !w_held_q || w_q == {axil_wdata, axil_wstrb})
  `PROPERTY(SLAVE_PROVED, b_stays, !b_held_q || axil_bvalid)
  `PROPERTY(SLAVE_PROVED, b_stable, !b_held_q || b_q == axil_bresp)
  `PROPERTY(MASTER_PROVED, ar_stays, !ar_held_q || axil_arvalid)
  `PROPERTY(MASTER_PROVED, ar_stable, !ar_held_q || ar_q == {axil_araddr, axil_arprot})
  `PROPERTY(SLAVE_PROVED, r_stays, !r_held_q || axil_rvalid)
  `PROPERTY(SLAVE_PROVED, r_stable, !r_held_q || r_q == {axil_rdata, axil_rresp})

  // A3.3.1: an answer follows its request, that of a write both address and data. So none is
  // invented and none doubled.

  count_t aw_count_q, w_count_q, ar_count_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_count_q <= '0;
      w_count_q  <= '0;
      ar_count_q <= '0;
    end else begin
      aw_count_q <= aw_count_q + count_t'(axil_awvalid && axil_awready)
                    - count_t'(axil_bvalid && axil_bready);
      w_count_q  <= w_count_q + count_t'(axil_wvalid && axil_wready)
                    - count_t'(axil_bvalid && axil_bready);
      ar_count_q <= ar_count_q + count_t'(axil_arvalid && axil_arready)
                    - count_t'(axil_rvalid && axil_rready);
    end
  end

  `PROPERTY(SLAVE_PROVED, b_after_aw, !axil_bvalid || aw_count_q != 0)
  `PROPERTY(SLAVE_PROVED, b_after_w, !axil_bvalid || w_count_q != 0)
  `PROPERTY(SLAVE_PROVED, r_after_ar, !axil_rvalid || ar_count_q != 0)
  `PROPERTY(SLAVE_PROVED, aw_bounded, aw_count_q <= OutstandingMax)
  `PROPERTY(SLAVE_PROVED, w_bounded, w_count_q <= OutstandingMax)
  `PROPERTY(SLAVE_PROVED, ar_bounded, ar_count_q <= OutstandingMax)

  // B1.1.1: there are no exclusive accesses, so none succeeds.

  `PROPERTY(SLAVE_PROVED, b_not_exclusive, !axil_bvalid || axil_bresp != 2'b01)
  `PROPERTY(SLAVE_PROVED, r_not_exclusive, !axil_rvalid || axil_rresp != 2'b01)

  // Times. A write of which only one half is there waits for the master; so does an answer that it
  // does not take.

  time_t b_wait_q, r_wait_q, half_wait_q, b_ready_q, r_ready_q;

  // Of a write, counting what is on the bus and not yet accepted.
  logic aw_there, w_there;
  assign aw_there = aw_count_q != 0 || axil_awvalid;
  assign w_there  = w_count_q != 0 || axil_wvalid;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      b_wait_q    <= '0;
      r_wait_q    <= '0;
      half_wait_q <= '0;
      b_ready_q   <= '0;
      r_ready_q   <= '0;
    end else begin
      if (axil_bvalid || !aw_there || !w_there) b_wait_q <= '0;
      else if (b_wait_q != '1) b_wait_q <= b_wait_q + 1'b1;

      if (axil_rvalid || !(ar_count_q != 0 || axil_arvalid)) r_wait_q <= '0;
      else if (r_wait_q != '1) r_wait_q <= r_wait_q + 1'b1;

      if (aw_there == w_there) half_wait_q <= '0;
      else if (half_wait_q != '1) half_wait_q <= half_wait_q + 1'b1;

      if (!axil_bvalid || axil_bready) b_ready_q <= '0;
      else if (b_ready_q != '1) b_ready_q <= b_ready_q + 1'b1;

      if (!axil_rvalid || axil_rready) r_ready_q <= '0;
      else if (r_ready_q != '1) r_ready_q <= r_ready_q + 1'b1;
    end
  end

  `PROPERTY(SLAVE_PROVED, b_in_time, b_wait_q < AnswerCyclesMax)
  `PROPERTY(SLAVE_PROVED, r_in_time, r_wait_q < AnswerCyclesMax)
  `PROPERTY(MASTER_PROVED, w_in_time, half_wait_q < ReadyCyclesMax)
  `PROPERTY(MASTER_PROVED, b_taken_in_time, b_ready_q < ReadyCyclesMax)
  `PROPERTY(MASTER_PROVED, r_taken_in_time, r_ready_q < ReadyCyclesMax)

endmodule
