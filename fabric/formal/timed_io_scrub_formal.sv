// A program of timed I/O is gone when its VM has been cleared: each of its words is `end` before
// the write that clears it is answered, until the VM stores it again. No other VM's is touched.
//
// Looked at is one word of one VM, which may be any. The bus, the registers and the pins are free;
// of the schedule it is used that it stores and clears for the access that it answers alone.
module timed_io_scrub_formal import timed_io_pkg::*; #(
  parameter int unsigned VMS = 2
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic [15:0] pins,
  // Any, and kept.
  input logic        some_vm,
  input logic [5:0]  some_word
);

  logic        awready, wready, bvalid, arready, rvalid;
  logic [1:0]  bresp, rresp;
  logic [31:0] rdata;
  logic [63:0] now;
  logic [15:0] outputs;

  timed_io #(.VMS(VMS), .PINS(16)) dut (
    .clk_i, .rst_ni,
    .s_axil_awvalid(1'b0), .s_axil_awready(awready), .s_axil_awaddr('0), .s_axil_awprot('0),
    .s_axil_wvalid(1'b0), .s_axil_wready(wready), .s_axil_wdata('0), .s_axil_wstrb('0),
    .s_axil_bvalid(bvalid), .s_axil_bready(1'b1), .s_axil_bresp(bresp),
    .s_axil_arvalid(1'b0), .s_axil_arready(arready), .s_axil_araddr('0), .s_axil_arprot('0),
    .s_axil_rvalid(rvalid), .s_axil_rready(1'b1), .s_axil_rdata(rdata), .s_axil_rresp(rresp),
    .time_o(now), .pins_i(pins), .pins_o(outputs)
  );

  logic       began_q = 1'b0;
  logic       some_vm_q;
  logic [5:0] some_word_q;

  always_ff @(posedge clk_i) begin
    began_q     <= 1'b1;
    some_vm_q   <= some_vm;
    some_word_q <= some_word;
    begin_in_reset: assume (rst_ni == began_q);
    if (began_q) some_same: assume (some_vm == some_vm_q && some_word == some_word_q);
    bus: cover (rst_ni && bvalid);
  end

`ifndef CUT
  localparam logic [WordBits-1:0] EndWord = '0;

  logic [WordBits-1:0] word, word_q;
  logic                mine, clears, stores, cleared_q, changed_q;

  assign word   = some_vm ? dut.gen_engine[1].u_engine.program_words[some_word]
                          : dut.gen_engine[0].u_engine.program_words[some_word];
  assign mine   = dut.page == 2'(some_vm);
  assign clears = dut.clear && mine;
  assign stores = dut.store && mine && dut.store_address == some_word;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cleared_q <= 1'b0;
      changed_q <= 1'b1;
    end else begin
      cleared_q <= clears || (cleared_q && !stores);
      changed_q <= stores || (dut.scrubs && mine);
    end
  end

  always_ff @(posedge clk_i) begin
    word_q <= word;
    if (rst_ni) begin
      own_only: assume (!(dut.store || dut.clear) || (dut.vm_answer
                                                      && 2'(dut.vm) == dut.page));
      of_access: assume (!dut.vm_answer || dut.access_q == 3'd2);
      one_kind: assume (!dut.clear || !dut.store);
      of_cancel: assume (!dut.clear || dut.addr_q[11:2] == 10'h9);
      where: assume (dut.store_address == dut.addr_q[7:2]
                     && dut.store_word == dut.data_q[WordBits-1:0]);

      gone: assert (!cleared_q || dut.scrubs || word == EndWord);
      not_before: assert (!(cleared_q && (dut.rd_ack || dut.wr_ack)) || word == EndWord);
      others_stay: assert (changed_q || word == word_q);

      state_waits: assert (!dut.scrubs || dut.access_q == 3'd4);
      state_data: assert (!dut.scrubs || dut.data_q == '0);
      state_scrubbed: assert (!(dut.scrubs && mine
                                && 6'(some_word - 6'h9) < 6'(dut.addr_q[7:2] - 6'h9))
                              || word == EndWord);
      state_other: assert (!(dut.scrubs && !mine && cleared_q) || word == EndWord);

      scrubbed: cover (cleared_q && dut.answers);
    end
  end
`endif

endmodule
