// A task that is hostile, or broken: for tests of what has to contain it.
//
// It is loaded from a bitstream as any other. Its parameter says what it does, from its start on:
// * Endless: nothing, and it never ends.
// * Outside: it writes 4 words, and reads as many, at its target and at each 4 KiB behind it, 16
//   times; then it is done.
// * Silent: it asks for all reads that it is let and takes no word of them; it begins a write of 16
//   words, sends 3, and takes no answer. It never ends.
// * Wild: all of its side of the bus changes at random in every cycle, at addresses from its target
//   to 8 KiB behind it, half of the time as the rules for bursts have it; so does what it writes to
//   its context. It never ends.
// None of them stops when it is told to.
module accelerators_hostile (
  input  logic                   clk_i,
  input  region_pkg::to_task_t   to_task_i,
  output region_pkg::from_task_t from_task_o
);

  typedef enum logic [1:0] {
    Endless = 2'd0,
    Outside = 2'd1,
    Silent  = 2'd2,
    Wild    = 2'd3
  } way_e;

  typedef enum logic [2:0] {
    Rest,
    AskWrite,
    Write,
    Answer,
    AskRead,
    Read
  } step_e;

  localparam logic [3:0]  LastBurst = 4'd15;
  localparam logic [1:0]  LastWord  = 2'd3;
  localparam logic [31:0] Page      = 32'h1000;
  // Of a write of 16.
  localparam logic [1:0]  Sent      = 2'd3;

  way_e        way_q;
  step_e       step_q;
  logic        started_q, done_q;
  logic [31:0] target_q;
  logic [3:0]  burst_q;
  logic [1:0]  word_q;

  // xorshift, 64 bits (Marsaglia 2003), in as many places as it takes.
  localparam int unsigned Width = $bits(region_pkg::from_task_t);
  localparam int unsigned Words = (Width + 63) / 64;

  logic [Words-1:0][63:0] random_q;
  region_pkg::from_task_t wild;

  function automatic logic [63:0] xorshift(logic [63:0] x);
    logic [63:0] y;
    y = x ^ (x << 13);
    y = y ^ (y >> 7);
    return y ^ (y << 17);
  endfunction

  always_ff @(posedge clk_i or negedge to_task_i.rst_n) begin
    if (!to_task_i.rst_n) begin
      way_q     <= Endless;
      step_q    <= Rest;
      started_q <= 1'b0;
      done_q    <= 1'b0;
      target_q  <= '0;
      burst_q   <= '0;
      word_q    <= '0;
      for (int unsigned i = 0; i < Words; i++) begin
        random_q[i] <= (64'(i) + 64'd1) * 64'h9e37_79b9_7f4a_7c15;
      end
    end else begin
      done_q <= 1'b0;
      if (to_task_i.start || to_task_i.resume) begin
        way_q     <= way_e'(to_task_i.param[1:0]);
        step_q    <= AskWrite;
        started_q <= 1'b1;
        target_q  <= to_task_i.dst;
        burst_q   <= '0;
        word_q    <= '0;
      end else if (started_q) begin
        for (int unsigned i = 0; i < Words; i++) random_q[i] <= xorshift(random_q[i]);
        if (way_q == Silent && from_task_o.wvalid && to_task_i.wready) word_q <= word_q + 1'b1;
        if (way_q == Outside) begin
          case (step_q)
            AskWrite: if (to_task_i.awready) step_q <= Write;
            Write: begin
              if (to_task_i.wready) begin
                word_q <= word_q + 1'b1;
                if (word_q == LastWord) step_q <= Answer;
              end
            end
            Answer:  if (to_task_i.bvalid) step_q <= AskRead;
            AskRead: if (to_task_i.arready) step_q <= Read;
            Read: begin
              if (to_task_i.rvalid && to_task_i.rlast) begin
                step_q    <= burst_q == LastBurst ? Rest : AskWrite;
                started_q <= burst_q != LastBurst;
                done_q    <= burst_q == LastBurst;
                burst_q   <= burst_q + 1'b1;
                target_q  <= target_q + Page;
              end
            end
            Rest:    step_q <= AskWrite;
            default: step_q <= Rest;
          endcase
        end
      end
    end
  end

  always_comb begin
    wild         = Width'(random_q);
    wild.awaddr  = target_q + 32'(wild.awaddr[12:0]);
    wild.araddr  = target_q + 32'(wild.araddr[12:0]);
    if (random_q[0][0]) begin
      wild.awaddr[2:0] = '0;
      wild.araddr[2:0] = '0;
      wild.awlen       = wild.awlen & 8'h0f;
      wild.arlen       = wild.arlen & 8'h0f;
      wild.awsize      = 3'd3;
      wild.arsize      = 3'd3;
      wild.awburst     = 2'b01;
      wild.arburst     = 2'b01;
    end
    wild.done    = 1'b0;
    wild.stopped = 1'b0;
  end

  always_comb begin
    from_task_o         = '0;
    from_task_o.done    = done_q;
    from_task_o.awaddr  = target_q;
    from_task_o.araddr  = target_q;
    from_task_o.awsize  = 3'd3;
    from_task_o.arsize  = 3'd3;
    from_task_o.awburst = 2'b01;
    from_task_o.arburst = 2'b01;
    from_task_o.wdata   = '1;
    from_task_o.wstrb   = '1;
    if (started_q) begin
      case (way_q)
        Outside: begin
          from_task_o.awvalid = step_q == AskWrite;
          from_task_o.awlen   = 8'(LastWord);
          from_task_o.wvalid  = step_q == Write;
          from_task_o.wlast   = word_q == LastWord;
          from_task_o.bready  = step_q == Answer;
          from_task_o.arvalid = step_q == AskRead;
          from_task_o.arlen   = 8'(LastWord);
          from_task_o.rready  = step_q == Read;
        end
        Silent: begin
          from_task_o.awvalid = 1'b1;
          from_task_o.awlen   = 8'd15;
          from_task_o.wvalid  = word_q != Sent;
          from_task_o.arvalid = 1'b1;
          from_task_o.arlen   = 8'd15;
        end
        Wild:    from_task_o = wild;
        Endless: from_task_o.done = 1'b0;
        default: from_task_o = '0;
      endcase
    end
  end

  logic unused;
  assign unused = ^{to_task_i.stop, to_task_i.src, to_task_i.length, to_task_i.param,
                    to_task_i.ctx_rdata, to_task_i.bresp, to_task_i.rdata, to_task_i.rresp};

endmodule
