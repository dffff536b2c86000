// Where in memory a burst of a hardware task goes, and whether it may.
//
// A task's addresses begin at 0, as its VM's memory does for it. The window is that memory: whole
// pages of 4 KiB, PAGES_I of them from BASE_I on. A legal burst does not cross 4 KiB (ARM IHI
// 0022E, A3.4.1), and so lies within one page: it is inside where that page is. An empty window has
// nothing inside, and so has a window whose page would lie beyond the last address there is.
module dma_window #(
  parameter int unsigned TASK_ADDR_WIDTH = 32,
  parameter int unsigned ADDR_WIDTH      = 40,
  parameter int unsigned DATA_WIDTH      = 64,
  parameter int unsigned BEATS_MAX       = 16,
  localparam int unsigned TASK_PAGE_WIDTH = TASK_ADDR_WIDTH - 12,
  localparam int unsigned PAGE_WIDTH      = ADDR_WIDTH - 12
) (
  input  logic [PAGE_WIDTH-1:0]      base_i,
  input  logic [TASK_PAGE_WIDTH:0]   pages_i,

  input  logic [TASK_ADDR_WIDTH-1:0] addr_i,
  input  logic [7:0]                 len_i,
  input  logic [2:0]                 size_i,
  input  logic [1:0]                 burst_i,

  // The burst increments, its words are whole and aligned, at most BEATS_MAX, within 4 KiB.
  output logic                       legal_o,
  output logic                       inside_o,
  output logic [ADDR_WIDTH-1:0]      addr_o
);

  localparam int unsigned WordBits = unsigned'($clog2(DATA_WIDTH / 8));

  localparam logic [1:0] Increment = 2'b01;

  logic [TASK_PAGE_WIDTH-1:0] task_page;
  logic [12-WordBits:0]       word_end;
  logic [PAGE_WIDTH:0]        page;

  assign task_page = addr_i[TASK_ADDR_WIDTH-1:12];
  assign word_end  = (13-WordBits)'(addr_i[11:WordBits]) + (13-WordBits)'(len_i);
  assign legal_o   = burst_i == Increment && size_i == 3'(WordBits) && addr_i[WordBits-1:0] == '0
                     && len_i < 8'(BEATS_MAX) && !word_end[12-WordBits];

  assign page     = (PAGE_WIDTH+1)'(base_i) + (PAGE_WIDTH+1)'(task_page);
  assign inside_o = (TASK_PAGE_WIDTH+1)'(task_page) < pages_i && !page[PAGE_WIDTH];
  assign addr_o   = {page[PAGE_WIDTH-1:0], addr_i[11:0]};

endmodule
