// A bitstream is only good when all of it is: each header word as it has to be, as many words as
// the region's bitstreams have, the CRC-32 right, no error of memory. Whatever comes, and however
// it comes, it is decided once; and nothing is configured before the header is right.
module configuration_loader_formal (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        begins,
  input logic [7:0]  number,
  input logic [3:0]  place,
  input logic [31:0] bytes,
  input logic        word_valid,
  input logic [31:0] word,
  input logic        word_error
);

  logic        config_valid, over;
  logic [31:0] config_data;
  logic [3:0]  error;

  configuration_loader dut (
    .clk_i, .rst_ni, .begin_i(begins), .task_i(number), .region_i(place), .bytes_i(bytes),
    .word_valid_i(word_valid), .word_i(word), .word_error_i(word_error),
    .config_valid_o(config_valid), .config_data_o(config_data), .over_o(over), .error_o(error)
  );

  logic        began_q = 1'b0;
  logic        active_q, was_active_q, failed_q, whole_q;
  logic [29:0] words_q;
  logic [31:0] crc_q, sum_q, crc;
  logic [31:0] bytes_q;
  logic [7:0]  number_q;
  logic [3:0]  place_q;
  logic        taken, wrong, header_good;

  // The design's own step: that it is everyone else's CRC-32 is in the tests. Here is of what it
  // has to be taken.
`ifdef CUT
  assign crc = word;
`else
  assign crc = dut.crc_d;
`endif

  assign taken = active_q && !whole_q && word_valid;
  assign wrong = taken && (word_error || !header_good);

  // Of the words that have come so far.
  always_comb begin
    case (words_q)
      30'd0:   header_good = word == 32'h5449_4254;
      30'd1:   header_good = word == {4'd0, place, number, 16'd1};
      30'd2:   header_good = word == bytes - 32'd16;
      default: header_good = 1'b1;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      failed_q <= 1'b0;
      whole_q  <= 1'b0;
      words_q  <= '0;
      crc_q    <= '0;
      sum_q    <= '0;
    end else begin
      active_q <= begins || (active_q && !over);
      whole_q  <= taken && !wrong && words_q == bytes[31:2] - 30'd1;
      if (begins) begin
        failed_q <= 1'b0;
        words_q  <= '0;
        crc_q    <= '1;
      end else if (taken) begin
        failed_q <= failed_q || wrong;
        words_q  <= words_q + 1'b1;
        if (words_q == 30'd3) sum_q <= word;
        else crc_q <= crc;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    began_q  <= 1'b1;
    bytes_q  <= bytes;
    was_active_q <= rst_ni && active_q;
    number_q <= number;
    place_q  <= place;
    begin_in_reset: assume (rst_ni == began_q);
    if (rst_ni) begin
      length_there: assume (bytes[1:0] == 2'b00 && bytes > 32'd16);
      not_twice: assume (!begins || !active_q);
      if (active_q && was_active_q) begin
        same: assume (bytes == bytes_q && number == number_q && place == place_q);
      end

      over_known: assert (over == (wrong || whole_q));
      error_known: assert ((error != '0) == (wrong || (whole_q && ~crc_q != sum_q)));
      good_words: assert (!over || error != '0 || words_q == bytes[31:2]);
      good_all: assert (!over || error != '0 || !failed_q);
      header_first: assert (!config_valid || (words_q > 30'd3 && !failed_q));
      data_same: assert (!config_valid || config_data == word);

      good: cover (over && error == '0);
      corrupt: cover (over && error == 4'd7);
`ifndef CUT
      state_same: assert (dut.active_q == active_q && (!active_q || (dut.index_q == words_q
                          && dut.crc_q == crc_q && !failed_q
                          && (words_q <= 30'd3 || dut.crc_said_q == sum_q))));
      state_lengths: assert (!active_q || words_q == '0 || (dut.last_q == bytes[31:2] - 30'd1
                             && dut.behind_q == bytes - 32'd16));
      state_before: assert (!active_q || was_active_q || words_q == '0);
      state_whole: assert (dut.whole_q == whole_q && (!whole_q || active_q));
      state_words: assert (!active_q || words_q < bytes[31:2] || whole_q);
      state_last: assert (!whole_q || (words_q == bytes[31:2] && !failed_q));
`endif
    end
  end

endmodule
