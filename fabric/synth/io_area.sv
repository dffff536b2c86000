// The I/O hypervisor for any number of CPUs, to measure what it takes: ports, devices, and what
// each port is given, which is written here as in the manager's page (regs/mesh_manager.rdl) but
// without its bus and without being read back. What belongs to a device that is left out is unused,
// and so is gone after synthesis. Timed I/O is beside it and shares nothing with it.
module io_area
  import io_devices_pkg::*;
  import io_pkg::*;
  import mesh_pkg::*;
#(
  parameter int unsigned CPUS    = 2,
  parameter logic [7:0]  DEVICES = 8'b0001_1110
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  // A word of a port's settings, by its place in them; the policies, and the UART's reader.
  input  logic                 set_i,
  input  logic [PortWidth-1:0] set_port_i,
  input  logic [3:0]           set_word_i,
  input  logic [31:0]          set_data_i,
  input  policy_e [4:1]        policy_i,
  input  logic [PortWidth-1:0] reader_i,
  output logic [CPUS-1:0]      lost_o,

  // Into the mesh, and out of it.
  output logic                 out_valid_o,
  output logic                 out_last_o,
  output logic [31:0]          out_data_o,
  input  logic                 out_credit_i,
  input  logic                 in_valid_i,
  input  logic                 in_last_i,
  input  logic [31:0]          in_data_i,
  output logic                 in_credit_o,

  // The devices' wires.
  output logic                 flash_cs_no,
  output logic                 flash_sck_o,
  output logic [3:0]           flash_io_o,
  output logic [3:0]           flash_io_oe_o,
  input  logic [3:0]           flash_io_i,
  output logic                 uart_txd_o,
  input  logic                 uart_rxd_i,
  output logic                 eth_tx_en_o,
  output logic [7:0]           eth_txd_o,
  input  logic                 eth_rx_dv_i,
  input  logic                 eth_rx_er_i,
  input  logic [7:0]           eth_rxd_i,
  output logic                 vga_pixel_o,
  output logic                 vga_hsync_no,
  output logic                 vga_vsync_no,
  output logic [7:0]           vga_colour_o
);

  typedef place_t [CPUS-1:0] places_t;

  // One after the other, whatever mesh that makes.
  function automatic places_t all_places();
    for (int unsigned p = 0; p < CPUS; p++) all_places[p] = place_t'(p);
  endfunction

  // What each port is given.

  given_t [CPUS-1:0]    given_q;
  logic [CPUS-1:0][7:0] devices;
  logic [CPUS-1:0][3:0] devices_q;

  for (genvar p = 0; p < int'(CPUS); p++) begin : gen_port
    assign devices[p] = {3'b000, devices_q[p], 1'b0};

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        given_q[p]   <= '0;
        devices_q[p] <= '0;
      end else if (set_i && 32'(set_port_i) == p) begin
        case (set_word_i)
          4'h0: devices_q[p] <= set_data_i[4:1];
          4'h3: given_q[p].flash_first <= set_data_i[9:0];
          4'h4: begin
            given_q[p].flash_sectors  <= set_data_i[10:0];
            given_q[p].flash_writable <= set_data_i[31];
          end
          4'h5: {given_q[p].vga_y, given_q[p].vga_x} <= {set_data_i[25:16], set_data_i[9:0]};
          4'h6: {given_q[p].vga_height, given_q[p].vga_width}
                  <= {set_data_i[25:16], set_data_i[9:0]};
          4'h7: given_q[p].mac[31:0]  <= set_data_i;
          4'h8: given_q[p].mac[47:32] <= set_data_i[15:0];
          default: ;
        endcase
      end
    end
  end

  // The ports, and their devices.

  logic [CPUS-1:0][7:0]  ask;
  logic [CPUS-1:0]       grant, in_valid, in_ready, out_valid, answered;
  logic [CPUS-1:0][31:0] in_data, out_data;
  request_t [CPUS-1:0]   request;
  response_t [CPUS-1:0]  response;

  mesh_io #(.PORTS(CPUS), .PLACES(all_places()), .DEVICES(DEVICES)) u_ports (
    .clk_i, .rst_ni, .devices_i(devices), .lost_o,
    .out_valid_o, .out_last_o, .out_data_o, .out_credit_i,
    .in_valid_i, .in_last_i, .in_data_i, .in_credit_o,
    .ask_o(ask), .grant_i(grant), .request_o(request),
    .in_valid_o(in_valid), .in_ready_i(in_ready), .in_word_o(in_data),
    .out_valid_i(out_valid), .out_word_i(out_data),
    .response_valid_i(answered), .response_i(response)
  );

  io_devices #(.PORTS(CPUS), .DEVICES(DEVICES)) u_devices (
    .clk_i, .rst_ni, .policy_i, .reader_i, .given_i(given_q),
    .ask_i(ask), .grant_o(grant), .request_i(request),
    .in_valid_i(in_valid), .in_ready_o(in_ready), .in_data_i(in_data),
    .out_valid_o(out_valid), .out_data_o(out_data), .response_valid_o(answered),
    .response_o(response),
    .flash_cs_no, .flash_sck_o, .flash_io_o, .flash_io_oe_o, .flash_io_i,
    .uart_txd_o, .uart_rxd_i,
    .eth_tx_en_o, .eth_txd_o, .eth_rx_dv_i, .eth_rx_er_i, .eth_rxd_i,
    .vga_pixel_o, .vga_hsync_no, .vga_vsync_no, .vga_colour_o
  );

endmodule
