// The low-level driver of an SPI NOR flash: one command of the part for each of its own, in SPI
// mode 0, most significant bit first.
//
// The clock has half periods of HALF_CYCLES. What the part gives is sampled as the clock falls, a
// whole period after it was asked for: mode 0 keeps it until then, and so the way out and back may
// take nearly a period. A command takes 16 * HALF_CYCLES cycles for each byte, its own and its
// address among them, and DESELECT_CYCLES + 1 more, unless a byte to write comes late or a byte
// that was read is not taken: then the clock rests, for as long as it takes.
module flash_driver
  import flash_pkg::*;
#(
  parameter int unsigned HALF_CYCLES     = 1,
  // For how long the part is not selected between two commands: tSHSL2, 50 ns.
  parameter int unsigned DESELECT_CYCLES = 5
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // Taken when ready. The number of bytes counts for Read and Program, and is not 0.
  input  logic        valid_i,
  output logic        ready_o,
  input  command_e    command_i,
  input  logic [23:0] address_i,
  input  logic [15:0] bytes_i,

  input  logic        write_valid_i,
  output logic        write_ready_o,
  input  logic [7:0]  write_data_i,

  output logic        read_valid_o,
  input  logic        read_ready_i,
  output logic [7:0]  read_data_o,

  output logic        cs_no,
  output logic        sck_o,
  output logic        mosi_o,
  input  logic        miso_i
);

  localparam int unsigned TimerMax   = HALF_CYCLES > DESELECT_CYCLES
                                       ? HALF_CYCLES : DESELECT_CYCLES;
  localparam int unsigned TimerWidth = $clog2(TimerMax + 1);
  typedef logic [TimerWidth-1:0] timer_t;

  typedef enum logic [1:0] {
    Idle,
    Wait,      // for a byte to write
    Shift,
    Deselect
  } state_e;

  state_e      state_q;
  timer_t      timer_q;
  logic        sck_q, reads_q, read_valid_q;
  // The byte that is being shifted is data, and no opcode or address.
  logic        in_data_q;
  logic [2:0]  bit_q;
  // The rest of opcode and address; then the byte that goes out and in.
  logic [23:0] header_q;
  logic [1:0]  header_left_q;
  logic [15:0] data_left_q;
  logic [7:0]  shift_q, read_q;

  logic [7:0]  opcode;
  logic        addressed, reads, full, rise, fall, byte_end, header_next, data_next, want;
  logic [15:0] data_bytes;

  assign ready_o = state_q == Idle;
  assign cs_no   = !(state_q == Wait || state_q == Shift);
  assign sck_o   = sck_q;
  assign mosi_o  = shift_q[7];

  always_comb begin
    addressed  = 1'b0;
    reads      = 1'b0;
    data_bytes = '0;
    case (command_i)
      WriteEnable: opcode = 8'h06;
      Status: begin
        opcode     = 8'h05;
        reads      = 1'b1;
        data_bytes = 16'd1;
      end
      Identify: begin
        opcode     = 8'h9f;
        reads      = 1'b1;
        data_bytes = 16'd3;
      end
      Read: begin
        opcode     = 8'h03;
        addressed  = 1'b1;
        reads      = 1'b1;
        data_bytes = bytes_i;
      end
      Program: begin
        opcode     = 8'h02;
        addressed  = 1'b1;
        data_bytes = bytes_i;
      end
      EraseSector: begin
        opcode     = 8'h20;
        addressed  = 1'b1;
      end
      EraseBlock: begin
        opcode     = 8'hd8;
        addressed  = 1'b1;
      end
      default: opcode = 8'h05;
    endcase
  end

  // A byte that was read goes where the last one was: the clock stays high until that is gone.
  assign full        = reads_q && in_data_q && bit_q == 3'd7 && read_valid_q && !read_ready_i;
  assign rise        = state_q == Shift && !sck_q && timer_q == '0;
  assign fall        = state_q == Shift && sck_q && timer_q == '0 && !full;
  assign byte_end    = fall && bit_q == 3'd7;
  assign header_next = header_left_q != '0;
  assign data_next   = data_left_q != '0;
  assign want        = (byte_end && !header_next && data_next && !reads_q) || state_q == Wait;

  assign write_ready_o = want;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q       <= Idle;
      timer_q       <= '0;
      sck_q         <= 1'b0;
      bit_q         <= '0;
      reads_q       <= 1'b0;
      in_data_q     <= 1'b0;
      header_left_q <= '0;
      data_left_q   <= '0;
      read_valid_q  <= 1'b0;
    end else begin
      if (read_ready_i) read_valid_q <= 1'b0;
      if (timer_q != '0) timer_q <= timer_q - 1'b1;

      unique case (state_q)
        Idle: begin
          if (valid_i) begin
            state_q       <= Shift;
            timer_q       <= timer_t'(HALF_CYCLES - 1);
            bit_q         <= '0;
            reads_q       <= reads;
            in_data_q     <= 1'b0;
            header_left_q <= addressed ? 2'd3 : 2'd0;
            data_left_q   <= data_bytes;
          end
        end
        Wait: begin
          if (write_valid_i) begin
            state_q     <= Shift;
            timer_q     <= timer_t'(HALF_CYCLES - 1);
            data_left_q <= data_left_q - 1'b1;
          end
        end
        Shift: begin
          if (rise || fall) begin
            sck_q   <= rise;
            timer_q <= timer_t'(HALF_CYCLES - 1);
          end
          if (fall) bit_q <= bit_q + 1'b1;
          if (byte_end) begin
            if (reads_q && in_data_q) read_valid_q <= 1'b1;
            if (header_next) begin
              header_left_q <= header_left_q - 1'b1;
            end else if (data_next) begin
              in_data_q <= 1'b1;
              if (reads_q || write_valid_i) data_left_q <= data_left_q - 1'b1;
              else state_q <= Wait;
            end else begin
              state_q <= Deselect;
              timer_q <= timer_t'(DESELECT_CYCLES - 1);
            end
          end
        end
        Deselect: if (timer_q == '0) state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Idle && valid_i) begin
      shift_q  <= opcode;
      header_q <= address_i;
    end else if (byte_end && header_next) begin
      shift_q  <= header_q[23:16];
      header_q <= header_q << 8;
    end else if (want && write_valid_i) begin
      shift_q  <= write_data_i;
    end else if (fall) begin
      shift_q  <= {shift_q[6:0], miso_i};
    end
    if (byte_end && reads_q && in_data_q) read_q <= {shift_q[6:0], miso_i};
  end

  assign read_valid_o = read_valid_q;
  assign read_data_o  = read_q;

endmodule
