// Whose commands a region gets: the device manager's, of its page; or the region allocator's, while
// that has the region. Then the page's are refused and reach nothing.
//
// What became of the last command of the page stays, whatever the allocator does meanwhile.
module region_owner (
  input  logic        clk_i,
  input  logic        rst_ni,

  // Of the page: take, preempt, kill, connect, release.
  input  logic [4:0]  page_i,
  input  logic [3:0]  page_client_i,
  input  logic [7:0]  page_priority_i,
  input  logic [31:0] page_hold_i,
  output logic        page_refused_o,

  input  region_pkg::from_allocator_t allocator_i,

  // To region_control; refused_i in the cycle after a command.
  output logic [4:0]  command_o,
  output logic [3:0]  client_o,
  output logic [7:0]  priority_o,
  output logic [31:0] hold_o,
  input  logic        refused_i
);

  logic page_q, masked_q, kept_q;

  assign command_o  = !allocator_i.owned ? page_i
                      : {allocator_i.take, allocator_i.preempt, allocator_i.kill,
                         allocator_i.connect, allocator_i.release_region};
  assign client_o   = allocator_i.owned ? allocator_i.client : page_client_i;
  assign priority_o = allocator_i.owned ? allocator_i.prio : page_priority_i;
  assign hold_o     = allocator_i.owned ? allocator_i.hold : page_hold_i;

  assign page_refused_o = page_q ? masked_q || refused_i : kept_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      page_q   <= 1'b0;
      masked_q <= 1'b0;
      kept_q   <= 1'b0;
    end else begin
      page_q   <= page_i != '0;
      masked_q <= allocator_i.owned;
      kept_q   <= page_refused_o;
    end
  end

endmodule
