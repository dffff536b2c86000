// The low-level driver of an SPI NOR flash: one command of the part for each of its own, in SPI
// mode 0, most significant bit first.
//
// Reads use four lines ("Fast Read Quad I/O", EB), and leave the part in its continuous read mode:
// the next one begins with its address. All else is on one line, and leaves that mode first: the
// part is told FF. So it is before the first command, as what the part was doing when this was
// reset is not known.
//
// The clock has half periods of HALF_CYCLES. What the part gives is sampled as the clock falls, a
// whole period after it was asked for: mode 0 keeps it until then, and so the way out and back may
// take nearly a period. A byte on one line takes 16 * HALF_CYCLES cycles, on four lines a quarter.
// A command's are its opcode, but of a Read that goes on from the last one, its address, of a Read
// three more, and data; DESELECT_CYCLES + 1 come behind, unless a byte to write comes late or a
// byte that was read is not taken: then the clock rests, for as long as it takes.
//
// A Read can be cut: it ends with the byte that comes while cut_i is up, if there is another one
// behind that.
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
  // The read ends with this byte. It is the last one, as the read was cut.
  input  logic        cut_i,
  output logic        read_cut_o,

  output logic        cs_no,
  output logic        sck_o,
  // The four lines: what is driven, which are, and what is on them. On one line that is 0 out and 1
  // in; 2 and 3 are high then, as they are /WP and /HOLD of a part that may not use them otherwise.
  output logic [3:0]  io_o,
  output logic [3:0]  io_oe_o,
  input  logic [3:0]  io_i
);

  localparam int unsigned TimerMax   = HALF_CYCLES > DESELECT_CYCLES
                                       ? HALF_CYCLES : DESELECT_CYCLES;
  localparam int unsigned TimerWidth = $clog2(TimerMax + 1);
  typedef logic [TimerWidth-1:0] timer_t;

  // Behind the address of a Read: the mode bits, of which M5-4 = 10 say that the next Read has no
  // opcode; and four clocks in which neither side drives the lines.
  localparam logic [7:0] Continue    = 8'ha0;
  localparam logic [2:0] DummyBytes  = 3'd2;
  localparam logic [2:0] QuadHeader  = 3'd4 + DummyBytes;
  localparam logic [7:0] Leave       = 8'hff;

  typedef enum logic [1:0] {
    Idle,
    Wait,      // for a byte to write
    Shift,
    Deselect
  } state_e;

  state_e      state_q;
  timer_t      timer_q;
  logic        sck_q, reads_q, read_valid_q;
  // What the part is in, if it is known.
  logic        known_q, continuous_q;
  // The byte that is being shifted is data, and no opcode or address. It is on four lines; those
  // behind the opcode are.
  logic        in_data_q, quad_q, fast_q;
  logic [2:0]  bit_q;
  // What follows opcode or first byte; then the byte that goes out and in.
  logic [31:0] header_q;
  logic [2:0]  header_left_q;
  logic [15:0] data_left_q;
  logic [7:0]  shift_q, shifted, read_q;

  logic [7:0]  opcode;
  logic [31:0] header;
  logic [2:0]  header_bytes;
  logic        reads, fast, leaves, goes_on, last_bit, full, rise, fall, byte_end, header_next;
  logic        data_next, data_cut, want;
  logic [15:0] data_bytes;

  assign leaves  = !known_q || (continuous_q && !fast);
  assign goes_on = known_q && continuous_q && fast;
  assign ready_o = state_q == Idle && !leaves;
  assign cs_no   = !(state_q == Wait || state_q == Shift);
  assign sck_o   = sck_q;
  assign io_o    = quad_q ? shift_q[7:4] : {3'b110, shift_q[7]};
  assign io_oe_o = cs_no ? 4'b0000 : !quad_q ? 4'b1101
                   : in_data_q || header_left_q < DummyBytes ? 4'b0000 : 4'b1111;

  always_comb begin
    header       = {address_i, Continue};
    header_bytes = 3'd0;
    reads        = 1'b0;
    fast         = 1'b0;
    data_bytes   = '0;
    case (command_i)
      WriteEnable: opcode = 8'h06;
      Status: begin
        opcode     = 8'h05;
        reads      = 1'b1;
        data_bytes = 16'd1;
      end
      Status2: begin
        opcode     = 8'h35;
        reads      = 1'b1;
        data_bytes = 16'd1;
      end
      Identify: begin
        opcode     = 8'h9f;
        reads      = 1'b1;
        data_bytes = 16'd3;
      end
      Read: begin
        opcode       = 8'heb;
        header_bytes = QuadHeader;
        reads        = 1'b1;
        fast         = 1'b1;
        data_bytes   = bytes_i;
      end
      Program: begin
        opcode       = 8'h02;
        header_bytes = 3'd3;
        data_bytes   = bytes_i;
      end
      EraseSector: begin
        opcode       = 8'h20;
        header_bytes = 3'd3;
      end
      EraseBlock: begin
        opcode       = 8'hd8;
        header_bytes = 3'd3;
      end
      VolatileEnable: opcode = 8'h50;
      QuadEnable: begin
        opcode       = 8'h31;
        header       = 32'h02000000;
        header_bytes = 3'd1;
      end
      default: opcode = 8'h05;
    endcase
  end

  // A byte that was read goes where the last one was: the clock stays high until that is gone.
  assign shifted     = quad_q ? {shift_q[3:0], io_i} : {shift_q[6:0], io_i[1]};
  assign last_bit    = quad_q ? bit_q[2] : bit_q == 3'd7;
  assign full        = reads_q && in_data_q && last_bit && read_valid_q && !read_ready_i;
  assign rise        = state_q == Shift && !sck_q && timer_q == '0;
  assign fall        = state_q == Shift && sck_q && timer_q == '0 && !full;
  assign byte_end    = fall && last_bit;
  assign header_next = header_left_q != '0;
  assign data_next   = data_left_q != '0;
  assign data_cut    = fast_q && in_data_q && data_next && cut_i;
  assign want        = (byte_end && !header_next && data_next && !reads_q) || state_q == Wait;

  assign write_ready_o = want;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q       <= Idle;
      timer_q       <= '0;
      sck_q         <= 1'b0;
      bit_q         <= '0;
      known_q       <= 1'b0;
      continuous_q  <= 1'b0;
      quad_q        <= 1'b0;
      fast_q        <= 1'b0;
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
            reads_q       <= reads && !leaves;
            in_data_q     <= 1'b0;
            known_q       <= 1'b1;
            continuous_q  <= fast && !leaves;
            quad_q        <= goes_on;
            fast_q        <= fast && !leaves;
            // Of one that goes on, the first byte is of the address.
            header_left_q <= leaves ? '0 : goes_on ? QuadHeader - 1'b1 : header_bytes;
            data_left_q   <= leaves ? '0 : data_bytes;
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
          if (fall) bit_q <= bit_q + (quad_q ? 3'd4 : 3'd1);
          if (byte_end) begin
            quad_q <= fast_q;
            if (reads_q && in_data_q) read_valid_q <= 1'b1;
            if (header_next) begin
              header_left_q <= header_left_q - 1'b1;
            end else if (data_next && !data_cut) begin
              in_data_q <= 1'b1;
              if (reads_q || write_valid_i) data_left_q <= data_left_q - 1'b1;
              else state_q <= Wait;
            end else begin
              state_q     <= Deselect;
              timer_q     <= timer_t'(DESELECT_CYCLES - 1);
              data_left_q <= '0;
            end
          end
        end
        Deselect: if (timer_q == '0) state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Idle && valid_i) begin
      shift_q  <= leaves ? Leave : goes_on ? header[31:24] : opcode;
      header_q <= goes_on ? header << 8 : header;
    end else if (byte_end && header_next) begin
      shift_q  <= header_q[31:24];
      header_q <= header_q << 8;
    end else if (want && write_valid_i) begin
      shift_q  <= write_data_i;
    end else if (fall) begin
      shift_q  <= shifted;
    end
    if (byte_end && reads_q && in_data_q) begin
      read_q     <= shifted;
      read_cut_o <= data_cut;
    end
  end

  assign read_valid_o = read_valid_q;
  assign read_data_o  = read_q;

endmodule
