// The I/O hypervisor's place on the mesh: a port for each place that may ask, and the way of
// packets between these and the mesh.
//
// What arrives is taken at once, and belongs to the port of the place where it comes from; what
// comes from elsewhere is dropped. Responses take turns, a packet each: so a place waits for at
// most one response of each other.
module mesh_io
  import io_pkg::*;
  import mesh_io_pkg::*;
  import mesh_pkg::*;
#(
  // At most 16; where each one's requests come from; flits that the router has room for.
  parameter int unsigned          PORTS   = 16,
  parameter place_t [PORTS-1:0]   PLACES  = FourByFour[PORTS-1:0],
  parameter int unsigned          DEPTH   = 4,
  parameter logic [7:0]           DEVICES = 8'b0001_1110
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  // The devices that each port may use, a bit each.
  input  logic [PORTS-1:0][7:0]   devices_i,
  // A packet of the port found no room.
  output logic [PORTS-1:0]        lost_o,

  // Into the mesh, and out of it.
  output logic                    out_valid_o,
  output logic                    out_last_o,
  output logic [31:0]             out_data_o,
  input  logic                    out_credit_i,
  input  logic                    in_valid_i,
  input  logic                    in_last_i,
  input  logic [31:0]             in_data_i,
  output logic                    in_credit_o,

  // Devices, as in io_port_engine.
  output logic [PORTS-1:0][7:0]   ask_o,
  input  logic [PORTS-1:0]        grant_i,
  output request_t [PORTS-1:0]    request_o,
  output logic [PORTS-1:0]        in_valid_o,
  input  logic [PORTS-1:0]        in_ready_i,
  output logic [PORTS-1:0][31:0]  in_word_o,
  input  logic [PORTS-1:0]        out_valid_i,
  input  logic [PORTS-1:0][31:0]  out_word_i,
  input  logic [PORTS-1:0]        response_valid_i,
  input  response_t [PORTS-1:0]   response_i
);

  localparam int unsigned CreditBits = unsigned'($clog2(DEPTH + 1));

  // Requests: a flit's port is that of its packet's first one.

  logic             flit_q, first_q, last_q, within_q;
  logic [31:0]      data_q;
  logic [PORTS-1:0] from, from_q;

  always_comb begin
    for (int unsigned i = 0; i < PORTS; i++) from[i] = place_t'(in_data_i[25:20]) == PLACES[i];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      in_credit_o <= 1'b0;
      flit_q      <= 1'b0;
      within_q    <= 1'b0;
    end else begin
      in_credit_o <= in_valid_i;
      flit_q      <= in_valid_i;
      if (in_valid_i) within_q <= !in_last_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (in_valid_i) begin
      data_q  <= in_data_i;
      first_q <= !within_q;
      last_q  <= in_last_i;
      if (!within_q) from_q <= from;
    end
  end

  logic [PORTS-1:0]       answer_valid, sent;
  answer_t [PORTS-1:0]    answers;
  logic [PORTS-1:0][31:0] words;
  logic [8:0]             word_q, next_word;

  for (genvar p = 0; p < int'(PORTS); p++) begin : gen_port
    mesh_port #(.PORT(PortWidth'(p)), .DEVICES(DEVICES)) u_port (
      .clk_i, .rst_ni, .devices_i(devices_i[p]),
      .flit_i(flit_q && from_q[p]), .flit_first_i(first_q), .flit_last_i(last_q),
      .flit_data_i(data_q), .lost_o(lost_o[p]),
      .answer_valid_o(answer_valid[p]), .answer_o(answers[p]), .sent_i(sent[p]),
      .word_i(next_word), .word_o(words[p]),
      .ask_o(ask_o[p]), .grant_i(grant_i[p]), .request_o(request_o[p]),
      .in_valid_o(in_valid_o[p]), .in_ready_i(in_ready_i[p]), .in_data_o(in_word_o[p]),
      .out_valid_i(out_valid_i[p]), .out_data_i(out_word_i[p]),
      .response_valid_i(response_valid_i[p]), .response_i(response_i[p])
    );
  end

  // Responses: whose turn it is, and of its packet the first word, then data, one for each credit.

  logic                  busy_q, loads_q, begun_q, sends, last;
  logic [PORTS-1:0]      choice, begins, turn_q;
  logic [CreditBits-1:0] credit_q;
  answer_t               answer, header_q;
  logic [31:0]           word;
  logic [8:0]            count_q;

  assign begins = busy_q ? '0 : choice;

  io_policy_round_robin #(.PORTS(PORTS)) u_turns (
    .clk_i, .rst_ni, .request_i(answer_valid), .granted_i(begins), .choice_o(choice)
  );

  always_comb begin
    answer = '0;
    word   = '0;
    for (int unsigned i = 0; i < PORTS; i++) begin
      if (turn_q[i]) begin
        answer = answer | answers[i];
        word   = word | words[i];
      end
    end
  end

  assign sends     = busy_q && !loads_q && credit_q != '0;
  assign last      = begun_q ? word_q + 1'b1 == count_q : count_q == '0;
  assign next_word = busy_q ? word_q + 9'(sends && begun_q) : '0;
  assign sent      = sends && last ? turn_q : '0;

  // What is sent in a cycle is chosen in the next, and out in the one after.
  logic going_q, going_last_q, going_word_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q      <= 1'b0;
      loads_q     <= 1'b0;
      begun_q     <= 1'b0;
      turn_q      <= '0;
      word_q      <= '0;
      credit_q    <= CreditBits'(DEPTH);
      going_q     <= 1'b0;
      out_valid_o <= 1'b0;
    end else begin
      busy_q      <= begins != '0 || (busy_q && !(sends && last));
      loads_q     <= begins != '0;
      begun_q     <= (begun_q || sends) && !(sends && last);
      word_q      <= next_word;
      credit_q    <= credit_q + CreditBits'(out_credit_i) - CreditBits'(sends);
      going_q     <= sends;
      out_valid_o <= going_q;
      if (begins != '0) turn_q <= begins;
    end
  end

  always_ff @(posedge clk_i) begin
    if (loads_q) begin
      header_q <= answer;
      // Only with Done are there data.
      count_q  <= answer.status == Done ? 9'((13'(answer.length) + 13'd3) >> 2) : '0;
    end
    going_last_q <= last;
    going_word_q <= begun_q;
    out_last_o   <= going_last_q;
    out_data_o   <= going_word_q ? word : header_q;
  end

endmodule
