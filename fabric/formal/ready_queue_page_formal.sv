// The ready queue's page, behind any axil_slave and before any queue: which accesses are which
// commands, that nothing else is one, that each access is acknowledged once and as it should be,
// and what is told of refusals.
module ready_queue_page_formal
  import ready_queue_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input logic        req_i,
  input logic        req_is_wr_i,
  input logic [11:0] addr_i,
  input logic [31:0] wr_data_i,
  input logic [3:0]  strobe_i,
  input logic        command_ready_i,
  input logic        answered_i,
  input answer_t     answer_i,
  input logic        ready_i,
  input logic        error_i,
  input logic        pending_i,
  input logic [15:0] count_i,
  input logic [31:0] commands_i
);

  logic        stall, rd_ack, rd_err, wr_ack, wr_err, command_valid, clear, access_written;
  logic [31:0] rd_data, wr_biten;
  command_t    command;
  scheme_e     scheme;
  logic [31:3] address;

  assign wr_biten = {{8{strobe_i[3]}}, {8{strobe_i[2]}}, {8{strobe_i[1]}}, {8{strobe_i[0]}}};

  ready_queue_page #(.DEPTH(1000)) dut (
    .clk_i, .rst_ni,
    .req_i, .req_is_wr_i, .addr_i, .wr_data_i, .wr_biten_i(wr_biten), .req_stall_o(stall),
    .rd_ack_o(rd_ack), .rd_err_o(rd_err), .rd_data_o(rd_data), .wr_ack_o(wr_ack),
    .wr_err_o(wr_err),
    .command_valid_o(command_valid), .command_ready_i, .command_o(command), .answered_i,
    .clear_o(clear), .scheme_o(scheme), .address_o(address), .access_written_o(access_written),
    .answer_i, .ready_i, .error_i, .pending_i, .count_i, .commands_i
  );

  // What the description says of an access.
  logic        taken, is_command, whole;
  logic [15:0] behind_q;
  command_t    due;

  assign taken = req_i && !stall;
  assign whole = !req_is_wr_i || strobe_i[1:0] == 2'b11;

  always_comb begin
    is_command = 1'b1;
    due.op     = Take;
    due.level  = addr_i[10:3];
    due.handle = wr_data_i[15:0];
    if (addr_i < 12'h800) begin
      if (req_is_wr_i) due.op = addr_i[2] ? InsertHead : InsertTail;
      else due.op = addr_i[2] ? Peek : Take;
    end else if (addr_i == 12'h800 && !req_is_wr_i) begin
      due.op = TakeHighest;
    end else if (addr_i == 12'h804 && !req_is_wr_i) begin
      due.op = PeekHighest;
    end else if (addr_i == 12'h808 && req_is_wr_i) begin
      due.op = Remove;
    end else if (addr_i == 12'h80C && !req_is_wr_i) begin
      due.op     = Next;
      due.handle = behind_q;
    end else begin
      is_command = 1'b0;
    end
  end

  // The access under way.
  logic        begun_q = 1'b0;
  logic        access_q, read_q, asked_q, half_q;  // asked_q: the queue was
  logic [1:0]  strobe_q;
  logic [11:0] addr_q;
  logic [31:0] data_q;
  op_e         op_q;
  logic        refused_q;
  logic [31:0] refusal_q;
  logic [11:0] waited_q;   // it was looked at in the cycle before, and not taken
  logic        waits_q, acked;

  assign acked = rd_ack || wr_ack;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {access_q, asked_q, refused_q, waits_q} <= '0;
      behind_q <= '0;
    end else begin
      if (answered_i && answer_i.status == Done && op_q inside {Peek, PeekHighest, Next}) begin
        behind_q <= answer_i.handle;
      end
      access_q <= (access_q && !acked) || taken;
      asked_q  <= (asked_q && !answered_i) || command_valid;
      waits_q  <= req_i && stall;
      if (answered_i && !read_q && answer_i.status != Done) begin
        refused_q <= 1'b1;
      end else if (access_q && acked && !read_q && addr_q == 12'h830 && strobe_q[1] && data_q[31])
      begin
        refused_q <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    waited_q <= addr_i;
    if (taken) begin
      read_q   <= !req_is_wr_i;
      half_q   <= is_command && !whole;
      addr_q   <= addr_i;
      data_q   <= wr_data_i;
      strobe_q <= {strobe_i[3], strobe_i[0]};
      op_q     <= due.op;
    end
    if (answered_i && !read_q && answer_i.status != Done && !refused_q) begin
      refusal_q <= {1'b1, answer_i.status, 12'b0, data_q[15:0]};
    end
  end

  always_ff @(posedge clk_i) begin
    begun_q <= 1'b1;
    begin_in_reset: assume (rst_ni == begun_q);
    if (rst_ni) begin
      // One access at a time, and one that waits stays; addresses are of words. As axil_slave does.
      one_access: assume (!req_i || !access_q);
      stays: assume (!waits_q || (req_i && addr_i == waited_q));
      of_words: assume (addr_i[1:0] == '0);
      was_asked: assume (!answered_i || asked_q);
      zero_unless_done: assume (answer_i.status == Done || (answer_i.level == '0 &&
                                                            answer_i.handle == '0));
    end
  end

  // Where the registers are, and which way they go.
  logic readable, writable;
  assign readable = addr_q inside {12'h810, 12'h814, 12'h818, 12'h820, 12'h824, 12'h828, 12'h82C,
                                   12'h830};
  assign writable = addr_q inside {12'h81C, 12'h820, 12'h830};

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      stalls: assert (stall == !command_ready_i);
      is_given: assert (command_valid == (taken && is_command && whole));
      given_op: assert (!command_valid || command.op == due.op);
      given_level: assert (!command_valid || addr_i >= 12'h800 || command.level == due.level);
      given_handle: assert (!command_valid || command.handle == due.handle ||
                            !(due.op inside {InsertTail, InsertHead, Remove, Next}));

      // Acknowledged once: a command by its answer, and all else in the cycle after.
      acked_one_way: assert (!(rd_ack && wr_ack));
      acked_asked: assert (!acked || (access_q && rd_ack == read_q));
      acked_answered: assert (!asked_q || acked == answered_i);
      acked_soon: assert (!access_q || asked_q || acked);
      if (acked) begin
        answered_data: assert (!(asked_q && read_q) ||
                               rd_data == {answer_i.status == Done, 7'b0, answer_i.level,
                                           answer_i.handle});
        error_of_command: assert (!asked_q || !(read_q ? rd_err : wr_err));
        half_is_error: assert (!half_q || wr_err);
        error_of_read: assert (asked_q || !read_q || rd_err == !readable);
        error_of_write: assert (asked_q || half_q || read_q || wr_err == !writable);
        if (read_q && !asked_q) begin
          id: assert (addr_q != 12'h810 || rd_data == 32'h5251_0001);
          depth: assert (addr_q != 12'h814 || rd_data == 32'd1000);
          status: assert (addr_q != 12'h818 || rd_data == {29'b0, pending_i, error_i, ready_i});
          access: assert (addr_q != 12'h820 || rd_data == {address, 1'b0, scheme});
          count: assert (addr_q != 12'h824 || rd_data == {16'b0, count_i});
          commands: assert (addr_q != 12'h828 || rd_data == commands_i);
          answer: assert (addr_q != 12'h82C || rd_data == {1'b0, answer_i.status, 4'b0,
                                                           answer_i.level, answer_i.handle});
          refusal: assert (addr_q != 12'h830 || (refused_q ? rd_data == refusal_q : !rd_data[31]));
        end
      end

      clears: assert (clear == $past(rst_ni && access_q && acked && !read_q && addr_q == 12'h81C &&
                                     strobe_q[0] && data_q[0]));
      written: assert (access_written == (access_q && acked && !read_q && addr_q == 12'h820 &&
                                          strobe_q[0]));
      scheme_kept: assert ($past(access_written) || !$past(rst_ni) || scheme == $past(scheme));

      refused: cover (rd_ack && addr_q == 12'h830 && rd_data[31]);
      forgotten: cover (rd_ack && addr_q == 12'h830 && !rd_data[31] && rd_data != '0);
      next: cover (command_valid && command.op == Next && command.handle == 16'hBEEF);
`ifndef CUT
      state_regs: assert (dut.regs_req_q == (access_q && !asked_q && !half_q));
      state_half: assert (dut.half_q == (access_q && !asked_q && half_q));
      state_asked: assert (!asked_q || (access_q && !half_q));
      state_access: assert (!access_q || (dut.wrote_q == !read_q && dut.handle_q == data_q[15:0]));
      state_registers: assert (!dut.regs_req_q || (dut.regs_addr_q == addr_q &&
                               dut.regs_is_wr_q == !read_q && dut.regs_wr_data_q == data_q));
      state_strobe: assert (!dut.regs_req_q || (dut.regs_wr_biten_q[31] == strobe_q[1] &&
                            dut.regs_wr_biten_q[0] == strobe_q[0]));
      state_idle: assert (!dut.u_regs.external_pending);
      state_not_command: assert (!dut.regs_req_q || (addr_q >= 12'h800 && !(addr_q <= 12'h80C &&
                                 read_q == (addr_q != 12'h808))));
      state_command: assert (!(asked_q || (access_q && half_q)) || addr_q <= 12'h80C);
      state_word: assert (!access_q || addr_q[1:0] == '0);
      state_keeps: assert (!asked_q || dut.keeps_q == (op_q inside {Peek, PeekHighest, Next}));
      state_behind: assert (dut.behind_q == behind_q);
      state_refused: assert (dut.from_regs.REFUSAL.valid.value == refused_q);
      state_refusal: assert (!refused_q || ({dut.u_regs.field_storage.REFUSAL.status.value,
                             dut.u_regs.field_storage.REFUSAL.handle.value} ==
                             {refusal_q[30:28], refusal_q[15:0]} && refusal_q[31] &&
                             refusal_q[27:16] == '0));
`endif
    end
  end

endmodule
