// The I/O VMM of an SPI NOR flash: what a port asks of its area becomes commands of the part.
//
// Each port has an area of whole sectors, and may write to it or not; addresses count from its
// beginning. A Write programs only: bits go from 1 to 0. Its bytes are gathered in the port's page,
// and programmed where a page of the part ends, and with the last one; if the address has bit 31
// set, more is to follow, and what is left of a page is kept for a Write that goes on there.
// Whatever else the port asks for, that is not refused, has what is kept programmed first; where
// that is not the port's to change any more, it is gone. A Control without operands erases: a
// sector, or a block of 64 KiB where the lowest bit is set.
//
// Each of both is enabled, sent, and asked for its end until the part is not busy or its time is
// over: before the next command of the part, and before the answer unless more is to follow. A
// part that has another identification, or cannot be told to use four lines, or is late once, is
// not used any more, and what is kept is lost: everything is answered with DeviceFailed until
// reset.
// When it has to yield, a Read ends with a word, and a Write with the words that it has, as if it
// were said that more is to follow: both are Suspended, unless they end there. What is left is
// asked for as a request of its own.
// docs/src/reference/io-devices.md has the times.
module flash_vmm
  import io_pkg::*;
#(
  parameter int unsigned PORTS           = 4,
  // 2 ** ADDR_WIDTH bytes are the part.
  parameter int unsigned ADDR_WIDTH      = 22,
  parameter logic [23:0] ID              = 24'hef_40_16,
  // The longest that the part may be busy: at 100 MHz, and a tenth more than its data sheet has.
  parameter int unsigned PROGRAM_CYCLES  = 330_000,
  parameter int unsigned SECTOR_CYCLES   = 44_000_000,
  parameter int unsigned BLOCK_CYCLES    = 220_000_000,
  localparam int unsigned SectorWidth    = ADDR_WIDTH - 12
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // Each port's area: its first sector, how many there are, and whether the port may change them.
  input  logic [PORTS-1:0][SectorWidth-1:0] area_first_i,
  input  logic [PORTS-1:0][SectorWidth:0]   area_sectors_i,
  input  logic [PORTS-1:0]                  area_writable_i,

  input  logic        request_valid_i,
  output logic        request_ready_o,
  input  request_t    request_i,
  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [31:0] in_data_i,
  output logic        out_valid_o,
  output logic [31:0] out_data_o,
  output logic        response_valid_o,
  output response_t   response_o,
  // A request of a higher priority waits.
  input  logic        yield_i,

  // To the driver; what is read is taken at once. Where cut_o was up before, the read may have
  // ended with that byte.
  output logic                driver_valid_o,
  input  logic                driver_ready_i,
  output flash_pkg::command_e driver_command_o,
  output logic [23:0]         driver_address_o,
  output logic [15:0]         driver_bytes_o,
  output logic                write_valid_o,
  input  logic                write_ready_i,
  output logic [7:0]          write_data_o,
  input  logic                read_valid_i,
  input  logic [7:0]          read_data_i,
  output logic                cut_o,
  input  logic                read_cut_i
);

  typedef logic [ADDR_WIDTH-1:0]  address_t;
  // As many bytes as a page has, or less.
  typedef logic [8:0]             count_t;
  typedef logic [LengthWidth-1:0] length_t;
  typedef logic [$clog2(BLOCK_CYCLES + 1)-1:0] timer_t;

  typedef enum logic [3:0] {
    Idle,
    Measure,  // whether it lies in the area
    Check,
    Plan,     // what is next of it; of a Read its command, unless the driver has that already,
    Take,     // and its bytes
    Fill,     // a Write: its bytes, as many as the page takes
    Enable,   // to program that, or to erase: that something is to change,
    Change,   // what,
    Settle,   // until the part has it
    Ask,      // whether it is busy still
    Answer,
    Begin,    // after reset: what part it is, and that it is to use four lines
    BeginTake,
    Respond
  } state_e;

  state_e   state_q;
  op_e      op_q;
  length_t  length_q;
  logic [31:0] asked, asked_q;
  status_e  status_q, refusal;
  // It is the right part, and was never late; it was not asked yet.
  logic     works_q, booting_q;
  // In the part, and what is left from there: bytes, or an erasure.
  address_t addr_q;
  length_t  left_q;
  // A Write of which more is to follow; and what the page has, from its first byte on.
  logic     more_q;
  address_t from_q;
  count_t   fill_q;
  // The part may be busy, for so long; what it was told last is an erasure.
  logic     pending_q, erasing_q;
  timer_t   timer_q, limit;
  flash_pkg::command_e begin_q;
  logic [23:0] id_q;
  logic [1:0]  id_left_q;

  // The area of the port that asks.
  localparam int unsigned PortIndexWidth = PORTS > 1 ? unsigned'($clog2(PORTS)) : 1;
  logic [PortIndexWidth-1:0] port, port_q;
  assign port = PortIndexWidth'(request_i.port);

  // What is kept for each: where it begins, and how many bytes it is, if it is any.
  typedef struct packed {
    address_t   from;
    logic [7:0] fill;
  } kept_t;

  kept_t            kept [PORTS];
  logic [PORTS-1:0] keeps_q;
  // It is in what is the port's area by now.
  logic                   stays;
  logic [SectorWidth-1:0] kept_sector;

  logic [SectorWidth-1:0] first_q;
  logic [SectorWidth:0]   sectors_q;
  logic                   writable_q, inside_q, aligned_q;

  logic    erases, block, last, byte_valid, more;
  logic [7:0] data, place_q;
  logic    some, joins, joins_q, programs, fills, write_taken;
  logic    yield_q, suspends, unpack_ready;
  logic [1:0] settled_q;

  assign erases = op_q == Control;
  assign block  = asked_q[0];
  assign more   = request_i.op == Write && request_i.addr[31];
  assign asked  = {request_i.addr[31] && !more, request_i.addr[30:0]};

  // Where a request ends: the sum has bits enough.
  function automatic logic [32:0] end_of(op_e op, length_t length, logic [31:0] addr);
    return 33'({addr[31:1], addr[0] && op != Control})
           + (op != Control ? 33'(length) : addr[0] ? 33'h10000 : 33'h01000);
  endfunction

  logic [32:0] behind_q;

  always_comb begin
    refusal = Done;
    if ((length_q == '0) != erases) refusal = BadLength;
    else if (!inside_q || (erases && !aligned_q)) refusal = BadAddress;
    else if (op_q != Read && !writable_q) refusal = Protected;
    else if (!works_q) refusal = DeviceFailed;
  end

  assign kept_sector = kept[port_q].from[ADDR_WIDTH-1:12] - first_q;
  assign stays       = writable_q && {1'b0, kept_sector} < sectors_q;

  // Where bytes go on from those in the page, which is not full, these are left there for what is
  // left of the request, and what is to follow; otherwise they are programmed first.
  assign some     = fill_q != '0;
  assign joins    = addr_q[ADDR_WIDTH-1:8] == from_q[ADDR_WIDTH-1:8]
                    && count_t'(addr_q[7:0]) == count_t'(from_q[7:0]) + fill_q;
  assign programs = some && !(joins_q && (left_q != '0 || more_q));
  assign fills    = op_q == Write && !programs && left_q != '0;
  assign limit    = !erasing_q ? timer_t'(PROGRAM_CYCLES)
                    : block ? timer_t'(BLOCK_CYCLES) : timer_t'(SECTOR_CYCLES);

  assign driver_address_o = some ? 24'(from_q) : 24'(addr_q);
  assign driver_bytes_o   = some ? 16'(fill_q) : 16'(left_q);

  assign request_ready_o   = state_q == Idle;
  assign response_valid_o  = state_q == Respond;
  assign response_o.status = status_q;
  assign response_o.length = status_q == Done && op_q == Read ? length_q : '0;

  always_comb begin
    driver_valid_o   = 1'b1;
    driver_command_o = flash_pkg::Status;
    case (state_q)
      Ask:     driver_command_o = flash_pkg::Status;
      Begin:   driver_command_o = begin_q;
      Check, Plan: begin
        driver_command_o = flash_pkg::Read;
        driver_valid_o   = op_q == Read && !some && !pending_q
                           && (state_q == Plan || refusal == Done);
      end
      Enable:  driver_command_o = flash_pkg::WriteEnable;
      Change:  driver_command_o = some ? flash_pkg::Program
                         : block ? flash_pkg::EraseBlock : flash_pkg::EraseSector;
      Idle, Measure, Take, Fill, Settle, Answer, BeginTake, Respond:
        driver_valid_o = 1'b0;
      default: driver_valid_o = 1'b0;
    endcase
  end

  // No word is taken that would be lost. A Write is suspended when all that were are in the page.
  assign in_ready_o = unpack_ready && !yield_q && status_q != Suspended;
  assign suspends   = yield_q && unpack_ready && !byte_valid;

  // A Read is cut behind the byte that ends a word, if that is still to come.
  assign cut_o = yield_q && state_q == Take && 2'(length_q - left_q) == 2'd3 && !read_valid_i;

  io_unpack u_unpack (
    .clk_i, .rst_ni, .clear_i(response_valid_o),
    .in_valid_i(in_valid_i && in_ready_o), .in_ready_o(unpack_ready), .in_data_i,
    .byte_valid_o(byte_valid), .byte_ready_i(state_q == Fill), .byte_o(data)
  );

  flash_pages #(.PORTS(PORTS)) u_pages (
    .clk_i, .port_i(port_q),
    .write_i(state_q == Fill && byte_valid), .write_place_i(addr_q[7:0]), .data_i(data),
    .place_i(place_q), .data_o(write_data_o)
  );

  // Its byte is there two cycles after the place.
  assign write_valid_o = settled_q[1];
  assign write_taken   = write_valid_o && write_ready_i;

  assign last = left_q == length_t'(1);

  io_pack u_pack (
    .clk_i, .rst_ni, .clear_i(response_valid_o),
    .byte_valid_i(read_valid_i && state_q == Take), .byte_last_i(last), .byte_i(read_data_i),
    .out_valid_o, .out_data_o
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= Ask;
      booting_q <= 1'b1;
      works_q   <= 1'b0;
      timer_q   <= timer_t'(BLOCK_CYCLES);
      begin_q   <= flash_pkg::Identify;
      id_left_q <= 2'd3;
      status_q  <= Done;
      op_q      <= Read;
      length_q  <= '0;
      asked_q   <= '0;
      left_q    <= '0;
      more_q    <= 1'b0;
      fill_q    <= '0;
      joins_q   <= 1'b0;
      keeps_q   <= '0;
      pending_q <= 1'b1;
      erasing_q <= 1'b0;
      settled_q <= '0;
      yield_q   <= 1'b0;
    end else begin
      yield_q   <= yield_i;
      settled_q <= state_q == Settle && !write_taken ? {settled_q[0], 1'b1} : '0;
      if (timer_q != '0) timer_q <= timer_q - 1'b1;

      case (state_q)
        Idle: begin
          if (request_valid_i) begin
            op_q     <= request_i.op;
            length_q <= request_i.length;
            asked_q  <= asked;
            more_q   <= more;
            left_q   <= request_i.op == Control ? length_t'(1) : request_i.length;
            status_q <= Done;
            state_q  <= Measure;
          end
        end
        Measure: begin
          fill_q  <= keeps_q[port_q] && stays ? count_t'(kept[port_q].fill) : '0;
          joins_q <= 1'b0;
          state_q <= Check;
        end
        Check, Plan: begin
          if (state_q == Check) status_q <= refusal;
          if (state_q == Check) joins_q <= op_q == Write && joins;
          if (state_q == Check && refusal != Done) state_q <= Respond;
          else if (state_q == Check && op_q == Write) state_q <= Plan;
          else if (fills) state_q <= Fill;
          else if (pending_q && !(more_q && !programs)) state_q <= Ask;
          else if (programs || (erases && left_q != '0)) state_q <= Enable;
          else if (left_q != '0) state_q <= driver_ready_i ? Take : Plan;
          else state_q <= Respond;
        end
        Take: begin
          if (read_valid_i) begin
            left_q <= left_q - 1'b1;
            if (last || read_cut_i) state_q <= Respond;
            if (!last && read_cut_i) status_q <= Suspended;
          end
        end
        Fill: begin
          if (byte_valid) begin
            left_q  <= left_q - 1'b1;
            fill_q  <= fill_q + 1'b1;
            joins_q <= addr_q[7:0] != '1;
            if (last || addr_q[7:0] == '1) state_q <= Plan;
          end else if (suspends) begin
            left_q   <= '0;
            more_q   <= 1'b1;
            status_q <= Suspended;
            state_q  <= Plan;
          end
        end
        Enable: if (driver_ready_i) state_q <= Change;
        Change: begin
          if (driver_ready_i) begin
            if (some) fill_q <= '0;
            else left_q <= '0;
            erasing_q <= !some;
            pending_q <= 1'b1;
            state_q   <= Settle;
          end
        end
        Settle: begin
          if (driver_ready_i) begin
            timer_q <= limit;
            state_q <= Plan;
          end
        end
        Ask: if (driver_ready_i) state_q <= Answer;
        Answer: begin
          if (read_valid_i) begin
            if (!read_data_i[0]) begin
              pending_q <= 1'b0;
              state_q   <= booting_q ? Begin : Plan;
            end else if (timer_q != '0) begin
              state_q   <= Ask;
            end else begin
              works_q   <= 1'b0;
              status_q  <= DeviceFailed;
              fill_q    <= '0;
              booting_q <= 1'b0;
              state_q   <= booting_q ? Idle : Respond;
            end
          end
        end
        Begin: begin
          if (driver_ready_i) begin
            if (begin_q == flash_pkg::VolatileEnable) begin_q <= flash_pkg::QuadEnable;
            else if (begin_q == flash_pkg::QuadEnable) begin_q <= flash_pkg::Status2;
            else state_q <= BeginTake;
          end
        end
        BeginTake: begin
          // In the cycle behind the last byte all are there: three, and then one.
          if (id_left_q != '0) begin
            if (read_valid_i) id_left_q <= id_left_q - 1'b1;
          end else if (begin_q == flash_pkg::Identify && id_q == ID) begin
            begin_q   <= flash_pkg::VolatileEnable;
            id_left_q <= 2'd1;
            state_q   <= Begin;
          end else begin
            works_q   <= begin_q == flash_pkg::Status2 && id_q[1];
            booting_q <= 1'b0;
            state_q   <= Idle;
          end
        end
        Respond: begin
          keeps_q[port_q] <= some;
          state_q         <= Idle;
        end
        default: state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) begin
      port_q     <= port;
      behind_q   <= end_of(request_i.op, request_i.length, asked);
      first_q    <= area_first_i[port];
      sectors_q  <= area_sectors_i[port];
      writable_q <= area_writable_i[port];
    end
    if (state_q == Measure) begin
      inside_q  <= behind_q <= 33'({sectors_q, 12'h000});
      aligned_q <= asked_q[11:1] == '0
                   && (!block || (asked_q[15:12] | first_q[3:0]) == '0);
      addr_q    <= {first_q, 12'h000} + address_t'({asked_q[31:1], asked_q[0] && !erases});
    end else if (state_q == Fill && byte_valid) begin
      addr_q    <= addr_q + 1'b1;
    end
    if (state_q == Measure) from_q <= kept[port_q].from;
    else if (state_q == Plan && !some) from_q <= addr_q;
    if (state_q == Respond) kept[port_q] <= '{from: from_q, fill: fill_q[7:0]};
    if (state_q == Change) place_q <= from_q[7:0];
    else if (write_taken) place_q <= place_q + 1'b1;
    if (read_valid_i && state_q == BeginTake) id_q <= {id_q[15:0], read_data_i};
  end

endmodule
