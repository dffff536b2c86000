// One AXI4-Lite slave in front of many, each with pages of 4 KiB of its own.
//
// PAGES has the number of the page of each slave. One access is made at a time; where there is no
// slave the answer is DECERR. An access comes to its slave a cycle later than without this; its
// answer goes straight through, with the valid of the one slave that was asked.
module page_decoder #(
  parameter int unsigned SLAVES     = 2,
  parameter int unsigned ADDR_WIDTH = 20,
  parameter logic [SLAVES-1:0][ADDR_WIDTH-13:0] PAGES = {8'd1, 8'd0}
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  input  logic                    s_axil_awvalid,
  output logic                    s_axil_awready,
  input  logic [ADDR_WIDTH-1:0]   s_axil_awaddr,
  input  logic [2:0]              s_axil_awprot,
  input  logic                    s_axil_wvalid,
  output logic                    s_axil_wready,
  input  logic [31:0]             s_axil_wdata,
  input  logic [3:0]              s_axil_wstrb,
  output logic                    s_axil_bvalid,
  input  logic                    s_axil_bready,
  output logic [1:0]              s_axil_bresp,
  input  logic                    s_axil_arvalid,
  output logic                    s_axil_arready,
  input  logic [ADDR_WIDTH-1:0]   s_axil_araddr,
  input  logic [2:0]              s_axil_arprot,
  output logic                    s_axil_rvalid,
  input  logic                    s_axil_rready,
  output logic [31:0]             s_axil_rdata,
  output logic [1:0]              s_axil_rresp,

  // An access is under way.
  output logic                    busy_o,

  // The slaves. Address, data and strobes are the same for all.
  output logic [SLAVES-1:0]       m_axil_awvalid,
  input  logic [SLAVES-1:0]       m_axil_awready,
  output logic [SLAVES-1:0]       m_axil_wvalid,
  input  logic [SLAVES-1:0]       m_axil_wready,
  output logic [11:0]             m_axil_addr,
  output logic [31:0]             m_axil_wdata,
  output logic [3:0]              m_axil_wstrb,
  input  logic [SLAVES-1:0]       m_axil_bvalid,
  output logic [SLAVES-1:0]       m_axil_bready,
  input  logic [SLAVES-1:0][1:0]  m_axil_bresp,
  output logic [SLAVES-1:0]       m_axil_arvalid,
  input  logic [SLAVES-1:0]       m_axil_arready,
  input  logic [SLAVES-1:0]       m_axil_rvalid,
  output logic [SLAVES-1:0]       m_axil_rready,
  input  logic [SLAVES-1:0][31:0] m_axil_rdata,
  input  logic [SLAVES-1:0][1:0]  m_axil_rresp
);

  localparam logic [1:0] DecodeErr = 2'b11;

  // Accesses, as they come or as they wait.

  logic                  aw_valid, w_valid, ar_valid, write_taken, read_taken;
  logic [ADDR_WIDTH-1:0] aw_addr, ar_addr;
  logic [35:0]           w;

  skid_buffer #(.WIDTH(ADDR_WIDTH)) u_aw (
    .clk_i, .rst_ni,
    .in_valid_i(s_axil_awvalid), .in_ready_o(s_axil_awready), .in_data_i(s_axil_awaddr),
    .out_valid_o(aw_valid), .out_ready_i(write_taken), .out_data_o(aw_addr)
  );

  skid_buffer #(.WIDTH(36)) u_w (
    .clk_i, .rst_ni,
    .in_valid_i(s_axil_wvalid), .in_ready_o(s_axil_wready),
    .in_data_i({s_axil_wstrb, s_axil_wdata}),
    .out_valid_o(w_valid), .out_ready_i(write_taken), .out_data_o(w)
  );

  skid_buffer #(.WIDTH(ADDR_WIDTH)) u_ar (
    .clk_i, .rst_ni,
    .in_valid_i(s_axil_arvalid), .in_ready_o(s_axil_arready), .in_data_i(s_axil_araddr),
    .out_valid_o(ar_valid), .out_ready_i(read_taken), .out_data_o(ar_addr)
  );

  // Privilege and security of an access are the business of the software that maps the registers.
  logic unused_prot;
  assign unused_prot = ^{s_axil_awprot, s_axil_arprot};

  // Whose turn it is: of a read and a write the kind that was not last.

  logic                  writing_q, reading_q, last_is_wr_q, write_over, read_over;
  logic [ADDR_WIDTH-1:0] addr;
  logic [SLAVES-1:0]     here, asked_q;
  // What the slave has not taken yet.
  logic                  aw_left_q, w_left_q, ar_left_q;

  assign write_taken = aw_valid && w_valid && !busy_o && (!ar_valid || !last_is_wr_q);
  assign read_taken  = ar_valid && !busy_o && !write_taken;
  assign addr        = write_taken ? aw_addr : ar_addr;
  assign busy_o      = writing_q || reading_q;

  always_comb begin
    for (int unsigned i = 0; i < SLAVES; i++) here[i] = addr[ADDR_WIDTH-1:12] == PAGES[i];
  end

  assign m_axil_awvalid = aw_left_q ? asked_q : '0;
  assign m_axil_wvalid  = w_left_q ? asked_q : '0;
  assign m_axil_arvalid = ar_left_q ? asked_q : '0;
  assign m_axil_bready  = writing_q && s_axil_bready ? asked_q : '0;
  assign m_axil_rready  = reading_q && s_axil_rready ? asked_q : '0;

  // Answers. What no page was asked for is answered at once.

  assign s_axil_bvalid = writing_q && (asked_q == '0 || (asked_q & m_axil_bvalid) != '0);
  assign s_axil_rvalid = reading_q && (asked_q == '0 || (asked_q & m_axil_rvalid) != '0);
  assign write_over    = s_axil_bvalid && s_axil_bready;
  assign read_over     = s_axil_rvalid && s_axil_rready;

  always_comb begin
    s_axil_bresp = asked_q == '0 ? DecodeErr : '0;
    s_axil_rresp = asked_q == '0 ? DecodeErr : '0;
    s_axil_rdata = '0;
    for (int unsigned i = 0; i < SLAVES; i++) begin
      if (asked_q[i]) begin
        s_axil_bresp = s_axil_bresp | m_axil_bresp[i];
        s_axil_rresp = s_axil_rresp | m_axil_rresp[i];
        s_axil_rdata = s_axil_rdata | m_axil_rdata[i];
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      writing_q    <= 1'b0;
      reading_q    <= 1'b0;
      last_is_wr_q <= 1'b0;
      asked_q      <= '0;
      aw_left_q    <= 1'b0;
      w_left_q     <= 1'b0;
      ar_left_q    <= 1'b0;
    end else begin
      writing_q <= write_taken || (writing_q && !write_over);
      reading_q <= read_taken || (reading_q && !read_over);
      aw_left_q <= write_taken || (aw_left_q && (asked_q & ~m_axil_awready) != '0);
      w_left_q  <= write_taken || (w_left_q && (asked_q & ~m_axil_wready) != '0);
      ar_left_q <= read_taken || (ar_left_q && (asked_q & ~m_axil_arready) != '0);
      if (write_taken || read_taken) begin
        last_is_wr_q <= write_taken;
        asked_q      <= here;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (write_taken || read_taken) begin
      m_axil_addr                  <= addr[11:0];
      {m_axil_wstrb, m_axil_wdata} <= w;
    end
  end

endmodule
