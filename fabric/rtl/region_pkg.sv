// Regions, and what goes over the boundary between a region and the logic around it.
package region_pkg;

  typedef enum logic [2:0] {
    Idle     = 3'd0,
    Busy     = 3'd1,
    Preempt  = 3'd2,
    Switch   = 3'd3,
    Reconfig = 3'd4,
    Hold     = 3'd5
  } state_e;

  // What a hardware task drives: docs/src/reference/hardware-tasks.md has the ports.
  typedef struct packed {
    logic        done;
    logic        stopped;
    logic [3:0]  error;
    logic        ctx_we;
    logic [7:0]  ctx_addr;
    logic [31:0] ctx_wdata;
    logic        awvalid;
    logic [31:0] awaddr;
    logic [7:0]  awlen;
    logic [2:0]  awsize;
    logic [1:0]  awburst;
    logic        wvalid;
    logic [63:0] wdata;
    logic [7:0]  wstrb;
    logic        wlast;
    logic        bready;
    logic        arvalid;
    logic [31:0] araddr;
    logic [7:0]  arlen;
    logic [2:0]  arsize;
    logic [1:0]  arburst;
    logic        rready;
  } from_task_t;

  // What it is given.
  typedef struct packed {
    logic        rst_n;
    logic        start;
    logic        resume;
    logic        stop;
    logic [31:0] src;
    logic [31:0] dst;
    logic [31:0] length;
    logic [31:0] param;
    logic [31:0] ctx_rdata;
    logic        awready;
    logic        wready;
    logic        bvalid;
    logic [1:0]  bresp;
    logic        arready;
    logic        rvalid;
    logic [63:0] rdata;
    logic [1:0]  rresp;
    logic        rlast;
  } to_task_t;

  // From and to the interface that a region is connected to.
  typedef struct packed {
    logic        start;
    logic        resume;
    logic        abort_task;
    logic [31:0] src;
    logic [31:0] dst;
    logic [31:0] length;
    logic [31:0] param;
    logic [31:0] ctx_rdata;
    logic [27:0] window_base;
    logic [20:0] window_pages;
  } from_interface_t;

  typedef struct packed {
    logic        done;
    logic        stopped;
    logic [3:0]  error;
    logic        ctx_we;
    logic [7:0]  ctx_addr;
    logic [31:0] ctx_wdata;
    logic        refused_outside;
    logic        refused_illegal;
    logic        wrong_last;
    logic [31:0] refused_addr;
  } to_interface_t;

endpackage
