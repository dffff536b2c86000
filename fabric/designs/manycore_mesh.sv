// What designs for many tiles have in common: a mesh of 4 x 5 with the interfaces of 16 tiles in
// its upper four rows. The places of the fifth row are the design's.
//
// A tile's place is its number: X below, Y above. Interrupt line t is tile t's interface.
module manycore_mesh
  import fabric_pkg::*, mesh_io_pkg::*, mesh_pkg::*;
#(
  // The place that answers into RESPONSE; those of the fifth row that tiles may send to.
  parameter place_t      IO    = '{y: 3'd4, x: 3'd0},
  parameter logic [3:0]  REACH = 4'b1111,
  parameter int unsigned DEPTH = 4
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  gp_req_t [Tiles-1:0] tile_req_i,
  output gp_rsp_t [Tiles-1:0] tile_rsp_o,
  output logic [Tiles-1:0]    irq_o,

  // The tiles that each of them may send to.
  input  logic [Tiles-1:0][Tiles-1:0] reach_i,

  // The fifth row, by X: into the mesh, and out of it.
  input  logic [3:0]          in_valid_i,
  input  logic [3:0]          in_last_i,
  input  logic [3:0][31:0]    in_data_i,
  output logic [3:0]          in_credit_o,
  output logic [3:0]          out_valid_o,
  output logic [3:0]          out_last_o,
  output logic [3:0][31:0]    out_data_o,
  input  logic [3:0]          out_credit_i,

  // The places that a flit comes out at in this cycle.
  output logic [19:0]         arrived_o
);

  localparam int unsigned X       = 4;
  localparam int unsigned Y       = 5;
  localparam int unsigned Routers = X * Y;

  logic [Routers-1:0]       in_valid, in_last, in_credit, out_valid, out_last, out_credit;
  logic [Routers-1:0][31:0] in_data, out_data;
  logic [Routers-1:0][4:0]  flits;

  mesh #(.X(X), .Y(Y), .DEPTH(DEPTH)) u_mesh (
    .clk_i, .rst_ni, .in_valid_i(in_valid), .in_last_i(in_last), .in_data_i(in_data),
    .in_credit_o(in_credit), .out_valid_o(out_valid), .out_last_o(out_last),
    .out_data_o(out_data), .out_credit_i(out_credit), .flits_o(flits)
  );

  for (genvar t = 0; t < int'(Tiles); t++) begin : gen_tile
    manycore_tile #(.PLACE(FourByFour[t]), .IO(IO), .DEPTH(DEPTH)) u_tile (
      .clk_i, .rst_ni,
      .tile_req_i(tile_req_i[t]), .tile_rsp_o(tile_rsp_o[t]), .irq_o(irq_o[t]),
      .reach_i({28'd0, REACH, 4'd0, reach_i[t][15:12], 4'd0, reach_i[t][11:8],
                4'd0, reach_i[t][7:4], 4'd0, reach_i[t][3:0]}),
      .out_valid_o(in_valid[t]), .out_last_o(in_last[t]), .out_data_o(in_data[t]),
      .out_credit_i(in_credit[t]), .in_valid_i(out_valid[t]), .in_last_i(out_last[t]),
      .in_data_i(out_data[t]), .in_credit_o(out_credit[t])
    );
  end

  assign in_valid[Routers-1:Tiles]   = in_valid_i;
  assign in_last[Routers-1:Tiles]    = in_last_i;
  assign in_data[Routers-1:Tiles]    = in_data_i;
  assign in_credit_o                 = in_credit[Routers-1:Tiles];
  assign out_valid_o                 = out_valid[Routers-1:Tiles];
  assign out_last_o                  = out_last[Routers-1:Tiles];
  assign out_data_o                  = out_data[Routers-1:Tiles];
  assign out_credit[Routers-1:Tiles] = out_credit_i;

  for (genvar r = 0; r < int'(Routers); r++) begin : gen_arrived
    assign arrived_o[r] = flits[r][Local];
  end

  logic unused;
  assign unused = ^flits;

endmodule
