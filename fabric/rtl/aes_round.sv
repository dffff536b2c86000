// A round of AES and of its key schedule (FIPS 197, 5.1 and 5.2): what comes out is of the state
// and the last word of a cycle before, and of all else now.
//
// Bytes are as in memory: byte i of the state and of the key is in bits 8i to 8i+7.
module aes_round (
  input  logic             clk_i,

  // The last round mixes no columns.
  input  logic             last_i,
  input  logic [127:0]     state_i,
  input  logic [127:0]     round_key_i,
  output logic [127:0]     state_o,

  // The four words of the key schedule that follow: those a whole key before, the last one there
  // is, and what is done with it. A key of 8 words rotates it every other time.
  input  logic [3:0][31:0] before_i,
  input  logic [31:0]      last_word_i,
  input  logic             rotate_i,
  input  logic [7:0]       constant_i,
  output logic [3:0][31:0] words_o
);

  typedef logic [255:0][7:0] table_t;

  // 5.1.1: from all powers of 3 and their inverses. Inverted, as are its indices: synthesis would
  // take a table beside a register for a memory, and move the register to its other side.
  function automatic table_t s_box();
    table_t     box;
    logic [7:0] power, inverse;
    box     = '0;
    box[8'hff] = ~8'h63;
    power   = 8'd1;
    inverse = 8'd1;
    for (int unsigned i = 0; i < 255; i++) begin
      box[~power] = ~(inverse ^ {inverse[6:0], inverse[7]} ^ {inverse[5:0], inverse[7:6]}
                      ^ {inverse[4:0], inverse[7:5]} ^ {inverse[3:0], inverse[7:4]} ^ 8'h63);
      power   = power ^ {power[6:0], 1'b0} ^ (power[7] ? 8'h1b : 8'h00);
      inverse = inverse ^ {inverse[6:0], 1'b0};
      inverse = inverse ^ {inverse[5:0], 2'b0};
      inverse = inverse ^ {inverse[3:0], 4'b0};
      inverse = inverse ^ (inverse[7] ? 8'h09 : 8'h00);
    end
    return box;
  endfunction

  localparam table_t SBox = s_box();

  function automatic logic [7:0] twice(logic [7:0] x);
    return {x[6:0], 1'b0} ^ (x[7] ? 8'h1b : 8'h00);
  endfunction

  // Substituted and shifted; mixed as well.
  logic [15:0][7:0] shifted_q, mixed;

  for (genvar c = 0; c < 4; c++) begin : gen_column
    for (genvar r = 0; r < 4; r++) begin : gen_row
      // Row r is shifted by r columns.
      always_ff @(posedge clk_i) shifted_q[4*c+r] <= ~SBox[~state_i[8*(4*((c+r)%4)+r)+:8]];
      assign mixed[4*c+r] = twice(shifted_q[4*c+r])
                            ^ twice(shifted_q[4*c+(r+1)%4]) ^ shifted_q[4*c+(r+1)%4]
                            ^ shifted_q[4*c+(r+2)%4] ^ shifted_q[4*c+(r+3)%4];
    end
  end

  assign state_o = 128'(last_i ? shifted_q : mixed) ^ round_key_i;

  logic [31:0] rotated, substituted_q;

  assign rotated = rotate_i ? {last_word_i[7:0], last_word_i[31:8]} : last_word_i;

  for (genvar i = 0; i < 4; i++) begin : gen_substituted
    always_ff @(posedge clk_i) substituted_q[8*i+:8] <= ~SBox[~rotated[8*i+:8]];
  end

  always_comb begin
    logic [31:0] word;
    word = substituted_q ^ {24'd0, rotate_i ? constant_i : 8'd0};
    for (int unsigned i = 0; i < 4; i++) begin
      word       = word ^ before_i[i];
      words_o[i] = word;
    end
  end

endmodule
