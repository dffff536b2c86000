// Hardware task: an image of bytes with a kernel of 3 x 3. convolution has how.
//
// The parameter: by how many bits sums are shifted, in bits 3 to 0.
module hw_task_convolution
  import hw_task_pkg::*;
#(
  // Pixels of a row.
  parameter int unsigned WIDTH = 128
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        start_i,
  input  logic        resume_i,
  input  logic [31:0] src_i,
  input  logic [31:0] dst_i,
  input  logic [31:0] length_i,
  input  logic [31:0] param_i,
  input  logic        stop_i,
  output logic        busy_o,
  output logic        done_o,
  output logic        stopped_o,
  output logic [3:0]  error_o,

  output logic        ctx_we_o,
  output logic [7:0]  ctx_addr_o,
  output logic [31:0] ctx_wdata_o,
  input  logic [31:0] ctx_rdata_i,

  output logic        m_axi_awvalid,
  input  logic        m_axi_awready,
  output logic [31:0] m_axi_awaddr,
  output logic [7:0]  m_axi_awlen,
  output logic [2:0]  m_axi_awsize,
  output logic [1:0]  m_axi_awburst,
  output logic [3:0]  m_axi_awcache,
  output logic [2:0]  m_axi_awprot,
  output logic        m_axi_wvalid,
  input  logic        m_axi_wready,
  output logic [63:0] m_axi_wdata,
  output logic [7:0]  m_axi_wstrb,
  output logic        m_axi_wlast,
  input  logic        m_axi_bvalid,
  output logic        m_axi_bready,
  input  logic [1:0]  m_axi_bresp,
  output logic        m_axi_arvalid,
  input  logic        m_axi_arready,
  output logic [31:0] m_axi_araddr,
  output logic [7:0]  m_axi_arlen,
  output logic [2:0]  m_axi_arsize,
  output logic [1:0]  m_axi_arburst,
  output logic [3:0]  m_axi_arcache,
  output logic [2:0]  m_axi_arprot,
  input  logic        m_axi_rvalid,
  output logic        m_axi_rready,
  input  logic [63:0] m_axi_rdata,
  input  logic [1:0]  m_axi_rresp,
  input  logic        m_axi_rlast
);

  // There are several in a design: what they do is compiled once.
  /*verilator no_inline_module*/

  logic        clear, begins, restore, silent, in_valid, in_ready, out_valid, out_ready;
  logic [63:0] in_data, out_data;
  logic [6:0]  core_word;
  logic [31:0] core_left, to_state, from_state, param;
  logic [$clog2(WIDTH)-1:0] tail_in;

  convolution #(.WIDTH(WIDTH)) u_convolution (
    .clk_i, .rst_ni, .clear_i(clear), .shift_i(param[3:0]),
    .begin_i(begins), .restore_i(restore), .word_i(core_word), .state_i(to_state),
    .state_o(from_state),
    .in_valid_i(in_valid), .in_ready_o(in_ready), .in_data_i(in_data),
    .out_valid_o(out_valid), .out_ready_i(out_ready), .out_data_o(out_data), .silent_o(silent)
  );

  // The rest's length is looked at in tests.
  logic unused;
  assign unused = ^{core_left, param[31:4]};

  // Of a last row that is not whole, as many pixels as it has.
  hw_task_stream #(
    .TASK(Convolution), .BLOCK_IN_BYTES(WIDTH), .BLOCK_OUT_WORDS(WIDTH / 8),
    .STATE_WORDS(3 + WIDTH / 2)
  ) u_stream (
    .clk_i, .rst_ni,
    .start_i, .resume_i, .src_i, .dst_i, .length_i, .param_i, .stop_i,
    .busy_o, .done_o, .stopped_o, .error_o,
    .ctx_we_o, .ctx_addr_o, .ctx_wdata_o, .ctx_rdata_i,
    .core_clear_o(clear), .core_param_o(param),
    .in_valid_o(in_valid), .in_ready_i(in_ready), .in_data_o(in_data),
    .out_valid_i(out_valid), .out_ready_o(out_ready), .out_data_i(out_data),
    .tail_in_bytes_o(tail_in), .tail_out_bytes_i(8'(tail_in)),
    .silent_i(silent), .core_left_o(core_left), .core_begin_o(begins), .core_restore_o(restore),
    .core_word_o(core_word), .core_state_o(to_state), .core_state_i(from_state),
    .m_axi_awvalid, .m_axi_awready, .m_axi_awaddr, .m_axi_awlen, .m_axi_awsize, .m_axi_awburst,
    .m_axi_awcache, .m_axi_awprot,
    .m_axi_wvalid, .m_axi_wready, .m_axi_wdata, .m_axi_wstrb, .m_axi_wlast,
    .m_axi_bvalid, .m_axi_bready, .m_axi_bresp,
    .m_axi_arvalid, .m_axi_arready, .m_axi_araddr, .m_axi_arlen, .m_axi_arsize, .m_axi_arburst,
    .m_axi_arcache, .m_axi_arprot,
    .m_axi_rvalid, .m_axi_rready, .m_axi_rdata, .m_axi_rresp, .m_axi_rlast
  );

endmodule
