// The region allocator's answers, on their way to coherent memory: a doubleword for each interface,
// in the line of 64 bytes at line_i. The lowest byte is software's and is never written.
//
// As with ready_queue_memory one write is under way at a time, and what is answered meanwhile is
// written after it: memory never gets an older answer after a newer one. Of an interface only the
// newest answer is kept. Interfaces take turns, so that each is written after one of each other.
module allocation_answers #(
  parameter int unsigned INTERFACES = 8,
  localparam int unsigned Bits = unsigned'($clog2(INTERFACES))
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  logic [39:6]         line_i,

  // For a cycle: an answer, and whether one to the same request came before it.
  input  logic                valid_i,
  input  logic [Bits-1:0]     client_i,
  input  logic                later_i,
  input  region_pkg::answer_t answer_i,

  output logic [INTERFACES-1:0] due_o,
  output logic                busy_o,

  // Events: an answer is in memory; memory gave an error.
  output logic                first_o,
  output logic                later_o,
  output logic                error_o,

  // To axi_master, a word of 64 bits at a time.
  output logic                wr_valid_o,
  input  logic                wr_ready_i,
  output logic [39:0]         wr_addr_o,
  output logic                wr_data_valid_o,
  input  logic                wr_data_ready_i,
  output logic [63:0]         wr_data_o,
  output logic [7:0]          wr_strobe_o,
  input  logic                wr_done_i,
  input  logic                wr_error_i
);

  typedef enum logic [2:0] {
    Rest   = 3'd0,
    Fetch  = 3'd1,  // whose turn it is, is known
    Write  = 3'd2,  // a write is offered
    Word   = 3'd3,  // its word is
    Finish = 3'd4   // its end is awaited
  } state_e;

  localparam int unsigned Width = unsigned'($bits(region_pkg::answer_t));

  state_e                state_q;
  logic [INTERFACES-1:0] due_q;
  logic [Bits-1:0]       next, last_q;
  logic                  fetches, written_later_q;
  logic [Width:0]        answers [INTERFACES];

  assign fetches = state_q == Fetch;

  // The first one behind the last. One that is due stays so.
  always_comb begin
    next = last_q;
    for (int unsigned i = INTERFACES; i > 0; i--) begin
      if (due_q[i-1]) next = Bits'(i - 1);
    end
    for (int unsigned i = INTERFACES; i > 0; i--) begin
      if (due_q[i-1] && i - 1 > 32'(last_q)) next = Bits'(i - 1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) answers[client_i] <= {later_i, answer_i};
  end

  logic                written_later;
  region_pkg::answer_t written;

  assign {written_later, written} = answers[last_q];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Rest;
      due_q   <= '0;
      last_q  <= '0;
    end else begin
      for (int unsigned i = 0; i < INTERFACES; i++) begin
        due_q[i] <= (valid_i && client_i == Bits'(i))
                    || (due_q[i] && !(fetches && last_q == Bits'(i)));
      end
      if (state_q == Rest) last_q <= next;
      case (state_q)
        Rest:   if (due_q != '0) state_q <= Fetch;
        Fetch:  state_q <= Write;
        Write:  if (wr_ready_i) state_q <= Word;
        Word:   if (wr_data_ready_i) state_q <= Finish;
        Finish: if (wr_done_i) state_q <= Rest;
        default: state_q <= Rest;
      endcase
    end
  end

  // Of its answer, the address as it is then.
  always_ff @(posedge clk_i) begin
    if (fetches) begin
      written_later_q <= written_later;
      wr_data_o       <= {written, 8'd0};
      wr_addr_o       <= {line_i, 6'(last_q) << 3};
    end
  end

  assign wr_valid_o      = state_q == Write;
  assign wr_data_valid_o = state_q == Word;
  assign wr_strobe_o     = 8'hfe;
  assign due_o           = due_q;
  assign busy_o          = state_q != Rest || due_q != '0;
  assign first_o         = state_q == Finish && wr_done_i && !wr_error_i && !written_later_q;
  assign later_o         = state_q == Finish && wr_done_i && !wr_error_i && written_later_q;
  assign error_o         = state_q == Finish && wr_done_i && wr_error_i;

endmodule
