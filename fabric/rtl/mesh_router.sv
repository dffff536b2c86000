// A router of the mesh: five ports, XY routing, wormhole, credits.
//
// A packet is a row of flits, the last of which is marked; the first one says in its uppermost bits
// where the packet goes: first along X, then along Y, then out. It keeps its output until its last
// flit has gone, and packets that want the same output take turns. A flit is sent when the next
// router has room, which it says by a credit for each flit that left it.
//
// As nothing turns from Y to X, not all inputs lead to all outputs: `Turns` says which. A packet of
// which that is not true does not come from a router, and a network interface sends none.
module mesh_router
  import mesh_pkg::*;
#(
  parameter int unsigned WIDTH = 32,
  // Flits that an input keeps, here and in the neighbours; a power of two.
  parameter int unsigned DEPTH = 4
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  // Where this router is.
  input  place_t                place_i,

  // By side_e. A flit is there in each cycle with valid; a credit is one cycle.
  input  logic [4:0]            in_valid_i,
  input  logic [4:0]            in_last_i,
  input  logic [4:0][WIDTH-1:0] in_data_i,
  output logic [4:0]            in_credit_o,
  output logic [4:0]            out_valid_o,
  output logic [4:0]            out_last_o,
  output logic [4:0][WIDTH-1:0] out_data_o,
  input  logic [4:0]            out_credit_i
);

  localparam int unsigned IndexBits = unsigned'($clog2(DEPTH));

  typedef logic [IndexBits-1:0] index_t;
  typedef logic [IndexBits:0]   count_t;

  // From which inputs, by their bits, each output can be reached: West, South, East, North, Local.
  localparam logic [4:0][4:0] Turns = {5'b00101, 5'b10111, 5'b10001, 5'b11101, 5'b11111};

  function automatic logic [4:0] below(int unsigned i);
    return 5'((32'd1 << i) - 32'd1);
  endfunction

  // What waits at each input.

  count_t [4:0]            count_q;
  index_t [4:0]            first_q;
  logic [4:0]              there, taken, last;
  logic [4:0][WIDTH-1:0]   data;
  logic [4:0][4:0]         wants_q;  // a new packet, by input and output
  logic [4:0]              owns_q;   // its packet has an output
  logic [4:0][4:0]         grant;    // who gets one, by output and input

  for (genvar i = 0; i < 5; i++) begin : gen_in
    logic [WIDTH:0] flits [DEPTH];
    place_t         to;
    logic [4:0]     wants;
    logic           granted;

    assign {last[i], data[i]} = flits[first_q[i]];
    assign there[i]           = count_q[i] != '0;
    assign to                 = place_t'(data[i][WIDTH-1-:6]);

    assign granted            = {grant[4][i], grant[3][i], grant[2][i], grant[1][i],
                                 grant[0][i]} != '0;

    always_comb begin
      wants = '0;
      if (to.x > place_i.x) wants[East] = 1'b1;
      else if (to.x < place_i.x) wants[West] = 1'b1;
      else if (to.y > place_i.y) wants[South] = 1'b1;
      else if (to.y < place_i.y) wants[North] = 1'b1;
      else wants[Local] = 1'b1;
    end

    always_ff @(posedge clk_i) begin
      if (in_valid_i[i]) flits[first_q[i] + index_t'(count_q[i])] <=
          {in_last_i[i], in_data_i[i]};
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        count_q[i] <= '0;
        first_q[i] <= '0;
        owns_q[i]  <= 1'b0;
        wants_q[i] <= '0;
      end else begin
        owns_q[i]  <= (owns_q[i] || granted) && !(taken[i] && last[i]);
        // A cycle after it has come, or the one before has gone.
        wants_q[i] <= there[i] && !owns_q[i] && !granted ? wants : '0;
        count_q[i] <= count_q[i] + count_t'(in_valid_i[i]) - count_t'(taken[i]);
        first_q[i] <= first_q[i] + index_t'(taken[i]);
      end
    end
  end

  // Who has each output: one input's bit, or none.

  logic [4:0][4:0] owner_q;          // by output and input
  logic [4:0][4:0] after_q;          // those whose turn comes before the others': behind the last
  count_t [4:0]    credit_q;
  logic [4:0]      sends;

  for (genvar o = 0; o < 5; o++) begin : gen_out
    logic [4:0]       asks, first;
    logic [4:0]       behind;  // those behind the one that gets it now
    logic             send_last;
    logic [WIDTH-1:0] send_data;

    for (genvar i = 0; i < 5; i++) begin : gen_asks
      assign asks[i] = Turns[o][i] && wants_q[i][o] && owner_q[o] == '0;
    end

    // The lowest of those behind the last one that had it, or else of all.
    assign first = (asks & after_q[o]) != '0 ? asks & after_q[o] : asks;

    for (genvar i = 0; i < 5; i++) begin : gen_grant
      assign grant[o][i] = Turns[o][i] && first[i] && (first & below(i)) == '0;
      assign behind[i]   = (grant[o] & below(i)) != '0;
    end

    always_comb begin
      send_last = 1'b0;
      send_data = '0;
      for (int unsigned i = 0; i < 5; i++) begin
        if (Turns[o][i] && owner_q[o][i]) begin
          send_last = last[i];
          send_data = data[i];
        end
      end
    end

    assign sends[o] = (owner_q[o] & there) != '0 && credit_q[o] != '0;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        owner_q[o]     <= '0;
        after_q[o]     <= '0;
        credit_q[o]    <= count_t'(DEPTH);
        out_valid_o[o] <= 1'b0;
      end else begin
        if (grant[o] != '0) begin
          owner_q[o] <= grant[o];
          after_q[o] <= behind;
        end else if (sends[o] && send_last) begin
          owner_q[o] <= '0;
        end
        credit_q[o]    <= credit_q[o] + count_t'(out_credit_i[o]) - count_t'(sends[o]);
        out_valid_o[o] <= sends[o];
      end
    end

    // Only looked at with their valid.
    always_ff @(posedge clk_i) begin
      out_last_o[o] <= send_last;
      out_data_o[o] <= send_data;
    end
  end

  // An input's flit goes when the output that it has is sent to.
  always_comb begin
    taken = '0;
    for (int unsigned o = 0; o < 5; o++) begin
      if (sends[o]) taken |= owner_q[o];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) in_credit_o <= '0;
    else in_credit_o <= taken;
  end

endmodule
