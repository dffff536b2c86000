// Keeps a doubleword of memory what it should be: with a coherent port, its reader finds the answer
// in its cache. It writes when it is enabled and whenever changed_i says that data_i differs in the
// next cycle; what changes while a write is under way is written after it. One write is under way
// at a time, so the memory never gets an older value after a newer one.
//
// An error of the memory stops it, until it is disabled.
module ready_queue_mirror (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        enable_i,
  input  logic [31:3] address_i,   // kept while enabled
  input  logic [63:0] data_i,
  input  logic        changed_i,
  output logic        error_o,

  // To axi_master.
  output logic        wr_valid_o,
  input  logic        wr_ready_i,
  output logic [31:0] wr_addr_o,
  output logic        wr_data_valid_o,
  input  logic        wr_data_ready_i,
  output logic [63:0] wr_data_o,
  input  logic        wr_done_i,
  input  logic        wr_error_i
);

  typedef enum logic [1:0] {Idle, Command, Data, Wait} state_e;

  state_e      state_q;
  logic        due_q;  // the memory may differ from data_i
  logic        enabled_q, begins;
  logic [31:3] address_q;

  assign begins          = enable_i && !error_o && due_q && state_q == Idle;
  assign wr_valid_o      = state_q == Command;
  assign wr_addr_o       = {address_q, 3'b000};
  assign wr_data_valid_o = state_q == Data;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= Idle;
      due_q     <= 1'b0;
      enabled_q <= 1'b0;
      error_o   <= 1'b0;
    end else begin
      enabled_q <= enable_i;
      due_q     <= (due_q && !begins) || changed_i || (enable_i && !enabled_q);
      error_o   <= enable_i && (error_o || (state_q == Wait && wr_done_i && wr_error_i));
      unique case (state_q)
        Idle:    if (begins) state_q <= Command;
        Command: if (wr_ready_i) state_q <= Data;
        Data:    if (wr_data_ready_i) state_q <= Wait;
        Wait:    if (wr_done_i) state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (begins) begin
      address_q <= address_i;
      wr_data_o <= data_i;
    end
  end

endmodule
