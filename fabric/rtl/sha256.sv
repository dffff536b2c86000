// SHA-256 of a frame (FIPS 180-4): a round a cycle.
//
// A block is the 64 bytes that the hash is computed of, and gives no output; the last one gives the
// digest, four words. What pads the message is computed here, from its length. Where it needs 64
// bytes more, these are computed as part of the last block.
//
// The state: eight words of hash before the block, the length of the message in bytes, and whether
// only the bytes beyond the last block's are left to be computed.
module sha256 (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Begin with the first word of a block.
  input  logic        clear_i,

  // The state, and what is left of the frame: hw_task_stream.
  input  logic        begin_i,
  input  logic        restore_i,
  input  logic [3:0]  word_i,
  input  logic [31:0] state_i,
  output logic [31:0] state_o,
  input  logic [31:0] left_i,

  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [63:0] in_data_i,
  output logic        out_valid_o,
  input  logic        out_ready_i,
  output logic [63:0] out_data_o,
  // The word at the output belongs to a block without output.
  output logic        silent_o
);

  localparam logic [3:0] LengthWord = 4'd8;
  localparam logic [3:0] BeyondWord = 4'd9;

  localparam logic [7:0][31:0] Initial = {
    32'h5be0_cd19, 32'h1f83_d9ab, 32'h9b05_688c, 32'h510e_527f,
    32'ha54f_f53a, 32'h3c6e_f372, 32'hbb67_ae85, 32'h6a09_e667
  };

  // 4.2.2: of rounds 32 to 63 and 0 to 31, the last one's first.
  localparam logic [31:0][31:0] LateConstants = {
    32'hc671_78f2, 32'hbef9_a3f7, 32'ha450_6ceb, 32'h90be_fffa,
    32'h8cc7_0208, 32'h84c8_7814, 32'h78a5_636f, 32'h748f_82ee,
    32'h682e_6ff3, 32'h5b9c_ca4f, 32'h4ed8_aa4a, 32'h391c_0cb3,
    32'h34b0_bcb5, 32'h2748_774c, 32'h1e37_6c08, 32'h19a4_c116,
    32'h106a_a070, 32'hf40e_3585, 32'hd699_0624, 32'hd192_e819,
    32'hc76c_51a3, 32'hc24b_8b70, 32'ha81a_664b, 32'ha2bf_e8a1,
    32'h9272_2c85, 32'h81c2_c92e, 32'h766a_0abb, 32'h650a_7354,
    32'h5338_0d13, 32'h4d2c_6dfc, 32'h2e1b_2138, 32'h27b7_0a85
  };

  localparam logic [31:0][31:0] EarlyConstants = {
    32'h1429_2967, 32'h06ca_6351, 32'hd5a7_9147, 32'hc6e0_0bf3,
    32'hbf59_7fc7, 32'hb003_27c8, 32'ha831_c66d, 32'h983e_5152,
    32'h76f9_88da, 32'h5cb0_a9dc, 32'h4a74_84aa, 32'h2de9_2c6f,
    32'h240c_a1cc, 32'h0fc1_9dc6, 32'hefbe_4786, 32'he49b_69c1,
    32'hc19b_f174, 32'h9bdc_06a7, 32'h80de_b1fe, 32'h72be_5d74,
    32'h550c_7dc3, 32'h2431_85be, 32'h1283_5b01, 32'hd807_aa98,
    32'hab1c_5ed5, 32'h923f_82a4, 32'h59f1_11f1, 32'h3956_c25b,
    32'he9b5_dba5, 32'hb5c0_fbcf, 32'h7137_4491, 32'h428a_2f98
  };

  function automatic logic [31:0] ror(logic [31:0] x, int unsigned n);
    return (x >> n) | (x << (32 - n));
  endfunction

  // 4.1.2.
  function automatic logic [31:0] big0(logic [31:0] x);
    return ror(x, 2) ^ ror(x, 13) ^ ror(x, 22);
  endfunction

  function automatic logic [31:0] big1(logic [31:0] x);
    return ror(x, 6) ^ ror(x, 11) ^ ror(x, 25);
  endfunction

  function automatic logic [31:0] small0(logic [31:0] x);
    return ror(x, 7) ^ ror(x, 18) ^ (x >> 3);
  endfunction

  function automatic logic [31:0] small1(logic [31:0] x);
    return ror(x, 17) ^ ror(x, 19) ^ (x >> 10);
  endfunction

  // The first byte of memory is the highest of a word.
  function automatic logic [31:0] big_endian(logic [31:0] x);
    return {x[7:0], x[15:8], x[23:16], x[31:24]};
  endfunction

  typedef enum logic [1:0] {
    Begin,   // how much of the frame is left?
    Rounds,
    Add,     // to the hash: the message goes on
    Give     // the block's end, or the digest
  } phase_e;

  phase_e           phase_q;
  logic [7:0][31:0] hash_q, sum;
  logic [31:0]      length_q;
  logic             beyond_q;

  // Of the block: it is the last; where the message ends in it; the message's padding ends in it.
  logic             last_q, ends_q, padded_q;
  logic [5:0]       end_q;

  // Four stages: the schedule's word; its sum with what else is known before the round; the round
  // of e to h, with T1; that of a to d, which is a cycle behind where no round waits for input.
  logic [6:0]        word_q;
  logic [15:0][31:0] schedule_q;
  logic [31:0]       constant_q, known_q, input_word, word, hash_left;
  logic [31:0]       sum_q;
  logic              word_take, word_valid_q, known_valid_q, sum_valid_q;
  logic [6:0]        round_q;
  logic [31:0]       a_q, b_q, c_q, d_q, e_q, f_q, g_q, h_q;

  logic [1:0] given_q;
  logic       taken;

  logic        input_valid_q;
  logic [63:0] input_q;

  // A register, as what comes from memory has come far.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      input_valid_q <= 1'b0;
    end else if (clear_i) begin
      input_valid_q <= 1'b0;
    end else if (in_ready_o) begin
      input_valid_q <= in_valid_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (in_ready_o) input_q <= in_data_i;
  end

  // The message as 32-bit words; its end, and at the end of the padding its length in bits.
  always_comb begin
    input_word = beyond_q ? '0 : big_endian(word_q[0] ? input_q[63:32] : input_q[31:0]);
    if (ends_q && word_q[3:0] == end_q[5:2]) begin
      input_word = input_word | 32'h8000_0000 >> {end_q[1:0], 3'd0};
    end
    if (padded_q && word_q[3:0] == 4'd14) input_word = {29'd0, length_q[31:29]};
    if (padded_q && word_q[3:0] == 4'd15) input_word = {length_q[28:0], 3'd0};
  end

  assign word = word_q[6:4] == '0 ? input_word
                                  : small1(schedule_q[14]) + schedule_q[9]
                                    + small0(schedule_q[1]) + schedule_q[0];

  assign word_take  = phase_q == Rounds && !word_q[6]
                      && (word_q[5:4] != '0 || beyond_q || input_valid_q);
  assign in_ready_o = !input_valid_q
                      || (phase_q == Rounds && word_q[6:4] == '0 && word_q[0] && !beyond_q);
  assign hash_left  = known_valid_q ? g_q : h_q;

  always_ff @(posedge clk_i) begin
    if (phase_q == Begin) word_q <= '0;
    if (word_take) begin
      word_q     <= word_q + 7'd1;
      for (int unsigned i = 0; i < 15; i++) schedule_q[i] <= schedule_q[i+1];
      schedule_q[15] <= word;
      constant_q <= word_q[5] ? LateConstants[word_q[4:0]] : EarlyConstants[word_q[4:0]];
    end
    known_q <= constant_q + schedule_q[15] + hash_left;

    if (phase_q == Begin) begin
      e_q     <= hash_q[4];
      f_q     <= hash_q[5];
      g_q     <= hash_q[6];
      h_q     <= hash_q[7];
      round_q <= '0;
    end else if (known_valid_q) begin
      h_q     <= g_q;
      g_q     <= f_q;
      f_q     <= e_q;
      e_q     <= (sum_valid_q ? c_q : d_q) + known_q + big1(e_q) + ((e_q & f_q) ^ (~e_q & g_q));
      round_q <= round_q + 7'd1;
    end
    sum_q <= known_q + big1(e_q) + ((e_q & f_q) ^ (~e_q & g_q));

    if (phase_q == Begin) begin
      a_q <= hash_q[0];
      b_q <= hash_q[1];
      c_q <= hash_q[2];
      d_q <= hash_q[3];
    end else if (sum_valid_q) begin
      d_q <= c_q;
      c_q <= b_q;
      b_q <= a_q;
      a_q <= sum_q + big0(a_q) + ((a_q & b_q) ^ (a_q & c_q) ^ (b_q & c_q));
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      word_valid_q  <= 1'b0;
      known_valid_q <= 1'b0;
      sum_valid_q   <= 1'b0;
    end else begin
      word_valid_q  <= word_take && !clear_i;
      known_valid_q <= word_valid_q && !clear_i;
      sum_valid_q   <= known_valid_q && !clear_i;
    end
  end

  // The block.

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      phase_q <= Begin;
      given_q <= '0;
    end else if (clear_i) begin
      phase_q <= Begin;
      given_q <= '0;
    end else begin
      unique case (phase_q)
        Begin:  phase_q <= Rounds;
        Rounds: if (round_q[6]) phase_q <= last_q && !padded_q ? Add : Give;
        Add:    phase_q <= Begin;
        Give: if (taken) begin
          given_q <= silent_o ? '0 : given_q + 2'd1;
          if (silent_o) phase_q <= Add;
          else if (given_q == 2'd3) phase_q <= Begin;
        end
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (phase_q == Begin) begin
      last_q   <= left_i <= 32'd64;
      // Behind a whole last block it ends with the first byte beyond.
      ends_q   <= beyond_q ? left_i == 32'd64 : left_i < 32'd64;
      end_q    <= left_i[5:0];
      padded_q <= beyond_q || left_i < 32'd56;
    end
  end

  assign sum[0] = hash_q[0] + a_q;
  assign sum[1] = hash_q[1] + b_q;
  assign sum[2] = hash_q[2] + c_q;
  assign sum[3] = hash_q[3] + d_q;
  assign sum[4] = hash_q[4] + e_q;
  assign sum[5] = hash_q[5] + f_q;
  assign sum[6] = hash_q[6] + g_q;
  assign sum[7] = hash_q[7] + h_q;

  always_ff @(posedge clk_i) begin
    if (begin_i) begin
      hash_q   <= Initial;
      length_q <= left_i;
      beyond_q <= 1'b0;
    end else if (restore_i) begin
      for (int unsigned i = 0; i < 8; i++) begin
        if (word_i == 4'(i)) hash_q[i] <= state_i;
      end
      if (word_i == LengthWord) length_q <= state_i;
      if (word_i == BeyondWord) beyond_q <= state_i[0];
    end else if (phase_q == Add) begin
      // Of the last block as much of the frame is left, but no more of the input.
      hash_q   <= sum;
      beyond_q <= last_q;
    end
  end

  always_comb begin
    case (word_i)
      LengthWord: state_o = length_q;
      BeyondWord: state_o = {31'd0, beyond_q};
      default:    state_o = hash_q[word_i[2:0]];
    endcase
  end

  assign out_valid_o = phase_q == Give;
  assign silent_o    = !last_q;
  assign taken       = out_valid_o && out_ready_i;
  assign out_data_o  = {big_endian(sum[{given_q, 1'b1}]), big_endian(sum[{given_q, 1'b0}])};

endmodule
