// A mesh of routers, of X x Y. Each has a local port for a network interface.
//
// Deadlock cannot be: a packet goes along X, then along Y, then out, so that what it waits for is
// always further on the same way; and network interfaces take whatever comes to them.
module mesh
  import mesh_pkg::*;
#(
  parameter int unsigned X     = 4,
  parameter int unsigned Y     = 5,
  parameter int unsigned DEPTH = 4,
  localparam int unsigned Routers = X * Y
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,

  // By y * X + x: into the mesh, and out of it.
  input  logic [Routers-1:0]        in_valid_i,
  input  logic [Routers-1:0]        in_last_i,
  input  logic [Routers-1:0][31:0]  in_data_i,
  output logic [Routers-1:0]        in_credit_o,
  output logic [Routers-1:0]        out_valid_o,
  output logic [Routers-1:0]        out_last_o,
  output logic [Routers-1:0][31:0]  out_data_o,
  input  logic [Routers-1:0]        out_credit_i,

  // Which outputs of each router, by side_e, have a flit in this cycle: to be counted.
  output logic [Routers-1:0][4:0]   flits_o
);

  // What each router is given and gives, by side.
  logic [Routers-1:0][4:0]       in_valid, in_last, in_credit, out_valid, out_last, out_credit;
  logic [Routers-1:0][4:0][31:0] in_data, out_data;

  for (genvar y = 0; y < Y; y++) begin : gen_y
    for (genvar x = 0; x < X; x++) begin : gen_x
      localparam int unsigned Here = y * X + x;

      mesh_router #(.DEPTH(DEPTH)) u_router (
        .clk_i, .rst_ni, .place_i('{y: 3'(y), x: 3'(x)}),
        .in_valid_i(in_valid[Here]), .in_last_i(in_last[Here]), .in_data_i(in_data[Here]),
        .in_credit_o(in_credit[Here]),
        .out_valid_o(out_valid[Here]), .out_last_o(out_last[Here]),
        .out_data_o(out_data[Here]), .out_credit_i(out_credit[Here])
      );

      assign in_valid[Here][Local]   = in_valid_i[Here];
      assign in_last[Here][Local]    = in_last_i[Here];
      assign in_data[Here][Local]    = in_data_i[Here];
      assign in_credit_o[Here]       = in_credit[Here][Local];
      assign out_valid_o[Here]       = out_valid[Here][Local];
      assign out_last_o[Here]        = out_last[Here][Local];
      assign out_data_o[Here]        = out_data[Here][Local];
      assign out_credit[Here][Local] = out_credit_i[Here];
      assign flits_o[Here]           = out_valid[Here];

      // What comes in on a side is what goes out of the neighbour on the other.
      for (genvar s = 1; s < 5; s++) begin : gen_side
        localparam int unsigned Other = (s + 1) % 4 + 1;
        localparam side_e       Side  = side_e'(s);
        localparam bit          There = (Side == North && y > 0) || (Side == South && y < Y - 1)
                                        || (Side == West && x > 0) || (Side == East && x < X - 1);
        if (There) begin : gen_there
          localparam int unsigned Next = Side == North ? Here - X : Side == South ? Here + X
                                         : Side == West ? Here - 1 : Here + 1;
          assign in_valid[Here][s]   = out_valid[Next][Other];
          assign in_last[Here][s]    = out_last[Next][Other];
          assign in_data[Here][s]    = out_data[Next][Other];
          assign out_credit[Here][s] = in_credit[Next][Other];
        end else begin : gen_edge
          assign in_valid[Here][s]   = 1'b0;
          assign in_last[Here][s]    = 1'b0;
          assign in_data[Here][s]    = '0;
          assign out_credit[Here][s] = 1'b0;
        end
      end
    end
  end

endmodule
