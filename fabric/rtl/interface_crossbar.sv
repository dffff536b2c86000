// Which interface has which region: the registers, starts, ends, faults and context of a virtual
// device go to the region that is connected to its interface, and to no other; what a region says
// goes to its client alone.
//
// An interface is drained when each region of which it was the last client, connected or not, is
// drained: client_i stays until the region is connected again, and only a drained one is.
//
// Who is connected is the regions' own state (connected_i, client_i). A region may connect an
// interface (may_connect_o) that is there, that no region has, and that no region before it asks
// for in the same cycle: so no interface is ever connected to two regions, and a region has one
// client since it has one number.
//
// An interface is told a cycle after its region that it is connected. So what it says that stays,
// its parameters and its window, goes through a register and is there when it starts; starts, ends,
// aborts and the end of a connection take no time, as the one that comes first wins.
module interface_crossbar #(
  // Up to 16 each.
  parameter int unsigned INTERFACES = 8,
  parameter int unsigned REGIONS    = 3
) (
  input  logic                                         clk_i,
  input  logic                                         rst_ni,

  // The regions.
  input  logic [REGIONS-1:0]                           connected_i,
  input  logic [REGIONS-1:0][3:0]                      client_i,
  input  logic [REGIONS-1:0]                           drained_i,
  input  logic [REGIONS-1:0]                           connect_i,
  input  logic [REGIONS-1:0][3:0]                      new_client_i,
  output logic [REGIONS-1:0]                           may_connect_o,
  output region_pkg::from_interface_t [REGIONS-1:0]    to_region_o,
  input  region_pkg::to_interface_t [REGIONS-1:0]      from_region_i,

  // The interfaces.
  output logic [INTERFACES-1:0]                        connected_o,
  output logic [INTERFACES-1:0][3:0]                   region_o,
  output logic [INTERFACES-1:0]                        drained_o,
  input  region_pkg::from_interface_t [INTERFACES-1:0] from_interface_i,
  output region_pkg::to_interface_t [INTERFACES-1:0]   to_interface_o
);

  import region_pkg::*;

  always_comb begin
    for (int unsigned r = 0; r < REGIONS; r++) begin
      may_connect_o[r] = 32'(new_client_i[r]) < INTERFACES;
      for (int unsigned k = 0; k < REGIONS; k++) begin
        if (connected_i[k] && client_i[k] == new_client_i[r]) may_connect_o[r] = 1'b0;
        if (k < r && connect_i[k] && new_client_i[k] == new_client_i[r]) may_connect_o[r] = 1'b0;
      end
    end
  end

  // Region r is connected to interface i.
  logic [REGIONS-1:0]                 settled_q;
  logic [REGIONS-1:0][INTERFACES-1:0] joined;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      settled_q <= '0;
    end else begin
      settled_q <= connected_i;
    end
  end

  always_comb begin
    for (int unsigned r = 0; r < REGIONS; r++) begin
      for (int unsigned i = 0; i < INTERFACES; i++) begin
        joined[r][i] = connected_i[r] && settled_q[r] && client_i[r] == 4'(i);
      end
    end
  end

  // To the regions.

  from_interface_t [REGIONS-1:0] now, said_q;

  always_comb begin
    now = '0;
    for (int unsigned r = 0; r < REGIONS; r++) begin
      for (int unsigned i = 0; i < INTERFACES; i++) begin
        if (client_i[r] == 4'(i)) now[r] = now[r] | from_interface_i[i];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    said_q <= now;
  end

  always_comb begin
    to_region_o = said_q;
    for (int unsigned r = 0; r < REGIONS; r++) begin
      to_region_o[r].start      = |joined[r] && now[r].start;
      to_region_o[r].resume     = |joined[r] && now[r].resume;
      to_region_o[r].abort_task = |joined[r] && now[r].abort_task;
      to_region_o[r].ctx_rdata  = now[r].ctx_rdata;
    end
  end

  // To the interfaces. One that is not connected is told nothing.

  always_comb begin
    connected_o    = '0;
    region_o       = '0;
    to_interface_o = '0;
    for (int unsigned i = 0; i < INTERFACES; i++) begin
      for (int unsigned r = 0; r < REGIONS; r++) begin
        if (joined[r][i]) begin
          connected_o[i]    = 1'b1;
          region_o[i]       = region_o[i] | 4'(r);
          to_interface_o[i] = to_interface_o[i] | from_region_i[r];
        end
      end
    end
  end

  always_comb begin
    drained_o = '1;
    for (int unsigned i = 0; i < INTERFACES; i++) begin
      for (int unsigned r = 0; r < REGIONS; r++) begin
        if (client_i[r] == 4'(i) && !drained_i[r]) drained_o[i] = 1'b0;
      end
    end
  end

  // Kept with the rest of what is said, and not looked at.
  logic unused_said;
  always_comb begin
    unused_said = 1'b0;
    for (int unsigned r = 0; r < REGIONS; r++) begin
      unused_said = unused_said ^ said_q[r].start ^ said_q[r].resume ^ said_q[r].abort_task
                    ^ (^said_q[r].ctx_rdata);
    end
  end

endmodule
