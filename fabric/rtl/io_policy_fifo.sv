// First in, first out. Those that ask are queued, one a cycle: all that ask and are not queued make
// a batch, of which the lowest number is queued first, and the next batch is made when all of it is
// queued. So what asks first goes first, but that those who begin to ask within PORTS cycles go in
// the order of their numbers. Who has had a turn since the last batch is not in the next: so while
// a port waits, each other port has at most one turn.
module io_policy_fifo #(
  parameter int unsigned PORTS = 2
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  // This policy's choices count; while they do not, there is no queue.
  input  logic             enable_i,
  // Who asks: a level, until its turn.
  input  logic [PORTS-1:0] request_i,
  // Whose turn begins; one bit or none.
  input  logic [PORTS-1:0] granted_i,
  // The next port: one that asks, or none.
  output logic [PORTS-1:0] choice_o
);

  localparam int unsigned IndexWidth = PORTS > 1 ? unsigned'($clog2(PORTS)) : 1;

  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [IndexWidth:0]   count_t;

  logic [PORTS-1:0] batch_q;   // asks, and is to be queued
  logic [PORTS-1:0] queued_q;  // is
  logic [PORTS-1:0] recent_q;  // has had a turn since the batch was made
  index_t           queue [2 ** IndexWidth];
  index_t           first_q;
  count_t           count_q;
  logic [PORTS-1:0] arrival;
  index_t           arrival_number;
  logic             taken, batch_over;

  assign arrival    = batch_q & (~batch_q + 1'b1);
  assign batch_over = (batch_q & ~arrival) == '0;
  assign taken      = (granted_i & queued_q) != '0;
  assign choice_o   = count_q == '0 ? '0 : PORTS'(1) << queue[first_q];

  always_comb begin
    arrival_number = '0;
    for (int unsigned i = 0; i < PORTS; i++) begin
      if (arrival[i]) arrival_number |= index_t'(i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (batch_q != '0) queue[first_q + index_t'(count_q)] <= arrival_number;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      batch_q  <= '0;
      queued_q <= '0;
      recent_q <= '0;
      first_q  <= '0;
      count_q  <= '0;
    end else if (!enable_i) begin
      batch_q  <= '0;
      queued_q <= '0;
      recent_q <= '0;
      first_q  <= '0;
      count_q  <= '0;
    end else begin
      // Whose turn begins does not ask for another yet.
      batch_q  <= batch_over ? request_i & ~queued_q & ~arrival & ~recent_q & ~granted_i
                             : batch_q & ~arrival;
      recent_q <= batch_over ? granted_i : recent_q | granted_i;
      queued_q <= (queued_q | arrival) & ~granted_i;
      first_q  <= first_q + index_t'(taken);
      count_q  <= count_q + count_t'(batch_q != '0) - count_t'(taken);
    end
  end

endmodule
