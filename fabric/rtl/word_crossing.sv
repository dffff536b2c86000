// Takes words from one clock domain to another, whatever the clocks.
//
// A word is kept still on its side while a wire that changed says that it is there, and until the
// wire that answers has changed too. So nothing is lost, doubled or torn; a word takes two to three
// cycles of the receiver's clock to come, and the sender waits as many of its own for the answer.
// A reset of either side empties both: were one side alone reset, the wires would disagree, and a
// word would arrive twice. The sender waits two cycles after it.
module word_crossing #(
  parameter int unsigned WIDTH = 8
) (
  input  logic             src_clk_i,
  input  logic             src_rst_ni,
  input  logic             src_valid_i,
  output logic             src_ready_o,
  input  logic [WIDTH-1:0] src_data_i,

  input  logic             dst_clk_i,
  input  logic             dst_rst_ni,
  output logic             dst_valid_o,
  input  logic             dst_ready_i,
  output logic [WIDTH-1:0] dst_data_o
);

  // A word is on its way while these differ. Each changes with each word.
  logic sent_q, taken_q;
  logic sent_seen, taken_seen, ready;
  logic rst_n;

  assign rst_n = src_rst_ni && dst_rst_ni;

  synchroniser u_sent (
    .clk_i(dst_clk_i), .rst_ni(rst_n), .async_i(sent_q), .sync_o(sent_seen)
  );
  synchroniser u_taken (
    .clk_i(src_clk_i), .rst_ni(rst_n), .async_i(taken_q), .sync_o(taken_seen)
  );
  // The other side's reset ends at no edge of this clock: nothing changes until it is over.
  synchroniser u_ready (
    .clk_i(src_clk_i), .rst_ni(rst_n), .async_i(1'b1), .sync_o(ready)
  );

  // Sender.

  logic [WIDTH-1:0] data_q;

  assign src_ready_o = ready && sent_q == taken_seen;

  always_ff @(posedge src_clk_i or negedge rst_n) begin
    if (!rst_n) begin
      sent_q <= 1'b0;
    end else if (src_valid_i && src_ready_o) begin
      sent_q <= !sent_q;
    end
  end

  always_ff @(posedge src_clk_i) begin
    if (src_valid_i && src_ready_o) begin
      data_q <= src_data_i;
    end
  end

  // Receiver. The data has been still for as long as sent_q took to be seen.

  assign dst_valid_o = sent_seen != taken_q;
  assign dst_data_o  = data_q;

  always_ff @(posedge dst_clk_i or negedge rst_n) begin
    if (!rst_n) begin
      taken_q <= 1'b0;
    end else if (dst_valid_o && dst_ready_i) begin
      taken_q <= sent_seen;
    end
  end

endmodule
