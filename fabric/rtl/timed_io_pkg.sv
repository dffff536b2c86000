// What the parts of the timed I/O processor share: its commands, and what it reports.
//
// test/timed_io_commands.toml has the commands for software and for the tests; the tests compare.
package timed_io_pkg;

  localparam int unsigned Lines        = 8;   // of a VM
  localparam int unsigned ProgramWords = 64;  // of a VM
  localparam int unsigned WordBits     = 18;
  localparam int unsigned SamplesMax   = 32;  // of a VM
  localparam int unsigned ReportsMax   = 8;   // of a VM
  localparam int unsigned Nesting      = 2;   // loops within loops

  // A run begins so many cycles before its START: one to fetch, one into the lines, one into pins.
  localparam int unsigned BeginLead   = 3;
  // A command takes effect so many cycles after the one in which it is executed.
  localparam int unsigned CommandLead = 2;

  // The two upper bits of a command.
  typedef enum logic [1:0] {
    Control = 2'd0,  // the next three bits say which
    Write   = 2'd1,  // mask, values
    Wait    = 2'd2,  // cycles - 1
    Until   = 2'd3   // cycles - 1
  } kind_e;

  // The next three, of control commands.
  typedef enum logic [2:0] {
    End    = 3'd0,
    Read   = 3'd1,
    Loop   = 3'd2,  // level, count
    Repeat = 3'd3   // level, word of the command behind the loop's begin
  } control_e;

  typedef enum logic [2:0] {
    NoCause      = 3'd0,
    LateSchedule = 3'd1,
    LateCommand  = 3'd2,
    NoPin        = 3'd3,
    StillRunning = 3'd4,
    SamplesFull  = 3'd5,
    NoEnd        = 3'd6
  } cause_e;

  // Of the last write to RUN.
  typedef enum logic [2:0] {
    Accepted    = 3'd0,
    TooLate     = 3'd1,
    IsScheduled = 3'd2,
    TooShort    = 3'd3
  } answer_e;

  // What the schedule keeps of each VM, beside START, PERIOD, RUNS and the upper word of NOW.
  typedef struct packed {
    logic [5:0]  entry;
    logic        scheduled;
    answer_e     answer;
    logic [4:0]  sample_first;
    logic [2:0]  report_first;
    logic [3:0]  reports;
    logic [7:0]  lost;
  } vm_state_t;

  // Whether a word is a command.
  function automatic logic legal(logic [WordBits-1:0] word);
    case (kind_e'(word[17:16]))
      Write: return 1'b1;
      // The engine's count of cycles stays at the value that is left out.
      Wait, Until: return word[15:0] != '1;
      Control: begin
        case (control_e'(word[15:13]))
          End, Read: return word[12:0] == '0;
          Loop:      return word[11:8] == '0 && word[7:0] != '0;
          Repeat:    return word[11:6] == '0;
          default:   return 1'b0;
        endcase
      end
      default: return 1'b0;
    endcase
  endfunction

endpackage
