// A queue of packets, whatever is put into it where there is room: each word that is kept comes out
// once, in order and unchanged, in the second cycle after it was kept; what is forgotten does not.
//
// One place of the queue is followed: whatever was put there last.
module mesh_queue_formal (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        put,
  input logic        first,
  input logic        keep,
  input logic [32:0] word,
  input logic        take,
  // The place; any, but the same always.
  input logic [2:0]  followed
);

  logic        room_first, room, there;
  logic [32:0] data;
  logic [2:0]  used;

  mesh_queue #(.LOG2_WORDS(2)) dut (
    .clk_i, .rst_ni, .put_i(put), .first_i(first), .keep_i(keep), .data_i(word),
    .room_first_o(room_first), .room_o(room), .there_o(there), .data_o(data), .take_i(take),
    .used_o(used)
  );

  logic        began_q = 1'b0;
  logic [2:0]  put_q, kept_q, kept_before_q, taken_q, followed_q, at;
  logic [32:0] data_q;

  assign at = first ? kept_q : put_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {put_q, kept_q, kept_before_q, taken_q} <= '0;
    end else begin
      if (put) put_q <= at + 3'd1;
      if (put && keep) kept_q <= at + 3'd1;
      kept_before_q <= kept_q;
      taken_q       <= taken_q + 3'(take);
    end
  end

  always_ff @(posedge clk_i) begin
    began_q    <= 1'b1;
    followed_q <= followed;
    if (put && at == followed) data_q <= word;

    begin_in_reset: assume (rst_ni == began_q);
    if (began_q) one_followed: assume (followed == followed_q);

    if (rst_ni) begin
      with_room: assume (!put || (first ? room_first : room));
      what_is_there: assume (!take || there);

      room_told: assert (room == (3'(put_q - taken_q) < 3'd4)
                         && room_first == (3'(kept_q - taken_q) < 3'd4));
      used_told: assert (used == 3'(kept_q - taken_q));
      there_told: assert (there == (kept_before_q != taken_q));
      if (there && taken_q == followed) as_put: assert (data == data_q);

      full: cover (used == 3'd4 && !take);
      forgets: cover (put && first && put_q == 3'(kept_q + 3'd2) && used != '0);
`ifndef CUT
      // What makes the rest follow by induction.
      state_counts: assert (dut.put_q == put_q && dut.kept_q == kept_q && dut.taken_q == taken_q);
      state_order: assert (3'(kept_q - taken_q) <= 3'(put_q - taken_q)
                           && 3'(put_q - taken_q) <= 3'd4
                           && 3'(kept_before_q - taken_q) <= 3'(kept_q - taken_q));
      state_word: assert (!(3'(followed - taken_q) < 3'(put_q - taken_q))
                          || dut.words[followed[1:0]] == data_q);
`endif
    end
  end

endmodule
