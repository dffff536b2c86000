// The design with coprocessors: the interfaces, regions and pages of the design `accelerators`,
// with other tasks: checksums, digests, ciphers and images, whose blocks depend on those before.
//
// Interrupt lines: 0 the region monitor; 1 the configuration port; 2 to 4 the regions; 5 an
// interface has faults; 6 the region allocator; from 8 on the interfaces. The
// allocator's answers go over ACP.
module coprocessors_design import fabric_pkg::*; (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  gp_req_t               gp_req_i,
  output gp_rsp_t               gp_rsp_o,
  output axi_req_t              acp_req_o,
  input  axi_rsp_t              acp_rsp_i,
  output axi_req_t              hp_req_o,
  input  axi_rsp_t              hp_rsp_i,
  input  logic                  event_i,
  output logic [Interrupts-1:0] irq_o,
  output logic [31:0]           quiet_o
);

  import hw_task_pkg::*;

  localparam int unsigned Interfaces = 8;
  localparam int unsigned Regions    = 3;

  // There is no other page: what would be the first one answers with errors.
  logic        aw_q, w_q, ar_q, awvalid, wvalid, bready, arvalid, rready;
  logic [11:0] unused_addr;
  logic [31:0] unused_wdata;
  logic [3:0]  unused_wstrb;
  localparam logic [1:0] SlaveError = 2'd2;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {aw_q, w_q, ar_q} <= '0;
    end else begin
      aw_q <= (aw_q || awvalid) && !(aw_q && w_q && bready);
      w_q  <= (w_q || wvalid) && !(aw_q && w_q && bready);
      ar_q <= ar_q ? !rready : arvalid;
    end
  end

  logic                             busy;
  logic [Regions-1:0]               reconfiguring;
  logic [Regions-1:0][7:0]          loaded;
  region_pkg::from_task_t [Regions-1:0] from_region;
  region_pkg::to_task_t [Regions-1:0]   to_region;

  logic        config_valid;
  logic [3:0]  config_region, awcache, arcache;
  logic [31:0] config_data;
  logic [2:0]  awsize, awprot, arsize, arprot, a_awsize, a_awprot;
  logic [1:0]  awburst, arburst, a_awburst;
  logic [3:0]  a_awcache;

  assign irq_o[7] = 1'b0;

  accelerators #(.INTERFACES(Interfaces), .OTHERS(1)) u_accelerators (
    .clk_i, .rst_ni,
    .s_axil_awvalid(gp_req_i.awvalid), .s_axil_awready(gp_rsp_o.awready),
    .s_axil_awaddr(gp_req_i.awaddr), .s_axil_awprot('0),
    .s_axil_wvalid(gp_req_i.wvalid), .s_axil_wready(gp_rsp_o.wready),
    .s_axil_wdata(gp_req_i.wdata), .s_axil_wstrb(gp_req_i.wstrb),
    .s_axil_bvalid(gp_rsp_o.bvalid), .s_axil_bready(gp_req_i.bready),
    .s_axil_bresp(gp_rsp_o.bresp),
    .s_axil_arvalid(gp_req_i.arvalid), .s_axil_arready(gp_rsp_o.arready),
    .s_axil_araddr(gp_req_i.araddr), .s_axil_arprot('0),
    .s_axil_rvalid(gp_rsp_o.rvalid), .s_axil_rready(gp_req_i.rready),
    .s_axil_rdata(gp_rsp_o.rdata), .s_axil_rresp(gp_rsp_o.rresp),
    .other_awvalid_o(awvalid), .other_awready_i(!aw_q),
    .other_wvalid_o(wvalid), .other_wready_i(!w_q),
    .other_addr_o(unused_addr), .other_wdata_o(unused_wdata), .other_wstrb_o(unused_wstrb),
    .other_bvalid_i(aw_q && w_q), .other_bready_o(bready), .other_bresp_i(SlaveError),
    .other_arvalid_o(arvalid), .other_arready_i(!ar_q),
    .other_rvalid_i(ar_q), .other_rready_o(rready),
    .other_rdata_i('0), .other_rresp_i(SlaveError),
    .monitor_irq_o(irq_o[0]), .port_irq_o(irq_o[1]), .region_irq_o(irq_o[4:2]),
    .fault_irq_o(irq_o[5]), .allocator_irq_o(irq_o[6]), .interface_irq_o(irq_o[15:8]),
    .reconfiguring_o(reconfiguring), .loaded_o(loaded),
    .from_task_i(from_region), .to_task_o(to_region),
    .config_valid_o(config_valid), .config_region_o(config_region), .config_data_o(config_data),
    .busy_o(busy),
    .m_axi_awvalid(hp_req_o.awvalid), .m_axi_awready(hp_rsp_i.awready),
    .m_axi_awaddr(hp_req_o.awaddr), .m_axi_awlen(hp_req_o.awlen), .m_axi_awsize(awsize),
    .m_axi_awburst(awburst), .m_axi_awcache(awcache), .m_axi_awprot(awprot),
    .m_axi_wvalid(hp_req_o.wvalid), .m_axi_wready(hp_rsp_i.wready),
    .m_axi_wdata(hp_req_o.wdata), .m_axi_wstrb(hp_req_o.wstrb), .m_axi_wlast(hp_req_o.wlast),
    .m_axi_bvalid(hp_rsp_i.bvalid), .m_axi_bready(hp_req_o.bready),
    .m_axi_bresp(hp_rsp_i.bresp),
    .m_axi_arvalid(hp_req_o.arvalid), .m_axi_arready(hp_rsp_i.arready),
    .m_axi_araddr(hp_req_o.araddr), .m_axi_arlen(hp_req_o.arlen), .m_axi_arsize(arsize),
    .m_axi_arburst(arburst), .m_axi_arcache(arcache), .m_axi_arprot(arprot),
    .m_axi_rvalid(hp_rsp_i.rvalid), .m_axi_rready(hp_req_o.rready),
    .m_axi_rdata(hp_rsp_i.rdata), .m_axi_rresp(hp_rsp_i.rresp), .m_axi_rlast(hp_rsp_i.rlast),
    .a_axi_awvalid(acp_req_o.awvalid), .a_axi_awready(acp_rsp_i.awready),
    .a_axi_awaddr(acp_req_o.awaddr), .a_axi_awlen(acp_req_o.awlen), .a_axi_awsize(a_awsize),
    .a_axi_awburst(a_awburst), .a_axi_awcache(a_awcache), .a_axi_awprot(a_awprot),
    .a_axi_wvalid(acp_req_o.wvalid), .a_axi_wready(acp_rsp_i.wready),
    .a_axi_wdata(acp_req_o.wdata), .a_axi_wstrb(acp_req_o.wstrb), .a_axi_wlast(acp_req_o.wlast),
    .a_axi_bvalid(acp_rsp_i.bvalid), .a_axi_bready(acp_req_o.bready),
    .a_axi_bresp(acp_rsp_i.bresp)
  );

  assign acp_req_o.arvalid = 1'b0;
  assign acp_req_o.araddr  = '0;
  assign acp_req_o.arlen   = '0;
  assign acp_req_o.rready  = 1'b0;


  // What fits into each region.

  logic rests;

  typedef task_e [3:0] fits_t;
  localparam int unsigned  Tasks [Regions] = '{1, 4, 3};
  localparam fits_t        Fits [Regions]  = '{{Crc32, Crc32, Crc32, Crc32},
                                               {Convolution, Aes, Sha256, Crc32},
                                               {Convolution, Convolution, Aes, Sha256}};

  // Numbers are the lowest three bits.
  typedef logic [3:0][7:0] numbers_t;

  function automatic numbers_t numbers_of(fits_t fits);
    numbers_t numbers;
    for (int unsigned i = 0; i < 4; i++) numbers[i] = 8'(fits[i]) & 8'd7;
    return numbers;
  endfunction

  for (genvar r = 0; r < int'(Regions); r++) begin : gen_region
    localparam int unsigned Count = Tasks[r];
    localparam fits_t       Fit   = Fits[r];

    region_pkg::from_task_t [Count-1:0] from_tasks;
    region_pkg::to_task_t [Count-1:0]   to_tasks;

    region_partition #(
      .TASKS(Count), .NUMBERS((8*Count)'(numbers_of(Fit))), .SEED(r + 1)
    ) u_partition (
      .clk_i, .rst_ni, .rests_i(rests),
      .reconfiguring_i(reconfiguring[r]), .loaded_i(loaded[r]),
      .from_tasks_i(from_tasks), .to_tasks_o(to_tasks),
      .from_region_o(from_region[r]), .to_region_i(to_region[r])
    );

    for (genvar t = 0; t < int'(Count); t++) begin : gen_task
      coprocessors_task #(.TASK(Fit[t])) u_task (
        .clk_i, .to_task_i(to_tasks[t]), .from_task_o(from_tasks[t])
      );
    end
  end

  logic unused;
  assign unused = ^{acp_rsp_i.arready, acp_rsp_i.rvalid, acp_rsp_i.rdata, acp_rsp_i.rresp,
                    acp_rsp_i.rlast, a_awsize, a_awburst, a_awcache, a_awprot, event_i,
                    awcache, arcache, awsize, awprot, arsize, arprot, awburst, arburst,
                    config_valid, config_region, config_data};

  // Nothing of the accelerators changes but by software while nothing goes on. What comes to rest
  // last is the region monitor, which goes through its list, and what the regions drive, which
  // passes through some registers.
  logic       moves;
  logic [4:0] settled_q;

  assign moves = gp_req_i.awvalid || gp_req_i.wvalid || gp_req_i.arvalid
              || gp_rsp_o.bvalid || gp_rsp_o.rvalid || busy;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      settled_q <= '0;
    end else if (moves) begin
      settled_q <= '0;
    end else if (settled_q != '1) begin
      settled_q <= settled_q + 1'b1;
    end
  end

  assign rests   = settled_q[4];
  assign quiet_o = settled_q == '1 ? QuietForever : '0;

endmodule
