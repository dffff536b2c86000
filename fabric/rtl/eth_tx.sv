// The sending half of an Ethernet MAC, towards a PHY that takes a byte in each cycle: preamble,
// frame, zeros up to the shortest frame, check sequence, and the gap behind it.
//
// A frame of n bytes takes 8 + max(n, 60) + 4 + 12 cycles, and one more. Its bytes are taken in
// successive cycles, from the ninth after it was taken on: they have to be there.
module eth_tx
  import eth_pkg::*;
#(
  // Of a frame without its check sequence. 60 for Ethernet; less for the proof.
  parameter int unsigned SHORTEST_BYTES = 60
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        valid_i,
  output logic        ready_o,
  // Without check sequence; not 0.
  input  logic [10:0] bytes_i,
  output logic        byte_ready_o,
  input  logic [7:0]  byte_i,

  output logic        tx_en_o,
  output logic [7:0]  txd_o
);

  localparam logic [10:0] ShortestBytes = 11'(SHORTEST_BYTES);

  typedef enum logic [2:0] {
    Idle,
    Preamble,
    Data,
    Check,
    Gap
  } state_e;

  state_e      state_q;
  logic [10:0] bytes_q, count_q;
  logic [31:0] crc_q;
  logic        en_q, last;
  logic [7:0]  txd_q, data_q;
  // What goes out a cycle later: the sum is made in between.
  state_e      kind_q;

  assign ready_o      = state_q == Idle;
  assign byte_ready_o = state_q == Data && count_q < bytes_q;
  assign last         = count_q + 11'd1 >= bytes_q && count_q + 11'd1 >= ShortestBytes;
  assign tx_en_o      = en_q;
  assign txd_o        = txd_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      count_q <= '0;
      bytes_q <= '0;
      kind_q  <= Idle;
      en_q    <= 1'b0;
    end else begin
      kind_q  <= state_q;
      en_q    <= kind_q == Preamble || kind_q == Data || kind_q == Check;
      count_q <= count_q + 1'b1;
      unique case (state_q)
        Idle: begin
          bytes_q <= bytes_i;
          count_q <= '0;
          if (valid_i) state_q <= Preamble;
        end
        Preamble: begin
          if (count_q == 11'd7) begin
            state_q <= Data;
            count_q <= '0;
          end
        end
        Data: begin
          if (last) begin
            state_q <= Check;
            count_q <= '0;
          end
        end
        Check: begin
          if (count_q == 11'd3) begin
            state_q <= Gap;
            count_q <= '0;
          end
        end
        Gap: if (count_q == 11'd11) state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Idle, Check, Gap: data_q <= 8'h00;
      Preamble:         data_q <= count_q == 11'd7 ? 8'hd5 : 8'h55;
      Data:             data_q <= byte_ready_o ? byte_i : 8'h00;
    endcase
    crc_q <= kind_q == Preamble ? '1 : kind_q == Data ? crc_next(crc_q, data_q) : crc_q >> 8;
    txd_q <= kind_q == Check ? ~crc_q[7:0] : data_q;
  end

endmodule
