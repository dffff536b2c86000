// The ready queue behind a GP port: the command is in the address, as in the paper (section 3.4).
//
//   offset  bits 11, 10 to 3, 2   read                         write
//   0x000   0, priority, 0        take its first               insert the handle at its tail
//   0x004   0, priority, 1        look at its first            insert the handle at its head
//   0x800                         take the highest
//   0x804                         look at the highest
//   0x808                                                      remove the handle
//   0x80C                         who comes behind what was looked at last
//   0x810                         first refusal, or 0          forget it
//   0x814                         handles in the queue
//   0x818                         bit 0: it takes commands     bit 0: empty the queue
//   0x81C                         "RQ" and DEPTH
//   0x820                         bits 31 to 3: the mirror's address; bit 0: enable it;
//                                 bit 1 (only read): memory has refused it
//   0x824                         commands answered since reset, done or refused
//
// A handle that is read has its priority in bits 23 to 16 and VALID in bit 31; nobody is 0. A write
// is posted, so a refusal cannot be its answer: the first one is kept, with VALID, its status in
// bits 18 to 16 and its handle. Whatever else is read or written, and handles that are not written
// as a whole, are errors on the bus and do nothing.
//
// A command that comes while the queue is being emptied waits until that is done.
module ready_queue_gp
  import ready_queue_pkg::*;
#(
  parameter int unsigned DEPTH = 1024
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        s_axil_awvalid,
  output logic        s_axil_awready,
  input  logic [11:0] s_axil_awaddr,
  input  logic [2:0]  s_axil_awprot,
  input  logic        s_axil_wvalid,
  output logic        s_axil_wready,
  input  logic [31:0] s_axil_wdata,
  input  logic [3:0]  s_axil_wstrb,
  output logic        s_axil_bvalid,
  input  logic        s_axil_bready,
  output logic [1:0]  s_axil_bresp,
  input  logic        s_axil_arvalid,
  output logic        s_axil_arready,
  input  logic [11:0] s_axil_araddr,
  input  logic [2:0]  s_axil_arprot,
  output logic        s_axil_rvalid,
  input  logic        s_axil_rready,
  output logic [31:0] s_axil_rdata,
  output logic [1:0]  s_axil_rresp,

  // For ready_queue_mirror: whoever comes first, as a command reads it, and how many commands have
  // been answered.
  output logic [31:0] first_o,
  output logic [31:0] commands_o,
  output logic        changed_o,         // in the cycle before either changes
  output logic        mirror_enable_o,
  output logic [31:3] mirror_address_o,
  input  logic        mirror_error_i
);

  localparam int unsigned CountBits = unsigned'($clog2(DEPTH + 1));
  localparam logic [15:0] Identity = 16'h5251;

  logic        req, is_wr, ack, bad;
  logic [11:0] addr;
  logic [31:0] wr_data, wr_biten, rd_data;

  axil_slave u_slave (
    .clk_i, .rst_ni,
    .s_axil_awvalid, .s_axil_awready, .s_axil_awaddr, .s_axil_awprot,
    .s_axil_wvalid, .s_axil_wready, .s_axil_wdata, .s_axil_wstrb,
    .s_axil_bvalid, .s_axil_bready, .s_axil_bresp,
    .s_axil_arvalid, .s_axil_arready, .s_axil_araddr, .s_axil_arprot,
    .s_axil_rvalid, .s_axil_rready, .s_axil_rdata, .s_axil_rresp,
    .req_o(req), .req_is_wr_o(is_wr), .addr_o(addr), .wr_data_o(wr_data), .wr_biten_o(wr_biten),
    .req_stall_wr_i(1'b0), .req_stall_rd_i(1'b0),
    .rd_ack_i(ack), .rd_err_i(bad), .rd_data_i(rd_data),
    .wr_ack_i(ack), .wr_err_i(bad)
  );

  logic    initialised, clear, command, ready, answered;
  op_e     op;
  status_e status;
  logic        given_q;  // to the queue, which has not taken it yet
  op_e         op_q;
  logic [7:0]  priority_q;
  logic [15:0] handle_q, answer_handle, behind_q;
  logic [7:0]  answer_priority;
  logic [CountBits-1:0] count;
  logic        first_valid, first_changed;
  logic [15:0] first_handle;
  logic [7:0]  first_priority;

  assign changed_o = answered || first_changed;

  ready_queue #(.DEPTH(DEPTH)) u_queue (
    .clk_i, .rst_ni,
    .clear_i(clear), .initialised_o(initialised),
    .command_valid_i(given_q), .command_ready_o(ready),
    .command_op_i(op_q), .command_priority_i(priority_q), .command_handle_i(handle_q),
    .answer_valid_o(answered), .answer_status_o(status),
    .answer_handle_o(answer_handle), .answer_priority_o(answer_priority),
    .first_valid_o(first_valid), .first_handle_o(first_handle),
    .first_priority_o(first_priority), .first_changed_o(first_changed),
    .count_o(count)
  );

  // What the address asks for: a command to the queue, a register, or neither.

  logic register, whole, unused_upper;
  logic [31:0] register_data, refusal_q;

  assign whole  = wr_biten[15:0] == '1;
  assign unused_upper = ^{wr_biten[31:16], wr_data[31:16]};

  always_comb begin
    command       = 1'b0;
    register      = 1'b0;
    register_data = '0;
    op            = Take;
    if (!addr[11]) begin
      command = !is_wr || whole;
      if (is_wr) op = addr[2] ? InsertHead : InsertTail;
      else op = addr[2] ? Peek : Take;
    end else begin
      case (addr[10:0])
        11'h000: {command, op} = {!is_wr, TakeHighest};
        11'h004: {command, op} = {!is_wr, PeekHighest};
        11'h008: {command, op} = {is_wr && whole, Remove};
        11'h00C: {command, op} = {!is_wr, Next};
        11'h010: {register, register_data} = {1'b1, refusal_q};
        11'h014: {register, register_data} = {!is_wr, 32'(count)};
        11'h018: {register, register_data} = {1'b1, 31'b0, initialised};
        11'h01C: {register, register_data} = {!is_wr, Identity, 16'(DEPTH)};
        11'h020: {register, register_data} =
                   {!is_wr || wr_biten == '1, mirror_address_o, 1'b0, mirror_error_i,
                    mirror_enable_o};
        11'h024: {register, register_data} = {!is_wr, commands_o};
        default: ;
      endcase
    end
  end

  // A command is given to the queue a cycle later, from flip-flops, and acknowledged by its answer;
  // all else is at once. The slave asks for nothing before it has its acknowledge.

  logic waiting_q, wrote_q, keeps_q;  // for an answer; to a write; Next goes on behind it

  assign clear = req && is_wr && register && addr[10:0] == 11'h018 && wr_biten[0] && wr_data[0];
  assign ack   = waiting_q ? answered : req && !command;
  assign bad   = !waiting_q && !register;

  always_comb begin
    if (!waiting_q) rd_data = register_data;
    else if (status == Done) rd_data = {1'b1, 7'b0, answer_priority, answer_handle};
    else rd_data = '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      given_q          <= 1'b0;
      waiting_q        <= 1'b0;
      refusal_q        <= '0;
      first_o          <= '0;
      commands_o       <= '0;
      mirror_enable_o  <= 1'b0;
      mirror_address_o <= '0;
    end else begin
      // At the same edge, so that they always belong together.
      first_o <= first_valid ? {1'b1, 7'b0, first_priority, first_handle} : '0;
      if (answered) commands_o <= commands_o + 1'b1;
      if (req && is_wr && register && addr[10:0] == 11'h020) begin
        mirror_enable_o  <= wr_data[0];
        mirror_address_o <= wr_data[31:3];
      end
      given_q   <= (given_q && !ready) || (req && command);
      waiting_q <= (waiting_q && !answered) || (req && command);
      if (req && is_wr && register && addr[10:0] == 11'h010) begin
        refusal_q <= '0;
      end else if (waiting_q && answered && wrote_q && status != Done && !refusal_q[31]) begin
        refusal_q <= {1'b1, 12'b0, status, handle_q};
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (req && command) begin
      op_q       <= op;
      priority_q <= addr[10:3];
      handle_q   <= is_wr ? wr_data[15:0] : behind_q;
      wrote_q    <= is_wr;
      keeps_q    <= op inside {Peek, PeekHighest, Next};
    end
    if (waiting_q && answered && keeps_q && status == Done) behind_q <= answer_handle;
  end

endmodule
