// 2D convolution of an image of bytes with a kernel of 3 x 3: a pixel a cycle.
//
// A frame begins with a block of WIDTH bytes without output: the kernel in the first nine, signed,
// row by row. The blocks behind it are the image's rows, of WIDTH pixels each. From the third on,
// each gives a row: pixel x of it is the sum of the kernel times the pixels around pixel x of the
// row before, without turning the kernel over, rounded after a shift to the right, and limited to a
// byte. Pixels to the left and to the right of the image count as 0.
//
// The state: the row before the last one; the last one; and the kernel, in three words, with how
// much there is behind its last byte.
module convolution #(
  // A power of two: 16 to 128.
  parameter int unsigned WIDTH = 128
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Begin with the first word of a block.
  input  logic        clear_i,

  // By how many bits a sum is shifted.
  input  logic [3:0]  shift_i,

  // The state: hw_task_stream.
  input  logic        begin_i,
  input  logic        restore_i,
  input  logic [6:0]  word_i,
  input  logic [31:0] state_i,
  output logic [31:0] state_o,

  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [63:0] in_data_i,
  output logic        out_valid_o,
  input  logic        out_ready_i,
  output logic [63:0] out_data_o,
  // The word at the output belongs to a block without output.
  output logic        silent_o
);

  localparam int unsigned Words      = WIDTH / 8;
  localparam int unsigned WordWidth  = unsigned'($clog2(Words));
  localparam int unsigned PixelWidth = unsigned'($clog2(WIDTH));
  // Words of 32 bits of the state before the kernel.
  localparam logic [6:0]  KernelAt   = 7'(WIDTH / 2);

  typedef logic [WordWidth-1:0] word_t;
  typedef logic [1:0]           row_t;

  typedef enum logic [1:0] {
    Load,     // a block's words
    Silent,   // its end, without output
    Compute
  } phase_e;

  // What there is of the frame: nothing, the kernel, a row, or two.
  typedef enum logic [1:0] {
    Nothing = 2'd0,
    Kernel  = 2'd1,
    OneRow  = 2'd2,
    TwoRows = 2'd3
  } there_e;

  phase_e          phase_q;
  there_e          there_q;
  // Its numbers, the first one lowest.
  logic [71:0]     kernel_q;
  // The place of the row before the last one; those of the last one and of the new one come behind.
  row_t            before_q, last, fresh;

  function automatic row_t next_row(row_t row);
    return row == 2'd2 ? 2'd0 : row + 2'd1;
  endfunction

  assign last  = next_row(before_q);
  assign fresh = next_row(last);

  // A register, as what comes from memory has come far.
  logic        input_valid_q, word_in;
  logic [63:0] input_q;
  word_t       came_q, went_q;
  logic        taken, row_over;

  assign in_ready_o = !input_valid_q || phase_q == Load;
  assign word_in    = input_valid_q && phase_q == Load;

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

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      phase_q <= Load;
      came_q  <= '0;
      went_q  <= '0;
    end else if (clear_i) begin
      phase_q <= Load;
      came_q  <= '0;
      went_q  <= '0;
    end else begin
      if (word_in) came_q <= came_q + word_t'(1);
      if (taken && !silent_o) went_q <= went_q + word_t'(1);
      case (phase_q)
        Load:    if (word_in && came_q == '1) phase_q <= there_q == TwoRows ? Compute : Silent;
        Silent:  if (taken) phase_q <= Load;
        Compute: if (row_over) phase_q <= Load;
        default: phase_q <= Load;
      endcase
    end
  end

  // The state changes where the last word of a block is taken; of the kernel, which counts for
  // nothing before it is there, when it comes. What is restored comes a cycle later: it goes to
  // many places, and the frame begins later still.
  logic        restore_q;
  logic [6:0]  restored_word_q;
  logic [31:0] restored_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      restore_q <= 1'b0;
    end else begin
      restore_q <= restore_i;
    end
  end

  always_ff @(posedge clk_i) begin
    restored_word_q <= word_i;
    restored_q      <= state_i;
  end

  always_ff @(posedge clk_i) begin
    if (begin_i) begin
      there_q  <= Nothing;
      before_q <= 2'd0;
    end else if (restore_q) begin
      before_q <= 2'd0;
      case (restored_word_q)
        KernelAt:        kernel_q[31:0]  <= restored_q;
        KernelAt + 7'd1: kernel_q[63:32] <= restored_q;
        KernelAt + 7'd2: begin
          kernel_q[71:64] <= restored_q[7:0];
          there_q         <= there_e'(restored_q[9:8]);
        end
        default: ;
      endcase
    end else if (word_in && there_q == Nothing) begin
      if (came_q == word_t'(0)) kernel_q[63:0] <= input_q;
      if (came_q == word_t'(1)) kernel_q[71:64] <= input_q[7:0];
    end else if (row_over || (taken && silent_o)) begin
      if (there_q != TwoRows) there_q <= there_e'(2'(there_q) + 2'd1);
      if (there_q != Nothing) before_q <= last;
    end
  end

  // The rows, in halves of words: the context has 32 bits a word. Its words are asked for one
  // behind the other, so that the next one's place is known before.
  word_t            write_at, read_at, column_word;
  logic [2:0][63:0] row_word;
  logic [6:0]       saved_q;
  logic             to_row, to_last, from_last;

  assign to_row    = restored_word_q < KernelAt;
  assign to_last   = restored_word_q[WordWidth+1];
  assign from_last = saved_q[WordWidth+1];
  assign write_at  = restore_q ? restored_word_q[WordWidth:1] : came_q;
  assign read_at   = clear_i ? saved_q[WordWidth:1] : column_word;

  always_ff @(posedge clk_i) saved_q <= word_i + 7'd1;

  for (genvar r = 0; r < 3; r++) begin : gen_row
    for (genvar h = 0; h < 2; h++) begin : gen_half
      logic [31:0] memory [Words];
      logic        write;

      assign write = restore_q ? to_row && restored_word_q[0] == (h != 0)
                                 && row_t'(to_last) == row_t'(r)
                     : word_in && there_q != Nothing && fresh == row_t'(r);
      assign row_word[r][32*h+:32] = memory[read_at];

      always_ff @(posedge clk_i) begin
        if (write) memory[write_at] <= restore_q ? restored_q : input_q[32*h+:32];
      end
    end
  end

  always_comb begin
    state_o = '0;
    case (word_i)
      KernelAt:        state_o = kernel_q[31:0];
      KernelAt + 7'd1: state_o = kernel_q[63:32];
      KernelAt + 7'd2: state_o = {22'd0, there_q, kernel_q[71:64]};
      default: begin
        // Rows that are not there are another frame's.
        if (there_q == TwoRows || (there_q == OneRow && from_last)) begin
          state_o = from_last ? row_word[last][{saved_q[0], 5'd0}+:32]
                              : row_word[before_q][{saved_q[0], 5'd0}+:32];
        end
      end
    endcase
  end

  // A row: columns of three pixels go through a window, one behind the last that is 0 for the
  // pixels to the right. All of it waits for an output word that is not taken.
  typedef logic [PixelWidth:0] column_t;
  typedef logic signed [16:0] product_t;
  typedef logic signed [21:0] sum_t;

  function automatic product_t product(logic [7:0] pixel, logic [7:0] factor);
    return product_t'(signed'({1'b0, pixel})) * product_t'(signed'(factor));
  endfunction

  column_t              column_q;
  logic                 column_valid, advance, word_valid_q;
  // Of a column, by the rows' places.
  logic [2:0][7:0]      column_bytes_q;
  // By column, from the left, and by row, from above.
  logic [2:0][2:0][7:0] window_q;
  product_t             product_q [9];
  sum_t                 partial_q [3];
  sum_t                 sum_q, half, shifted_q;
  logic [7:0]           pixel_q, limited;
  // Stages that have a pixel; and bytes that the output word has.
  logic [6:0]           valid_q;
  logic [2:0]           bytes_q;
  logic [63:0]          word_q;

  assign column_word  = column_q[PixelWidth-1:3];
  assign column_valid = phase_q == Compute && column_q <= column_t'(WIDTH);
  assign advance      = !word_valid_q || out_ready_i;

  assign half    = sum_t'((22'd1 << shift_i) >> 1);
  assign limited = shifted_q < 22'sd0 ? 8'd0 : shifted_q > 22'sd255 ? 8'd255 : shifted_q[7:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q      <= '0;
      bytes_q      <= '0;
      word_valid_q <= 1'b0;
    end else if (phase_q != Compute || clear_i) begin
      valid_q      <= '0;
      bytes_q      <= '0;
      word_valid_q <= 1'b0;
    end else if (advance) begin
      // The first column is the right one of the pixel before the first.
      valid_q      <= {valid_q[5:0], column_valid && column_q != '0};
      bytes_q      <= bytes_q + 3'(valid_q[6]);
      word_valid_q <= valid_q[6] && bytes_q == 3'd7;
    end
  end

  always_ff @(posedge clk_i) begin
    if (phase_q != Compute) begin
      column_q       <= '0;
      column_bytes_q <= '0;
      window_q       <= '0;
    end else if (advance) begin
      if (column_valid) column_q <= column_q + column_t'(1);
      for (int unsigned r = 0; r < 3; r++) begin
        column_bytes_q[r] <= column_q == column_t'(WIDTH)
                             ? '0 : row_word[r][{column_q[2:0], 3'd0}+:8];
      end
      window_q[2] <= {column_bytes_q[fresh], column_bytes_q[last], column_bytes_q[before_q]};
      window_q[1] <= window_q[2];
      window_q[0] <= window_q[1];
      for (int unsigned c = 0; c < 3; c++) begin
        for (int unsigned r = 0; r < 3; r++) begin
          product_q[3*r+c] <= product(window_q[c][r], kernel_q[8*(3*r+c)+:8]);
        end
      end
      for (int unsigned r = 0; r < 3; r++) begin
        partial_q[r] <= sum_t'(product_q[3*r]) + sum_t'(product_q[3*r+1])
                        + sum_t'(product_q[3*r+2]);
      end
      sum_q     <= partial_q[0] + partial_q[1] + partial_q[2] + half;
      shifted_q <= sum_q >>> shift_i;
      pixel_q   <= limited;
      if (valid_q[6]) word_q <= {pixel_q, word_q[63:8]};
    end
  end

  assign out_valid_o = phase_q == Silent || word_valid_q;
  assign silent_o    = phase_q == Silent;
  assign out_data_o  = word_q;
  assign taken       = out_valid_o && out_ready_i;
  assign row_over    = taken && phase_q == Compute && went_q == '1;

endmodule
