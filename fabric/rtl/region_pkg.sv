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

  // From the region allocator. While it has the region, the commands are its own: see region_owner.
  typedef struct packed {
    logic        owned;
    logic        take;
    logic        preempt;
    logic        kill;
    logic        connect;
    logic        release_region;
    logic [3:0]  client;
    logic [7:0]  prio;
    logic [31:0] hold;
  } from_allocator_t;

  // What the region allocator answers: the lower word of a doubleword from bit 8 on, and the upper.
  typedef enum logic [1:0] {
    Connected  = 2'd1,
    Preparing  = 2'd2,
    AskManager = 2'd3
  } outcome_e;

  // Why it is the device manager's.
  typedef enum logic [3:0] {
    NoReason     = 4'd0,
    Off          = 4'd1,
    NoRegion     = 4'd2,
    NoBitstream  = 4'd3,
    Routine      = 4'd4,
    Changed      = 4'd5,
    TakenOver    = 4'd6,
    BadBitstream = 4'd7,
    Undrained    = 4'd8,
    Elsewhere    = 4'd9
  } reason_e;

  typedef struct packed {
    logic [15:0] order;
    logic [7:0]  none;
    logic [3:0]  error;
    reason_e     reason;
    logic [1:0]  pad;
    logic        last;
    logic        displaces;
    logic [3:0]  displaced;
    logic [3:0]  region;
    logic [1:0]  zero;
    outcome_e    outcome;
    logic [7:0]  tag;
  } answer_t;

  // Who a region is prepared for.
  typedef struct packed {
    logic [3:0]  client;
    logic [2:0]  number;
    logic [7:0]  prio;
    logic [7:0]  tag;
    logic [31:0] hold;
  } target_t;

endpackage
