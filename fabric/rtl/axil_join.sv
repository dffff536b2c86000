// Two AXI4-Lite masters in front of one slave. Each makes one access at a time, a read or a write;
// where both want one they take turns.
//
// An access comes to the slave a cycle later than without this, its answer goes straight through.
module axil_join #(
  parameter int unsigned ADDR_WIDTH = 12
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,

  input  logic [1:0]                 s_axil_awvalid,
  output logic [1:0]                 s_axil_awready,
  input  logic [1:0][ADDR_WIDTH-1:0] s_axil_awaddr,
  input  logic [1:0]                 s_axil_wvalid,
  output logic [1:0]                 s_axil_wready,
  input  logic [1:0][31:0]           s_axil_wdata,
  input  logic [1:0][3:0]            s_axil_wstrb,
  output logic [1:0]                 s_axil_bvalid,
  input  logic [1:0]                 s_axil_bready,
  output logic [1:0]                 s_axil_bresp,
  input  logic [1:0]                 s_axil_arvalid,
  output logic [1:0]                 s_axil_arready,
  input  logic [1:0][ADDR_WIDTH-1:0] s_axil_araddr,
  output logic [1:0]                 s_axil_rvalid,
  input  logic [1:0]                 s_axil_rready,
  // The same for both.
  output logic [31:0]                s_axil_rdata,
  output logic [1:0]                 s_axil_rresp,

  output logic                       m_axil_awvalid,
  input  logic                       m_axil_awready,
  output logic [ADDR_WIDTH-1:0]      m_axil_awaddr,
  output logic                       m_axil_wvalid,
  input  logic                       m_axil_wready,
  output logic [31:0]                m_axil_wdata,
  output logic [3:0]                 m_axil_wstrb,
  input  logic                       m_axil_bvalid,
  output logic                       m_axil_bready,
  input  logic [1:0]                 m_axil_bresp,
  output logic                       m_axil_arvalid,
  input  logic                       m_axil_arready,
  output logic [ADDR_WIDTH-1:0]      m_axil_araddr,
  input  logic                       m_axil_rvalid,
  output logic                       m_axil_rready,
  input  logic [31:0]                m_axil_rdata,
  input  logic [1:0]                 m_axil_rresp
);

  // Whose turn it is: a bit of one, or none. And who had the last one.
  logic [1:0] asks, turn_q, last_q;
  logic       over, at;

  assign asks = s_axil_awvalid | s_axil_wvalid | s_axil_arvalid;
  assign over = (m_axil_bvalid && m_axil_bready) || (m_axil_rvalid && m_axil_rready);
  assign at   = turn_q[1];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      turn_q <= '0;
      last_q <= '0;
    end else if (turn_q == '0) begin
      turn_q <= asks == 2'b11 ? {last_q != 2'b10, last_q == 2'b10} : asks;
    end else if (over) begin
      turn_q <= '0;
      last_q <= turn_q;
    end
  end

  assign m_axil_awvalid = (s_axil_awvalid & turn_q) != '0;
  assign m_axil_awaddr  = s_axil_awaddr[at];
  assign m_axil_wvalid  = (s_axil_wvalid & turn_q) != '0;
  assign m_axil_wdata   = s_axil_wdata[at];
  assign m_axil_wstrb   = s_axil_wstrb[at];
  assign m_axil_bready  = (s_axil_bready & turn_q) != '0;
  assign m_axil_arvalid = (s_axil_arvalid & turn_q) != '0;
  assign m_axil_araddr  = s_axil_araddr[at];
  assign m_axil_rready  = (s_axil_rready & turn_q) != '0;

  assign s_axil_awready = turn_q & {2{m_axil_awready}};
  assign s_axil_wready  = turn_q & {2{m_axil_wready}};
  assign s_axil_bvalid  = turn_q & {2{m_axil_bvalid}};
  assign s_axil_bresp   = m_axil_bresp;
  assign s_axil_arready = turn_q & {2{m_axil_arready}};
  assign s_axil_rvalid  = turn_q & {2{m_axil_rvalid}};
  assign s_axil_rdata   = m_axil_rdata;
  assign s_axil_rresp   = m_axil_rresp;

endmodule
