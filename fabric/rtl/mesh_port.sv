// What a place of the mesh has of the I/O hypervisor: room for its requests, which are carried out
// one after the other, and for one response.
//
// A request is there when all of its packet is. One whose size is not what its first word says, or
// that finds no room, is kept as that word alone, and answered as malformed. The device is asked
// when the response before has gone, so that there is room for whatever comes back; and a response
// goes when nothing of its request is left here.
module mesh_port
  import io_pkg::*;
#(
  // Its number, and which devices there are, a bit each.
  parameter logic [PortWidth-1:0] PORT    = '0,
  parameter logic [7:0]           DEVICES = 8'b0001_1110
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The devices that the place may use, a bit each.
  input  logic [7:0]  devices_i,

  // Flits of its packets, one packet after the other.
  input  logic        flit_i,
  input  logic        flit_first_i,
  input  logic        flit_last_i,
  input  logic [31:0] flit_data_i,
  // A packet found no room, not even for its first word.
  output logic        lost_o,

  // A response, until it has been sent; and words of its data, in the second cycle after they were
  // asked for.
  output logic        answer_valid_o,
  output answer_t     answer_o,
  input  logic        sent_i,
  input  logic [8:0]  word_i,
  output logic [31:0] word_o,

  // Devices, as in io_port_engine.
  output logic [7:0]  ask_o,
  input  logic        grant_i,
  output request_t    request_o,
  output logic        in_valid_o,
  input  logic        in_ready_i,
  output logic [31:0] in_data_o,
  input  logic        out_valid_i,
  input  logic [31:0] out_data_i,
  input  logic        response_valid_i,
  input  response_t   response_i
);

  // There are several in a design: what they do is compiled once.
  /*verilator no_inline_module*/

  typedef enum logic [2:0] {
    Idle,
    Address,
    Check,
    Ask,
    Turn,
    Drop,    // what the device has left of the request
    Respond
  } state_e;

  typedef logic [LengthWidth-1:0] length_t;

  localparam length_t LengthMax = 11'd1536;

  // Packets as they come. The first flit says how many are to come behind it.

  header_t     came, came_q;
  logic [9:0]  left_q;
  logic        right_q, right, room_first, room, put_first, put, there, take, last;
  logic [31:0] word;
  logic [32:0] put_data;

  assign came      = flit_first_i ? header_t'(flit_data_i) : came_q;
  assign right     = !flit_first_i && right_q && room && left_q == 10'd1;
  assign put_first = flit_first_i || (flit_last_i && !right);
  assign put       = flit_i && (put_first ? room_first : room);
  assign put_data  = flit_last_i && !right ? {1'b1, came} : {flit_last_i, flit_data_i};
  assign lost_o    = flit_i && flit_last_i && !put;

  always_ff @(posedge clk_i) begin
    if (flit_i) begin
      came_q  <= came;
      left_q  <= !flit_first_i ? left_q - 1'b1
                 : came.op == Read ? 10'd1 : 10'd1 + 10'((13'(came.length) + 13'd3) >> 2);
      right_q <= flit_first_i ? room_first : right_q && room && left_q != '0;
    end
  end

  logic [9:0] unused_used;

  mesh_queue u_queue (
    .clk_i, .rst_ni, .put_i(put), .first_i(put_first), .keep_i(flit_last_i),
    .data_i(put_data), .room_first_o(room_first), .room_o(room),
    .there_o(there), .data_o({last, word}), .take_i(take), .used_o(unused_used)
  );

  // The request under way.

  state_e      state_q;
  header_t     header_q;
  logic [31:0] addr_q;
  status_e     status_q, refusal;
  length_t     length_q;
  logic [8:0]  words_q;
  logic        last_q, in_taken, answers;
  // What is being written is not asked for yet.
  (* no_rw_check *)
  logic [31:0] words [512];
  logic [31:0] word_q;

  always_comb begin
    refusal = Done;
    if (header_q.op == Reserved || header_q.length > LengthMax || header_q.memory)
      refusal = Malformed;
    else if (!DEVICES[header_q.device]) refusal = NoDevice;
    else if (!devices_i[header_q.device]) refusal = Denied;
  end

  assign ask_o      = state_q == Ask ? 8'd1 << header_q.device : '0;
  assign request_o  = '{port: PORT, op: header_q.op, length: header_q.length, addr: addr_q};
  assign in_valid_o = state_q == Turn && !last_q;
  assign in_data_o  = word;
  assign in_taken   = in_valid_o && in_ready_i;

  // What was taken last says how it goes on: what comes from the queue is late in its cycle.
  assign take       = state_q == Idle ? there && !answer_valid_o
                      : state_q == Address || state_q == Drop ? !last_q : in_taken;

  // With a status that is not Done there is no length: it says whether the request was quiet.
  assign answers  = !(header_q.quiet && status_q == Done);
  assign answer_o = '{route: {header_q.route[5:0], header_q.route[11:6]}, device: header_q.device,
                      status: status_q, tag: header_q.tag,
                      length: status_q == Done ? length_q : length_t'(header_q.quiet)};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q        <= Idle;
      answer_valid_o <= 1'b0;
    end else begin
      answer_valid_o <= (state_q == Respond && answers) || (answer_valid_o && !sent_i);
      unique case (state_q)
        Idle:    if (take) state_q <= Address;
        Address: state_q <= last_q ? Respond : Check;
        Check:   state_q <= refusal == Done ? Ask : last_q ? Respond : Drop;
        Ask:     if (grant_i) state_q <= Turn;
        Turn:    if (response_valid_i) state_q <= last_q ? Respond : Drop;
        Drop:    if (last_q) state_q <= Respond;
        Respond: state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) last_q <= last;
    unique case (state_q)
      Idle: if (take) begin
        header_q <= header_t'(word);
        status_q <= Malformed;
        length_q <= '0;
        words_q  <= '0;
      end
      Address: addr_q <= word;
      Check:   status_q <= refusal;
      Turn: begin
        words_q <= words_q + 9'(out_valid_i);
        if (response_valid_i) begin
          status_q <= response_i.status;
          length_q <= response_i.length;
        end
      end
      Ask, Drop, Respond: ;
    endcase
    if (out_valid_i) words[words_q] <= out_data_i;
    word_q <= words[word_i];
    word_o <= word_q;
  end

endmodule
