// A queue of packets, of words and whether each is its packet's last. A packet is in it when all
// of it is: its first word is put behind the packets that are kept, and with its last one it is
// kept as well, or forgotten as soon as the next one begins.
module mesh_queue #(
  parameter int unsigned LOG2_WORDS = 9
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  // A word is put, where there is room; with keep_i the packet that ends with it is there.
  input  logic                  put_i,
  input  logic                  first_i,
  input  logic                  keep_i,
  input  logic [32:0]           data_i,
  // For a first word, and for another one.
  output logic                  room_first_o,
  output logic                  room_o,

  // The oldest word. A word that is kept is there in the second cycle after.
  output logic                  there_o,
  output logic [32:0]           data_o,
  input  logic                  take_i,

  // Words that are kept.
  output logic [LOG2_WORDS:0]   used_o
);

  typedef logic [LOG2_WORDS:0]   count_t;
  typedef logic [LOG2_WORDS-1:0] index_t;

  // What is put in the cycle in which it is read is not there yet.
  (* no_rw_check *)
  logic [32:0] words [2 ** LOG2_WORDS];
  count_t      put_q, kept_q, taken_q, behind, after, next;
  index_t      at;

  assign at           = first_i ? index_t'(kept_q) : index_t'(put_q);
  assign behind       = first_i ? kept_q + 1'b1 : put_q + 1'b1;
  assign after        = taken_q + 1'b1;
  assign next         = take_i ? after : taken_q;
  assign used_o       = kept_q - taken_q;
  assign room_first_o = !used_o[LOG2_WORDS];
  assign room_o       = (put_q - taken_q) != {1'b1, index_t'(0)};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      put_q   <= '0;
      kept_q  <= '0;
      taken_q <= '0;
      there_o <= 1'b0;
    end else begin
      if (put_i) put_q <= behind;
      if (put_i && keep_i) kept_q <= behind;
      taken_q <= next;
      there_o <= take_i ? kept_q != after : kept_q != taken_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (put_i) words[at] <= data_i;
    data_o <= words[index_t'(next)];
  end

endmodule
