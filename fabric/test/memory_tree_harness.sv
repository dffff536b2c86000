// Memory trees of all sizes, with requesters that want as much as they can get and a root that is
// taken as late as it may be. For each requester the longest that an access waited to be taken, and
// that it took to the root, is measured.
module memory_tree_harness
  import memory_tree_pkg::*;
#(
  parameter int unsigned BLOCKED_MAX = 1,
  localparam int unsigned Sizes      = 6,
  localparam int unsigned Most       = 64
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The root is taken each so many cycles.
  input  logic [7:0]  interval_i,
  // How often a requester has something new to ask for: of 256 cycles. 255: always.
  input  logic [7:0]  load_i,
  // The longest times are measured again.
  input  logic        forget_i,

  // What is looked at: a tree by the logarithm of its size, less 1, and one of its requesters.
  input  logic [2:0]  size_i,
  input  logic [5:0]  number_i,
  output logic [31:0] wait_max_o,
  output logic [31:0] total_max_o,
  output logic [31:0] taken_o,
  output logic [31:0] arrived_o,
  // Something came to a root that should not have: lost, twice, or out of order.
  output logic        wrong_o
);

  typedef logic [31:0] figure_t;

  figure_t [Sizes-1:0][Most-1:0] wait_max_all, total_max_all, taken_all, arrived_all;
  logic [Sizes-1:0]              wrong;
  logic [31:0]                   now_q;

  assign wait_max_o  = wait_max_all[size_i][number_i];
  assign total_max_o = total_max_all[size_i][number_i];
  assign taken_o     = taken_all[size_i][number_i];
  assign arrived_o   = arrived_all[size_i][number_i];
  assign wrong_o     = wrong != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) now_q <= '0;
    else now_q <= now_q + 1'b1;
  end

  for (genvar s = 0; s < Sizes; s++) begin : gen_size
    localparam int unsigned Log2 = s + 1;
    localparam int unsigned N    = 2 ** Log2;

    logic [N-1:0]      valid, ready, unused_reply_valid;
    access_t [N-1:0]   request;
    access_t           at_root;
    reply_t            unused_reply;
    logic [Log2-1:0]   number;
    logic              root_valid, root_ready;
    logic [7:0]        root_wait_q;
    logic              wrong_q;
    figure_t [N-1:0]   wait_q, wait_max_q, total_max_q, taken_q, arrived_q, offered_q;
    logic [N-1:0]      valid_q;
    logic [N-1:0][7:0] random_q;

    memory_tree #(.LOG2_REQUESTERS(Log2), .BLOCKED_MAX(BLOCKED_MAX)) dut (
      .clk_i, .rst_ni, .valid_i(valid), .ready_o(ready), .access_i(request),
      .reply_valid_o(unused_reply_valid), .reply_o(unused_reply),
      .root_valid_o(root_valid), .root_ready_i(root_ready), .root_access_o(at_root),
      .root_number_o(number), .root_reply_valid_i(1'b0), .root_reply_number_i('0),
      .root_reply_i('0)
    );

    // What came says how many its requester had been given before it, and when it was offered.
    logic unused_at_root;
    assign unused_at_root = ^{at_root.write, at_root.log2_words, at_root.strobe};

    // As late as it may be.
    assign root_ready = root_valid && root_wait_q == interval_i - 8'd1;
    assign valid      = valid_q;

    for (genvar i = 0; i < Most; i++) begin : gen_requester
      if (i < N) begin : gen_there
        assign request[i]   = '{write: 1'b1, log2_words: '0, addr: offered_q[i],
                                data: {32'(i), taken_q[i]}, strobe: '1};
        assign wait_max_all[s][i]  = wait_max_q[i];
        assign total_max_all[s][i] = total_max_q[i];
        assign taken_all[s][i]     = taken_q[i];
        assign arrived_all[s][i]   = arrived_q[i];
      end else begin : gen_none
        assign wait_max_all[s][i]  = '0;
        assign total_max_all[s][i] = '0;
        assign taken_all[s][i]     = '0;
        assign arrived_all[s][i]   = '0;
      end
    end
    assign wrong[s] = wrong_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        root_wait_q <= '0;
        wrong_q     <= 1'b0;
        wait_q      <= '0;
        wait_max_q  <= '0;
        total_max_q <= '0;
        taken_q     <= '0;
        arrived_q   <= '0;
        offered_q   <= '0;
        valid_q     <= '0;
        for (int unsigned i = 0; i < N; i++) random_q[i] <= 8'(3 * i + 1);
      end else begin
        root_wait_q <= root_valid && !root_ready ? root_wait_q + 8'd1 : '0;
        for (int unsigned i = 0; i < N; i++) begin
          // A shift register with linear feedback (taps 8, 6, 5, 4).
          random_q[i] <= {random_q[i][6:0], ^(random_q[i] & 8'hb8)};
          if (valid[i] && !ready[i]) begin
            wait_q[i] <= wait_q[i] + 1;
          end else begin
            wait_q[i]    <= '0;
            valid_q[i]   <= load_i == '1 || random_q[i] < load_i;
            offered_q[i] <= now_q + 1;
          end
          // In cycles, that of the taking among them.
          if (valid[i] && ready[i]) begin
            taken_q[i] <= taken_q[i] + 1;
            if (wait_q[i] + 1 > wait_max_q[i]) wait_max_q[i] <= wait_q[i] + 1;
          end
        end
        if (root_valid && root_ready) begin
          arrived_q[number] <= arrived_q[number] + 1;
          if (at_root.data != {32'(number), arrived_q[number]}) wrong_q <= 1'b1;
          if (now_q + 1 - at_root.addr > total_max_q[number]) begin
            total_max_q[number] <= now_q + 1 - at_root.addr;
          end
        end
        if (forget_i) {wait_max_q, total_max_q} <= '0;
      end
    end
  end

endmodule
