// The requests that wait for a region: the highest priority first, and the longest there first
// within one. An interface waits once.
//
// A request is put behind all of its priority and above; what is behind it moves on by one. One of
// an interface that waits already takes the place that it would have if it came now, and the old
// one is gone: first it is removed, and in the cycle after it is put in.
module request_list #(
  parameter int unsigned ENTRIES = 8
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  // Not both in a cycle. Putting in what is there already, or into a list that is full, is not
  // allowed.
  input  logic       insert_i,
  input  logic       remove_i,
  input  logic [3:0] client_i,
  input  logic [2:0] task_i,
  input  logic [7:0] priority_i,

  output logic       full_o,
  // The client of insert or remove waits.
  output logic       there_o,

  // All of them, the first in the lowest place.
  output logic [ENTRIES-1:0]      valid_o,
  output logic [ENTRIES-1:0][3:0] client_o,
  output logic [ENTRIES-1:0][2:0] task_o,
  output logic [ENTRIES-1:0][7:0] priority_o
);

  typedef struct packed {
    logic       valid;
    logic [3:0] client;
    logic [2:0] number;
    logic [7:0] prio;
  } entry_t;

  entry_t [ENTRIES-1:0] entries_q, entries_d;
  logic [ENTRIES-1:0]   ahead, same, gone;
  entry_t               arrival;

  assign arrival = '{valid: 1'b1, client: client_i, number: task_i, prio: priority_i};

  always_comb begin
    gone = '0;
    for (int unsigned i = 0; i < ENTRIES; i++) begin
      // It stays before a new one.
      ahead[i]      = entries_q[i].valid && entries_q[i].prio >= priority_i;
      same[i]       = entries_q[i].valid && entries_q[i].client == client_i;
      // Its place, or one behind it.
      gone[i]       = same[i] || (i != 0 && gone[(i + ENTRIES - 1) % ENTRIES]);
      valid_o[i]    = entries_q[i].valid;
      client_o[i]   = entries_q[i].client;
      task_o[i]     = entries_q[i].number;
      priority_o[i] = entries_q[i].prio;
    end
  end

  assign full_o  = entries_q[ENTRIES-1].valid;
  assign there_o = same != '0;

  always_comb begin
    entries_d = entries_q;
    if (insert_i && !full_o) begin
      for (int unsigned i = 0; i < ENTRIES; i++) begin
        if (!ahead[i]) begin
          entries_d[i] = i == 0 || ahead[(i + ENTRIES - 1) % ENTRIES]
                         ? arrival : entries_q[(i + ENTRIES - 1) % ENTRIES];
        end
      end
    end else if (remove_i) begin
      for (int unsigned i = 0; i < ENTRIES; i++) begin
        // From its place on, each is the one behind.
        if (gone[i]) begin
          entries_d[i] = i == ENTRIES - 1 ? '0 : entries_q[(i + 1) % ENTRIES];
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      entries_q <= '0;
    end else begin
      entries_q <= entries_d;
    end
  end

endmodule
