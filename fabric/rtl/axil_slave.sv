// AXI4-Lite on one side, the register bus that PeakRDL's register blocks have on the other.
//
// Made for few cycles: a request reaches the register bus in the cycle in which it is on AXI, and
// where that bus answers at once, the answer is on AXI one cycle later. One request is under way at
// a time; reads and writes take turns when both are there. All outputs to AXI come from flip-flops.
//
// The register bus ("passthrough" in PeakRDL-regblock): req_o stands until the cycle in which
// the stall of its kind is down; in that cycle or a later one comes one rd_ack_i or wr_ack_i. An
// error with it goes out as SLVERR. An acknowledge that nothing asked for is ignored.
//
// AXI's signals keep the specification's names, by which tools recognise a bus.
module axil_slave #(
  parameter int unsigned ADDR_WIDTH = 12,
  parameter int unsigned DATA_WIDTH = 32
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  input  logic                    s_axil_awvalid,
  output logic                    s_axil_awready,
  input  logic [ADDR_WIDTH-1:0]   s_axil_awaddr,
  input  logic [2:0]              s_axil_awprot,
  input  logic                    s_axil_wvalid,
  output logic                    s_axil_wready,
  input  logic [DATA_WIDTH-1:0]   s_axil_wdata,
  input  logic [DATA_WIDTH/8-1:0] s_axil_wstrb,
  output logic                    s_axil_bvalid,
  input  logic                    s_axil_bready,
  output logic [1:0]              s_axil_bresp,
  input  logic                    s_axil_arvalid,
  output logic                    s_axil_arready,
  input  logic [ADDR_WIDTH-1:0]   s_axil_araddr,
  input  logic [2:0]              s_axil_arprot,
  output logic                    s_axil_rvalid,
  input  logic                    s_axil_rready,
  output logic [DATA_WIDTH-1:0]   s_axil_rdata,
  output logic [1:0]              s_axil_rresp,

  output logic                    req_o,
  output logic                    req_is_wr_o,
  // In bytes; of the first byte of the bus's word.
  output logic [ADDR_WIDTH-1:0]   addr_o,
  output logic [DATA_WIDTH-1:0]   wr_data_o,
  output logic [DATA_WIDTH-1:0]   wr_biten_o,
  input  logic                    req_stall_wr_i,
  input  logic                    req_stall_rd_i,
  input  logic                    rd_ack_i,
  input  logic                    rd_err_i,
  input  logic [DATA_WIDTH-1:0]   rd_data_i,
  input  logic                    wr_ack_i,
  input  logic                    wr_err_i
);

  localparam int unsigned StrobeWidth = DATA_WIDTH / 8;
  localparam int unsigned WordBits    = unsigned'($clog2(StrobeWidth));

  localparam logic [1:0] Okay     = 2'b00;
  localparam logic [1:0] SlaveErr = 2'b10;

  // Requests, as they come or as they wait.

  logic                   aw_valid, w_valid, ar_valid;
  logic                   write_taken, read_taken;
  logic [ADDR_WIDTH-1:0]  aw_addr, ar_addr;
  logic [DATA_WIDTH-1:0]  w_data;
  logic [StrobeWidth-1:0] w_strobe;

  skid_buffer #(.WIDTH(ADDR_WIDTH)) u_aw (
    .clk_i, .rst_ni,
    .in_valid_i(s_axil_awvalid), .in_ready_o(s_axil_awready), .in_data_i(s_axil_awaddr),
    .out_valid_o(aw_valid), .out_ready_i(write_taken), .out_data_o(aw_addr)
  );

  skid_buffer #(.WIDTH(DATA_WIDTH + StrobeWidth)) u_w (
    .clk_i, .rst_ni,
    .in_valid_i(s_axil_wvalid), .in_ready_o(s_axil_wready),
    .in_data_i({s_axil_wstrb, s_axil_wdata}),
    .out_valid_o(w_valid), .out_ready_i(write_taken), .out_data_o({w_strobe, w_data})
  );

  skid_buffer #(.WIDTH(ADDR_WIDTH)) u_ar (
    .clk_i, .rst_ni,
    .in_valid_i(s_axil_arvalid), .in_ready_o(s_axil_arready), .in_data_i(s_axil_araddr),
    .out_valid_o(ar_valid), .out_ready_i(read_taken), .out_data_o(ar_addr)
  );

  // Privilege and security of an access are the business of the software that maps the registers.
  logic unused_prot;
  assign unused_prot = ^{s_axil_awprot, s_axil_arprot};

  // Whose turn it is. A request that was stalled stays on the bus.

  logic wait_q, wait_is_wr_q;        // accepted, not yet acknowledged
  logic stalled_q, stalled_is_wr_q;  // on the bus in the cycle before, not accepted
  logic last_is_wr_q;
  logic write_ready, read_ready;
  logic accepted;

  // An answer has somewhere to go before its request is made.
  assign write_ready = aw_valid && w_valid && !wait_q && (!s_axil_bvalid || s_axil_bready);
  assign read_ready  = ar_valid && !wait_q && (!s_axil_rvalid || s_axil_rready);

  assign req_o       = write_ready || read_ready;
  assign req_is_wr_o = stalled_q ? stalled_is_wr_q : write_ready && (!read_ready || !last_is_wr_q);
  assign accepted    = req_o && !(req_is_wr_o ? req_stall_wr_i : req_stall_rd_i);
  assign write_taken = accepted && req_is_wr_o;
  assign read_taken  = accepted && !req_is_wr_o;

  logic [ADDR_WIDTH-1:0] byte_addr;
  assign byte_addr = req_is_wr_o ? aw_addr : ar_addr;
  assign addr_o    = {byte_addr[ADDR_WIDTH-1:WordBits], WordBits'(0)};
  assign wr_data_o = w_data;

  logic unused_byte;
  assign unused_byte = ^byte_addr[WordBits-1:0];

  for (genvar i = 0; i < StrobeWidth; i++) begin : gen_biten
    assign wr_biten_o[8*i+:8] = {8{w_strobe[i]}};
  end

  // Answers.

  logic write_done, read_done;
  assign write_done = wr_ack_i && (write_taken || (wait_q && wait_is_wr_q));
  assign read_done  = rd_ack_i && (read_taken || (wait_q && !wait_is_wr_q));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wait_q          <= 1'b0;
      wait_is_wr_q    <= 1'b0;
      stalled_q       <= 1'b0;
      stalled_is_wr_q <= 1'b0;
      last_is_wr_q    <= 1'b0;
      s_axil_bvalid   <= 1'b0;
      s_axil_rvalid   <= 1'b0;
    end else begin
      wait_q          <= (wait_q || accepted) && !write_done && !read_done;
      stalled_q       <= req_o && !accepted;
      stalled_is_wr_q <= req_is_wr_o;
      s_axil_bvalid   <= write_done || (s_axil_bvalid && !s_axil_bready);
      s_axil_rvalid   <= read_done || (s_axil_rvalid && !s_axil_rready);
      if (accepted) begin
        wait_is_wr_q <= req_is_wr_o;
        last_is_wr_q <= req_is_wr_o;
      end
    end
  end

  // Only looked at with their valid.
  always_ff @(posedge clk_i) begin
    if (write_done) begin
      s_axil_bresp <= wr_err_i ? SlaveErr : Okay;
    end
    if (read_done) begin
      s_axil_rresp <= rd_err_i ? SlaveErr : Okay;
      s_axil_rdata <= rd_data_i;
    end
  end

endmodule
