// In front of a device of the I/O hypervisor: whose request it works on, by the arbiter, and the
// way of data between it and that port. Nothing of a turn reaches another port.
module io_turn
  import io_pkg::*;
#(
  parameter int unsigned PORTS = 4
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  policy_e               policy_i,

  // The ports. What a port asks for stays until its turn begins, and its words come as an I/O VMM
  // is promised them. What the device gives goes to all; a bit here says to whom.
  input  logic [PORTS-1:0]       ask_i,
  input  request_t [PORTS-1:0]   request_i,
  output logic [PORTS-1:0]       grant_o,
  input  logic [PORTS-1:0]       in_valid_i,
  output logic [PORTS-1:0]       in_ready_o,
  input  logic [PORTS-1:0][31:0] in_data_i,
  output logic [PORTS-1:0]       out_valid_o,
  output logic [PORTS-1:0]       response_valid_o,

  // The device's I/O VMM.
  output logic                  request_valid_o,
  input  logic                  request_ready_i,
  output request_t              request_o,
  output logic                  in_valid_o,
  input  logic                  in_ready_i,
  output logic [31:0]           in_data_o,
  input  logic                  out_valid_i,
  input  logic                  response_valid_i
);

  logic [PORTS-1:0] owner;
  // The device has taken the request.
  logic             busy_q;
  request_t         chosen;

  io_arbiter #(.PORTS(PORTS)) u_arbiter (
    .clk_i, .rst_ni, .policy_i, .request_i(ask_i), .grant_o, .owner_o(owner),
    .done_i(busy_q && response_valid_i)
  );

  always_comb begin
    chosen    = '0;
    in_data_o = '0;
    for (int unsigned i = 0; i < PORTS; i++) begin
      if (owner[i]) begin
        chosen    = chosen | request_i[i];
        in_data_o = in_data_o | in_data_i[i];
      end
    end
  end

  assign in_valid_o       = busy_q && (owner & in_valid_i) != '0;
  assign in_ready_o       = busy_q && in_ready_i ? owner : '0;
  assign out_valid_o      = busy_q && out_valid_i ? owner : '0;
  assign response_valid_o = busy_q && response_valid_i ? owner : '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      request_valid_o <= 1'b0;
      busy_q          <= 1'b0;
    end else begin
      request_valid_o <= grant_o != '0 || (request_valid_o && !request_ready_i);
      busy_q          <= (request_valid_o && request_ready_i) || (busy_q && !response_valid_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (grant_o != '0) request_o <= chosen;
  end

endmodule
