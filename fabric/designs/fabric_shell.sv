// The top of every model that the board is coupled with: a design, its ports one by one.
//
// FABRIC_DESIGN names the design's module. No output of a design depends on an input in the same
// cycle, so that the board may look at the outputs, and then say what comes in. That is taken with
// load_i, before the clock's edge, and only when it has changed: what follows from inputs is not
// worked out again with every edge. With FABRIC_TILES the design has a port for each tile, with
// FABRIC_POWER one that says whether what keeps its state without power has power.
module fabric_shell (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        load_i,

  input  logic        gp_awvalid_i,
  input  logic [19:0] gp_awaddr_i,
  input  logic        gp_wvalid_i,
  input  logic [31:0] gp_wdata_i,
  input  logic [3:0]  gp_wstrb_i,
  input  logic        gp_bready_i,
  input  logic        gp_arvalid_i,
  input  logic [19:0] gp_araddr_i,
  input  logic        gp_rready_i,
  output logic        gp_awready_o,
  output logic        gp_wready_o,
  output logic        gp_bvalid_o,
  output logic [1:0]  gp_bresp_o,
  output logic        gp_arready_o,
  output logic        gp_rvalid_o,
  output logic [31:0] gp_rdata_o,
  output logic [1:0]  gp_rresp_o,

  output logic        acp_awvalid_o,
  output logic [39:0] acp_awaddr_o,
  output logic [7:0]  acp_awlen_o,
  output logic        acp_wvalid_o,
  output logic [63:0] acp_wdata_o,
  output logic [7:0]  acp_wstrb_o,
  output logic        acp_wlast_o,
  output logic        acp_bready_o,
  output logic        acp_arvalid_o,
  output logic [39:0] acp_araddr_o,
  output logic [7:0]  acp_arlen_o,
  output logic        acp_rready_o,
  input  logic        acp_awready_i,
  input  logic        acp_wready_i,
  input  logic        acp_bvalid_i,
  input  logic [1:0]  acp_bresp_i,
  input  logic        acp_arready_i,
  input  logic        acp_rvalid_i,
  input  logic [63:0] acp_rdata_i,
  input  logic [1:0]  acp_rresp_i,
  input  logic        acp_rlast_i,

  output logic        hp_awvalid_o,
  output logic [39:0] hp_awaddr_o,
  output logic [7:0]  hp_awlen_o,
  output logic        hp_wvalid_o,
  output logic [63:0] hp_wdata_o,
  output logic [7:0]  hp_wstrb_o,
  output logic        hp_wlast_o,
  output logic        hp_bready_o,
  output logic        hp_arvalid_o,
  output logic [39:0] hp_araddr_o,
  output logic [7:0]  hp_arlen_o,
  output logic        hp_rready_o,
  input  logic        hp_awready_i,
  input  logic        hp_wready_i,
  input  logic        hp_bvalid_i,
  input  logic [1:0]  hp_bresp_i,
  input  logic        hp_arready_i,
  input  logic        hp_rvalid_i,
  input  logic [63:0] hp_rdata_i,
  input  logic [1:0]  hp_rresp_i,
  input  logic        hp_rlast_i,

`ifdef FABRIC_TILES
  // By tile.
  input  logic [15:0]       tile_awvalid_i,
  input  logic [15:0][19:0] tile_awaddr_i,
  input  logic [15:0]       tile_wvalid_i,
  input  logic [15:0][31:0] tile_wdata_i,
  input  logic [15:0][3:0]  tile_wstrb_i,
  input  logic [15:0]       tile_bready_i,
  input  logic [15:0]       tile_arvalid_i,
  input  logic [15:0][19:0] tile_araddr_i,
  input  logic [15:0]       tile_rready_i,
  output logic [15:0]       tile_awready_o,
  output logic [15:0]       tile_wready_o,
  output logic [15:0]       tile_bvalid_o,
  output logic [15:0][1:0]  tile_bresp_o,
  output logic [15:0]       tile_arready_o,
  output logic [15:0]       tile_rvalid_o,
  output logic [15:0][31:0] tile_rdata_o,
  output logic [15:0][1:0]  tile_rresp_o,
`endif

`ifdef FABRIC_POWER
  input  logic        power_i,
  input  logic [63:0] seed_i,
`endif

  input  logic        event_i,
  output logic [15:0] irq_o,
  output logic [31:0] quiet_o
);

  fabric_pkg::gp_req_t  gp_req;
  fabric_pkg::gp_rsp_t  gp_rsp;
  fabric_pkg::axi_req_t acp_req, hp_req;
  fabric_pkg::axi_rsp_t acp_rsp, hp_rsp;
  logic                 event_q;

`ifdef FABRIC_TILES
  fabric_pkg::gp_req_t [fabric_pkg::Tiles-1:0] tile_req;
  fabric_pkg::gp_rsp_t [fabric_pkg::Tiles-1:0] tile_rsp;

  always_ff @(posedge load_i) begin
    for (int unsigned t = 0; t < fabric_pkg::Tiles; t++) begin
      tile_req[t] <= {tile_awvalid_i[t], tile_awaddr_i[t], tile_wvalid_i[t], tile_wdata_i[t],
                      tile_wstrb_i[t], tile_bready_i[t], tile_arvalid_i[t], tile_araddr_i[t],
                      tile_rready_i[t]};
    end
  end

  for (genvar t = 0; t < int'(fabric_pkg::Tiles); t++) begin : gen_tile
    assign {tile_awready_o[t], tile_wready_o[t], tile_bvalid_o[t], tile_bresp_o[t],
            tile_arready_o[t], tile_rvalid_o[t], tile_rdata_o[t], tile_rresp_o[t]} = tile_rsp[t];
  end
`endif

  `FABRIC_DESIGN u_design (
    .clk_i, .rst_ni,
    .gp_req_i(gp_req), .gp_rsp_o(gp_rsp),
    .acp_req_o(acp_req), .acp_rsp_i(acp_rsp),
    .hp_req_o(hp_req), .hp_rsp_i(hp_rsp),
`ifdef FABRIC_TILES
    .tile_req_i(tile_req), .tile_rsp_o(tile_rsp),
`endif
`ifdef FABRIC_POWER
    .power_i, .seed_i,
`endif
    .event_i(event_q), .irq_o, .quiet_o
  );

  always_ff @(posedge load_i) begin
    gp_req  <= {gp_awvalid_i, gp_awaddr_i, gp_wvalid_i, gp_wdata_i, gp_wstrb_i, gp_bready_i,
                gp_arvalid_i, gp_araddr_i, gp_rready_i};
    acp_rsp <= {acp_awready_i, acp_wready_i, acp_bvalid_i, acp_bresp_i, acp_arready_i,
                acp_rvalid_i, acp_rdata_i, acp_rresp_i, acp_rlast_i};
    hp_rsp  <= {hp_awready_i, hp_wready_i, hp_bvalid_i, hp_bresp_i, hp_arready_i,
                hp_rvalid_i, hp_rdata_i, hp_rresp_i, hp_rlast_i};
    event_q <= event_i;
  end

  assign {gp_awready_o, gp_wready_o, gp_bvalid_o, gp_bresp_o,
          gp_arready_o, gp_rvalid_o, gp_rdata_o, gp_rresp_o} = gp_rsp;

  assign {acp_awvalid_o, acp_awaddr_o, acp_awlen_o, acp_wvalid_o, acp_wdata_o, acp_wstrb_o,
          acp_wlast_o, acp_bready_o, acp_arvalid_o, acp_araddr_o, acp_arlen_o,
          acp_rready_o} = acp_req;

  assign {hp_awvalid_o, hp_awaddr_o, hp_awlen_o, hp_wvalid_o, hp_wdata_o, hp_wstrb_o,
          hp_wlast_o, hp_bready_o, hp_arvalid_o, hp_araddr_o, hp_arlen_o,
          hp_rready_o} = hp_req;

endmodule
