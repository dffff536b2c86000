// At the widths that the fabric has: what is let through lies wholly within the window, at the
// task's address from its beginning, and breaks no rule of bursts; and whatever does so is let
// through.
module dma_window_formal (
  input logic        clk_i,
  input logic [27:0] base,
  input logic [20:0] pages,
  input logic [31:0] addr,
  input logic [7:0]  len,
  input logic [2:0]  size,
  input logic [1:0]  burst
);

  logic        legal, in_window, passed;
  logic [39:0] out;

  dma_window dut (
    .base_i(base), .pages_i(pages), .addr_i(addr), .len_i(len), .size_i(size), .burst_i(burst),
    .legal_o(legal), .inside_o(in_window), .addr_o(out)
  );

  // First and past the last byte, for the task and in memory, too wide to wrap.
  logic [43:0] task_end, first, past, window_first, window_past;

  assign task_end     = 44'(addr) + {33'(len) + 33'd1, 3'b000};
  assign first        = 44'(out);
  assign past         = first + {33'(len) + 33'd1, 3'b000};
  assign window_first = {4'b0, base, 12'b0};
  assign window_past  = window_first + {11'b0, pages, 12'b0};
  assign passed       = legal && in_window;

  always_ff @(posedge clk_i) begin
    if (passed) begin
      from_window: assert (first >= window_first);
      to_window: assert (past <= window_past);
      translated: assert (first == window_first + 44'(addr));
      in_page: assert (out[39:12] == 28'((past - 44'd1) >> 12));
      words_whole: assert (size == 3'd3 && burst == 2'b01 && out[2:0] == '0 && len < 8'd16);
    end
    // Nothing is refused without a reason.
    if (size == 3'd3 && burst == 2'b01 && addr[2:0] == '0 && len < 8'd16
        && addr[31:12] == 20'((task_end - 44'd1) >> 12)) begin
      legal_passed: assert (legal);
      if (task_end <= {11'b0, pages, 12'b0} && window_past <= 44'h100_0000_0000) begin
        inside_passed: assert (in_window);
      end
    end
    last_word: cover (passed && past == window_past && len == 8'd15);
    outside: cover (legal && !in_window && pages != '0);
  end

endmodule
