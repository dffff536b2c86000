// A queue of bytes, of flip-flops: what is put where there is no room is lost.
module byte_queue #(
  parameter int unsigned LOG2_BYTES = 4
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  logic                put_i,
  input  logic [7:0]          data_i,
  output logic                room_o,

  // The oldest.
  output logic                there_o,
  output logic [7:0]          data_o,
  input  logic                take_i,

  output logic [LOG2_BYTES:0] used_o
);

  typedef logic [LOG2_BYTES:0]   count_t;
  typedef logic [LOG2_BYTES-1:0] index_t;

  logic [7:0] bytes [2 ** LOG2_BYTES];
  count_t     put_q, taken_q;

  assign used_o  = put_q - taken_q;
  assign room_o  = !used_o[LOG2_BYTES];
  assign there_o = used_o != '0;
  assign data_o  = bytes[index_t'(taken_q)];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      put_q   <= '0;
      taken_q <= '0;
    end else begin
      if (put_i && room_o) put_q <= put_q + 1'b1;
      if (take_i && there_o) taken_q <= taken_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) if (put_i && room_o) bytes[index_t'(put_q)] <= data_i;

endmodule
