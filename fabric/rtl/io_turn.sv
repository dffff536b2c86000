// In front of a device of the I/O hypervisor: whose request it works on, by the arbiter, and the
// way of data between it and that port. Nothing of a turn reaches another port.
//
// By FixedPriority a request is preempted by one of a lower number: the I/O VMM is told to yield,
// and may end the turn with Suspended, between words of the request. The port notices nothing. The
// request asks for another turn, in which the I/O VMM is shown what is left of it: the address
// behind the words that have moved, and the length without them.
module io_turn
  import io_pkg::*;
#(
  parameter int unsigned PORTS       = 4,
  // The I/O VMM can suspend a request.
  parameter bit          PREEMPTIBLE = 1'b0
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  policy_e               policy_i,

  // The ports. What a port asks for stays until its turn begins, and its words come as an I/O VMM
  // is promised them. What the device gives goes to all; a bit here says to whom.
  input  logic [PORTS-1:0]       ask_i,
  input  request_t [PORTS-1:0]   request_i,
  output logic [PORTS-1:0]       grant_o,
  input  logic [PORTS-1:0]       in_valid_i,
  output logic [PORTS-1:0]       in_ready_o,
  input  logic [PORTS-1:0][31:0] in_data_i,
  output logic [PORTS-1:0]       out_valid_o,
  output logic [PORTS-1:0]       response_valid_o,
  output response_t              response_o,

  // The device's I/O VMM.
  output logic                  request_valid_o,
  input  logic                  request_ready_i,
  output request_t              request_o,
  output logic                  in_valid_o,
  input  logic                  in_ready_i,
  output logic [31:0]           in_data_o,
  input  logic                  out_valid_i,
  input  logic                  response_valid_i,
  input  response_t             response_i,
  // A request of a higher priority waits.
  output logic                  yield_o
);

  // Those whose turn begins, and that have one; those whose request is suspended.
  logic [PORTS-1:0] begins, owner, suspended;
  // The device has taken the request.
  logic             busy_q;
  // The turn ends, but not the request.
  logic             suspends;
  request_t         chosen;

  io_arbiter #(.PORTS(PORTS)) u_arbiter (
    .clk_i, .rst_ni, .policy_i, .request_i(ask_i | suspended), .grant_o(begins), .owner_o(owner),
    .done_i(busy_q && response_valid_i)
  );

  assign grant_o = begins & ~suspended;

  always_comb begin
    chosen    = '0;
    in_data_o = '0;
    for (int unsigned i = 0; i < PORTS; i++) begin
      if (owner[i]) begin
        chosen    = chosen | request_i[i];
        in_data_o = in_data_o | in_data_i[i];
      end
    end
  end

  assign in_valid_o       = busy_q && (owner & in_valid_i) != '0;
  assign in_ready_o       = busy_q && in_ready_i ? owner : '0;
  assign out_valid_o      = busy_q && out_valid_i ? owner : '0;
  assign response_valid_o = busy_q && response_valid_i && !suspends ? owner : '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      request_valid_o <= 1'b0;
      busy_q          <= 1'b0;
    end else begin
      request_valid_o <= begins != '0 || (request_valid_o && !request_ready_i);
      busy_q          <= (request_valid_o && request_ready_i) || (busy_q && !response_valid_i);
    end
  end

  // What is left of a request.

  if (PREEMPTIBLE) begin : gen_preemptible
    typedef logic [LengthWidth-3:0] words_t;

    localparam int unsigned IndexWidth = PORTS > 1 ? unsigned'($clog2(PORTS)) : 1;

    logic [PORTS-1:0]      suspended_q;
    logic [IndexWidth-1:0] port;
    // Words of each suspended request that have moved; of the one whose turn it is, before the
    // turn, and by now.
    words_t                kept [PORTS];
    words_t                past, past_q, moved_q, moved;

    assign suspends  = response_i.status == Suspended;
    assign suspended = suspended_q;

    always_comb begin
      port = '0;
      for (int unsigned i = 0; i < PORTS; i++) begin
        if (owner[i]) port |= IndexWidth'(i);
      end
    end

    assign past  = (begins & suspended_q) != '0 ? kept[port] : '0;
    assign moved = moved_q + words_t'((busy_q && out_valid_i) || (in_valid_o && in_ready_i));

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        suspended_q <= '0;
        yield_o     <= 1'b0;
      end else begin
        suspended_q <= (suspended_q & ~begins)
                       | (busy_q && response_valid_i && suspends ? owner : '0);
        yield_o     <= policy_i == FixedPriority && busy_q && !response_valid_i
                       && ((ask_i | suspended_q) & (owner - 1'b1)) != '0;
      end
    end

    always_ff @(posedge clk_i) begin
      if (begins != '0) begin
        request_o        <= chosen;
        request_o.addr   <= chosen.addr + 32'({past, 2'b00});
        request_o.length <= chosen.length - {past, 2'b00};
        past_q           <= past;
      end
      moved_q <= begins != '0 ? past : moved;
      if (busy_q && response_valid_i) kept[port] <= moved;
    end

    assign response_o.status = response_i.status;
    assign response_o.length = request_o.op == Read && response_i.status == Done
                               ? response_i.length + {past_q, 2'b00} : '0;
  end else begin : gen_whole
    assign {suspends, suspended, yield_o} = '0;
    assign response_o = response_i;

    always_ff @(posedge clk_i) begin
      if (begins != '0) request_o <= chosen;
    end
  end

endmodule
