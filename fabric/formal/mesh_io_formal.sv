// The I/O hypervisor's place on the mesh, whatever comes and whatever its ports answer.
//
// Each flit goes to the port of the place where its packet comes from, and to no other; what comes
// from elsewhere goes nowhere. A response that a port has goes out whole, once, in its own words,
// and nothing goes without room at the router. That packets are whole and one behind the other when
// they come is what the router promises.
//
// The ports are arbitrary: of them is taken for granted that a response stays until it was sent,
// and that it has data when it is done alone.
module mesh_io_formal
  import io_pkg::*;
  import mesh_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input logic        out_credit,
  input logic        in_valid,
  input logic        in_last,
  input logic [31:0] in_data,
  // What is seen of the ports where there are none.
  input logic [179:0] free
);

  localparam place_t [1:0] Places = {6'o35, 6'o21};

  logic              out_valid, out_last, in_credit;
  logic [31:0]       out_data;
  logic [1:0]        lost, in_valids;
  logic [1:0][7:0]   ask;
  request_t [1:0]    request;
  logic [1:0][31:0]  in_words;

  mesh_io #(.PORTS(2), .PLACES(Places), .DEPTH(2)) dut (
    .clk_i, .rst_ni, .devices_i('0), .lost_o(lost),
    .out_valid_o(out_valid), .out_last_o(out_last), .out_data_o(out_data),
    .out_credit_i(out_credit), .in_valid_i(in_valid), .in_last_i(in_last), .in_data_i(in_data),
    .in_credit_o(in_credit),
    .ask_o(ask), .grant_i('0), .request_o(request), .in_valid_o(in_valids), .in_ready_i('0),
    .in_word_o(in_words), .out_valid_i('0), .out_word_i('0), .response_valid_i('0),
    .response_i('0)
  );

  // A flit for each port; which responses there are, and words of them; which one has been sent;
  // and whose turn it is.
  logic             flit_first, flit_last, busy;
  logic [1:0]       flits, there, sent, turn;
  logic [31:0]      flit_data;
  answer_t [1:0]    answers;
  logic [1:0][31:0] words;
  logic [8:0]       index;

`ifdef CUT
  assign {flits, flit_first, flit_last, flit_data, there, answers, words, sent, index, busy, turn}
      = free;
`else
  for (genvar i = 0; i < 2; i++) begin : gen_port
    assign flits[i]   = dut.flit_q && dut.from_q[i];
    assign there[i]   = dut.answer_valid[i];
    assign answers[i] = dut.answers[i];
    assign words[i]   = dut.words[i];
    assign sent[i]    = dut.sent[i];
  end
  assign {flit_first, flit_last, flit_data, index, busy, turn}
      = {dut.first_q, dut.last_q, dut.data_q, dut.next_word, dut.busy_q, dut.turn_q};
`endif

  logic          began_q = 1'b0;
  // What came in the cycle before, and where its packet comes from.
  logic          came_q, last_q, within_q, first_q;
  logic [31:0]   data_q;
  place_t        from_q;
  // The packet that goes: which of its flits does, now and one and two cycles before.
  logic          busy_q, goes, goes_q, goes2_q, room, waited_q;
  logic [9:0]    number_q, number1_q, number2_q;
  answer_t       answer, answer1_q, answer2_q;
  logic [1:0]    turn1_q, turn2_q, sent1_q, sent2_q, there_q;
  answer_t [1:0] answers_q;
  logic [31:0]   word, word_q;
  logic [8:0]    index1_q, index2_q, index3_q;
  // Flits that are out of the packet so far; those of all that the router has no room for.
  logic [9:0]    flits_q;
  logic [2:0]    outside_q;

  assign answer = turn[0] ? answers[0] : answers[1];
  assign word   = turn[0] ? words[0] : words[1];
  // In its first cycle a packet is looked at.
  assign room   = outside_q + 3'(out_valid) + 3'(goes_q) < 3'd2;
  assign goes   = busy && busy_q && room;

  function automatic logic [9:0] count(answer_t of);
    return of.status == Done ? 10'((13'(of.length) + 13'd3) / 4) : '0;
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {came_q, within_q, busy_q, goes_q, goes2_q, waited_q, number_q, sent1_q, sent2_q, there_q,
       flits_q, outside_q} <= '0;
    end else begin
      came_q    <= in_valid;
      if (in_valid) within_q <= !in_last;
      // The next packet begins when the one before has gone.
      busy_q    <= busy && sent == '0;
      {goes_q, goes2_q} <= {goes, goes_q};
      if (goes) number_q <= number_q == count(answer) ? '0 : number_q + 10'd1;
      if (out_valid) flits_q <= out_last ? '0 : flits_q + 10'd1;
      outside_q <= outside_q + 3'(out_valid) - 3'(out_credit);
      there_q   <= there & ~sent;
      {sent1_q, sent2_q} <= {sent, sent1_q};
      waited_q  <= !busy && there != '0;
    end
  end

  always_ff @(posedge clk_i) begin
    began_q   <= 1'b1;
    {last_q, data_q, first_q} <= {in_last, in_data, !within_q};
    if (in_valid && !within_q) from_q <= place_t'(in_data[25:20]);
    answers_q <= answers;
    word_q    <= word;
    {answer1_q, answer2_q}         <= {answer, answer1_q};
    {turn1_q, turn2_q}             <= {turn, turn1_q};
    {number1_q, number2_q}         <= {number_q, number1_q};
    {index1_q, index2_q, index3_q} <= {index, index1_q, index2_q};

    begin_in_reset: assume (rst_ni == began_q);

    if (rst_ni) begin
      // The ports.
      stay_0: assume (!there_q[0] || (there[0] && answers[0] == answers_q[0]));
      stay_1: assume (!there_q[1] || (there[1] && answers[1] == answers_q[1]));
      over: assume ((sent1_q & there) == '0);
      formed_0: assume (answers[0].status != Done || answers[0].length <= 11'd1536);
      formed_1: assume (answers[1].status != Done || answers[1].length <= 11'd1536);
      // The router.
      credit_due: assume (!out_credit || outside_q != '0);

      // What comes.
      to_its_port: assert (flits == (came_q ? {from_q == Places[1], from_q == Places[0]} : '0));
      if (flits != '0) as_it_came: assert (flit_first == first_q && flit_last == last_q
                                           && flit_data == data_q);
      taken_at_once: assert (in_credit == came_q);

      // What goes: when there is room, and then only.
      in_time: assert (out_valid == goes2_q);
      if (out_valid) begin
        in_order: assert (flits_q == number2_q);
        last_right: assert (out_last == (number2_q == count(answer2_q)));
        if (number2_q == '0) first_right: assert (out_data == answer2_q);
        else word_right: assert (out_data == word_q && 10'(index3_q) + 10'd1 == number2_q);
      end
      sent_due: assert (sent == (goes && number_q == count(answer) ? turn : 2'b00));
      turn_due: assert (!busy || turn == 2'b01 || turn == 2'b10);
      turn_there: assert (!busy || (turn & there) != '0);
      begins: assert (busy || !waited_q);

      two: cover (out_valid && out_last && flits_q == 10'd2 && sent2_q == 2'b10);
`ifndef CUT
      // What makes the rest follow by induction.
      state_came: assert (dut.flit_q == came_q && (!came_q || {flit_first, flit_last, flit_data}
                                                  == {first_q, last_q, data_q}));
      if (came_q || within_q) state_from: assert (dut.from_q == {from_q == Places[1],
                                                                from_q == Places[0]});
      state_within: assert (dut.within_q == within_q);
      state_credit: assert (3'(dut.credit_q) == 3'd2 - outside_q - 3'(out_valid) - 3'(goes_q)
                            && outside_q <= 3'd2 - 3'(out_valid) - 3'(goes_q));
      state_busy: assert (dut.loads_q == (busy && !busy_q) && (busy || !busy_q)
                          && (number_q == '0 || busy_q));
      state_begun: assert (dut.begun_q == (number_q != '0)
                           && (!busy || (number_q == '0 ? dut.word_q == '0
                                         : 10'(dut.word_q) + 10'd1 == number_q)));
      if (busy && busy_q) begin
        state_header: assert (dut.header_q == answer && 10'(dut.count_q) == count(answer)
                              && number_q <= count(answer));
      end
      state_going: assert (dut.going_q == goes_q);
      if (goes_q) begin
        state_goes: assert (dut.header_q == answer1_q && dut.going_word_q == (number1_q != '0)
                            && dut.going_last_q == (number1_q == count(answer1_q))
                            && turn == turn1_q
                            && (number1_q == '0 || 10'(index2_q) + 10'd1 == number1_q)
                            && number_q == (dut.going_last_q ? '0 : number1_q + 10'd1));
      end
      state_flits: assert (flits_q == (out_valid ? number2_q : goes_q ? number1_q : number_q));
      if (out_valid && goes_q) begin
        state_next: assert (number1_q == (out_last ? '0 : number2_q + 10'd1));
      end
      if (out_valid && !goes_q) begin
        state_last: assert (number_q == (out_last ? '0 : number2_q + 10'd1));
      end
      if (busy && busy_q && number_q != '0) begin
        state_index: assert (10'(index1_q) + 10'd1 == number_q);
      end
`endif
    end
  end

endmodule
