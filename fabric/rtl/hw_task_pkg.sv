// What is the same for all hardware tasks: their numbers, what can go wrong, and their context.
//
// The ports that a task has, and what they say, are in docs/src/reference/hardware-tasks.md.
package hw_task_pkg;

  // Which task it is: part of the context, so that no task goes on with another's. 0 is none. Its
  // number in a design, where there are up to seven, are the lowest three bits.
  typedef enum logic [7:0] {
    Passthrough = 8'd1,
    Qam16       = 8'd2,
    Qam64       = 8'd3,
    Fft512      = 8'd4,
    Fft1024     = 8'd5,
    // designs/accelerators_hostile.sv: for tests.
    Hostile     = 8'd7,
    // Of designs/coprocessors_design.sv.
    Crc32       = 8'd9,
    Sha256      = 8'd10,
    Aes         = 8'd11,
    Convolution = 8'd12
  } task_e;

  typedef enum logic [3:0] {
    NoError      = 4'd0,
    ReadFailed   = 4'd1,  // memory answered a read with an error
    WriteFailed  = 4'd2,  // memory answered a write with an error
    BadAddress   = 4'd3,  // src_i or dst_i is no multiple of 8
    BadLength    = 4'd4,  // length_i is 0, or not whole symbols
    OutOfRange   = 4'd5,  // input or output could go beyond the last address of 32 bits
    BadContext   = 4'd6   // what is to be resumed is no context of this task
  } error_e;

  // Words of the context buffer, of 32 bits. A stopped task is the same task with the rest of its
  // frame: the addresses and the length are of what is left. Behind them is the core's state.
  typedef enum logic [2:0] {
    ContextTag    = 3'd0,
    ContextSource = 3'd1,
    ContextTarget = 3'd2,
    ContextLength = 3'd3,
    ContextParam  = 3'd4
  } context_e;

  // The first word of a context: "HT", the version of its layout, and the task.
  localparam logic [23:0] ContextMark = 24'h4854_01;

endpackage
