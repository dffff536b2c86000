// The flash's I/O VMM, whatever ports ask and whatever the driver answers, and whenever: nothing is
// read outside of the area of the port that asks, and nothing changed outside of it or without
// right; each change is enabled; each request is answered once, with what was asked for. What is
// kept for a port is in one page, and goes on without a gap; if it is in its area, it is programmed
// before anything else is done for the port, and before an answer unless more is to follow. When it
// is to yield, a Read ends within five bytes, between words; a Write goes on behind the words that
// were taken.
module flash_vmm_formal
  import io_pkg::*;
#(
  // It begins with reset; or when the part has been told what it needs: requests are nearer then.
  parameter bit           BOOTED = 1'b0,
  localparam int unsigned W      = 17
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic [1:0][W-13:0] area_first,
  input logic [1:0][W-12:0] area_sectors,
  input logic [1:0]        area_writable,
  input logic              request_valid,
  input logic [50:0]       asked,
  input logic              in_valid,
  input logic [31:0]       in_data,
  input logic              driver_ready,
  input logic              write_ready,
  input logic              read_valid,
  input logic [7:0]        read_data,
  input logic              yields,
  input logic              read_cut
);

  request_t    request;
  logic        request_ready, in_ready, out_valid, response_valid, driver_valid, write_valid, cut;
  logic [31:0] out_data;
  response_t   response;
  logic [23:0] address;
  logic [15:0] bytes;
  logic [7:0]  write_data;
  flash_pkg::command_e command;

  assign request = request_t'(asked);

  flash_vmm #(
    .PORTS(2), .ADDR_WIDTH(W), .PROGRAM_CYCLES(3), .SECTOR_CYCLES(4), .BLOCK_CYCLES(5)
  ) dut (
    .clk_i, .rst_ni, .area_first_i(area_first), .area_sectors_i(area_sectors),
    .area_writable_i(area_writable),
    .request_valid_i(request_valid), .request_ready_o(request_ready), .request_i(request),
    .in_valid_i(in_valid), .in_ready_o(in_ready), .in_data_i(in_data),
    .out_valid_o(out_valid), .out_data_o(out_data),
    .response_valid_o(response_valid), .response_o(response), .yield_i(yields),
    .driver_valid_o(driver_valid), .driver_ready_i(driver_ready), .driver_command_o(command),
    .driver_address_o(address), .driver_bytes_o(bytes),
    .write_valid_o(write_valid), .write_ready_i(write_ready), .write_data_o(write_data),
    .read_valid_i(read_valid), .read_data_i(read_data), .cut_o(cut), .read_cut_i(read_cut)
  );

  io_vmm_props #(.VMM_PROVED(1'b1), .PORTS(2), .PREEMPTIBLE(1'b1)) bus (
    .clk_i, .rst_ni, .request_valid, .request_ready, .request, .in_valid, .in_ready, .out_valid,
    .response_valid, .response
  );

  logic              began_q = 1'b0;
  logic              port_q, enabled_q, more_q;
  // The part may be busy; it was asked whether it is.
  logic              pending_q, asked_q;
  // It was told to yield since the request was taken; the last read may be cut; a byte came.
  logic              told_q, cut_q, came_q;
  // The driver reads; bytes that it has read, and those since it has to be cut.
  logic              reading_q;
  logic [10:0]       read_q;
  logic [3:0]        late_q;
  logic [1:0][W-13:0] first_q;
  logic [1:0][W-12:0] sectors_q;
  logic [1:0]        writable_q;
  // Of the port that asks: from the first byte of its area to behind the last one.
  logic [24:0]       from, behind, last;
  logic              changes;

  assign from    = 25'({area_first[port_q], 12'h000});
  assign behind  = from + 25'({area_sectors[port_q], 12'h000});
  assign changes = command == flash_pkg::Program || command == flash_pkg::EraseSector
                   || command == flash_pkg::EraseBlock;
  assign last    = 25'(address) + (command == flash_pkg::EraseSector ? 25'h1000
                   : command == flash_pkg::EraseBlock ? 25'h10000 : 25'(bytes));

  always_ff @(posedge clk_i) begin
    began_q    <= 1'b1;
    first_q    <= area_first;
    sectors_q  <= area_sectors;
    writable_q <= area_writable;
    if (!rst_ni) begin
      port_q    <= 1'b0;
      enabled_q <= 1'b0;
      more_q    <= 1'b0;
      pending_q <= 1'b0;
      asked_q   <= 1'b0;
      told_q    <= 1'b0;
      cut_q     <= 1'b0;
      came_q    <= 1'b0;
      reading_q <= 1'b0;
      read_q    <= '0;
      late_q    <= '0;
    end else begin
      told_q    <= (yields || told_q) && !request_ready;
      cut_q     <= cut;
      came_q    <= read_valid;
      reading_q <= (reading_q && !response_valid)
                   || (driver_valid && driver_ready && command == flash_pkg::Read);
      read_q    <= !reading_q ? '0 : read_q + 11'(read_valid);
      late_q    <= !(yields && reading_q && bus.busy_q) ? '0
                   : late_q + 4'(read_valid && late_q != '1);
      if (request_valid && request_ready) begin
        port_q <= request.port[0];
        more_q <= request.op == Write && request.addr[31];
      end
      if (read_valid && asked_q && !read_data[0]) pending_q <= 1'b0;
      if (driver_valid && driver_ready) begin
        enabled_q <= command == flash_pkg::WriteEnable;
        asked_q   <= command == flash_pkg::Status;
        if (changes) pending_q <= 1'b1;
      end
    end

    begin_in_reset: assume (rst_ni == (began_q || BOOTED));
    // Areas lie in the part, and stay as they are while there is a request.
    for (int unsigned i = 0; i < 2; i++) begin
      assume (25'(area_first[i]) + 25'(area_sectors[i]) <= 25'd1 << (W - 12));
    end
    if (began_q && bus.busy_q) stay: assume ({first_q, sectors_q, writable_q}
                                             == {area_first, area_sectors, area_writable});

    if (rst_ni && began_q) begin
      // The driver.
      bytes_apart: assume (!(read_valid && came_q));
      cut_once: assume (!(read_valid && read_cut) || cut_q);
      cuts: assume (!(read_valid && cut_q) || read_cut || !reading_q
                    || read_q + 11'd1 >= bus.length_q);

      if (response_valid && response.status == Suspended) suspends_when_told: assert (told_q);
      if (driver_valid && (changes || command == flash_pkg::Read))
        in_bounds: assert (25'(address) >= from && last <= behind);
      if (driver_valid && changes) may_change: assert (area_writable[port_q]);
      if (driver_valid && changes) enabled: assert (enabled_q);
      if (driver_valid && command == flash_pkg::Program)
        within_page: assert (bytes != '0 && 16'(address[7:0]) + bytes <= 16'd256);
      if (driver_valid && (changes || command == flash_pkg::Read)) idle: assert (!pending_q);
      if (response_valid && response.status == Done && !more_q) all_there: assert (!pending_q);
      erased: cover (driver_valid && command == flash_pkg::EraseSector && port_q);
      second_page: cover (driver_valid && command == flash_pkg::Program && address[7:0] == '0);
      answered: cover (response_valid && response.status == Done && response.length != '0);
      suspended_read: cover (response_valid && response.status == Suspended && bus.op_q == Read);
      suspended_write: cover (response_valid && response.status == Suspended && bus.op_q == Write);
    end
  end

`ifndef CUT
  localparam logic [3:0] Idle = 4'd0, Measure = 4'd1, Check = 4'd2, Plan = 4'd3, Take = 4'd4,
    Fill = 4'd5, Enable = 4'd6, Change = 4'd7, Settle = 4'd8, Ask = 4'd9, Answer = 4'd10,
    Begin = 4'd11, BeginTake = 4'd12, Respond = 4'd13;

  // What makes the rest follow by induction.
  logic under_way, checked;
  assign under_way = dut.state_q != Idle && !dut.booting_q;
  assign checked   = under_way && dut.state_q != Measure && dut.state_q != Check
                     && dut.state_q != Respond;
  // Where the request that is under way ends.
  logic [32:0] asked_end;
  assign asked_end = 33'({dut.asked_q[31:1], dut.asked_q[0] && !dut.erases})
                     + (!dut.erases ? 33'(dut.length_q) : dut.block ? 33'h10000 : 33'h01000);

  // Words of a Write that were taken; bytes of these that are not in the page.
  logic [8:0]   taken;
  logic [4:0]   unpacked;
  // Where a Write begins.
  logic [W-1:0] base;
  logic         suspends;
  assign taken    = 9'((12'(dut.length_q) + 12'd3) >> 2) - bus.in_left_q;
  assign unpacked = 5'(dut.u_unpack.left_q) + {2'b00, dut.u_unpack.next_valid_q, 2'b00};
  assign base     = {dut.first_q, 12'h000} + W'({dut.asked_q[31:1], dut.asked_q[0] && !dut.erases});
  assign suspends = under_way && dut.status_q == Suspended;

  // What each port was left with: by its own requests alone.
  logic [1:0] left_q;
  logic [1:0][W+7:0] left_kept_q;

  always_ff @(posedge clk_i) begin
    if (BOOTED && !began_q) booted_before: assume (dut.state_q == Idle && !dut.booting_q
      && dut.works_q && !dut.pending_q && !pending_q && dut.keeps_q == '0 && left_q == '0
      && !reading_q && !told_q && !cut_q && read_q == '0 && late_q == '0
      && !bus.busy_q && !dut.u_pack.valid_q && dut.u_pack.place_q == '0
      && !dut.u_unpack.next_valid_q && dut.u_unpack.left_q == '0);
  end

  // It is still that; it is a part of a page.
  logic [1:0] own, in_page_kept;
  always_comb begin
    for (int unsigned i = 0; i < 2; i++) begin
      own[i] = !left_q[i] || dut.kept[i] == left_kept_q[i];
      in_page_kept[i] = !left_q[i] || (dut.kept[i].fill != '0
        && 9'(dut.kept[i].from[7:0]) + 9'(dut.kept[i].fill) <= 9'd255);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      left_q <= '0;
    end else if (response_valid) begin
      left_q[port_q]      <= dut.fill_q != '0;
      left_kept_q[port_q] <= {dut.from_q, dut.fill_q[7:0]};
    end
    if (rst_ni && began_q) begin
      kept_own: assert (dut.keeps_q == left_q && own == '1);
      kept_in_page: assert (in_page_kept == '1);
      one: assert (bus.busy_q == under_way);
      same_port: assert (!under_way || dut.port_q == port_q);
      same_more: assert (!under_way || dut.more_q == (more_q || (suspends && dut.op_q == Write)));
      suspends_told: assert (!suspends || told_q);
      yields_told: assert (!(under_way && dut.yield_q) || told_q || dut.state_q == Measure);
      none_unpacked: assert (bus.busy_q || unpacked == '0);
      if (under_way && dut.op_q == Write) begin
        some_taken: assert (bus.in_left_q <= 9'((12'(dut.length_q) + 12'd3) >> 2)
                            && dut.u_unpack.left_q <= 3'd4);
        if (suspends) begin
          some_stay: assert (bus.in_left_q != '0 && unpacked == '0
                             && (dut.state_q == Plan || dut.state_q == Respond));
          continues: assert (dut.left_q == '0 && dut.addr_q == base + W'({taken, 2'b00})
                             && (dut.fill_q == '0 || dut.joins_q));
        end else if (dut.state_q != Respond) begin
          all_unpacked: assert (12'(dut.length_q) - 12'(dut.left_q) + 12'(unpacked)
                                == {1'b0, taken, 2'b00});
          if (checked) so_far: assert (dut.addr_q == base + W'(dut.length_q - dut.left_q));
        end
      end
      if (suspends) no_erasure: assert (dut.op_q != Control);
      if (dut.state_q == Measure || dut.state_q == Check) no_status: assert (dut.status_q == Done);
      reads_once: assert (reading_q == (under_way && dut.op_q == Read
                                        && (dut.state_q == Take || (dut.state_q == Respond
                                            && dut.left_q != dut.length_q))));
      if (dut.state_q == Take) read_so_far: assert (read_q == dut.length_q - dut.left_q);
      if (dut.state_q == Take) some_left: assert (dut.left_q != '0);
      cut_told: assert (cut_q == (dut.state_q == Take && cut_q));
      if (dut.state_q == Take && cut_q) cut_where: assert (2'(read_q) == 2'd3);
      soon: assert (late_q <= 4'd5);
      if (dut.state_q == Take && late_q != '0)
        soon_so_far: assert (late_q <= 4'(2'(read_q)) + 4'd1);
      no_less_pending: assert (!pending_q || dut.pending_q);
      if (dut.state_q == Answer) asks: assert (asked_q);
      if (dut.booting_q) boots: assert (dut.state_q == Ask || dut.state_q == Answer
                                        || dut.state_q == Begin || dut.state_q == BeginTake);
      else booted: assert (dut.state_q != Begin && dut.state_q != BeginTake);
      if (dut.booting_q) begins: assert (dut.begin_q == flash_pkg::Identify
        || dut.begin_q == flash_pkg::VolatileEnable || dut.begin_q == flash_pkg::QuadEnable
        || dut.begin_q == flash_pkg::Status2);
      if (dut.booting_q) none_kept: assert (dut.fill_q == '0 && left_q == '0);
      if (under_way) begin
        same_op: assert (dut.op_q == bus.op_q && dut.length_q == bus.length_q
                         && dut.op_q != Reserved && dut.length_q <= 11'd1536);
        more_written: assert (!more_q || dut.op_q == Write);
        same_area: assert (dut.first_q == area_first[port_q]
                           && dut.sectors_q == area_sectors[port_q]
                           && dut.writable_q == area_writable[port_q]);
        out_zero: assert (dut.op_q == Read || bus.out_words_q == '0);
        if (dut.state_q == Measure || dut.state_q == Check)
          nothing_yet: assert (bus.out_words_q == '0
                               && dut.left_q == (dut.erases ? 11'd1 : dut.length_q)
                               && dut.u_pack.place_q == '0 && !dut.u_pack.valid_q);
        if (dut.state_q == Check) not_judged: assert (!dut.joins_q);
        if (dut.state_q == Measure) measured: assert (dut.behind_q == asked_end);
        if (dut.state_q == Check) begin
          compared: assert (dut.inside_q == (asked_end <= 33'({dut.sectors_q, 12'h000})));
          based: assert (dut.addr_q == W'({dut.first_q, 12'h000} + W'({dut.asked_q[31:1],
                                                dut.asked_q[0] && !dut.erases})));
          alignment: assert (dut.aligned_q == (dut.asked_q[11:1] == '0
            && (!dut.block || (dut.asked_q[15:12] | 4'(dut.first_q)) == '0)));
        end
        if (dut.state_q != Measure && dut.fill_q != '0) begin
          page_in_area: assert (dut.writable_q && 25'(dut.from_q) >= from
                                && 25'(dut.from_q) + 25'(dut.fill_q) <= behind);
          page_fits: assert (9'(dut.from_q[7:0]) + dut.fill_q
                             <= (dut.state_q == Check || dut.state_q == Respond
                                 || dut.state_q == Fill ? 9'd255 : 9'd256)
                             && dut.fill_q <= 9'd256);
        end
      end
      if (checked) begin
        if (!dut.erases) begin
          in_area: assert (25'(dut.addr_q) >= from || dut.left_q == '0);
          to_end: assert (25'(dut.addr_q) + 25'(dut.left_q) <= behind || dut.left_q == '0);
        end
        writes: assert (dut.op_q == Read || dut.writable_q);
        some: assert (dut.erases == (dut.length_q == '0));
        less: assert (dut.left_q <= (dut.erases ? 11'd1 : dut.length_q));
        if (dut.erases && dut.left_q != '0)
          erasure: assert (25'(dut.addr_q) >= from && 25'(dut.addr_q)
            + (dut.block ? 25'h10000 : 25'h1000) <= behind);
        if (dut.op_q == Read && dut.state_q != Take) not_yet: assert (
          dut.left_q == dut.length_q && bus.out_words_q == '0 && dut.u_pack.place_q == '0
          && !dut.u_pack.valid_q);
        if (dut.state_q == Take) begin
          takes: assert (dut.op_q == Read && dut.left_q != '0 && dut.left_q <= dut.length_q);
          place: assert (dut.u_pack.place_q == 2'(dut.length_q - dut.left_q));
          came: assert (11'(bus.out_words_q) + 11'(dut.u_pack.valid_q)
                        == (dut.length_q - dut.left_q) >> 2);
          nothing_kept: assert (dut.fill_q == '0 && !dut.pending_q);
        end
        if (dut.state_q == Fill) fills: assert (dut.op_q == Write && dut.left_q != '0
                                                && (dut.fill_q == '0 || dut.joins_q));
        if (dut.state_q == Fill || (dut.joins_q && dut.fill_q != '0))
          without_gap: assert (dut.addr_q == dut.from_q + W'(dut.fill_q)
                               && (dut.fill_q == '0 || dut.addr_q[7:0] != '0));
        joins_written: assert (!dut.joins_q || dut.op_q == Write);
        if (dut.state_q == Enable || dut.state_q == Change) begin
          something: assert (dut.programs || (dut.erases && dut.left_q != '0));
          not_busy: assert (!dut.pending_q);
        end
        if (dut.state_q == Change) may: assert (enabled_q);
        if (dut.state_q == Settle) told: assert (dut.fill_q == '0 && dut.pending_q);
        fine: assert (dut.status_q == Done || (suspends && dut.op_q == Write));
      end
      if (driver_valid && command != flash_pkg::Program
          && (command == flash_pkg::Read || changes))
        programmed_first: assert (dut.fill_q == '0);
      if (dut.state_q == Respond && dut.status_q == Done) begin
        nothing_left: assert (dut.left_q == '0 || dut.op_q == Read);
        if (more_q) ends_there: assert (dut.fill_q == '0
                                        || dut.addr_q == dut.from_q + W'(dut.fill_q));
        else none_left: assert (dut.fill_q == '0 && !dut.pending_q);
      end
      if (dut.state_q == Respond && dut.op_q == Read) begin
        if (suspends) words_came: assert (dut.left_q != '0 && dut.left_q < dut.length_q
          && 2'(dut.length_q - dut.left_q) == '0 && dut.u_pack.place_q == '0
          && 11'(bus.out_words_q) + 11'(dut.u_pack.valid_q)
             == (dut.length_q - dut.left_q) >> 2);
        else if (dut.status_q == Done) all_came: assert (11'(bus.out_words_q)
          + 11'(dut.u_pack.valid_q) == 11'((12'(dut.length_q) + 12'd3) >> 2)
          && dut.u_pack.place_q == '0);
        else none_came: assert (!dut.u_pack.valid_q && dut.u_pack.place_q == '0);
      end
      if (dut.op_q != Read || !under_way) no_out: assert (!dut.u_pack.valid_q
                                                          && dut.u_pack.place_q == '0);
      keeps: cover (left_q != '0);
    end
  end
`endif

endmodule
