// An SPI NOR flash for simulation, as far as the driver needs one: a Winbond W25Q32JV (data sheet,
// revision G), of which it has the commands 03, 0B, EB, 02, 20, D8, 06, 04, 05, 9F, 50, 31, 35 and
// FF in SPI mode 0.
//
// It looks at its pins with the simulation's clock, and answers a cycle later than the falling edge
// that asks: 10 ns at 100 MHz, where the part's own tCLQV is 6 ns. While it programs or erases, it
// takes no command but 05 and 35. EB is on four lines, for which QE has to be set: by 31 behind 50,
// as all of that register is volatile here, and 0 at first. Where its mode bits M5-4 are 10, the
// next selection begins with another address of EB; FF on line 0 ends that. A command that writes
// needs 06 before it and ends with the part not selected, after whole bytes; each takes the part's
// longest time unless told. A page wraps around. Bits are programmed from 1 to 0 only. It begins
// erased, and changes a page a cycle at the end of its time.
//
// Without power it forgets everything but its memory. What was being programmed or erased is torn
// then, a page a cycle, by numbers that are drawn from seed_i alone: of a page that was being
// programmed, any of the bits that were to become 0 have done so. Pages that were being erased were
// either still being programmed to 0, as such parts do before they erase, so that any of their bits
// are 0 that were 1; or any of them are 1. How many of them is drawn for each page.
module flash_part #(
  parameter int unsigned MEMORY_BYTES   = 4 * 1024 * 1024,
  parameter logic [23:0] ID             = 24'hef_40_16,
  // At 100 MHz: tPP, 3 ms; tSE, 400 ms; tBE2, 2 s (section 9.6).
  parameter int unsigned PROGRAM_CYCLES = 300_000,
  parameter int unsigned SECTOR_CYCLES  = 40_000_000,
  parameter int unsigned BLOCK_CYCLES   = 200_000_000
) (
  input  logic clk_i,

  // It has power; where that fails, for 256 cycles at least. What is torn is drawn from the seed.
  input  logic        power_i,
  input  logic [63:0] seed_i,

  input  logic cs_ni,
  input  logic sck_i,
  // The four lines, what is driven from outside and which are; and what is on them by now: where
  // neither side drives one, it is high. Both must not drive one.
  input  logic [3:0] io_i,
  input  logic [3:0] io_oe_i,
  output logic [3:0] io_o,

  // It programs or erases.
  output logic busy_o,
  // For a cycle: a command came to its end that the part does not take: it was busy, or not enabled
  // to write or to use four lines, or does not know it, or got no whole number of bytes.
  output logic ignored_o
);

  localparam int unsigned Pages     = MEMORY_BYTES / 256;
  localparam int unsigned PageWidth = $clog2(Pages);
  typedef logic [PageWidth-1:0] page_t;

  localparam logic [7:0] PageProgram  = 8'h02;
  localparam logic [7:0] ReadData     = 8'h03;
  localparam logic [7:0] WriteDisable = 8'h04;
  localparam logic [7:0] ReadStatus   = 8'h05;
  localparam logic [7:0] WriteEnable  = 8'h06;
  localparam logic [7:0] FastRead     = 8'h0b;
  localparam logic [7:0] SectorErase  = 8'h20;
  localparam logic [7:0] WriteStatus2 = 8'h31;
  localparam logic [7:0] ReadStatus2  = 8'h35;
  localparam logic [7:0] VolatileNext = 8'h50;
  localparam logic [7:0] JedecId      = 8'h9f;
  localparam logic [7:0] BlockErase   = 8'hd8;
  localparam logic [7:0] QuadRead     = 8'heb;
  localparam logic [7:0] ReadModeEnd  = 8'hff;
  // Bits of EB before its data: opcode, address, mode, and four clocks of four lines.
  localparam logic [15:0] QuadBefore  = 16'd56;

  logic        cs_n_q = 1'b1, sck_q = 1'b0;
  logic        enabled_q = 1'b0, erases_q = 1'b0;
  // QE; the next command may change it; another EB goes on from the last one.
  logic        quad_q = 1'b0, volatile_q = 1'b0, continuous_q = 1'b0;
  // Which lines it drives.
  logic [3:0]  drives_q = '0;
  logic [31:0] busy_q = '0;
  // Bits since it was selected, and the last of them; those of an opcode that is left out count.
  logic [15:0] bits_q = '0;
  logic [22:0] in_q = '0;
  logic [7:0]  opcode_q = '0, out_q = '0;
  logic [23:0] addr_q = '0;
  // What is programmed or erased: pages, from the first to the last one.
  page_t       page_q = '0, last_q = '0;

  // The memory, a page a word. A page's buffer has ones where nothing is to be programmed.
  logic [2047:0] memory [Pages];
  logic [2047:0] buffer;
  // verilator lint_off MULTIDRIVEN
  initial for (int unsigned i = 0; i < Pages; i++) memory[i] = '1;

  // A page in a cycle, the last one in the last cycle.
  logic  changes;
  page_t behind;
  assign behind  = last_q - page_q;
  assign changes = busy_q != '0 && busy_q <= 32'(behind) + 32'd1;

  always @(posedge clk_i) begin
    if (!power_i) begin
      if (busy_q != '0) memory[page_q] <= torn(memory[page_q]);
    end else if (changes) begin
      memory[page_q] <= erases_q ? '1 : memory[page_q] & buffer;
    end
  end
  // verilator lint_on MULTIDRIVEN

  // Numbers that look random: splitmix64.
  localparam logic [63:0] Step = 64'h9e37_79b9_7f4a_7c15;

  function automatic logic [63:0] mixed(logic [63:0] from);
    logic [63:0] part;
    part = (from ^ (from >> 30)) * 64'hbf58_476d_1ce4_e5b9;
    part = (part ^ (part >> 27)) * 64'h94d0_49bb_1331_11eb;
    return part ^ (part >> 31);
  endfunction

  // A page of which each bit is 1 with a probability that is drawn first: of sixteenths none to 14,
  // or all.
  function automatic logic [2047:0] some(logic [63:0] seed);
    logic [2047:0] bits;
    logic [63:0]   from, word;
    logic [3:0]    share;
    from  = mixed(seed);
    share = from[3:0];
    for (int unsigned i = 0; i < 32; i++) begin
      word = '0;
      for (int unsigned place = 0; place < 4; place++) begin
        from += Step;
        word = share[place] ? word | mixed(from) : word & mixed(from);
      end
      bits[64*i +: 64] = share == '1 ? '1 : word;
    end
    return bits;
  endfunction

  // What is left of a page.
  function automatic logic [2047:0] torn(logic [2047:0] page);
    logic          erased;
    logic [2047:0] touched;
    erased  = 1'(mixed(seed_i + Step));
    touched = some(seed_i ^ (64'(page_q) << 32));
    if (!erases_q) return page & (buffer | ~touched);
    return erased ? touched : page & ~touched;
  endfunction

  logic        rises, falls, selected, left_off, whole, accepted, on_four;
  logic [3:0]  line;
  logic [7:0]  opcode_now;
  logic [23:0] in_now;
  logic [15:0] bits_now;

  assign rises      = !cs_ni && sck_i && !sck_q;
  assign falls      = !cs_ni && !sck_i && sck_q;
  assign selected   = !cs_ni && cs_n_q;
  assign left_off   = cs_ni && !cs_n_q;
  assign line       = (io_i & io_oe_i) | ~io_oe_i;
  assign on_four    = opcode_q == QuadRead && quad_q;
  assign bits_now   = bits_q + (on_four ? 16'd4 : 16'd1);
  assign in_now     = on_four ? {in_q[19:0], line} : {in_q, line[0]};
  assign opcode_now = bits_now == 16'd8 ? in_now[7:0] : opcode_q;
  assign whole      = bits_q[2:0] == '0;
  assign busy_o     = busy_q != '0;

  // The byte at an address; addresses wrap around the memory.
  function automatic logic [7:0] byte_at(logic [23:0] addr);
    return memory[page_t'(addr >> 8)][{addr[7:0], 3'd0} +: 8];
  endfunction

  // Of the identification: the first byte behind 8 bits, and again behind each three.
  function automatic logic [7:0] id_byte(logic [15:0] bits);
    case ((bits >> 3) % 16'd3)
      16'd1:   return ID[23:16];
      16'd2:   return ID[15:8];
      default: return ID[7:0];
    endcase
  endfunction

  // Bits before the data of a read.
  logic [15:0] read_before;
  assign read_before = opcode_q == ReadData ? 16'd32 : opcode_q == FastRead ? 16'd40 : QuadBefore;

  always_comb begin
    case (opcode_q)
      ReadStatus, ReadStatus2: accepted = whole && bits_q >= 16'd8;
      ReadData, JedecId:      accepted = whole && !busy_o;
      FastRead:               accepted = whole && !busy_o && bits_q >= 16'd40;
      QuadRead:               accepted = whole && !busy_o && quad_q && bits_q >= 16'd40;
      ReadModeEnd:            accepted = bits_q == 16'd8;
      VolatileNext:           accepted = bits_q == 16'd8 && !busy_o;
      WriteStatus2:           accepted = bits_q == 16'd16 && !busy_o && volatile_q;
      WriteEnable:            accepted = bits_q == 16'd8 && !busy_o;
      WriteDisable:           accepted = bits_q == 16'd8 && !busy_o;
      PageProgram:            accepted = whole && bits_q >= 16'd40 && !busy_o && enabled_q;
      SectorErase, BlockErase: accepted = bits_q == 16'd32 && !busy_o && enabled_q;
      default:                accepted = 1'b0;
    endcase
  end

  always_ff @(posedge clk_i) begin
    cs_n_q    <= cs_ni;
    sck_q     <= sck_i;
    ignored_o <= left_off && !accepted;

    if (busy_q != '0) begin
      busy_q <= busy_q - 32'd1;
      if (changes && page_q != last_q) page_q <= page_q + 1'b1;
      if (busy_q == 32'd1) enabled_q <= 1'b0;
    end

    if (selected) begin
      bits_q   <= continuous_q ? 16'd8 : '0;
      opcode_q <= continuous_q ? QuadRead : '0;
    end
    if (cs_ni) drives_q <= '0;

    if (rises) begin
      in_q     <= in_now[22:0];
      bits_q   <= bits_now;
      opcode_q <= opcode_now;
      if (bits_now == 16'd32) addr_q <= in_now;
      if (bits_now == 16'd32 && !busy_o) buffer <= '1;
      if (bits_now == 16'd40 && on_four) continuous_q <= in_now[5:4] == 2'b10;
      // The address goes on within the page.
      if (opcode_q == PageProgram && !busy_o && bits_now > 16'd32 && bits_now[2:0] == '0) begin
        buffer[{addr_q[7:0], 3'd0} +: 8] <= in_now[7:0];
        addr_q[7:0] <= addr_q[7:0] + 8'd1;
      end
    end

    // What goes out changes with the falling edge behind a whole byte that came.
    if (falls) begin
      out_q <= on_four ? {out_q[3:0], 4'd0} : {out_q[6:0], 1'b0};
      if (whole) begin
        case (opcode_q)
          ReadStatus: begin
            out_q    <= {6'd0, enabled_q, busy_o};
            drives_q <= 4'b0010;
          end
          ReadStatus2: begin
            out_q    <= {6'd0, quad_q, 1'b0};
            drives_q <= 4'b0010;
          end
          JedecId: begin
            if (!busy_o) begin
              out_q    <= id_byte(bits_q);
              drives_q <= 4'b0010;
            end
          end
          ReadData, FastRead, QuadRead: begin
            if (bits_q >= read_before && !busy_o && (opcode_q != QuadRead || quad_q)) begin
              out_q    <= byte_at(addr_q);
              addr_q   <= addr_q + 24'd1;
              drives_q <= opcode_q == QuadRead ? 4'b1111 : 4'b0010;
            end
          end
          default: ;
        endcase
      end
    end

    if (left_off) volatile_q <= accepted && opcode_q == VolatileNext;

    if (left_off && accepted) begin
      case (opcode_q)
        WriteEnable:  enabled_q <= 1'b1;
        WriteDisable: enabled_q <= 1'b0;
        WriteStatus2: quad_q    <= in_q[1];
        PageProgram: begin
          busy_q   <= PROGRAM_CYCLES;
          erases_q <= 1'b0;
          page_q   <= page_t'(addr_q >> 8);
          last_q   <= page_t'(addr_q >> 8);
        end
        SectorErase: begin
          busy_q   <= SECTOR_CYCLES;
          erases_q <= 1'b1;
          page_q   <= page_t'({addr_q[23:12], 4'h0});
          last_q   <= page_t'({addr_q[23:12], 4'hf});
        end
        BlockErase: begin
          busy_q   <= BLOCK_CYCLES;
          erases_q <= 1'b1;
          page_q   <= page_t'({addr_q[23:16], 8'h00});
          last_q   <= page_t'({addr_q[23:16], 8'hff});
        end
        default: ;
      endcase
    end

    if (!power_i) begin
      ignored_o    <= 1'b0;
      enabled_q    <= 1'b0;
      quad_q       <= 1'b0;
      volatile_q   <= 1'b0;
      continuous_q <= 1'b0;
      drives_q     <= '0;
      cs_n_q       <= 1'b1;
      sck_q        <= 1'b0;
      bits_q       <= '0;
      opcode_q     <= '0;
      page_q       <= page_q + 1'b1;
      busy_q       <= page_q == last_q ? '0 : busy_q;
    end
  end

  assign io_o = (io_i & io_oe_i) | (~io_oe_i & ~drives_q)
                | (~io_oe_i & drives_q & (on_four ? out_q[7:4] : {2'b11, out_q[7], 1'b1}));

  always_ff @(posedge clk_i) begin
    one_drives: assert (cs_ni || (io_oe_i & drives_q) == '0);
  end

endmodule
