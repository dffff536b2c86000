// The ready queue's page of registers, behind axil_slave. regs/ready_queue.rdl describes it.
//
// A command is one access, and what it is, is in the address, as in the paper (section 3.4): bit 2
// is head or tail, bits 10 to 3 are the priority, bit 11 says that it is another command. A command
// goes to the queue in the cycle of its access and is acknowledged by its answer.
module ready_queue_page
  import ready_queue_pkg::*;
#(
  parameter int unsigned DEPTH = 1024
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The register bus, of axil_slave.
  input  logic        req_i,
  input  logic        req_is_wr_i,
  input  logic [11:0] addr_i,
  input  logic [31:0] wr_data_i,
  input  logic [31:0] wr_biten_i,
  output logic        req_stall_o,
  output logic        rd_ack_o,
  output logic        rd_err_o,
  output logic [31:0] rd_data_o,
  output logic        wr_ack_o,
  output logic        wr_err_o,

  // Commands. No access is taken while the queue is not ready for a command.
  output logic        command_valid_o,
  input  logic        command_ready_i,
  output command_t    command_o,
  input  logic        answered_i,       // the command has its answer, answer_i
  output logic        clear_o,          // for a cycle, after all commands that came before it

  // What ACCESS says, and that it was written, in the cycle before it says so.
  output scheme_e     scheme_o,
  output logic [31:3] address_o,
  output logic        access_written_o,

  // What registers say.
  input  answer_t     answer_i,
  input  logic        ready_i,
  input  logic        error_i,
  input  logic        pending_i,
  input  logic [15:0] count_i,
  input  logic [31:0] commands_i
);

  // Commands: below 0x800 those for a priority; from 0x800 on four words, of which Remove is
  // written and the others are read. All else is the registers', also to say that it is an error.

  logic        taken, named, command, half, half_q, wrote_q, keeps_q;
  logic [15:0] behind_q;  // Next goes on behind it
  logic [15:0] handle_q;  // was written last

  assign req_stall_o = !command_ready_i;
  assign taken       = req_i && command_ready_i;
  assign named       = addr_i[11];
  assign command     = !named || (addr_i[10:4] == '0 && req_is_wr_i == (addr_i[3:2] == 2'b10));
  assign half        = req_is_wr_i && wr_biten_i[15:0] != '1;

  assign command_valid_o  = taken && command && !half;
  assign command_o.level  = addr_i[10:3];
  assign command_o.handle = req_is_wr_i ? wr_data_i[15:0] : behind_q;

  always_comb begin
    unique case ({named, addr_i[3:2], req_is_wr_i}) inside
      4'b0?01: command_o.op = InsertTail;
      4'b0?11: command_o.op = InsertHead;
      4'b0?00: command_o.op = Take;
      4'b0?10: command_o.op = Peek;
      4'b100?: command_o.op = TakeHighest;
      4'b101?: command_o.op = PeekHighest;
      4'b110?: command_o.op = Remove;
      4'b111?: command_o.op = Next;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (taken) begin
      wrote_q  <= req_is_wr_i;
      keeps_q  <= command_o.op inside {Peek, PeekHighest, Next};
      handle_q <= wr_data_i[15:0];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) behind_q <= '0;
    else if (answered_i && keeps_q && answer_i.status == Done) behind_q <= answer_i.handle;
  end

  // The registers, from flip-flops: finding out what an access is of, and what to answer, is too
  // much for one cycle, and only commands are urgent. One access is under way at a time, so the
  // registers are never busy.

  logic        regs_req_q, regs_is_wr_q;
  logic [11:0] regs_addr_q;
  logic [31:0] regs_wr_data_q, regs_wr_biten_q;
  logic        regs_stall_rd, regs_stall_wr, regs_rd_ack, regs_rd_err, regs_wr_ack, regs_wr_err;
  logic [31:0] regs_rd_data;

  ready_queue_regs_pkg::ready_queue__in_t  to_regs;
  ready_queue_regs_pkg::ready_queue__out_t from_regs;

  ready_queue_regs u_regs (
    .clk(clk_i), .arst_n(rst_ni),
    .s_cpuif_req(regs_req_q), .s_cpuif_req_is_wr(regs_is_wr_q), .s_cpuif_addr(regs_addr_q),
    .s_cpuif_wr_data(regs_wr_data_q), .s_cpuif_wr_biten(regs_wr_biten_q),
    .s_cpuif_req_stall_wr(regs_stall_wr), .s_cpuif_req_stall_rd(regs_stall_rd),
    .s_cpuif_rd_ack(regs_rd_ack), .s_cpuif_rd_err(regs_rd_err), .s_cpuif_rd_data(regs_rd_data),
    .s_cpuif_wr_ack(regs_wr_ack), .s_cpuif_wr_err(regs_wr_err),
    .hwif_in(to_regs), .hwif_out(from_regs)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      regs_req_q <= 1'b0;
      half_q     <= 1'b0;
    end else begin
      regs_req_q <= taken && !command;
      half_q     <= taken && command && half;
    end
  end

  always_ff @(posedge clk_i) begin
    regs_is_wr_q    <= req_is_wr_i;
    regs_addr_q     <= addr_i;
    regs_wr_data_q  <= wr_data_i;
    regs_wr_biten_q <= wr_biten_i;
  end

  // Commands are in the registers' description for those who read it; they do not get there.
  logic unused_regs;
  assign unused_regs = ^{regs_stall_rd, regs_stall_wr, from_regs.TAKE_HIGHEST,
                         from_regs.PEEK_HIGHEST, from_regs.REMOVE, from_regs.NEXT,
                         from_regs.PRIORITY};

  // Answers. No master waits for that of a write, which was posted, to be told that it was refused.

  logic [31:0] found;
  logic        read_answered, write_answered, refused;

  assign found          = {answer_i.status == Done, 7'b0, answer_i.level, answer_i.handle};
  assign read_answered  = answered_i && !wrote_q;
  assign write_answered = answered_i && wrote_q;
  assign refused        = write_answered && answer_i.status != Done;

  assign rd_ack_o  = read_answered || regs_rd_ack;
  assign rd_err_o  = regs_rd_err;
  assign rd_data_o = read_answered ? found : regs_rd_data;
  assign wr_ack_o  = write_answered || regs_wr_ack || half_q;
  assign wr_err_o  = regs_wr_err || half_q;

  assign clear_o          = from_regs.CONTROL.clear.value;
  assign scheme_o         = scheme_e'(from_regs.ACCESS.scheme.value);
  assign address_o        = from_regs.ACCESS.address.value;
  assign access_written_o = from_regs.ACCESS.scheme.swmod;

  always_comb begin
    to_regs = '0;
    to_regs.DEPTH.handles.next      = 16'(DEPTH);
    to_regs.STATUS.ready.next       = ready_i;
    to_regs.STATUS.error.next       = error_i;
    to_regs.STATUS.pending.next     = pending_i;
    to_regs.COUNT.handles.next      = count_i;
    to_regs.COMMANDS.answered.next  = commands_i;
    to_regs.ANSWER.status.next      = answer_i.status;
    to_regs.ANSWER.prio.next        = answer_i.level;
    to_regs.ANSWER.handle.next      = answer_i.handle;
    to_regs.REFUSAL.valid.hwset     = refused;
    to_regs.REFUSAL.status.next     = answer_i.status;
    to_regs.REFUSAL.status.we       = refused && !from_regs.REFUSAL.valid.value;
    to_regs.REFUSAL.handle.next     = handle_q;
    to_regs.REFUSAL.handle.we       = refused && !from_regs.REFUSAL.valid.value;
  end

endmodule
