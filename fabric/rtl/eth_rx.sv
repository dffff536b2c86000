// The receiving half of an Ethernet MAC: finds the frame behind its preamble, and says at its end
// whether it is whole: its check sequence is right, the PHY told of no error, and it is neither
// shorter nor longer than a frame.
module eth_rx
  import eth_pkg::*;
#(
  // With the check sequence: those of Ethernet; shorter for the proof.
  parameter int unsigned SHORTEST_BYTES = 64,
  parameter int unsigned LONGEST_BYTES  = 1518
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        rx_dv_i,
  input  logic        rx_er_i,
  input  logic [7:0]  rxd_i,

  // A frame begins behind this cycle.
  output logic        begin_o,
  output logic        valid_o,
  output logic [7:0]  byte_o,
  // It is over, since a cycle, and was good.
  output logic        end_o,
  output logic        good_o
);

  localparam logic [11:0] ShortestBytes = 12'(SHORTEST_BYTES);
  localparam logic [11:0] LongestBytes  = 12'(LONGEST_BYTES);
  // The sum over a frame with its check sequence.
  localparam logic [31:0] Residue       = 32'hdebb_20e3;

  typedef enum logic [1:0] {
    Rest,
    Preamble,
    Frame,
    Skip      // whatever this is, it is no frame
  } state_e;

  state_e      state_q;
  logic        dv_q, er_q, failed_q, end_q, good_q;
  logic [7:0]  data_q;
  logic [31:0] crc_q;
  logic [11:0] count_q;

  assign begin_o = state_q == Preamble && dv_q && data_q == 8'hd5;
  assign valid_o = state_q == Frame && dv_q;
  assign byte_o  = data_q;
  assign end_o   = end_q;
  assign good_o  = good_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      // In the middle of something, for all that is known.
      state_q <= Skip;
      dv_q    <= 1'b1;
      end_q   <= 1'b0;
    end else begin
      dv_q  <= rx_dv_i;
      end_q <= state_q == Frame && !dv_q;
      if (!dv_q) begin
        state_q <= Rest;
      end else begin
        unique case (state_q)
          Rest, Preamble: begin
            state_q <= er_q ? Skip : data_q == 8'h55 ? Preamble
                       : data_q == 8'hd5 && state_q == Preamble ? Frame : Skip;
          end
          Frame, Skip: ;
        endcase
      end
    end
  end

  always_ff @(posedge clk_i) begin
    er_q   <= rx_er_i;
    data_q <= rxd_i;
    good_q <= crc_q == Residue && !failed_q && count_q >= ShortestBytes
              && count_q <= LongestBytes;
    if (state_q != Frame) begin
      crc_q    <= '1;
      count_q  <= '0;
      failed_q <= 1'b0;
    end else if (dv_q) begin
      crc_q    <= crc_next(crc_q, data_q);
      // It stays beyond the longest.
      count_q  <= count_q + 12'(count_q <= LongestBytes);
      failed_q <= failed_q || er_q;
    end
  end

endmodule
