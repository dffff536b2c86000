// The I/O hypervisor's packets, and what goes between it and an I/O VMM.
//
// docs/src/reference/io-hypervisor.md has the format of packets, the rules of the interface of an
// I/O VMM, and a diagram of it in time.
package io_pkg;

  // In bits. A request moves at most 1,536 bytes: an Ethernet frame fits.
  localparam int unsigned LengthWidth = 11;
  // There are at most as many ports as routers in a mesh of 8 x 8.
  localparam int unsigned PortWidth   = 6;

  // Which I/O VMM a request is for. From 1 to 4 as BlueIO numbers them (section 5).
  typedef enum logic [2:0] {
    Echo     = 3'd0,  // gives back what was written: for tests, and a template
    Uart     = 3'd1,
    Flash    = 3'd2,
    Vga      = 3'd3,
    Ethernet = 3'd4
  } device_e;

  // What is to be done. What an address means, and which lengths there are, is the device's.
  typedef enum logic [1:0] {
    Read     = 2'd0,  // up to `length` bytes come back
    Write    = 2'd1,  // `length` bytes go out
    Control  = 2'd2,  // whatever else the device does, by `addr`, with `length` bytes of operands
    Reserved = 2'd3   // malformed
  } op_e;

  // How a request ended. With all but Done nothing has come back, and nothing has changed but what
  // the device's page says of DeviceFailed.
  typedef enum logic [3:0] {
    Done         = 4'd0,
    Malformed    = 4'd1,  // a reserved op, or more than 1,536 bytes
    NoDevice     = 4'd2,  // no I/O VMM has this number
    Denied       = 4'd3,  // the port may not use this device
    BadOp        = 4'd4,  // the device has no such op
    BadAddress   = 4'd5,  // the device has no such address, or not all of it
    BadLength    = 4'd6,  // the op has no such length
    Protected    = 4'd7,  // the device is there, but may not be changed at this address
    DeviceFailed = 4'd8,  // the device answered with an error, or not within its time
    MemoryFailed = 4'd9,  // memory did, or the address is not in the VM's window
    // To io_turn only: part of it is done, the words that moved, and the rest is asked for again.
    Suspended    = 4'd10
  } status_e;

  // Whose request a device takes next.
  typedef enum logic [1:0] {
    RoundRobin    = 2'd0,  // ports take turns
    FixedPriority = 2'd1,  // the port with the lowest number; it preempts the others
    Fifo          = 2'd2   // the port that has waited longest
  } policy_e;

  // The first word of a request. The upper bits are a mesh's: where it goes, and from where.
  typedef struct packed {
    logic [11:0]            route;
    logic [2:0]             device;
    op_e                    op;
    logic                   quiet;   // an answer only if it is not Done
    logic                   memory;  // data are in the VM's memory, and not in the packet
    logic [1:0]             tag;     // comes back with the answer
    logic [LengthWidth-1:0] length;  // in bytes
  } header_t;

  // The first word of a response; `length` bytes of a Read follow.
  typedef struct packed {
    logic [11:0]            route;
    logic [2:0]             device;
    status_e                status;
    logic [1:0]             tag;
    logic [LengthWidth-1:0] length;
  } answer_t;

  // To an I/O VMM: what it is to do, and for whom.
  typedef struct packed {
    logic [PortWidth-1:0]   port;
    op_e                    op;
    logic [LengthWidth-1:0] length;  // at most 1,536
    logic [31:0]            addr;
  } request_t;

  // From it.
  typedef struct packed {
    status_e                status;
    logic [LengthWidth-1:0] length;  // of what came back; 0 unless it is a Read that is Done
  } response_t;

endpackage
