// Takes a bitstream, 32 bits a cycle, and says whether it is what it should be.
//
// A bitstream begins with four words: the mark "TBIT"; version, task and region; how many bytes
// follow the header; and the CRC-32 (IEEE 802.3) of the three words before and of all that follows.
// Each region has one length of bitstreams, since it has one area. Words go on to the region's
// configuration memory (config_o) as they come; whether they were right is known at the end, and
// until then the region is cut off.
module configuration_loader (
  input  logic        clk_i,
  input  logic        rst_ni,

  // For a cycle: a bitstream begins with the next word. What it has to be stays as it is from the
  // next cycle until over_o.
  input  logic        begin_i,
  input  logic [7:0]  task_i,
  input  logic [3:0]  region_i,
  // Its length with the header, in bytes: a multiple of 4, and more than 16.
  input  logic [31:0] bytes_i,

  input  logic        word_valid_i,
  input  logic [31:0] word_i,
  // Memory answered with an error.
  input  logic        word_error_i,

  output logic        config_valid_o,
  output logic [31:0] config_data_o,

  // For a cycle, with the word that decided, or in the cycle after the last one: error_o is 0 where
  // the bitstream was good. Words behind the last one are not looked at.
  output logic        over_o,
  output logic [3:0]  error_o
);

  localparam logic [31:0] Mark    = 32'h5449_4254;  // "TBIT", the T first
  localparam logic [15:0] Version = 16'd1;

  localparam logic [3:0] NoError     = 4'd0;
  localparam logic [3:0] NoBitstream = 4'd2;
  localparam logic [3:0] BadVersion  = 4'd3;
  localparam logic [3:0] BadTask     = 4'd4;
  localparam logic [3:0] BadRegion   = 4'd5;
  localparam logic [3:0] BadLength   = 4'd6;
  localparam logic [3:0] Corrupt     = 4'd7;
  localparam logic [3:0] BadMemory   = 4'd8;

  // CRC-32 over a word, its lowest byte first, each byte's lowest bit first.
  function automatic logic [31:0] crc_of(logic [31:0] crc, logic [31:0] word);
    logic [31:0] c;
    c = crc ^ word;
    for (int unsigned i = 0; i < 32; i++) c = (c >> 1) ^ (c[0] ? 32'hedb8_8320 : 32'd0);
    return c;
  endfunction

  logic        active_q, whole_q;
  logic [29:0] index_q, last_q;
  logic [31:0] behind_q;
  logic [31:0] crc_q, crc_said_q, crc_d;
  logic        taken, whole;

  // Known a cycle before the words that they are for: the subtraction is not on their path.
  always_ff @(posedge clk_i) begin
    last_q   <= bytes_i[31:2] - 30'd1;
    behind_q <= bytes_i - 32'd16;
  end

  assign taken = active_q && !whole_q && word_valid_i;
  assign whole = taken && index_q == last_q;
  assign crc_d = crc_of(crc_q, word_i);

  always_comb begin
    error_o = NoError;
    if (taken) begin
      case (index_q)
        30'd0: if (word_i != Mark) error_o = NoBitstream;
        30'd1: begin
          if (word_i[15:0] != Version) error_o = BadVersion;
          else if (word_i[23:16] != task_i) error_o = BadTask;
          else if (word_i[31:24] != 8'(region_i)) error_o = BadRegion;
        end
        30'd2: if (word_i != behind_q) error_o = BadLength;
        default: error_o = NoError;
      endcase
      if (word_error_i) error_o = BadMemory;
    end else if (whole_q && ~crc_q != crc_said_q) begin
      error_o = Corrupt;
    end
    over_o = whole_q || error_o != NoError;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q   <= 1'b0;
      whole_q    <= 1'b0;
      index_q    <= '0;
      crc_q      <= '0;
      crc_said_q <= '0;
    end else begin
      active_q <= begin_i || (active_q && !over_o);
      whole_q  <= whole && error_o == NoError;
      if (begin_i) begin
        index_q <= '0;
        crc_q   <= '1;
      end else if (taken) begin
        index_q <= index_q + 1'b1;
        if (index_q == 30'd3) crc_said_q <= word_i;
        else crc_q <= crc_d;
      end
    end
  end

  assign config_valid_o = taken && index_q > 30'd3;
  assign config_data_o  = word_i;

endmodule
