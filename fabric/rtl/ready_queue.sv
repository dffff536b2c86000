// The ready queue: PRIORITIES lists of handles, first in, first out within a priority; the highest
// number is the highest priority. A handle is in the queue at most once and has a place of its own
// there, so that no insertion fails for want of room.
//
// Each priority has a doubly linked list, whose links are in block RAM. A bitmap says which lists
// have a vCPU: a word for each group of priorities, and a bit for each word that is not zero.
//
// A command is taken when it is valid and the queue ready. Its answer comes when the next command
// can be taken:
//
//   Accept  the verdict; the links of the handle, or of the first of the list, are read
//   Look    Remove and Next only: which priority the handle has
//   Apply   the handle's links, a neighbour's, the list's ends and the bitmap change
//   Seek, Find, Tell  Next at the end of a list only: the list below, and its first
//
// So a command takes 2 cycles, Remove 3, and Next 3 or 6.
//
// The vCPU that comes first is offered all the time (first_*), and changes with the answer. In the
// first cycle of a change first_changed_o is high.
//
// After reset and clear_i the queue takes max(DEPTH, PRIORITIES) cycles to get empty. Until then
// initialised_o is low, and no command is taken.
module ready_queue
  import ready_queue_pkg::*;
#(
  parameter int unsigned DEPTH = 1024,      // handles: 0 to DEPTH - 1
  parameter int unsigned PRIORITIES = 256,  // a power of four
  // Of the ports. More than DEPTH needs, so that a wrong handle is refused and not cut off.
  parameter int unsigned HANDLE_BITS = 16,
  localparam int unsigned PRIORITY_BITS = $clog2(PRIORITIES),
  localparam int unsigned COUNT_BITS = $clog2(DEPTH + 1)
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,

  input  logic                     clear_i,  // a command under way gets no answer
  output logic                     initialised_o,

  input  logic                     command_valid_i,
  output logic                     command_ready_o,
  input  op_e                      command_op_i,
  input  logic [PRIORITY_BITS-1:0] command_priority_i,
  input  logic [HANDLE_BITS-1:0]   command_handle_i,

  output logic                     answer_valid_o,     // for one cycle
  // These are kept until the next answer. With Done: the handle it is about, and its priority.
  output status_e                  answer_status_o,
  output logic [HANDLE_BITS-1:0]   answer_handle_o,
  output logic [PRIORITY_BITS-1:0] answer_priority_o,

  output logic                     first_valid_o,
  output logic [HANDLE_BITS-1:0]   first_handle_o,
  output logic [PRIORITY_BITS-1:0] first_priority_o,
  output logic                     first_changed_o,

  output logic [COUNT_BITS-1:0]    count_o             // handles in the queue, DEPTH when all are
);

  localparam int unsigned INDEX_BITS = $clog2(DEPTH);
  localparam int unsigned GROUP_BITS = PRIORITY_BITS / 2;
  localparam int unsigned GROUPS = 1 << GROUP_BITS;  // and priorities in a group

  typedef logic [INDEX_BITS-1:0] index_t;
  typedef logic [PRIORITY_BITS-1:0] priority_t;
  typedef logic [GROUP_BITS-1:0] position_t;  // of a group, or of a priority in its group
  typedef logic [GROUPS-1:0] word_t;

  typedef struct packed {
    logic   last;   // no vCPU at index
    index_t index;
  } link_t;

  typedef struct packed {
    logic   some;   // the list has a vCPU
    index_t index;
  } head_t;

  typedef enum logic [2:0] {
    Clear,
    Accept,
    Look,
    Apply,
    Seek,
    Find,
    Tell
  } state_e;

  if (PRIORITIES < 4 || PRIORITIES != GROUPS * GROUPS) begin : gen_bad_priorities
    $error("PRIORITIES must be a power of four");
  end
  if (DEPTH < 2 || HANDLE_BITS < INDEX_BITS || HANDLE_BITS > 31) begin : gen_bad_depth
    $error("DEPTH must be at least 2, and HANDLE_BITS enough for it but at most 31");
  end

  // The position of the highest bit that is set; 0 when none is.
  function automatic position_t highest(input word_t bits);
    highest = '0;
    for (int unsigned i = 0; i < GROUPS; i++) if (bits[i]) highest = position_t'(i);
  endfunction

  // The bits below a position.
  function automatic word_t below(input position_t position);
    for (int unsigned i = 0; i < GROUPS; i++) below[i] = position > position_t'(i);
  endfunction

  state_e state_q, state_d;

  // The command under way.
  op_e       op_q;
  status_e   verdict_q;
  index_t    index_q;
  head_t     head_q;     // of its priority, as is the tail
  index_t    tail_q;
  priority_t level_q;    // its priority, or its handle's

  // The highest priority that has a vCPU.
  logic      top_some_q;
  priority_t top_q;
  // The top in Accept; what Next is about in Seek, and what it has found in Tell.
  priority_t limit_q;
  // The same in Accept and Tell, where it reads the head of its list; on the chip that is far from
  // the bitmap.
  priority_t limit_head_q;
  // The highest priority that has a vCPU below what limit_q was a cycle ago.
  logic      lower_some;
  priority_t lower;

  // What was read of the handle from block RAM, and the same a cycle later. It comes late in the
  // cycle; where it can be, what Look has read is used.
  link_t     next, next_q, previous, previous_q;  // previous.last: no vCPU before it
  priority_t stored_level;

  // What Apply does. What is taken is the first of its list, and the last if it is also the tail.
  logic taking, inserts, removes, clearing;
  logic looked;            // there was Look, for Remove and Next
  logic alone;             // no other vCPU in the list that is inserted into
  logic to_head, to_tail;  // an insertion changes this end
  logic first, last;       // the handle is the first of its list; the last
  logic on;                // Next goes on behind its list

  assign clearing = state_q == Clear;
  assign taking   = state_q == Accept;
  assign inserts  = state_q == Apply && verdict_q == Done && op_q inside {InsertTail, InsertHead};
  assign removes  = state_q == Apply && verdict_q == Done &&
                    op_q inside {Remove, Take, TakeHighest};
  assign looked   = op_q inside {Remove, Next};
  assign first    = !looked || previous_q.last;
  assign last     = looked ? next_q.last : index_q == tail_q;
  assign on       = op_q == Next && verdict_q == Done && last;
  assign alone    = !head_q.some;
  assign to_head  = inserts && (op_q == InsertHead || alone);
  assign to_tail  = inserts && (op_q == InsertTail || alone);

  assign initialised_o   = !clearing;
  assign command_ready_o = taking && !clear_i;

  // -----------------------------------------------------------------------------------------------
  // The lists' ends, in memories made of logic: these are read in the cycle of their address, so
  // that Accept can go on to the links of a list's first. In Clear, level_q and index_q count.

  (* ram_style = "distributed" *) head_t  head [PRIORITIES];
  (* ram_style = "distributed" *) index_t tail [PRIORITIES];
  head_t  head_command, head_data;
  index_t head_limit;

  assign head_command = head[command_priority_i];
  assign head_limit   = head[limit_head_q].index;
  assign head_data    = '{some: inserts || (removes && !last),
                          index: to_head ? index_q : next.index};

  always_ff @(posedge clk_i) begin
    if (clearing || to_head || (removes && first)) head[level_q] <= head_data;
  end

  always_ff @(posedge clk_i) begin
    if (to_tail || (removes && last)) tail[level_q] <= to_tail ? index_q : previous_q.index;
  end

  // -----------------------------------------------------------------------------------------------
  // The links. Port a reads and writes those of the command's handle, port b writes a neighbour's.

  index_t index, index_named;  // of ports a
  logic   by_highest, by_list;
  priority_t level_command;

  assign by_highest = command_op_i inside {TakeHighest, PeekHighest};
  assign by_list    = command_op_i inside {Take, Peek};

  assign level_command = by_highest ? top_q : command_priority_i;

  // Of a handle that was found and not named, only who is next needs to be read. What comes from
  // the lists' heads comes late, and is combined last.
  assign index_named = taking ? index_t'(command_handle_i) : index_q;

  always_comb begin
    case ({taking && by_highest, taking && by_list})
      2'b10:   index = head_limit;
      2'b01:   index = head_command.index;
      default: index = index_named;
    endcase
  end

  link_t  next_own, previous_own, to_own, to_before;

  assign next_own     = '{last: op_q == InsertTail || alone, index: head_q.index};
  assign previous_own = '{last: op_q == InsertHead || alone, index: tail_q};
  // Of what is removed, the vCPU before it: none, if it is taken.
  assign to_before    = '{last: first, index: previous_q.index};
  assign to_own       = '{last: 1'b0, index: index_q};

  ready_queue_ram #(.DEPTH(DEPTH), .WIDTH($bits(link_t))) u_next (
    .clk_i,
    .a_address_i(index),
    .a_write_i  (inserts),
    .a_data_i   (next_own),
    .a_data_o   (next),
    .b_address_i(removes ? previous_q.index : tail_q),
    .b_write_i  ((inserts && !to_head) || (removes && !first)),
    .b_data_i   (removes ? next_q : to_own)
  );

  ready_queue_ram #(.DEPTH(DEPTH), .WIDTH($bits(link_t))) u_previous (
    .clk_i,
    .a_address_i(index_named),
    .a_write_i  (inserts),
    .a_data_i   (previous_own),
    .a_data_o   (previous),
    .b_address_i(removes ? next.index : head_q.index),
    .b_write_i  ((inserts && !to_tail) || (removes && !last)),
    .b_data_i   (removes ? to_before : to_own)
  );

  ready_queue_ram #(.DEPTH(DEPTH), .WIDTH(PRIORITY_BITS)) u_level (
    .clk_i,
    .a_address_i(index_named),
    .a_write_i  (inserts),
    .a_data_i   (level_q),
    .a_data_o   (stored_level),
    .b_address_i('0),
    .b_write_i  (1'b0),
    .b_data_i   ('0)
  );

  // Which handles are in the queue: a memory like head, so that Accept knows.
  (* ram_style = "distributed" *) logic queued [DEPTH];
  logic queued_command;

  assign queued_command = queued[index_t'(command_handle_i)];

  always_ff @(posedge clk_i) begin
    if (clearing || inserts || removes) queued[index_q] <= inserts;
  end

  // -----------------------------------------------------------------------------------------------
  // The bitmap: words in a memory like head, and which of them are not zero.

  (* ram_style = "distributed" *) word_t words [GROUPS];
  word_t     used_q, used_d;
  position_t group;
  word_t     bit_mask, others, word_data;
  logic      fills, drains;  // the list gets its first entry, loses its last

  assign group     = level_q[PRIORITY_BITS-1:GROUP_BITS];
  assign bit_mask  = word_t'(1) << level_q[GROUP_BITS-1:0];
  assign others    = words[group] & ~bit_mask;
  assign word_data = clearing ? '0 : removes ? others : others | bit_mask;
  assign fills     = inserts && alone;
  assign drains    = removes && first && last;

  always_ff @(posedge clk_i) begin
    if (clearing || fills || drains) words[group] <= word_data;
  end

  always_comb begin
    used_d = used_q;
    if (clearing) used_d = '0;
    else if (fills || drains) used_d[group] = inserts || others != '0;
  end

  // The highest priority below limit_q that has a vCPU, in two steps: its word, and the bit in
  // that word a cycle later. Accept looks below the top, in case that the top's list drains.
  position_t limit_group, other_group, lower_group_q, lower_group_d;
  word_t     same_word, other_groups, lower_word_q, lower_word_d;

  assign limit_group  = limit_q[PRIORITY_BITS-1:GROUP_BITS];
  assign same_word    = words[limit_group] & below(limit_q[GROUP_BITS-1:0]);
  assign other_groups = used_q & below(limit_group);
  assign other_group  = highest(other_groups);

  always_comb begin
    lower_group_d = limit_group;
    lower_word_d  = same_word;
    if (same_word == '0) begin
      lower_group_d = other_group;
      if (other_groups != '0) lower_word_d = words[other_group];
    end
  end

  assign lower      = {lower_group_q, highest(lower_word_q)};
  assign lower_some = lower_word_q != '0;

  always_ff @(posedge clk_i) begin
    lower_group_q <= lower_group_d;
    lower_word_q  <= lower_word_d;
  end

  // What is inserted comes first of all; what is removed does; and its list drains.
  logic leads, sinks, falls;

  assign leads = inserts && (!top_some_q || level_q > top_q ||
                             (level_q == top_q && op_q == InsertHead));
  assign sinks = removes && first && level_q == top_q;
  assign falls = sinks && last;

  priority_t limit_head;
  assign limit_head = leads ? level_q : falls || state_q == Find ? lower : top_q;

  always_ff @(posedge clk_i) begin
    if (leads || falls) top_q <= inserts ? level_q : lower;
    limit_q      <= state_q == Apply && on ? level_q : limit_head;
    limit_head_q <= limit_head;
  end

  logic   first_changed_q;
  index_t first_index, first_index_q;

  assign first_index      = taking ? head_limit : first_index_q;
  assign first_valid_o    = top_some_q;
  assign first_handle_o   = HANDLE_BITS'(first_index);
  assign first_priority_o = top_q;
  assign first_changed_o  = first_changed_q;

  always_ff @(posedge clk_i) begin
    first_index_q <= first_index;
  end

  // -----------------------------------------------------------------------------------------------
  // Control.

  logic cleared;  // in Clear's last cycle

  assign cleared = index_q == index_t'(DEPTH - 1) && level_q == '1;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Clear:  if (cleared) state_d = Accept;
      Accept: if (command_valid_i) state_d = command_op_i inside {Remove, Next} ? Look : Apply;
      Look:   state_d = Apply;
      Apply:  state_d = on ? Seek : Accept;
      Seek:   state_d = Find;
      Find:   state_d = Tell;
      Tell:   state_d = Accept;
    endcase
    if (clear_i) state_d = Clear;
  end

  logic [COUNT_BITS-1:0] count_q;
  assign count_o = count_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= Clear;
      used_q     <= '0;
      top_some_q <= 1'b0;
      first_changed_q <= 1'b0;
      count_q    <= '0;
    end else begin
      state_q    <= state_d;
      used_q     <= used_d;
      if (clear_i) top_some_q <= 1'b0;
      else if (leads || falls) top_some_q <= inserts || lower_some;
      first_changed_q <= clear_i ? top_some_q : leads || sinks;
      if (clearing) count_q <= '0;
      else if (inserts) count_q <= count_q + 1'b1;
      else if (removes) count_q <= count_q - 1'b1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      index_q <= '0;
      level_q <= '0;
    end else if (clear_i) begin
      index_q <= '0;
      level_q <= '0;
    end else begin
      if (taking) index_q <= index;
      else if (clearing && index_q != index_t'(DEPTH - 1)) index_q <= index_q + 1'b1;

      if (taking) level_q <= level_command;
      else if (state_q == Look) level_q <= stored_level;
      else if (clearing && level_q != '1) level_q <= level_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (taking) begin
      op_q      <= command_op_i;
      head_q    <= head_command;
      tail_q    <= tail[level_command];
      verdict_q <= Done;
      if (by_highest) begin
        if (!top_some_q) verdict_q <= Empty;
      end else if (by_list) begin
        if (!head_command.some) verdict_q <= Empty;
      end else if (32'(command_handle_i) >= DEPTH) begin
        verdict_q <= Invalid;
      end else if (command_op_i inside {InsertTail, InsertHead}) begin
        if (queued_command) verdict_q <= Queued;
      end else begin
        if (!queued_command) verdict_q <= Absent;
      end
    end
    if (state_q == Find && !lower_some) verdict_q <= Empty;
    next_q     <= next;
    previous_q <= previous;
  end

  // -----------------------------------------------------------------------------------------------
  // The answer.

  logic      answer_valid_q;
  status_e   answer_status_q;
  index_t    answer_index_q;
  priority_t answer_level_q;

  assign answer_valid_o    = answer_valid_q;
  assign answer_status_o   = answer_status_q;
  assign answer_handle_o   = HANDLE_BITS'(answer_index_q);
  assign answer_priority_o = answer_level_q;

  // Before the first answer the status is Empty: nothing else here is defined then.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      answer_valid_q  <= 1'b0;
      answer_status_q <= Empty;
    end else begin
      answer_valid_q <= state_q inside {Apply, Tell} && state_d == Accept;
      if (state_q inside {Apply, Tell}) answer_status_q <= verdict_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Apply) begin
      answer_index_q <= op_q == Next ? next_q.index : index_q;
      answer_level_q <= level_q;
    end else if (state_q == Tell) begin
      answer_index_q <= head_limit;
      answer_level_q <= limit_q;
    end
  end

endmodule
