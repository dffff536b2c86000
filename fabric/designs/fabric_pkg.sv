// The ports between a design and the rest of the chip, as on a Zynq: GP, of which software is the
// master, and ACP and HP, of which the design is. A design for tiles has a port as GP for each.
package fabric_pkg;

  localparam int unsigned GpAddressWidth = 20;
  localparam int unsigned Interrupts     = 16;
`ifdef FABRIC_TILES
  localparam int unsigned Tiles          = 16;
`endif

  // A design that says so is quiet until something comes in.
  localparam logic [31:0] QuietForever = '1;

  // AXI4-Lite, 32 bits.
  typedef struct packed {
    logic                      awvalid;
    logic [GpAddressWidth-1:0] awaddr;
    logic                      wvalid;
    logic [31:0]               wdata;
    logic [3:0]                wstrb;
    logic                      bready;
    logic                      arvalid;
    logic [GpAddressWidth-1:0] araddr;
    logic                      rready;
  } gp_req_t;

  typedef struct packed {
    logic        awready;
    logic        wready;
    logic        bvalid;
    logic [1:0]  bresp;
    logic        arready;
    logic        rvalid;
    logic [31:0] rdata;
    logic [1:0]  rresp;
  } gp_rsp_t;

  // AXI4, 64 bits, incrementing bursts of whole words, one ID: as axi_master has it.
  typedef struct packed {
    logic        awvalid;
    logic [39:0] awaddr;
    logic [7:0]  awlen;
    logic        wvalid;
    logic [63:0] wdata;
    logic [7:0]  wstrb;
    logic        wlast;
    logic        bready;
    logic        arvalid;
    logic [39:0] araddr;
    logic [7:0]  arlen;
    logic        rready;
  } axi_req_t;

  typedef struct packed {
    logic        awready;
    logic        wready;
    logic        bvalid;
    logic [1:0]  bresp;
    logic        arready;
    logic        rvalid;
    logic [63:0] rdata;
    logic [1:0]  rresp;
    logic        rlast;
  } axi_rsp_t;

endpackage
