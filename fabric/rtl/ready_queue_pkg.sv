// The ready queue's commands, the statuses of its answers, and what they look like on their way.
package ready_queue_pkg;

  // The two upper bits say where the handle comes from: the command, its priority's list, or the
  // highest list.
  typedef enum logic [2:0] {
    InsertTail  = 3'd0,  // handle behind the others of priority
    InsertHead  = 3'd1,  // handle before the others of priority
    Remove      = 3'd2,  // handle, wherever it is
    Next        = 3'd3,  // who comes behind handle in the queue's order, also across priorities
    Take        = 3'd4,  // the first of priority, and remove it
    Peek        = 3'd5,  // the first of priority
    TakeHighest = 3'd6,  // the first of the highest priority that waits, and remove it
    PeekHighest = 3'd7   // the first of the highest priority that waits
  } op_e;

  typedef enum logic [2:0] {
    Done    = 3'd0,
    Empty   = 3'd1,  // no vCPU waits there, or none comes behind
    Queued  = 3'd2,  // an insertion of what is in the queue already
    Absent  = 3'd3,  // a handle that is not in the queue
    Invalid = 3'd4   // a handle that is none: DEPTH or more
  } status_e;

  // How software reaches the queue, beside the page, which is always there.
  typedef enum logic [1:0] {
    Page    = 2'd0,  // not at all: GP
    Hybrid  = 2'd1,  // memory has the vCPU that comes first
    Event   = 2'd2,  // and the commands, which are fetched at events: ACP
    Polling = 2'd3   // and the commands, which are fetched again and again: ACP polling
  } scheme_e;

  typedef struct packed {
    op_e         op;
    logic [7:0]  level;
    logic [15:0] handle;
  } command_t;

  // Level and handle are 0 unless it is Done.
  typedef struct packed {
    status_e     status;
    logic [7:0]  level;
    logic [15:0] handle;
  } answer_t;

endpackage
