// The flash's driver, whatever is asked of it, written and answered: each command is one selection
// of the part with as many clocks as it has, in mode 0, in its time; the lines are driven for what
// goes out and no longer; no byte is written that was not there, and none that was read is lost;
// and a part that expects an address, or may, is told otherwise before it gets an opcode. A read
// that is cut ends with a whole byte, which is said to be its last.
module flash_driver_formal
  import flash_pkg::*;
#(
  localparam int unsigned Gap = 3
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        valid,
  input logic [3:0]  number,
  input logic [23:0] address,
  input logic [15:0] bytes,
  input logic        write_valid,
  input logic [7:0]  write_data,
  input logic        read_ready,
  input logic        cut,
  input logic [3:0]  from_part
);

  logic       ready, write_ready, read_valid, read_cut, cs_n, sck;
  logic [3:0] io, drives;
  logic [7:0] read_data;
  command_e   command;

  assign command = command_e'(number);

  flash_driver #(.DESELECT_CYCLES(Gap)) dut (
    .clk_i, .rst_ni, .valid_i(valid), .ready_o(ready), .command_i(command),
    .address_i(address), .bytes_i(bytes),
    .write_valid_i(write_valid), .write_ready_o(write_ready), .write_data_i(write_data),
    .read_valid_o(read_valid), .read_ready_i(read_ready), .read_data_o(read_data),
    .cut_i(cut), .read_cut_o(read_cut),
    .cs_no(cs_n), .sck_o(sck), .io_o(io), .io_oe_o(drives), .io_i(from_part)
  );

  logic        began_q = 1'b0;
  logic        cs_n_q, sck_q, read_valid_q, read_ready_q, read_cut_q, cut_q;
  logic [3:0]  io_q, drives_q;
  logic [7:0]  read_data_q;
  // Of a selection: its clocks, and bytes to write; clocks so far, bytes written so far; cycles
  // without those in which the clock rests. One without a command is FF.
  logic [11:0] total_q, bits_q, run_q;
  logic [11:0] to_write_q, written_q, single_bytes;
  // It is a read; without its opcode.
  logic        fast_q, goes_on_q;
  // The part: what it expects is known; an address.
  logic        known_q, continuous_q;
  logic [2:0]  high_q, waits_q;
  logic        rests;
  // Clocks that are over; the one that is under way or next, in a selection with an opcode.
  logic [11:0] over, clock;

  // The read has just ended with a byte of its data, of which more were asked for.
  logic        was_cut;
  assign was_cut = fast_q && cut_q && read_valid && read_cut && !bits_q[0]
                   && clock > 12'd20 && bits_q < total_q;

  // A byte that was not there in the cycle before.
  logic        comes, comes_q;
  assign comes = read_valid && (!read_valid_q || read_ready_q);

  assign rests = (write_ready && !write_valid) || (read_valid && !read_ready);
  assign over  = bits_q - 12'(sck && sck_q);
  assign clock = over + (goes_on_q ? 12'd8 : 12'd0);

  always_comb begin
    case (command)
      Program:                 single_bytes = 12'(bytes) + 12'd4;
      EraseSector, EraseBlock: single_bytes = 12'd4;
      Identify:                single_bytes = 12'd4;
      Status, Status2:         single_bytes = 12'd2;
      QuadEnable:              single_bytes = 12'd2;
      default:                 single_bytes = 12'd1;
    endcase
  end

  always_ff @(posedge clk_i) begin
    began_q      <= 1'b1;
    cs_n_q       <= cs_n;
    sck_q        <= sck;
    io_q         <= io;
    drives_q     <= drives;
    read_valid_q <= read_valid;
    read_ready_q <= read_ready;
    read_data_q  <= read_data;
    read_cut_q   <= read_cut;
    cut_q        <= cut;
    comes_q      <= comes && rst_ni;
    if (!rst_ni) begin
      total_q      <= 12'd8;
      to_write_q   <= '0;
      bits_q       <= '0;
      written_q    <= '0;
      run_q        <= '0;
      fast_q       <= 1'b0;
      goes_on_q    <= 1'b0;
      known_q      <= 1'b0;
      continuous_q <= 1'b0;
      high_q       <= 3'(Gap);
      waits_q      <= '0;
    end else begin
      if (cs_n) begin
        total_q    <= 12'd8;
        to_write_q <= '0;
        bits_q     <= '0;
        written_q  <= '0;
        run_q      <= '0;
        fast_q     <= 1'b0;
        goes_on_q  <= 1'b0;
        if (valid && ready) begin
          fast_q     <= command == Read;
          goes_on_q  <= command == Read && continuous_q;
          total_q    <= command != Read ? single_bytes << 3
                        : (continuous_q ? 12'd12 : 12'd20) + (12'(bytes) << 1);
          to_write_q <= command == Program ? 12'(bytes) : '0;
        end
      end else begin
        if (sck && !sck_q) bits_q <= bits_q + 1'b1;
        if (write_valid && write_ready) written_q <= written_q + 1'b1;
        if (!rests) run_q <= run_q + 1'b1;
      end
      if (cs_n && !cs_n_q) begin
        known_q      <= 1'b1;
        continuous_q <= fast_q;
      end
      high_q  <= !cs_n ? '0 : high_q < 3'(Gap) ? high_q + 1'b1 : high_q;
      waits_q <= cs_n && valid && waits_q != '1 ? waits_q + 1'b1 : '0;
    end

    begin_in_reset: assume (rst_ni == began_q);
    legal: assume (number < 4'd10 && bytes != '0 && bytes < 16'd64);

    if (rst_ni) begin
      if (cs_n) low_at_rest: assert (!sck);
      if (sck && !sck_q) still: assert (io == io_q && drives == drives_q);
      if (cs_n && !cs_n_q && began_q) whole: assert (bits_q == total_q || was_cut);
      if (comes && read_cut)
        cut_told: assert (cs_n && !cs_n_q && was_cut);
      if (fast_q && comes && cut_q && bits_q < total_q)
        cut_done: assert (read_cut);
      if (comes_q && read_ready_q) apart: assert (!read_valid);
      if (cs_n && !cs_n_q && began_q) all_written: assert (written_q == to_write_q);
      if (!cs_n && cs_n_q) deselected: assert (high_q == 3'(Gap));
      if (sck && !sck_q)
        byte_there: assert (bits_q < total_q - ((to_write_q - written_q) << 3));
      if (read_valid_q && !read_ready_q)
        read_stays: assert (read_valid && read_data == read_data_q && read_cut == read_cut_q);
      if (cs_n && !cs_n_q && began_q) in_time: assert (run_q <= total_q << 1);
      soon: assert (waits_q <= 3'(Gap + 1));
      if (valid && ready)
        left: assert (known_q && (command == Read || !continuous_q));
      lines: assert (drives == (cs_n ? 4'b0000 : !fast_q || clock < 12'd8 ? 4'b1101
                                : clock < 12'd16 ? 4'b1111 : 4'b0000));
      commanded: cover (!cs_n && fast_q);
    end
  end

`ifndef CUT
  localparam logic [1:0] Idle = 2'd0, Wait = 2'd1, Shift = 2'd2, Deselect = 2'd3;

  // What makes the rest follow by induction: where it is, by what is left.
  logic [11:0] remains, byte_clocks;
  assign byte_clocks = fast_q ? 12'd2 : 12'd8;
  assign remains = (12'(dut.header_left_q) + 12'(dut.data_left_q)) * byte_clocks
                + (dut.state_q != Shift ? 12'd0 : dut.quad_q ? 12'd2 - 12'(dut.bit_q[2])
                                                            : 12'd8 - 12'(dut.bit_q));

  always_ff @(posedge clk_i) begin
    if (rst_ni && began_q) begin
      limit: assert (total_q <= 12'd536 && dut.data_left_q < 16'd64 && dut.header_left_q <= 3'd6);
      so_far: assert (bits_q <= total_q && written_q <= to_write_q && to_write_q < 12'd64);
      high_limit: assert (32'(high_q) <= Gap);
      if (dut.state_q == Idle || dut.state_q == Deselect) begin
        none_left: assert (dut.header_left_q == '0 && dut.data_left_q == '0 && !sck);
        if (cs_n_q) fresh: assert (total_q == 12'd8 && to_write_q == '0 && bits_q == '0
                                   && written_q == '0 && run_q == '0 && !fast_q && !goes_on_q
                                   && known_q == dut.known_q
                                   && continuous_q == dut.continuous_q);
        else ended: assert (dut.state_q == Deselect && (bits_q == total_q || was_cut)
                            && written_q == to_write_q && run_q <= total_q << 1);
        rest: assert (32'(dut.timer_q) < Gap && (dut.state_q == Deselect
                      ? cs_n_q == 1'b0 ? dut.timer_q == 2'(Gap - 1)
                                       : 32'(high_q) + 32'(dut.timer_q) == Gap - 1
                      : 32'(high_q) + 1 >= Gap));
        if (dut.state_q == Idle) soon_idle: assert (32'(waits_q) <= Gap);
        else soon_rest: assert (32'(waits_q) + 32'(dut.timer_q) <= Gap - 1);
      end else begin
        timer_0: assert (dut.timer_q == '0);
        clocks: assert (over + remains == total_q);
        same: assert (dut.fast_q == fast_q && dut.continuous_q == fast_q && dut.known_q);
        sums: assert (dut.reads_q ? to_write_q == '0 && written_q == '0
                                  : written_q + 12'(dut.data_left_q) == to_write_q);
        selected: assert (waits_q == '0 || cs_n_q);
        waited: assert (32'(waits_q) <= Gap + 1);
        if (fast_q) begin
          reads: assert (dut.reads_q && dut.state_q == Shift);
          four: assert (dut.quad_q == (clock >= 12'd8));
          opcode: assert (clock >= 12'd8 || (12'(dut.bit_q) == clock && dut.header_left_q == 3'd6
                                             && !dut.in_data_q));
          header: assert (clock < 12'd8 || dut.bit_q == {clock[0], 2'b00});
          place: assert (clock < 12'd8 || clock >= 12'd20 || (!dut.in_data_q
                         && 12'(dut.header_left_q) == 12'd5 - ((clock - 12'd8) >> 1)));
          data: assert (clock < 12'd20 || (dut.in_data_q && dut.header_left_q == '0));
        end else begin
          one: assert (!dut.quad_q);
          asks: assert (dut.known_q && !goes_on_q);
        end
        if (goes_on_q) goes: assert (fast_q);
        known: assert (known_q || (!fast_q && total_q == 12'd8));
      end
      if (dut.state_q == Wait) waits: assert (!sck && dut.header_left_q == '0
        && dut.data_left_q != '0 && !dut.reads_q && run_q < bits_q << 1 && dut.bit_q == '0);
      if (dut.state_q == Shift) run: assert (run_q <= (over << 1) + 12'(sck));
      if (dut.state_q == Shift && sck && sck_q) some: assert (bits_q != '0);
    end
  end
`endif

endmodule
