// The I/O VMM of an SPI NOR flash: what a port asks of its area becomes commands of the part.
//
// Each port has an area of whole sectors, and may write to it or not; addresses count from its
// beginning. A Write is split at the pages of the part, and programs only: bits go from 1 to 0. A
// Control without operands erases: a sector, or a block of 64 KiB where the lowest bit is set.
// Each of both is enabled, sent, and asked for its end until the part is not busy or its time is
// over. A part that has another identification, or cannot be told to use four lines, or is late
// once, is not used any more: everything is answered with DeviceFailed until reset.
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

  // To the driver; what is read is taken at once.
  output logic                driver_valid_o,
  input  logic                driver_ready_i,
  output flash_pkg::command_e driver_command_o,
  output logic [23:0]         driver_address_o,
  output logic [15:0]         driver_bytes_o,
  output logic                write_valid_o,
  input  logic                write_ready_i,
  output logic [7:0]          write_data_o,
  input  logic                read_valid_i,
  input  logic [7:0]          read_data_i
);

  typedef logic [ADDR_WIDTH-1:0]  address_t;
  typedef logic [LengthWidth-1:0] length_t;
  typedef logic [$clog2(BLOCK_CYCLES + 1)-1:0] timer_t;

  typedef enum logic [3:0] {
    Idle,
    Measure,  // whether it lies in the area
    Check,
    Fetch,    // a Read: its command, unless the driver has that already,
    Take,     // and its bytes
    Enable,   // a Write or an erasure: that something is to change,
    Change,   // what,
    Settle,   // until the part has it,
    Ask,      // and whether it is busy still
    Answer,
    Begin,    // after reset: what part it is, and that it is to use four lines
    BeginTake,
    Respond
  } state_e;

  state_e   state_q;
  op_e      op_q;
  length_t  length_q;
  logic [31:0] asked_q;
  status_e  status_q, refusal;
  // It is the right part, and was never late; it was not asked yet.
  logic     works_q, booting_q;
  // In the part, and what is left from there.
  address_t addr_q;
  length_t  left_q;
  timer_t   timer_q, limit;
  flash_pkg::command_e begin_q;
  logic [23:0] id_q;
  logic [1:0]  id_left_q;

  // The area of the port that asks.
  localparam int unsigned PortIndexWidth = PORTS > 1 ? unsigned'($clog2(PORTS)) : 1;
  logic [PortIndexWidth-1:0] port;
  assign port = PortIndexWidth'(request_i.port);

  logic [SectorWidth-1:0] first_q;
  logic [SectorWidth:0]   sectors_q;
  logic                   writable_q, inside_q, aligned_q;

  length_t page_left, chunk_q;
  logic    erases, block, read_last;

  assign erases = op_q == Control;
  assign block  = asked_q[0];

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

  // What is written next is as much as the page takes.
  assign page_left = length_t'(256) - length_t'(addr_q[7:0]);
  assign limit     = !erases ? timer_t'(PROGRAM_CYCLES)
                     : block ? timer_t'(BLOCK_CYCLES) : timer_t'(SECTOR_CYCLES);

  assign driver_address_o = 24'(addr_q);
  assign driver_bytes_o   = op_q == Read ? 16'(left_q) : 16'(chunk_q);

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
      Check: begin
        driver_command_o = flash_pkg::Read;
        driver_valid_o   = op_q == Read && refusal == Done;
      end
      Fetch:   driver_command_o = flash_pkg::Read;
      Enable:  driver_command_o = flash_pkg::WriteEnable;
      Change:  driver_command_o = !erases ? flash_pkg::Program
                         : block ? flash_pkg::EraseBlock : flash_pkg::EraseSector;
      Idle, Measure, Take, Settle, Answer, BeginTake, Respond:
        driver_valid_o = 1'b0;
      default: driver_valid_o = 1'b0;
    endcase
  end

  io_unpack u_unpack (
    .clk_i, .rst_ni, .clear_i(response_valid_o), .in_valid_i, .in_ready_o, .in_data_i,
    .byte_valid_o(write_valid_o), .byte_ready_i(write_ready_i), .byte_o(write_data_o)
  );

  assign read_last = left_q == length_t'(1);

  io_pack u_pack (
    .clk_i, .rst_ni, .clear_i(response_valid_o),
    .byte_valid_i(read_valid_i && state_q == Take), .byte_last_i(read_last), .byte_i(read_data_i),
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
    end else begin
      if (timer_q != '0) timer_q <= timer_q - 1'b1;

      case (state_q)
        Idle: begin
          if (request_valid_i) begin
            op_q     <= request_i.op;
            length_q <= request_i.length;
            asked_q  <= request_i.addr;
            left_q   <= request_i.length;
            state_q  <= Measure;
          end
        end
        Measure: state_q <= Check;
        Check: begin
          status_q <= refusal;
          if (refusal != Done) state_q <= Respond;
          else state_q <= op_q == Read ? (driver_ready_i ? Take : Fetch) : Enable;
        end
        Fetch: if (driver_ready_i) state_q <= Take;
        Take: begin
          if (read_valid_i) begin
            left_q <= left_q - 1'b1;
            if (read_last) state_q <= Respond;
          end
        end
        Enable: if (driver_ready_i) state_q <= Change;
        Change: begin
          if (driver_ready_i) begin
            left_q  <= left_q - chunk_q;
            state_q <= Settle;
          end
        end
        Settle: begin
          if (driver_ready_i) begin
            timer_q <= limit;
            state_q <= Ask;
          end
        end
        Ask: if (driver_ready_i) state_q <= Answer;
        Answer: begin
          if (read_valid_i) begin
            if (!read_data_i[0]) begin
              state_q   <= booting_q ? Begin : left_q != '0 ? Enable : Respond;
            end else if (timer_q != '0) begin
              state_q   <= Ask;
            end else begin
              works_q   <= 1'b0;
              status_q  <= DeviceFailed;
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
        Respond: state_q <= Idle;
        default: state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) begin
      behind_q   <= end_of(request_i.op, request_i.length, request_i.addr);
      first_q    <= area_first_i[port];
      sectors_q  <= area_sectors_i[port];
      writable_q <= area_writable_i[port];
    end
    if (state_q == Measure) begin
      inside_q  <= behind_q <= 33'({sectors_q, 12'h000});
      aligned_q <= asked_q[11:1] == '0
                   && (!block || (asked_q[15:12] | first_q[3:0]) == '0);
      addr_q    <= {first_q, 12'h000} + address_t'({asked_q[31:1], asked_q[0] && !erases});
    end else if (state_q == Change && driver_ready_i) begin
      addr_q    <= addr_q + address_t'(chunk_q);
    end
    // It has been right since Enable began.
    chunk_q  <= left_q < page_left ? left_q : page_left;
    if (read_valid_i && state_q == BeginTake) id_q <= {id_q[15:0], read_data_i};
  end

endmodule
