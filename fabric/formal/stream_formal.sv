// A buffer in a stream: what goes in comes out once, unchanged and in order, and nothing else does.
module stream_formal #(
  // Which of the two: the one that cuts `ready`, or the one that cuts `valid`.
  parameter bit SKID = 1'b1
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       in_valid,
  input logic [3:0] in_data,
  input logic       out_ready,
  // The number of the item that is followed; any, but the same all the time.
  input logic [1:0] followed
);

  logic       in_ready, out_valid;
  logic [3:0] out_data;

  if (SKID) begin : gen_dut
    skid_buffer #(.WIDTH(4)) dut (
      .clk_i, .rst_ni, .in_valid_i(in_valid), .in_ready_o(in_ready), .in_data_i(in_data),
      .out_valid_o(out_valid), .out_ready_i(out_ready), .out_data_o(out_data)
    );
  end else begin : gen_dut
    stream_register #(.WIDTH(4)) dut (
      .clk_i, .rst_ni, .in_valid_i(in_valid), .in_ready_o(in_ready), .in_data_i(in_data),
      .out_valid_o(out_valid), .out_ready_i(out_ready), .out_data_o(out_data)
    );
  end

  logic       began_q = 1'b0;
  logic [1:0] followed_q, in_n_q, out_n_q, kept;
  logic [3:0] seen_q, expected;

  assign kept     = in_n_q - out_n_q;
  assign expected = in_valid && in_ready && in_n_q == followed ? in_data : seen_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      in_n_q  <= '0;
      out_n_q <= '0;
    end else begin
      in_n_q  <= in_n_q + 2'(in_valid && in_ready);
      out_n_q <= out_n_q + 2'(out_valid && out_ready);
    end
  end

  always_ff @(posedge clk_i) begin
    began_q    <= 1'b1;
    followed_q <= followed;
    if (in_valid && in_ready && in_n_q == followed) seen_q <= in_data;

    begin_in_reset: assume (rst_ni == began_q);
    if (began_q) one_followed: assume (followed == followed_q);

    if (rst_ni) begin
      one_kept: assert (kept <= 2'd1);
      if (SKID) begin
        ready_when_empty: assert (in_ready == (kept == '0));
        valid_at_once: assert (out_valid == (kept != '0 || in_valid));
      end else begin
        ready_when_moving: assert (in_ready == (kept == '0 || out_ready));
        valid_when_kept: assert (out_valid == (kept != '0));
      end
      if (out_valid && out_n_q == followed) same: assert (out_data == expected);
      passed: cover (out_n_q == 2'd3);
      stopped: cover (kept == 2'd1 && !out_ready && in_valid);
    end
  end

endmodule
