// A router of the mesh, for any place and any neighbours that keep to credits and XY.
//
// What goes in comes out once, unchanged, in order and on the right side, and the flits of a packet
// one behind the other; nothing else comes out; nothing goes where there is no room; and a packet
// that waits has at most four others' packets before it. An input and one of its flits are
// followed.
module mesh_router_formal
  import mesh_pkg::*;
#(
  parameter int unsigned WIDTH = 8,
  parameter int unsigned DEPTH = 2
) (
  input logic                  clk_i,
  input logic                  rst_ni,
  input place_t                place_i,
  input logic [4:0]            in_valid_i,
  input logic [4:0]            in_last_i,
  input logic [4:0][WIDTH-1:0] in_data_i,
  input logic [4:0]            out_credit_i,
  // The input that is followed; any, but the same all the time. And that its flit now is.
  input side_e                 who_i,
  input logic                  follow_i
);

  logic [4:0]            in_credit, out_valid, out_last;
  logic [4:0][WIDTH-1:0] out_data;

  mesh_router #(.WIDTH(WIDTH), .DEPTH(DEPTH)) dut (
    .clk_i, .rst_ni, .place_i, .in_valid_i, .in_last_i, .in_data_i, .in_credit_o(in_credit),
    .out_valid_o(out_valid), .out_last_o(out_last), .out_data_o(out_data), .out_credit_i
  );

  // XY, in words of its own: the side on which a packet leaves, and which inputs lead there.
  function automatic side_e side(place_t to, place_t here);
    if (to.x != here.x) return to.x < here.x ? West : East;
    if (to.y != here.y) return to.y < here.y ? North : South;
    return Local;
  endfunction

  // What a packet that comes from a neighbour has behind it: it is not sent back, nor from Y to X.
  function automatic logic legal(side_e from, place_t to, place_t here);
    unique case (from)
      North:   return to.x == here.x && to.y >= here.y;
      South:   return to.x == here.x && to.y <= here.y;
      West:    return to.x >= here.x;
      East:    return to.x <= here.x;
      default: return 1'b1;
    endcase
  endfunction

  logic   began_q = 1'b0;
  side_e  who_q;
  place_t place_q;

  // The inputs: how many flits are in the router, and whether a packet's first has come.
  logic [4:0][2:0] inside_q;
  logic [4:0]      within_q;
  // The outputs: how many flits the neighbour has no room for, and whether a packet has begun.
  logic [4:0][2:0] sent_q;
  logic [4:0]      begun_q;

  // The followed input: where the packet that comes goes; the one that leaves, once its first flit
  // is the first in the router; how many of the flits before the followed one are in the router.
  place_t           coming_q, coming;
  logic             followed_q, follows;
  logic [2:0]       ahead_q;
  logic [WIDTH-1:0] data_q;
  logic             last_q;
  place_t           to_q;
  logic             first_q;   // the followed flit is its packet's first

  assign coming  = within_q[who_i] ? coming_q : place_t'(in_data_i[who_i][WIDTH-1-:6]);
  assign follows = follow_i && in_valid_i[who_i] && !followed_q;

  function automatic logic [2:0] ones(logic [4:0] bits);
    ones = '0;
    for (int unsigned i = 0; i < 5; i++) ones = ones + 3'(bits[i]);
  endfunction

  // The flit that leaves the followed input now is the followed one.
  logic leaves;
  side_e out;
  assign leaves = followed_q && in_credit[who_i] && ahead_q == '0;
  assign out    = side(to_q, place_i);

  // What the next router is told, where it is, and on which side the flit comes to it.
  place_t next_to, neighbour;
  side_e  entry;
  assign next_to     = place_t'(out_data[out][WIDTH-1-:6]);
  assign neighbour.x = out == East ? place_i.x + 3'd1 : out == West ? place_i.x - 3'd1 : place_i.x;
  assign neighbour.y = out == South ? place_i.y + 3'd1
                       : out == North ? place_i.y - 3'd1 : place_i.y;
  assign entry       = out == East ? West : out == West ? East : out == South ? North : South;

  // The followed packet is leaving: from its followed first flit on.
  logic  open_q;
  side_e open_out_q;
  // It is the first of its input, and has been for a cycle; and how many others' packets began on
  // its side from then on.
  logic       first_here, waits_q;
  logic [2:0] passed_q;
  logic       begins;
  assign first_here = followed_q && ahead_q == '0 && !leaves;
  assign begins = out_valid[out] && !begun_q[out] && !in_credit[who_i];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {inside_q, within_q, sent_q, begun_q, followed_q, open_q, passed_q, ahead_q} <= '0;
      waits_q <= 1'b0;
    end else begin
      for (int unsigned i = 0; i < 5; i++) begin
        inside_q[i] <= inside_q[i] + 3'(in_valid_i[i]) - 3'(in_credit[i]);
        if (in_valid_i[i]) within_q[i] <= !in_last_i[i];
        sent_q[i]   <= sent_q[i] + 3'(out_valid[i]) - 3'(out_credit_i[i]);
        if (out_valid[i]) begun_q[i] <= !out_last[i];
      end
      followed_q <= follows || (followed_q && !leaves);
      if (follows) ahead_q <= inside_q[who_i] - 3'(in_credit[who_i]);
      else if (in_credit[who_i] && ahead_q != '0) ahead_q <= ahead_q - 3'd1;
      open_q   <= (leaves && first_q && !last_q)
                  || (open_q && !(in_credit[who_i] && out_last[open_out_q]));
      waits_q  <= first_here;
      passed_q <= first_here ? passed_q + 3'(begins && waits_q) : '0;
    end
  end

`ifndef CUT
  // What makes the rest follow by induction.

  typedef logic [WIDTH:0] flit_t;

  // The flits that an input keeps; whether they begin within a packet; whose output that has.
  flit_t [4:0] front, behind;
  logic [4:0]  mid, begun, no_output;
  side_e [4:0] owned;

  function automatic place_t goes(flit_t flit);
    return place_t'(flit[WIDTH-1-:6]);
  endfunction

  for (genvar i = 0; i < 5; i++) begin : gen_state
    assign front[i]  = dut.gen_in[i].flits[dut.first_q[i]];
    assign behind[i] = dut.gen_in[i].flits[!dut.first_q[i]];
    assign begun[i]  = out_valid[i] ? !out_last[i] : begun_q[i];
    assign no_output[i] = {dut.owner_q[4][i], dut.owner_q[3][i], dut.owner_q[2][i],
                           dut.owner_q[1][i], dut.owner_q[0][i]} == '0;
    assign owned[i]  = dut.owner_q[1][i] ? North : dut.owner_q[2][i] ? East
                       : dut.owner_q[3][i] ? South : dut.owner_q[4][i] ? West : Local;
    assign mid[i]    = dut.owns_q[i] && begun[owned[i]];

    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        counted: assert (inside_q[i] == 3'(dut.count_q[i]) + 3'(in_credit[i])
                         && dut.count_q[i] <= 2'(DEPTH));
        credits: assert (4'(DEPTH) == 4'(dut.credit_q[i]) + 4'(sent_q[i])
                                         + 4'(out_valid[i]));
        one_owner: assert ((dut.owner_q[i] & (dut.owner_q[i] - 5'd1)) == '0);
        one_output: assert (dut.owns_q[i] != no_output[i]);
        owned_alone: assert (no_output[i]
                             || ones({dut.owner_q[4][i], dut.owner_q[3][i], dut.owner_q[2][i],
                                      dut.owner_q[1][i], dut.owner_q[0][i]}) == 3'd1);
        allowed: assert ((dut.owner_q[i] & ~dut.Turns[i]) == '0);
        free: assert (dut.owner_q[i] != '0 || !begun[i]);
        framed: assert (within_q[i] == (dut.count_q[i] == '0 ? mid[i]
                                        : !(dut.count_q[i] == 2'd1 ? front[i][WIDTH]
                                            : behind[i][WIDTH])));
        granted: assert (!dut.owns_q[i] || mid[i]
                         || (dut.count_q[i] != '0
                             && owned[i] == side(goes(front[i]), place_i)));
        wanted: assert (dut.wants_q[i] == '0 || (dut.count_q[i] != '0 && !dut.owns_q[i]
                        && dut.wants_q[i] == 5'd1 << side(goes(front[i]), place_i)));
        after: assert (dut.after_q[i] == 5'b00000 || dut.after_q[i] == 5'b11110
                       || dut.after_q[i] == 5'b11100 || dut.after_q[i] == 5'b11000
                       || dut.after_q[i] == 5'b10000);
        after_owner: assert (dut.owner_q[i] == '0 || dut.after_q[i]
                             == ~(dut.owner_q[i] | (dut.owner_q[i] - 5'd1)));
        if (dut.count_q[i] != '0 && !mid[i]) begin
          front_legal: assert (legal(side_e'(i), goes(front[i]), place_i));
        end
        if (dut.count_q[i] == 2'd2 && front[i][WIDTH]) begin
          behind_legal: assert (legal(side_e'(i), goes(behind[i]), place_i));
        end
      end
    end
  end

  // The place of the followed flit among those that its input keeps, and where a body flit behind
  // what is kept goes.
  logic [2:0] at;
  logic       kept;
  side_e      front_side;
  assign kept       = followed_q && !leaves;
  assign at         = ahead_q - 3'(in_credit[who_i]);
  assign front_side = mid[who_i] ? owned[who_i] : side(goes(front[who_i]), place_i);

  // Those that may still go before the followed one: behind the last that had its output, and
  // before it in turn; and one that has the output and is not counted yet.
  logic [4:0] me, sooner;
  logic [2:0] pending;
  assign me      = 5'd1 << who_i;
  assign sooner  = (dut.after_q[out] & me) != '0 ? dut.after_q[out] & (me - 5'd1)
                   : dut.after_q[out] | (me - 5'd1);
  assign pending = 3'(dut.owner_q[out] != '0 && (dut.owner_q[out] & me) == '0 && !begun[out])
                   + 3'(begins);

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (kept) begin
        state_at: assert (at < 3'(dut.count_q[who_i]) && at <= 3'd1);
        state_flit: assert ((at == '0 ? front[who_i] : behind[who_i]) == {last_q, data_q});
        state_legal: assert (legal(who_i, to_q, place_i));
        if (first_q) begin
          state_first: assert (goes({last_q, data_q}) == to_q
                               && (at == '0 ? !mid[who_i] : front[who_i][WIDTH]));
        end else begin
          state_body: assert ((at == '0 ? mid[who_i] : !front[who_i][WIDTH])
                              && front_side == out);
        end
      end
      if (within_q[who_i]) begin
        state_coming: assert (side(coming_q, place_i)
                              == (dut.count_q[who_i] == 2'd2 && front[who_i][WIDTH]
                                  ? side(goes(behind[who_i]), place_i) : front_side));
        state_coming_legal: assert (legal(who_i, coming_q, place_i));
        // The first flit of what comes is kept.
        if (dut.count_q[who_i] == 2'd2 && front[who_i][WIDTH]) begin
          state_coming_behind: assert (goes(behind[who_i]) == coming_q);
        end else if (!mid[who_i]) begin
          state_coming_front: assert (goes(front[who_i]) == coming_q);
        end
      end
      if (open_q) begin
        state_open: assert (open_out_q <= West && begun_q[open_out_q]
                            && (dut.owner_q[open_out_q] == me
                                || (in_credit[who_i] && out_last[open_out_q]
                                    && out_valid[open_out_q])));
      end
      if (leaves && !last_q) state_left: assert (dut.owner_q[out] == me);
      if (open_q && leaves) state_same_packet: assert (!first_q && out == open_out_q);
      if (first_here && first_q && waits_q) begin
        state_turn: assert (passed_q + pending + ones(sooner) <= 3'd4
                            || (dut.owner_q[out] & me) != '0);
        state_passed: assert (passed_q + pending <= 3'd4);
        state_asks: assert ((dut.owner_q[out] & me) != '0
                            || dut.wants_q[who_i] == 5'd1 << out);
      end
      if (first_here && !first_q) state_no_turn: assert (passed_q == '0 && pending == '0);
      if (!waits_q) state_none_yet: assert (passed_q == '0);
      if (!(followed_q && ahead_q == '0)) state_none_passed: assert (passed_q == '0);
    end
  end
`endif

  always_ff @(posedge clk_i) begin
    began_q <= 1'b1;
    who_q   <= who_i;
    place_q <= place_i;
    if (in_valid_i[who_i]) coming_q <= coming;
    if (follows) begin
      data_q  <= in_data_i[who_i];
      last_q  <= in_last_i[who_i];
      first_q <= !within_q[who_i];
      to_q    <= coming;
    end
    if (leaves) open_out_q <= out;

    begin_in_reset: assume (rst_ni == began_q);
    if (began_q) begin
      one_followed: assume (who_i == who_q && who_i <= West);
      one_place: assume (place_i == place_q);
    end

    if (rst_ni) begin
      for (int unsigned i = 0; i < 5; i++) begin
        // The neighbours keep to credits, and to XY.
        assume (!in_valid_i[i] || inside_q[i] - 3'(in_credit[i]) < 3'(DEPTH));
        assume (!out_credit_i[i] || sent_q[i] != '0);
        assume (!in_valid_i[i] || within_q[i]
                || legal(side_e'(i), place_t'(in_data_i[i][WIDTH-1-:6]), place_i));
      end

      // As many come out as leave the inputs.
      as_many: assert (ones(in_credit) == ones(out_valid));
      room: assert (!out_valid[who_i] || sent_q[who_i] < 3'(DEPTH));
      from_there: assert (!in_credit[who_i] || inside_q[who_i] != '0);
      if (leaves) begin
        side_right: assert (out_valid[out]);
        same: assert (out_data[out] == data_q && out_last[out] == last_q);
        // A packet begins where no other is under way.
        not_between: assert (!first_q || !begun_q[out]);
        // What the next router takes for granted of it, and a place that it is for it.
        next_legal: assert (!first_q || (out == Local ? next_to == place_i
                                         : legal(entry, next_to, neighbour)));
      end
      if (open_q) none_between: assert (!out_valid[open_out_q] || in_credit[who_i]);

      left: cover (leaves && last_q && !first_q && sent_q[out] == 3'd1);
      waited: cover (leaves && passed_q == 3'd2);
    end
  end

endmodule
