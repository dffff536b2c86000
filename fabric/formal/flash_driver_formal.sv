// The flash's driver, whatever is asked of it, written and answered: each command is one selection
// of the part with as many whole bytes as it has, in mode 0, in its time; no byte is written that
// was not there, and none that was read is lost.
module flash_driver_formal
  import flash_pkg::*;
#(
  localparam int unsigned Gap = 3
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        valid,
  input logic [2:0]  number,
  input logic [23:0] address,
  input logic [15:0] bytes,
  input logic        write_valid,
  input logic [7:0]  write_data,
  input logic        read_ready,
  input logic        miso
);

  logic       ready, write_ready, read_valid, cs_n, sck, mosi;
  logic [7:0] read_data;
  command_e   command;

  assign command = command_e'(number);

  flash_driver #(.DESELECT_CYCLES(Gap)) dut (
    .clk_i, .rst_ni, .valid_i(valid), .ready_o(ready), .command_i(command),
    .address_i(address), .bytes_i(bytes),
    .write_valid_i(write_valid), .write_ready_o(write_ready), .write_data_i(write_data),
    .read_valid_o(read_valid), .read_ready_i(read_ready), .read_data_o(read_data),
    .cs_no(cs_n), .sck_o(sck), .mosi_o(mosi), .miso_i(miso)
  );

  logic        began_q = 1'b0;
  logic        cs_n_q, sck_q, mosi_q, read_valid_q, read_ready_q;
  logic [7:0]  read_data_q;
  // Of the command: its bytes and those to write; bits so far, bytes written so far; cycles without
  // those in which the clock rests.
  logic [11:0] total_q, bits_q, run_q;
  logic [11:0] to_write_q, written_q;
  logic [2:0]  high_q;
  logic        rests;

  assign rests = (write_ready && !write_valid) || (read_valid && !read_ready);

  always_ff @(posedge clk_i) begin
    began_q      <= 1'b1;
    cs_n_q       <= cs_n;
    sck_q        <= sck;
    mosi_q       <= mosi;
    read_valid_q <= read_valid;
    read_ready_q <= read_ready;
    read_data_q  <= read_data;
    if (!rst_ni) begin
      total_q    <= '0;
      to_write_q <= '0;
      bits_q     <= '0;
      written_q  <= '0;
      run_q      <= '0;
      high_q     <= 3'(Gap);
    end else begin
      if (valid && ready) begin
        total_q    <= command == Read || command == Program ? 12'(bytes) + 12'd4
                      : command == EraseSector || command == EraseBlock ? 12'd4
                      : command == Identify ? 12'd4 : command == Status ? 12'd2 : 12'd1;
        to_write_q <= command == Program ? 12'(bytes) : '0;
        bits_q     <= '0;
        written_q  <= '0;
        run_q      <= '0;
      end else begin
        if (sck && !sck_q) bits_q <= bits_q + 1'b1;
        if (write_valid && write_ready) written_q <= written_q + 1'b1;
        if (!ready && !rests) run_q <= run_q + 1'b1;
      end
      high_q <= !cs_n ? '0 : high_q < 3'(Gap) ? high_q + 1'b1 : high_q;
    end

    begin_in_reset: assume (rst_ni == began_q);
    legal: assume (number < 3'd7 && bytes != '0 && bytes < 16'd64);

    if (rst_ni) begin
      if (cs_n) low_at_rest: assert (!sck);
      if (sck && sck_q) still: assert (mosi == mosi_q);
      if (cs_n && !cs_n_q && began_q) whole: assert (bits_q == total_q << 3);
      if (cs_n && !cs_n_q && began_q) all_written: assert (written_q == to_write_q);
      if (!cs_n && cs_n_q) deselected: assert (high_q == 3'(Gap));
      if (sck && !sck_q)
        byte_there: assert (bits_q < (total_q - 12'(to_write_q) + 12'(written_q)) << 3);
      if (read_valid_q && !read_ready_q)
        read_stays: assert (read_valid && read_data == read_data_q);
      if (ready) in_time: assert (run_q <= (total_q << 4) + 12'(Gap));
      commanded: cover (ready && bits_q == 12'd8);
    end
  end

`ifndef CUT
  localparam logic [1:0] Idle = 2'd0, Wait = 2'd1, Shift = 2'd2, Deselect = 2'd3;

  // Of the command, before its data.
  logic [2:0] header_bytes;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) header_bytes <= 3'd1;
    else if (valid && ready) header_bytes <= command == Read || command == Program
      || command == EraseSector || command == EraseBlock ? 3'd4 : 3'd1;
  end

  // What makes the rest follow by induction: where it is, by what is left.
  logic [11:0] begun;
  assign begun = total_q - 12'(dut.header_left_q) - 12'(dut.data_left_q);

  always_ff @(posedge clk_i) begin
    if (rst_ni && began_q) begin
      sums: assert (12'(dut.header_left_q) + 12'(dut.data_left_q) <= total_q);
      limit: assert (total_q < 12'd70 && dut.data_left_q < 16'd64);
      high_limit: assert (32'(high_q) <= Gap);
      if (dut.state_q == Idle || dut.state_q == Deselect) begin
        none_left: assert (dut.header_left_q == '0 && dut.data_left_q == '0 && !sck);
        ended: assert (bits_q == total_q << 3 && written_q == to_write_q);
        ended_run: assert (run_q <= (total_q << 4) + 12'(Gap) - 12'(dut.timer_q)
                           - 12'(dut.state_q == Deselect));
        rest: assert (32'(dut.timer_q) < Gap && (dut.state_q == Deselect
                      ? cs_n_q == 1'b0 ? dut.timer_q == 2'(Gap - 1)
                                       : 32'(high_q) + 32'(dut.timer_q) == Gap - 1
                      : 32'(high_q) + 1 >= Gap));
      end
      if (dut.state_q == Shift || dut.state_q == Wait) timer_0: assert (dut.timer_q == '0);
      if (dut.state_q == Wait) begin
        waits: assert (!sck && dut.header_left_q == '0 && dut.data_left_q != '0
                       && !dut.reads_q && dut.in_data_q);
        wait_bits: assert (bits_q == begun << 3 && run_q < begun << 4);
        wait_bit: assert (dut.bit_q == '0);
      end
      if (dut.state_q == Shift) begin
        begun_one: assert (begun != '0);
        shift_bits: assert (bits_q == ((begun - 12'd1) << 3) + 12'(dut.bit_q) + 12'(sck && sck_q));
        shift_run: assert (run_q <= ((begun - 12'd1) << 4) + {8'd0, dut.bit_q, sck});
        first: assert (dut.in_data_q == (dut.header_left_q == '0 && begun > 12'(header_bytes)));
      end
      if (dut.reads_q) no_write: assert (to_write_q == '0 && written_q == '0);
      if (!dut.reads_q && dut.state_q != Idle && dut.state_q != Deselect)
        writes: assert (12'(written_q) + 12'(dut.data_left_q) == 12'(to_write_q));
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && began_q) begin
      header_known: assert ((header_bytes == 3'd1 || header_bytes == 3'd4)
                            && (header_bytes == 3'd4 || dut.header_left_q == '0));
      data_known: assert (12'(dut.data_left_q) + 12'(header_bytes) <= total_q || ready);
      if (!ready && dut.header_left_q != '0)
        header_all: assert (12'(dut.data_left_q) + 12'(header_bytes) == total_q);
      if (!ready && !dut.reads_q) no_reads: assert (12'(to_write_q) + 12'(header_bytes) == total_q);
    end
  end
`endif

endmodule
