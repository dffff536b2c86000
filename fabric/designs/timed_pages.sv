// Timed I/O behind a page decoder: its VMs' pages, and its manager's behind them; and for how many
// cycles it is quiet.
module timed_pages import timed_io_pkg::*; #(
  parameter int unsigned VMS  = 4,
  parameter int unsigned PINS = 8,
  localparam int unsigned PAGES = VMS + 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  // By page. The address is that within the page.
  input  logic [PAGES-1:0]       s_axil_awvalid,
  output logic [PAGES-1:0]       s_axil_awready,
  input  logic [PAGES-1:0]       s_axil_wvalid,
  output logic [PAGES-1:0]       s_axil_wready,
  input  logic [11:0]            s_axil_addr,
  input  logic [31:0]            s_axil_wdata,
  input  logic [3:0]             s_axil_wstrb,
  output logic [PAGES-1:0]       s_axil_bvalid,
  input  logic [PAGES-1:0]       s_axil_bready,
  output logic [PAGES-1:0][1:0]  s_axil_bresp,
  input  logic [PAGES-1:0]       s_axil_arvalid,
  output logic [PAGES-1:0]       s_axil_arready,
  output logic [PAGES-1:0]       s_axil_rvalid,
  input  logic [PAGES-1:0]       s_axil_rready,
  output logic [PAGES-1:0][31:0] s_axil_rdata,
  output logic [PAGES-1:0][1:0]  s_axil_rresp,

  input  logic [PINS-1:0]        pins_i,
  output logic [PINS-1:0]        pins_o,
  // Of these, nothing but the time and the turns of the schedule changes, which are over in Turn.
  output logic [31:0]            quiet_o
);

  localparam int unsigned PageBits = $clog2(PAGES);

  // It has one bus for all of them: which page is asked is its address' upper part.

  logic [PAGES-1:0]    asked;
  logic [PageBits-1:0] page;
  logic                awready, wready, bvalid, arready, rvalid;
  logic [1:0]          bresp, rresp;
  logic [31:0]         rdata;
  logic [63:0]         now;

  assign asked = s_axil_awvalid | s_axil_wvalid | s_axil_arvalid;

  always_comb begin
    page = '0;
    for (int unsigned i = 0; i < PAGES; i++) if (asked[i]) page = page | PageBits'(i);
  end

  timed_io #(.VMS(VMS), .PINS(PINS)) u_timed (
    .clk_i, .rst_ni,
    .s_axil_awvalid(s_axil_awvalid != '0), .s_axil_awready(awready),
    .s_axil_awaddr({page, s_axil_addr}), .s_axil_awprot('0),
    .s_axil_wvalid(s_axil_wvalid != '0), .s_axil_wready(wready),
    .s_axil_wdata, .s_axil_wstrb,
    .s_axil_bvalid(bvalid), .s_axil_bready(s_axil_bready != '0), .s_axil_bresp(bresp),
    .s_axil_arvalid(s_axil_arvalid != '0), .s_axil_arready(arready),
    .s_axil_araddr({page, s_axil_addr}), .s_axil_arprot('0),
    .s_axil_rvalid(rvalid), .s_axil_rready(s_axil_rready != '0),
    .s_axil_rdata(rdata), .s_axil_rresp(rresp),
    .time_o(now), .pins_i, .pins_o
  );

  assign s_axil_awready = {PAGES{awready}};
  assign s_axil_wready  = {PAGES{wready}};
  assign s_axil_bvalid  = {PAGES{bvalid}};
  assign s_axil_bresp   = '{default: bresp};
  assign s_axil_arready = {PAGES{arready}};
  assign s_axil_rvalid  = {PAGES{rvalid}};
  assign s_axil_rdata   = '{default: rdata};
  assign s_axil_rresp   = '{default: rresp};

  // Quiet from a moment after the last access, run and report until the schedule looks at the first
  // next run as one that is near.

  // As in timed_io_schedule.
  localparam logic [63:0] Ahead = 64'(10 * VMS + 16);

  logic           busy;
  logic [1:0]     settled_q;
  logic [VMS-1:0] waits, reports;
  logic [VMS-1:0][63:0] left;

  for (genvar v = 0; v < VMS; v++) begin : gen_vm
    vm_state_t state;
    logic      unused;
    assign unused     = ^state;
    assign state      = u_timed.u_schedule.u_states.memory[v];
    assign waits[v]   = state.scheduled;
    assign left[v]    = {u_timed.u_schedule.u_start_high.memory[v],
                         u_timed.u_schedule.u_start_low.memory[v]} - now;
    assign reports[v] = u_timed.cause[v] != NoCause;
  end

  assign busy = asked != '0 || bvalid || rvalid || !awready || !wready || !arready
             || u_timed.req || u_timed.decodes || u_timed.scrubs || u_timed.answers
             || u_timed.u_schedule.access_i || u_timed.u_schedule.clearing_q
             || u_timed.armed != '0 || u_timed.running != '0 || reports != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      settled_q <= '0;
    end else if (busy) begin
      settled_q <= '0;
    end else if (settled_q != '1) begin
      settled_q <= settled_q + 1'b1;
    end
  end

  always_comb begin
    quiet_o = settled_q == '1 && !busy ? fabric_pkg::QuietForever : '0;
    for (int unsigned v = 0; v < VMS; v++) begin
      if (waits[v]) begin
        if (left[v] <= Ahead) begin
          quiet_o = '0;
        end else if (left[v] - Ahead < 64'(quiet_o)) begin
          quiet_o = 32'(left[v] - Ahead);
        end
      end
    end
  end

endmodule
