// The devices of the I/O hypervisor, UART, flash, VGA and Ethernet, and in front of each its
// arbiter: requests at different devices do not wait for each other. Of a device that is left out
// there is nothing: ports that are told the same answer requests for it themselves, with NoDevice.
module io_devices
  import io_devices_pkg::*;
  import io_pkg::*;
#(
  parameter int unsigned PORTS       = 4,
  // Which devices there are, a bit each.
  parameter logic [7:0]  DEVICES     = 8'b0001_1110,
  // Cycles of a bit of the UART, and the half period of the flash's clock.
  parameter int unsigned DIVISOR     = 868,
  parameter int unsigned HALF_CYCLES = 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  // By the devices' numbers, from 1 to 4; which port reads what comes to the UART; and what each
  // port is given.
  input  policy_e [4:1]          policy_i,
  input  logic [PortWidth-1:0]   reader_i,
  input  given_t [PORTS-1:0]     given_i,

  // The ports, as in io_port_engine. A port has a turn at one device at most.
  input  logic [PORTS-1:0][7:0]  ask_i,
  output logic [PORTS-1:0]       grant_o,
  input  request_t [PORTS-1:0]   request_i,
  input  logic [PORTS-1:0]       in_valid_i,
  output logic [PORTS-1:0]       in_ready_o,
  input  logic [PORTS-1:0][31:0] in_data_i,
  output logic [PORTS-1:0]       out_valid_o,
  output logic [PORTS-1:0][31:0] out_data_o,
  output logic [PORTS-1:0]       response_valid_o,
  output response_t [PORTS-1:0]  response_o,

  // The devices' wires.
  output logic                   flash_cs_no,
  output logic                   flash_sck_o,
  output logic [3:0]             flash_io_o,
  output logic [3:0]             flash_io_oe_o,
  input  logic [3:0]             flash_io_i,
  output logic                   uart_txd_o,
  input  logic                   uart_rxd_i,
  output logic                   eth_tx_en_o,
  output logic [7:0]             eth_txd_o,
  input  logic                   eth_rx_dv_i,
  input  logic                   eth_rx_er_i,
  input  logic [7:0]             eth_rxd_i,
  output logic                   vga_pixel_o,
  output logic                   vga_hsync_no,
  output logic                   vga_vsync_no,
  output logic [7:0]             vga_colour_o
);

  // The devices' numbers.
  localparam int unsigned AUart  = 32'(Uart);
  localparam int unsigned AFlash = 32'(Flash);
  localparam int unsigned AVga   = 32'(Vga);
  localparam int unsigned AEth   = 32'(Ethernet);

  logic [AEth:AUart][PORTS-1:0]   d_ask, d_grant, d_in_ready, d_out_valid, d_answered;
  logic [AEth:AUart]              r_valid, r_ready, i_valid, i_ready, o_valid, a_valid, yields;
  logic [AEth:AUart][31:0]        i_data, o_data;
  request_t [AEth:AUart]          r;
  response_t [AEth:AUart]         a, d_response;

  always_comb begin
    grant_o    = '0;
    in_ready_o = '0;
    for (int unsigned d = AUart; d <= AEth; d++) begin
      for (int unsigned p = 0; p < PORTS; p++) d_ask[d][p] = ask_i[p][d];
      grant_o    = grant_o | d_grant[d];
      in_ready_o = in_ready_o | d_in_ready[d];
    end
    for (int unsigned p = 0; p < PORTS; p++) begin
      out_valid_o[p]      = 1'b0;
      out_data_o[p]       = '0;
      response_valid_o[p] = 1'b0;
      response_o[p]       = '0;
      for (int unsigned d = AUart; d <= AEth; d++) begin
        if (d_out_valid[d][p]) begin
          out_valid_o[p] = 1'b1;
          out_data_o[p]  = out_data_o[p] | o_data[d];
        end
        if (d_answered[d][p]) begin
          response_valid_o[p] = 1'b1;
          response_o[p]       = response_o[p] | d_response[d];
        end
      end
    end
  end

  for (genvar d = int'(AUart); d <= int'(AEth); d++) begin : gen_device
    if (DEVICES[d]) begin : gen_turn
      io_turn #(.PORTS(PORTS), .PREEMPTIBLE(d == int'(AFlash))) u_turn (
        .clk_i, .rst_ni, .policy_i(policy_i[d]),
        .ask_i(d_ask[d]), .request_i, .grant_o(d_grant[d]),
        .in_valid_i, .in_ready_o(d_in_ready[d]), .in_data_i,
        .out_valid_o(d_out_valid[d]), .response_valid_o(d_answered[d]),
        .response_o(d_response[d]),
        .request_valid_o(r_valid[d]), .request_ready_i(r_ready[d]), .request_o(r[d]),
        .in_valid_o(i_valid[d]), .in_ready_i(i_ready[d]), .in_data_o(i_data[d]),
        .out_valid_i(o_valid[d]), .response_valid_i(a_valid[d]), .response_i(a[d]),
        .yield_o(yields[d])
      );
    end else begin : gen_none
      assign {d_grant[d], d_in_ready[d], d_out_valid[d], d_answered[d]} = '0;
      assign {r_valid[d], i_valid[d], yields[d]} = '0;
      assign d_response[d] = '0;
      assign r[d]       = '0;
      assign i_data[d]  = '0;
      assign r_ready[d] = 1'b0;
      assign i_ready[d] = 1'b0;
      assign o_valid[d] = 1'b0;
      assign o_data[d]  = '0;
      assign a_valid[d] = 1'b0;
      assign a[d]       = '0;
      logic unused_device;
      assign unused_device = ^{policy_i[d], d_ask[d], r_valid[d], i_valid[d], r[d], i_data[d],
                               r_ready[d], i_ready[d]};
    end
    if (d != int'(AFlash)) begin : gen_never_yields
      logic unused_yields;
      assign unused_yields = yields[d];
    end
  end

  // What of each device a port is given.

  logic [PORTS-1:0][9:0]  first, window_x, window_y, window_width, window_height;
  logic [PORTS-1:0][10:0] sectors;
  logic [PORTS-1:0]       writable;
  logic [PORTS-1:0][47:0] mac;

  always_comb begin
    for (int unsigned p = 0; p < PORTS; p++) begin
      first[p]         = given_i[p].flash_first;
      sectors[p]       = given_i[p].flash_sectors;
      writable[p]      = given_i[p].flash_writable;
      window_x[p]      = given_i[p].vga_x;
      window_y[p]      = given_i[p].vga_y;
      window_width[p]  = given_i[p].vga_width;
      window_height[p] = given_i[p].vga_height;
      mac[p]           = given_i[p].mac;
    end
  end

  if (DEVICES[AUart]) begin : gen_uart
    io_uart #(.DIVISOR(DIVISOR)) u_uart (
      .clk_i, .rst_ni, .reader_i,
      .request_valid_i(r_valid[AUart]), .request_ready_o(r_ready[AUart]), .request_i(r[AUart]),
      .in_valid_i(i_valid[AUart]), .in_ready_o(i_ready[AUart]), .in_data_i(i_data[AUart]),
      .out_valid_o(o_valid[AUart]), .out_data_o(o_data[AUart]),
      .response_valid_o(a_valid[AUart]), .response_o(a[AUart]),
      .txd_o(uart_txd_o), .rxd_i(uart_rxd_i)
    );
  end else begin : gen_no_uart
    assign uart_txd_o = 1'b1;
    logic unused_uart;
    assign unused_uart = ^{reader_i, uart_rxd_i};
  end

  if (DEVICES[AFlash]) begin : gen_flash
    io_flash #(.PORTS(PORTS), .HALF_CYCLES(HALF_CYCLES)) u_flash (
      .clk_i, .rst_ni,
      .area_first_i(first), .area_sectors_i(sectors), .area_writable_i(writable),
      .request_valid_i(r_valid[AFlash]), .request_ready_o(r_ready[AFlash]), .request_i(r[AFlash]),
      .in_valid_i(i_valid[AFlash]), .in_ready_o(i_ready[AFlash]), .in_data_i(i_data[AFlash]),
      .out_valid_o(o_valid[AFlash]), .out_data_o(o_data[AFlash]),
      .response_valid_o(a_valid[AFlash]), .response_o(a[AFlash]), .yield_i(yields[AFlash]),
      .cs_no(flash_cs_no), .sck_o(flash_sck_o), .io_o(flash_io_o), .io_oe_o(flash_io_oe_o),
      .io_i(flash_io_i)
    );
  end else begin : gen_no_flash
    assign flash_cs_no  = 1'b1;
    assign flash_sck_o  = 1'b0;
    assign {flash_io_o, flash_io_oe_o} = '0;
    logic unused_flash;
    assign unused_flash = ^{first, sectors, writable, flash_io_i, yields[AFlash]};
  end

  if (DEVICES[AVga]) begin : gen_vga
    io_vga #(.PORTS(PORTS)) u_vga (
      .clk_i, .rst_ni, .window_x_i(window_x), .window_y_i(window_y),
      .window_width_i(window_width), .window_height_i(window_height),
      .request_valid_i(r_valid[AVga]), .request_ready_o(r_ready[AVga]), .request_i(r[AVga]),
      .in_valid_i(i_valid[AVga]), .in_ready_o(i_ready[AVga]), .in_data_i(i_data[AVga]),
      .out_valid_o(o_valid[AVga]), .out_data_o(o_data[AVga]),
      .response_valid_o(a_valid[AVga]), .response_o(a[AVga]),
      .pixel_o(vga_pixel_o), .hsync_no(vga_hsync_no), .vsync_no(vga_vsync_no),
      .colour_o(vga_colour_o)
    );
  end else begin : gen_no_vga
    assign {vga_pixel_o, vga_hsync_no, vga_vsync_no, vga_colour_o} = {3'b011, 8'd0};
    logic unused_vga;
    assign unused_vga = ^{window_x, window_y, window_width, window_height};
  end

  if (DEVICES[AEth]) begin : gen_eth
    io_eth #(.PORTS(PORTS)) u_eth (
      .clk_i, .rst_ni, .mac_i(mac),
      .request_valid_i(r_valid[AEth]), .request_ready_o(r_ready[AEth]),
      .request_i(r[AEth]),
      .in_valid_i(i_valid[AEth]), .in_ready_o(i_ready[AEth]), .in_data_i(i_data[AEth]),
      .out_valid_o(o_valid[AEth]), .out_data_o(o_data[AEth]),
      .response_valid_o(a_valid[AEth]), .response_o(a[AEth]),
      .tx_en_o(eth_tx_en_o), .txd_o(eth_txd_o), .rx_dv_i(eth_rx_dv_i), .rx_er_i(eth_rx_er_i),
      .rxd_i(eth_rxd_i)
    );
  end else begin : gen_no_eth
    assign {eth_tx_en_o, eth_txd_o} = '0;
    logic unused_eth;
    assign unused_eth = ^{mac, eth_rx_dv_i, eth_rx_er_i, eth_rxd_i};
  end

endmodule
