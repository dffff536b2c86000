// All of a hardware task but what it computes: its control, its context, and its VM's memory as two
// streams of words, one in and one out.
//
// The core behind it turns the stream in into the stream out, in blocks: BLOCK_IN_BYTES become
// BLOCK_OUT_WORDS. Behind the end of the input come zeros for as long as it takes words; words that
// it gives behind the end of the output are not taken. core_clear_o takes it back to the beginning
// of a block.
//
// What a block gives may depend on STATE_WORDS words that the core keeps from the blocks before,
// its state. It is part of the context. The core changes it when the last word of a block is taken
// or in the cycle behind, not before, so that at a consistency point it belongs to the rest of the
// frame. With
// STATE_WORDS = 0 what the core holds at the end of a block makes no difference to the next one.
//
// The end of each block is a consistency point. Reads run ahead of it and are dropped when the task
// stops there; docs/src/reference/hardware-tasks.md has the ports and what they promise.
module hw_task_stream
  import hw_task_pkg::*;
#(
  parameter task_e       TASK            = Passthrough,
  // A multiple of 8, and at least 16 words, or fewer where a block takes longer than they do.
  parameter int unsigned BLOCK_IN_BYTES  = 1024,
  parameter int unsigned BLOCK_OUT_WORDS = 128,
  // The length has to be a multiple of this power of two.
  parameter int unsigned LENGTH_UNIT     = 1,
  // A frame's output is at most its input's length times two to this, and a block.
  parameter int unsigned GROWTH_LOG2     = 0,
  // Writes whose answers are awaited.
  parameter int unsigned WRITES_MAX      = 8,
  // Words of 32 bits of the core's state: up to 128.
  parameter int unsigned STATE_WORDS     = 0,
  // 32 for a task; less for the proof.
  parameter int unsigned ADDR_WIDTH      = 32,
  localparam int unsigned TailInWidth  = unsigned'($clog2(BLOCK_IN_BYTES)),
  // A block may be shorter than the longest burst.
  localparam int unsigned WordsWidth   =
      BLOCK_OUT_WORDS < 16 ? 5 : unsigned'($clog2(BLOCK_OUT_WORDS + 1)),
  localparam int unsigned TailOutWidth = WordsWidth + 3
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  input  logic                    start_i,
  input  logic                    resume_i,
  input  logic [ADDR_WIDTH-1:0]   src_i,
  input  logic [ADDR_WIDTH-1:0]   dst_i,
  input  logic [ADDR_WIDTH-1:0]   length_i,
  input  logic [31:0]             param_i,
  input  logic                    stop_i,
  output logic                    busy_o,
  output logic                    done_o,
  output logic                    stopped_o,
  output logic [3:0]              error_o,

  output logic                    ctx_we_o,
  output logic [7:0]              ctx_addr_o,
  output logic [31:0]             ctx_wdata_o,
  input  logic [31:0]             ctx_rdata_i,

  // The core.
  output logic                    core_clear_o,
  output logic [31:0]             core_param_o,
  output logic                    in_valid_o,
  input  logic                    in_ready_i,
  output logic [63:0]             in_data_o,
  input  logic                    out_valid_i,
  output logic                    out_ready_o,
  input  logic [63:0]             out_data_i,
  // How many bytes a last block gives that has so many bytes of input, when it is not a whole one.
  output logic [TailInWidth-1:0]  tail_in_bytes_o,
  input  logic [TailOutWidth-1:0] tail_out_bytes_i,
  // The block that is next has no output: its one word is taken, and not written. All of a frame's
  // blocks without output come before those with output.
  input  logic                    silent_i,
  // Bytes of the input from the beginning of the block whose output is next.
  output logic [ADDR_WIDTH-1:0]   core_left_o,
  // The state: a frame begins with its initial value, and core_left_o is the length of all of it;
  // word core_word_o becomes core_state_o; word core_word_o, for the context.
  output logic                    core_begin_o,
  output logic                    core_restore_o,
  output logic [6:0]              core_word_o,
  output logic [31:0]             core_state_o,
  input  logic [31:0]             core_state_i,

  output logic                    m_axi_awvalid,
  input  logic                    m_axi_awready,
  output logic [ADDR_WIDTH-1:0]   m_axi_awaddr,
  output logic [7:0]              m_axi_awlen,
  output logic [2:0]              m_axi_awsize,
  output logic [1:0]              m_axi_awburst,
  output logic [3:0]              m_axi_awcache,
  output logic [2:0]              m_axi_awprot,
  output logic                    m_axi_wvalid,
  input  logic                    m_axi_wready,
  output logic [63:0]             m_axi_wdata,
  output logic [7:0]              m_axi_wstrb,
  output logic                    m_axi_wlast,
  input  logic                    m_axi_bvalid,
  output logic                    m_axi_bready,
  input  logic [1:0]              m_axi_bresp,
  output logic                    m_axi_arvalid,
  input  logic                    m_axi_arready,
  output logic [ADDR_WIDTH-1:0]   m_axi_araddr,
  output logic [7:0]              m_axi_arlen,
  output logic [2:0]              m_axi_arsize,
  output logic [1:0]              m_axi_arburst,
  output logic [3:0]              m_axi_arcache,
  output logic [2:0]              m_axi_arprot,
  input  logic                    m_axi_rvalid,
  output logic                    m_axi_rready,
  input  logic [63:0]             m_axi_rdata,
  input  logic [1:0]              m_axi_rresp,
  input  logic                    m_axi_rlast
);

  typedef logic [ADDR_WIDTH-1:0] address_t;
  // Addresses count bytes.
  typedef logic [ADDR_WIDTH-4:0] word_address_t;
  typedef logic [ADDR_WIDTH-3:0] words_t;
  typedef logic [WordsWidth-1:0] block_t;

  typedef enum logic [2:0] {
    Idle,
    Restore,  // the context is read
    Measure,  // where input and output end
    Check,    // whether the parameters will do
    Run,
    Flush,    // no block is begun any more; the words of the last burst come
    Drain,    // the bus comes to rest; what is still read is dropped
    Save      // the context is written
  } state_e;

  typedef enum logic [1:0] {
    Block,  // how long is the next block's output?
    Plan,   // how long is the next burst?
    Offer
  } write_e;

  state_e      state_q;
  write_e      write_q;
  error_e      error_q;
  logic        stopping_q, done_q, stopped_q, tag_ok_q, begin_q;

  // A word of the context, or the one behind the last.
  localparam int unsigned ContextWidth = STATE_WORDS == 0 ? 3 : 8;
  typedef logic [ContextWidth-1:0] context_t;
  localparam context_t ContextLast = context_t'(ContextParam) + context_t'(STATE_WORDS);
  context_t    context_q;

  // The frame's rest, from the beginning of the block whose output is written; target_q goes on
  // within it.
  address_t    source_q, target_q, left_q;
  logic [31:0] param_q;

  logic        running, ended, block_last;
  error_e      refusal;

  logic        rd_ready, rd_data_valid, rd_data_ready, rd_data_error, rd_data_last;
  logic [63:0] rd_data;
  logic        wr_valid, wr_ready, wr_data_valid, wr_data_ready, wr_done, wr_error, master_busy;
  logic [7:0]  wr_strobe;

  assign running = state_q == Run || state_q == Flush;

  // The longest burst that may begin at an address, and is no longer than what is left: words, as
  // a power of two.
  function automatic logic [2:0] burst_log2(logic [3:0] word, logic [3:1] left, logic many);
    logic [2:0] by_address, by_left;
    by_address = word[0] ? 3'd0 : word[1] ? 3'd1 : word[2] ? 3'd2 : word[3] ? 3'd3 : 3'd4;
    by_left    = many ? 3'd4 : left[3] ? 3'd3 : left[2] ? 3'd2 : left[1] ? 3'd1 : 3'd0;
    return by_address < by_left ? by_address : by_left;
  endfunction

  // The bytes of a last word that has so many modulo 8.
  function automatic logic [7:0] bytes_of(logic [2:0] tail);
    return tail == 3'd0 ? 8'hff : 8'((9'd1 << tail) - 9'd1);
  endfunction

  // Reads.

  word_address_t read_at_q;
  words_t        read_left_q, take_left_q;
  logic          read_offer_q;
  logic [2:0]  read_log2_q;
  logic [2:0]  tail_q;  // bytes of the input's last word; 0: all
  logic [63:0] tail_mask;
  logic [7:0]  tail_bytes;
  logic        more, rd_taken, word_in;

  assign more     = take_left_q != '0;
  assign rd_taken = running && read_offer_q && rd_ready;
  assign word_in  = rd_data_valid && rd_data_ready;

  // What an error brings does not reach the core.
  assign in_valid_o    = running && (!more || (rd_data_valid && !rd_data_error));
  assign rd_data_ready = state_q == Drain || (running && more && (in_ready_i || rd_data_error));

  assign tail_bytes = bytes_of(tail_q);
  for (genvar i = 0; i < 8; i++) begin : gen_tail_mask
    assign tail_mask[8*i+:8] = {8{tail_bytes[i]}};
  end

  assign in_data_o = !more ? '0 : take_left_q == words_t'(1) ? rd_data & tail_mask : rd_data;

  always_ff @(posedge clk_i) begin
    if (state_q == Check) begin
      read_at_q   <= source_q[ADDR_WIDTH-1:3];
      read_left_q <= words_t'(left_q[ADDR_WIDTH-1:3]) + words_t'(left_q[2:0] != '0);
      take_left_q <= words_t'(left_q[ADDR_WIDTH-1:3]) + words_t'(left_q[2:0] != '0);
      tail_q      <= left_q[2:0];
    end else begin
      if (rd_taken) begin
        read_at_q   <= read_at_q + (word_address_t'(1) << read_log2_q);
        read_left_q <= read_left_q - (words_t'(1) << read_log2_q);
      end
      if (running && word_in) take_left_q <= take_left_q - words_t'(1);
    end
    if (!read_offer_q) begin
      read_log2_q <= burst_log2(read_at_q[3:0], read_left_q[3:1],
                                read_left_q[ADDR_WIDTH-3:4] != '0);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_offer_q <= 1'b0;
    end else begin
      read_offer_q <= running && !rd_taken && (read_offer_q || read_left_q != '0);
    end
  end

  // Writes.

  block_t     block_left_q;
  logic [2:0] block_tail_q;  // bytes of the block's last word; 0: all
  logic       first_q;       // nothing of the block was asked for yet
  logic [2:0] write_log2_q;
  // Words of the last burst that was asked for that are still to come.
  logic [4:0] pending_q;
  logic [2:0] pending_tail_q;
  logic       wr_taken, word_out, stop_here, burst_last, silent_taken;

  assign block_last = left_q <= address_t'(BLOCK_IN_BYTES);
  assign stop_here  = stop_i && first_q;
  // A burst is asked for when its first word is there, so that no bus waits for long.
  assign wr_valid   = state_q == Run && write_q == Offer && !stop_here && out_valid_i
                      && !silent_i && error_q == NoError;
  // Where there is no output the words of the burst before, if any, have gone.
  assign silent_taken = state_q == Run && write_q == Offer && !stop_here && out_valid_i
                        && silent_i && pending_q == '0 && error_q == NoError;
  assign wr_taken   = wr_valid && wr_ready;
  assign burst_last = block_left_q == block_t'(1) << write_log2_q;
  assign word_out   = wr_data_valid && wr_data_ready;

  // After an error what was asked for is brought to its end with words that change nothing.
  assign wr_data_valid = pending_q != '0 && ((running && out_valid_i) || state_q == Drain);
  assign out_ready_o   = (pending_q != '0 && running && wr_data_ready) || silent_taken;

  assign wr_strobe     = !running ? '0 : pending_q == 5'd1 ? bytes_of(pending_tail_q) : '1;

  assign tail_in_bytes_o = left_q[TailInWidth-1:0];

  always_ff @(posedge clk_i) begin
    unique case (write_q)
      Block: begin
        if (block_last && left_q != address_t'(BLOCK_IN_BYTES)) begin
          block_left_q <= block_t'(tail_out_bytes_i[TailOutWidth-1:3])
                          + block_t'(tail_out_bytes_i[2:0] != '0);
          block_tail_q <= tail_out_bytes_i[2:0];
        end else begin
          block_left_q <= block_t'(BLOCK_OUT_WORDS);
          block_tail_q <= '0;
        end
      end
      Plan: begin
        write_log2_q <= burst_log2(target_q[6:3], block_left_q[3:1],
                                   block_left_q >= block_t'(16));
      end
      Offer: begin
        if (wr_taken) begin
          block_left_q   <= block_left_q - (block_t'(1) << write_log2_q);
          pending_tail_q <= burst_last ? block_tail_q : '0;
        end
      end
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q   <= Block;
      first_q   <= 1'b0;
      pending_q <= '0;
    end else begin
      if (wr_taken) begin
        pending_q <= 5'd1 << write_log2_q;
      end else if (word_out) begin
        pending_q <= pending_q - 5'd1;
      end
      if (state_q != Run) begin
        write_q <= Block;
      end else begin
        unique case (write_q)
          Block: begin
            write_q <= Plan;
            first_q <= 1'b1;
          end
          Plan:    write_q <= Offer;
          Offer: begin
            if (wr_taken) begin
              write_q <= burst_last ? Block : Plan;
              first_q <= 1'b0;
            end else if (silent_taken) begin
              write_q <= Block;
            end
          end
        endcase
      end
    end
  end

  // The parameters, and where the frame is.

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) begin
      source_q <= src_i;
      target_q <= dst_i;
      left_q   <= length_i;
      param_q  <= param_i;
    end else if (state_q == Restore) begin
      // The word before: it is there a cycle later.
      case (context_q)
        context_t'(ContextSource) + context_t'(1): source_q <= address_t'(ctx_rdata_i);
        context_t'(ContextTarget) + context_t'(1): target_q <= address_t'(ctx_rdata_i);
        context_t'(ContextLength) + context_t'(1): left_q   <= address_t'(ctx_rdata_i);
        context_t'(ContextParam) + context_t'(1):  param_q  <= ctx_rdata_i;
        default: ;
      endcase
    end else begin
      if (wr_taken) target_q <= target_q + (address_t'(8) << write_log2_q);
      if ((wr_taken && burst_last) || silent_taken) begin
        source_q <= source_q + address_t'(BLOCK_IN_BYTES);
        left_q   <= block_last ? '0 : left_q - address_t'(BLOCK_IN_BYTES);
      end
    end
  end

  // Where input and output end, at most: it may be right behind the last address.
  typedef logic [ADDR_WIDTH:0]   in_end_t;
  typedef logic [ADDR_WIDTH+7:0] out_end_t;
  in_end_t  in_end_q;
  out_end_t out_end_q;

  always_ff @(posedge clk_i) begin
    in_end_q  <= in_end_t'(source_q) + in_end_t'(left_q);
    out_end_q <= out_end_t'(target_q) + (out_end_t'(left_q) << GROWTH_LOG2)
                 + out_end_t'(8 * BLOCK_OUT_WORDS);
  end

  always_comb begin
    if (!tag_ok_q) begin
      refusal = BadContext;
    end else if (source_q[2:0] != '0 || target_q[2:0] != '0) begin
      refusal = BadAddress;
    end else if (left_q == '0 || (left_q & address_t'(LENGTH_UNIT - 1)) != '0) begin
      refusal = BadLength;
    end else if (in_end_q > in_end_t'(1) << ADDR_WIDTH
                 || out_end_q > out_end_t'(1) << ADDR_WIDTH) begin
      refusal = OutOfRange;
    end else begin
      refusal = NoError;
    end
  end

  // Control.

  assign ended = write_q == Block && left_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= Idle;
      error_q    <= NoError;
      stopping_q <= 1'b0;
      done_q     <= 1'b0;
      stopped_q  <= 1'b0;
      tag_ok_q   <= 1'b0;
      begin_q    <= 1'b0;
      context_q  <= '0;
    end else begin
      done_q  <= 1'b0;
      begin_q <= state_q == Idle && start_i;

      if (running && word_in && rd_data_error && error_q == NoError) error_q <= ReadFailed;
      if (wr_done && wr_error && error_q == NoError) error_q <= WriteFailed;

      unique case (state_q)
        Idle: begin
          context_q  <= '0;
          stopping_q <= 1'b0;
          if (start_i || resume_i) begin
            state_q   <= start_i ? Measure : Restore;
            tag_ok_q  <= 1'b1;
            error_q   <= NoError;
            stopped_q <= 1'b0;
          end
        end
        Restore: begin
          context_q <= context_q + context_t'(1);
          if (context_q == context_t'(ContextTag) + context_t'(1)) begin
            tag_ok_q <= ctx_rdata_i == {ContextMark, TASK};
          end
          if (context_q == ContextLast + context_t'(1)) state_q <= Measure;
        end
        Measure: state_q <= Check;
        Check: begin
          context_q <= '0;
          state_q   <= refusal == NoError ? Run : Idle;
          error_q   <= refusal;
          done_q    <= refusal != NoError;
        end
        Run: begin
          if (error_q != NoError) begin
            state_q <= Drain;
          end else if (ended) begin
            state_q <= Flush;
          end else if (write_q == Offer && stop_here) begin
            state_q    <= Flush;
            stopping_q <= 1'b1;
          end
        end
        Flush: begin
          if (error_q != NoError || pending_q == '0) state_q <= Drain;
        end
        Drain: begin
          if (!master_busy && pending_q == '0) begin
            state_q <= stopping_q && error_q == NoError ? Save : Idle;
            done_q  <= !stopping_q || error_q != NoError;
          end
        end
        Save: begin
          context_q <= context_q + context_t'(1);
          if (context_q == ContextLast) begin
            state_q   <= Idle;
            stopped_q <= 1'b1;
          end
        end
      endcase
    end
  end

  assign busy_o       = state_q != Idle;
  assign done_o       = done_q;
  assign stopped_o    = stopped_q;
  assign error_o      = error_q;
  assign core_clear_o = !running;
  assign core_param_o = param_q;
  assign core_left_o  = left_q;
  assign core_begin_o = begin_q;
  assign core_state_o = ctx_rdata_i;

  // Behind the parameters. What is read comes a cycle later.
  if (STATE_WORDS == 0) begin : gen_no_state
    assign core_restore_o = 1'b0;
    assign core_word_o    = '0;
  end else begin : gen_state
    assign core_restore_o = state_q == Restore
                            && context_q > context_t'(ContextParam) + context_t'(1);
    assign core_word_o    = 7'(context_q - context_t'(ContextParam)
                               - (state_q == Restore ? context_t'(2) : context_t'(1)));
  end

  assign ctx_we_o   = state_q == Save;
  assign ctx_addr_o = 8'(context_q);

  always_comb begin
    case (context_q)
      context_t'(ContextTag):    ctx_wdata_o = {ContextMark, TASK};
      context_t'(ContextSource): ctx_wdata_o = 32'(source_q);
      context_t'(ContextTarget): ctx_wdata_o = 32'(target_q);
      context_t'(ContextLength): ctx_wdata_o = 32'(left_q);
      context_t'(ContextParam):  ctx_wdata_o = param_q;
      // The same for a task without a state, whose context ends there.
      default:                   ctx_wdata_o = STATE_WORDS == 0 ? param_q : core_state_i;
    endcase
  end

  axi_master #(
    .ADDR_WIDTH(ADDR_WIDTH), .DATA_WIDTH(64), .LOG2_WORDS_WIDTH(3),
    .READS_MAX(4), .WRITES_MAX(WRITES_MAX), .COHERENT(1'b1)
  ) u_master (
    .clk_i, .rst_ni,
    .rd_valid_i(running && read_offer_q), .rd_ready_o(rd_ready), .rd_addr_i({read_at_q, 3'd0}),
    .rd_log2_words_i(read_log2_q),
    .rd_data_valid_o(rd_data_valid), .rd_data_ready_i(rd_data_ready), .rd_data_o(rd_data),
    .rd_data_last_o(rd_data_last), .rd_data_error_o(rd_data_error),
    .wr_valid_i(wr_valid), .wr_ready_o(wr_ready), .wr_addr_i(target_q),
    .wr_log2_words_i(write_log2_q),
    .wr_data_valid_i(wr_data_valid), .wr_data_ready_o(wr_data_ready), .wr_data_i(out_data_i),
    .wr_strobe_i(wr_strobe), .wr_done_o(wr_done), .wr_error_o(wr_error),
    .busy_o(master_busy),
    .m_axi_awvalid, .m_axi_awready, .m_axi_awaddr, .m_axi_awlen, .m_axi_awsize, .m_axi_awburst,
    .m_axi_awcache, .m_axi_awprot,
    .m_axi_wvalid, .m_axi_wready, .m_axi_wdata, .m_axi_wstrb, .m_axi_wlast,
    .m_axi_bvalid, .m_axi_bready, .m_axi_bresp,
    .m_axi_arvalid, .m_axi_arready, .m_axi_araddr, .m_axi_arlen, .m_axi_arsize, .m_axi_arburst,
    .m_axi_arcache, .m_axi_arprot,
    .m_axi_rvalid, .m_axi_rready, .m_axi_rdata, .m_axi_rresp, .m_axi_rlast
  );

  // Words are counted here.
  logic unused_last;
  assign unused_last = rd_data_last;

endmodule
