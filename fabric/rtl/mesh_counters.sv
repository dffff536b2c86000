// Counters of the mesh behind a page of 4 KiB (regs/mesh_counters.rdl): flits that have come out of
// it, and packets for which there was no room.
module mesh_counters #(
  // Places that flits come out at, and those where packets may be lost; two at least.
  parameter int unsigned PLACES = 20,
  parameter int unsigned LOSERS = 4
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  input  logic              s_axil_awvalid,
  output logic              s_axil_awready,
  input  logic [11:0]       s_axil_awaddr,
  input  logic [2:0]        s_axil_awprot,
  input  logic              s_axil_wvalid,
  output logic              s_axil_wready,
  input  logic [31:0]       s_axil_wdata,
  input  logic [3:0]        s_axil_wstrb,
  output logic              s_axil_bvalid,
  input  logic              s_axil_bready,
  output logic [1:0]        s_axil_bresp,
  input  logic              s_axil_arvalid,
  output logic              s_axil_arready,
  input  logic [11:0]       s_axil_araddr,
  input  logic [2:0]        s_axil_arprot,
  output logic              s_axil_rvalid,
  input  logic              s_axil_rready,
  output logic [31:0]       s_axil_rdata,
  output logic [1:0]        s_axil_rresp,

  // In this cycle.
  input  logic [PLACES-1:0] arrived_i,
  input  logic [LOSERS-1:0] lost_i
);

  localparam int unsigned CountBits = unsigned'($clog2(PLACES + 1));
  localparam int unsigned LostBits  = unsigned'($clog2(LOSERS + 1));

  logic                 req, req_is_wr, stall_wr, stall_rd;
  logic [11:0]          addr;
  logic [31:0]          wr_data, wr_biten, rd_data;
  logic                 rd_ack, rd_err, wr_ack, wr_err;
  logic [CountBits-1:0] arrive, arrive_q;
  logic [LostBits-1:0]  lose, lose_q;
  logic [63:0]          flits_q;
  logic [31:0]          lost_q;
  logic [32:0]          lost;

  mesh_counters_regs_pkg::mesh_counters__in_t to_regs;

  axil_slave #(.ADDR_WIDTH(12), .DATA_WIDTH(32)) u_slave (
    .clk_i, .rst_ni,
    .s_axil_awvalid, .s_axil_awready, .s_axil_awaddr, .s_axil_awprot,
    .s_axil_wvalid, .s_axil_wready, .s_axil_wdata, .s_axil_wstrb,
    .s_axil_bvalid, .s_axil_bready, .s_axil_bresp,
    .s_axil_arvalid, .s_axil_arready, .s_axil_araddr, .s_axil_arprot,
    .s_axil_rvalid, .s_axil_rready, .s_axil_rdata, .s_axil_rresp,
    .req_o(req), .req_is_wr_o(req_is_wr), .addr_o(addr),
    .wr_data_o(wr_data), .wr_biten_o(wr_biten),
    .req_stall_wr_i(stall_wr), .req_stall_rd_i(stall_rd),
    .rd_ack_i(rd_ack), .rd_err_i(rd_err), .rd_data_i(rd_data),
    .wr_ack_i(wr_ack), .wr_err_i(wr_err)
  );

  mesh_counters_regs u_regs (
    .clk(clk_i), .arst_n(rst_ni),
    .s_cpuif_req(req), .s_cpuif_req_is_wr(req_is_wr), .s_cpuif_addr(addr),
    .s_cpuif_wr_data(wr_data), .s_cpuif_wr_biten(wr_biten),
    .s_cpuif_req_stall_wr(stall_wr), .s_cpuif_req_stall_rd(stall_rd),
    .s_cpuif_rd_ack(rd_ack), .s_cpuif_rd_err(rd_err), .s_cpuif_rd_data(rd_data),
    .s_cpuif_wr_ack(wr_ack), .s_cpuif_wr_err(wr_err),
    .hwif_in(to_regs)
  );

  always_comb begin
    arrive = '0;
    lose   = '0;
    for (int unsigned i = 0; i < PLACES; i++) arrive = arrive + CountBits'(arrived_i[i]);
    for (int unsigned i = 0; i < LOSERS; i++) lose = lose + LostBits'(lost_i[i]);
  end

  assign lost = 33'(lost_q) + 33'(lose_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      arrive_q <= '0;
      lose_q   <= '0;
      flits_q  <= '0;
      lost_q   <= '0;
    end else begin
      arrive_q <= arrive;
      lose_q   <= lose;
      flits_q  <= flits_q + 64'(arrive_q);
      lost_q   <= lost[32] ? '1 : lost[31:0];
    end
  end

  assign to_regs.FLITS.count.next  = flits_q;
  assign to_regs.LOST.packets.next = lost_q;

endmodule
