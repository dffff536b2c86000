// Prepares a region for an interface and connects it, for the region allocator.
//
// The region is this block's from begin_i on (owned), and then the device manager's page commands
// nothing. It is taken from its client, who is told to stop where it computes, and is killed where
// it goes on for longer than the limit; it is configured, where it is not loaded with the task; and
// connected, as soon as memory owes nothing to the one before. What cannot be done is answered
// with `AskManager` and a reason; a region that was taken by then is released, when it is drained.
//
// Until it is connected, another interface may take its place (replace_i).
module region_allocation #(
  parameter logic [3:0] REGION = 4'd0
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        begin_i,
  input  logic        replace_i,
  input  region_pkg::target_t target_i,
  // A further request of the same interface, which has been answered: its tag.
  input  logic        retag_i,

  // What the device manager's table says.
  input  logic [7:0]  bitstreams_i,  // by task, for this region
  input  logic [7:0]  routines_i,    // by task
  input  logic [19:0] limit_i,

  // The region.
  input  region_pkg::state_e state_i,
  input  logic [7:0]  loaded_i,
  input  logic [7:0]  priority_i,
  input  logic        connected_i,
  input  logic [3:0]  client_i,
  input  logic        drained_i,
  output region_pkg::from_allocator_t command_o,
  // The interface that was connected is to go on with what it has not finished.
  output logic        resume_o,

  // The configuration port: load_o stands until load_begins_i, or until it is not needed.
  output logic        load_o,
  input  logic        load_begins_i,
  input  logic        load_over_i,
  input  logic [3:0]  load_error_i,

  // Answers, one when there is a wait, and the last one. tell_o stands until told_i.
  output logic        tell_o,
  input  logic        told_i,
  output region_pkg::answer_t answer_o,
  // The first answer has been given.
  output logic        told_o,

  // The region is prepared for target_o; and another interface may take its place.
  output logic        targeted_o,
  output logic        replaceable_o,
  output region_pkg::target_t target_o
);

  import region_pkg::*;

  typedef enum logic [3:0] {
    Free    = 4'd0,
    Begin   = 4'd1,  // the region is looked at, and taken
    Vacate  = 4'd2,  // its client is on the way out
    Prepare = 4'd3,  // it is in Switch: to be configured, drained, connected
    Queue   = 4'd4,  // it waits for the configuration port
    Load    = 4'd5,  // the port has it
    Check   = 4'd6,  // whether it was connected
    Resume  = 4'd7,  // its interface knows
    Tell    = 4'd8,  // the last answer is due
    Return  = 4'd9   // it is in Switch, and released when drained
  } step_e;

  step_e       step_d, step_q;
  target_t     target_q;
  // The region has been commanded: if it is in Switch, then by that.
  logic        mine_q;
  logic        told_q, displaces_q, fails, waits, fits, evictable, expired;
  logic [3:0]  displaced_q, error_q;
  reason_e     reason, reason_q;
  logic [19:0] left_q;

  assign fits      = loaded_i == 8'(target_q.number);
  assign evictable = limit_i != '0 && priority_i < target_q.prio && !routines_i[loaded_i[2:0]];
  assign expired   = left_q == '0;

  always_comb begin
    step_d    = step_q;
    command_o = '{owned: step_q != Free, client: target_q.client, prio: target_q.prio,
                  hold: target_q.hold, default: '0};
    resume_o  = 1'b0;
    fails     = 1'b0;
    waits     = 1'b0;
    reason    = Changed;

    case (step_q)
      Free: if (begin_i) step_d = Begin;

      // In Begin, the client or the manager may have changed the region in the last cycle.
      Begin, Vacate: begin
        if (state_i == Idle) begin
          command_o.take = 1'b1;
          step_d         = Vacate;
        end else if (state_i == Busy && evictable) begin
          command_o.preempt = 1'b1;
          step_d            = Vacate;
        end else if (step_q == Vacate && state_i == Preempt) begin
          waits          = 1'b1;
          command_o.kill = expired;
        end else if (step_q == Vacate && state_i == Switch) begin
          step_d = Prepare;
        end else begin
          fails = 1'b1;
        end
      end

      Prepare: begin
        waits = fits && !drained_i;
        if (replace_i) begin
          step_d = Prepare;
        end else if (!fits && !bitstreams_i[target_q.number]) begin
          fails  = 1'b1;
          reason = NoBitstream;
        end else if (!fits) begin
          step_d = Queue;
        end else if (drained_i) begin
          command_o.connect = 1'b1;
          step_d            = Check;
        end else if (expired) begin
          fails  = 1'b1;
          reason = Undrained;
        end
      end

      Queue: begin
        waits = 1'b1;
        if (load_begins_i) step_d = Load;
        // Another interface, which needs what is loaded, has taken the place.
        else if (fits) step_d = Prepare;
      end

      Load: begin
        waits = 1'b1;
        if (load_over_i && load_error_i == '0) begin
          step_d = Prepare;
        end else if (load_over_i) begin
          // It is Idle, and empty.
          fails  = 1'b1;
          reason = BadBitstream;
        end
      end

      Check: begin
        if (connected_i && client_i == target_q.client) begin
          step_d = Resume;
        end else begin
          fails  = 1'b1;
          reason = Elsewhere;
        end
      end

      Resume: begin
        resume_o = 1'b1;
        step_d   = Tell;
      end

      Tell: if (told_i) step_d = mine_q && state_i == Switch ? Return : Free;

      Return: begin
        if (drained_i) begin
          command_o.release_region = 1'b1;
          step_d                   = Free;
        end
      end

      default: step_d = Free;
    endcase

    if (fails) step_d = Tell;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q      <= Free;
      mine_q      <= 1'b0;
      told_q      <= 1'b0;
      displaces_q <= 1'b0;
      displaced_q <= '0;
      reason_q    <= NoReason;
      error_q     <= '0;
      left_q      <= '0;
      target_q    <= '0;
    end else begin
      step_q  <= step_d;
      mine_q  <= step_d != Free && (mine_q || step_d == Vacate);
      if (begin_i || replace_i) begin
        target_q <= target_i;
        told_q   <= 1'b0;
      end else begin
        if (retag_i) target_q.tag <= target_i.tag;
        told_q <= told_q || retag_i || (told_i && step_q != Tell);
      end
      if (begin_i) begin
        displaces_q <= 1'b0;
        reason_q    <= NoReason;
        error_q     <= '0;
      end
      if (step_q == Begin && step_d == Vacate) begin
        displaces_q <= connected_i;
        displaced_q <= client_i;
      end
      if (fails) begin
        reason_q <= reason;
        // Its client has kept it.
        if (reason == Changed) displaces_q <= 1'b0;
        if (step_q == Load) error_q <= load_error_i;
      end
      // While it waits for a task that is to stop, or for memory.
      if (!waits || !(step_q inside {Vacate, Prepare})) begin
        left_q <= limit_i;
      end else if (!expired) begin
        left_q <= left_q - 1'b1;
      end
    end
  end

  assign load_o        = step_q == Queue;
  assign tell_o        = step_q == Tell || (waits && !told_q);
  assign told_o        = told_q;
  assign targeted_o    = step_q != Free && step_q != Return;
  assign replaceable_o = (step_q == Vacate && state_i == Preempt)
                         || step_q inside {Prepare, Queue, Load};
  assign target_o      = target_q;

  always_comb begin
    answer_o           = '0;
    answer_o.tag       = target_q.tag;
    answer_o.region    = REGION;
    answer_o.displaces = displaces_q;
    answer_o.displaced = displaces_q ? displaced_q : '0;
    answer_o.last      = step_q == Tell;
    answer_o.outcome   = step_q != Tell ? Preparing
                         : reason_q == NoReason && connected_i ? Connected : AskManager;
    // A task that stopped unasked, as soon as it began.
    answer_o.reason    = step_q == Tell && reason_q == NoReason && !connected_i ? Changed
                                                                                : reason_q;
    answer_o.error     = error_q;
  end

endmodule
