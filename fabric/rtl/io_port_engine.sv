// Carries out the requests of one I/O port, one after the other.
//
// What is not right is answered without asking anybody. Data in the VM's memory are fetched before
// the device is asked for, and stored after it is done with them: so the device waits neither for
// the VM nor for memory. Data for the device are read ahead, a word is there in the cycle after the
// one before was taken. No address leaves but through the window.
module io_port_engine
  import io_pkg::*;
  import io_port_pkg::*;
  import memory_tree_pkg::*;
#(
  // Its number, and which devices there are, a bit each.
  parameter logic [PortWidth-1:0] PORT    = '0,
  parameter logic [7:0]           DEVICES = 8'b0001_1110
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // What the port is given: devices, a bit each; the VM's memory.
  input  logic [7:0]  devices_i,
  input  logic [19:0] window_base_i,
  input  logic [20:0] window_pages_i,

  // The oldest request, which stays until it is over; and room for its response. Dropped, it is not
  // answered, and no further line of memory is accessed for it.
  input  logic        request_valid_i,
  input  queued_t     request_i,
  input  logic        room_i,
  input  logic        drop_i,
  output logic        busy_o,
  output logic        over_o,
  output logic        answer_valid_o,
  output answered_t   answer_o,

  // The buffers, by words of 32 bits: the word that the device takes or gives is at place_o. Data
  // are in the cycle after. And by rows of 64 bits, for what goes to memory or comes from it.
  output logic [9:0]  next_place_o,
  output logic [9:0]  place_o,
  output logic        store_read_o,
  output logic [7:0]  row_o,
  input  logic [63:0] row_i,
  output logic        fetched_o,

  // The device: it is asked for a turn until that begins.
  output logic [7:0]  ask_o,
  input  logic        grant_i,
  output request_t    device_request_o,
  output logic        in_valid_o,
  input  logic        in_ready_i,
  input  logic        out_valid_i,
  input  logic        response_valid_i,
  input  response_t   response_i,

  // Memory: the port's place in the tree.
  output logic        access_valid_o,
  input  logic        access_ready_i,
  output access_t     access_o,
  input  logic        reply_valid_i,
  input  reply_t      reply_i
);

  typedef enum logic [3:0] {
    Idle,
    Check,
    Locate,  // a row or a line of memory: where it is,
    Load,    // whether it may be, and what is to be written there,
    Access,  // and what becomes of it
    Reply,
    Ask,
    Turn,
    Respond
  } state_e;

  typedef logic [LengthWidth-1:0] length_t;

  localparam length_t LengthMax = 11'd1536;

  state_e      state_q;
  status_e     status_q, refusal;
  length_t     length_q, moved;
  logic [9:0]  place_q;
  logic [8:0]  words_q;
  logic [7:0]  row_q, rows;
  logic        stores, moves, fits, inside_q, carry, failed_q, last_row;
  logic [31:0] located, located_q, addr;
  logic [63:0] row_data_q;

  // Whether it may be asked at all.

  logic formed, placed;

  assign formed = request_i.op != Reserved && request_i.length <= LengthMax;
  assign placed = request_i.memory ? request_i.place[5:0] == '0
                  : request_i.place[1:0] == '0 && request_i.place[31:11] == '0
                    && 12'(request_i.place[10:0]) + 12'(request_i.length) <= 12'd2048;

  always_comb begin
    refusal = Done;
    if (!formed || !placed) refusal = Malformed;
    else if (!DEVICES[request_i.device]) refusal = NoDevice;
    else if (!devices_i[request_i.device]) refusal = Denied;
  end

  // Where in memory: a row of 64 bits to be written, or a line of eight to be read.

  assign stores   = request_i.op == Read;
  assign moves    = request_i.memory && !stores && request_i.length != '0;
  assign moved    = stores ? length_q : request_i.length;
  assign rows     = 8'((12'(moved) + 12'd7) >> 3);
  assign last_row = row_q + 1'b1 >= rows;

  assign {carry, addr} = 33'(request_i.place) + 33'({row_q, 3'b000});

  logic unused_legal;

  dma_window #(.TASK_ADDR_WIDTH(32), .ADDR_WIDTH(32), .BEATS_MAX(8)) u_window (
    .base_i(window_base_i), .pages_i(window_pages_i),
    .addr_i(addr), .len_i(stores ? 8'd0 : 8'd7), .size_i(3'd3), .burst_i(2'b01),
    .legal_o(unused_legal), .inside_o(fits), .addr_o(located)
  );

  // The bytes of a row that are written: all, but of the last one.
  logic [7:0] strobe;
  assign strobe = last_row && length_q[2:0] != '0 ? ~(8'hff << length_q[2:0]) : 8'hff;

  assign access_valid_o = state_q == Access;
  assign access_o       = '{write: stores, log2_words: stores ? 2'd0 : 2'd3, addr: located_q,
                            data: row_data_q, strobe: strobe};
  assign store_read_o   = state_q == Locate && stores;
  assign row_o          = row_q;
  assign fetched_o      = state_q == Reply && !stores && reply_valid_i;

  // The device.

  logic in_taken;

  assign ask_o            = state_q == Ask ? 8'd1 << request_i.device : '0;
  assign device_request_o = '{port: PORT, op: request_i.op, length: request_i.length,
                              addr: request_i.addr};
  assign in_valid_o       = state_q == Turn && words_q != '0;
  assign in_taken         = in_valid_o && in_ready_i;
  assign place_o          = place_q;

  always_comb begin
    next_place_o = place_q;
    if (state_q == Idle) next_place_o = {request_i.memory, request_i.memory
                                                           ? 9'd0 : request_i.place[10:2]};
    else if (in_taken || (state_q == Turn && out_valid_i)) next_place_o = place_q + 1'b1;
  end

  // The response.

  assign busy_o         = state_q != Idle || (request_valid_i && room_i);
  assign over_o         = state_q == Respond;
  assign answer_valid_o = over_o && !drop_i && !(request_i.quiet && status_q == Done);
  assign answer_o       = '{device: request_i.device, status: status_q, tag: request_i.tag,
                            length: status_q == Done ? length_q : '0};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= Idle;
      status_q <= Done;
      length_q <= '0;
      words_q  <= '0;
      row_q    <= '0;
      failed_q <= 1'b0;
      inside_q <= 1'b0;
    end else begin
      unique case (state_q)
        Idle: begin
          status_q <= refusal;
          length_q <= '0;
          row_q    <= '0;
          words_q  <= stores ? '0 : 9'((12'(request_i.length) + 12'd3) >> 2);
          if (request_valid_i && room_i) state_q <= Check;
        end
        Check: state_q <= status_q != Done ? Respond : moves ? Locate : Ask;
        Locate: begin
          inside_q <= fits && !carry;
          failed_q <= 1'b0;
          state_q  <= drop_i ? Respond : Load;
        end
        Load: begin
          state_q <= Access;
          if (!inside_q) begin
            status_q <= MemoryFailed;
            state_q  <= Respond;
          end
        end
        Access: if (access_ready_i) state_q <= Reply;
        Reply: begin
          if (reply_valid_i) begin
            row_q    <= row_q + 1'b1;
            failed_q <= failed_q || reply_i.error;
            if (reply_i.last) begin
              if (failed_q || reply_i.error) begin
                status_q <= MemoryFailed;
                state_q  <= Respond;
              end else if (!last_row) begin
                state_q <= Locate;
              end else begin
                state_q <= stores ? Respond : Ask;
              end
            end
          end
        end
        Ask: if (grant_i) state_q <= Turn;
        Turn: begin
          if (in_taken) words_q <= words_q - 1'b1;
          if (response_valid_i) begin
            status_q <= response_i.status;
            length_q <= response_i.length;
            row_q    <= '0;
            state_q  <= request_i.memory && response_i.length != '0 ? Locate : Respond;
          end
        end
        Respond: state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    place_q <= next_place_o;
    if (state_q == Locate) located_q <= located;
    if (state_q == Load) row_data_q <= row_i;
  end

  logic unused_reply;
  assign unused_reply = ^{reply_i.write, reply_i.data};

endmodule
