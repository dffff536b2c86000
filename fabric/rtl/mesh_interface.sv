// A hart's interface to the mesh: a page of 4 KiB (regs/mesh_interface.rdl).
//
// A packet is written as a whole before one store sends it, and where it comes from is said by the
// interface. What arrives is taken at once: what the I/O hypervisor sends into one queue, what
// other places send into another, so that these never take the room of responses. What finds no
// room is dropped as a whole and counted; responses always find it, because a request is only sent
// when there is room for it at the I/O hypervisor, and here for whatever it may answer.
module mesh_interface
  import io_pkg::*;
  import mesh_pkg::*;
#(
  // Where it is, and where the I/O hypervisor; flits that the router has room for.
  parameter place_t      PLACE = '{y: 3'd0, x: 3'd0},
  parameter place_t      IO    = '{y: 3'd0, x: 3'd1},
  parameter int unsigned DEPTH = 4
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        s_axil_awvalid,
  output logic        s_axil_awready,
  input  logic [11:0] s_axil_awaddr,
  input  logic [2:0]  s_axil_awprot,
  input  logic        s_axil_wvalid,
  output logic        s_axil_wready,
  input  logic [31:0] s_axil_wdata,
  input  logic [3:0]  s_axil_wstrb,
  output logic        s_axil_bvalid,
  input  logic        s_axil_bready,
  output logic [1:0]  s_axil_bresp,
  input  logic        s_axil_arvalid,
  output logic        s_axil_arready,
  input  logic [11:0] s_axil_araddr,
  input  logic [2:0]  s_axil_arprot,
  output logic        s_axil_rvalid,
  input  logic        s_axil_rready,
  output logic [31:0] s_axil_rdata,
  output logic [1:0]  s_axil_rresp,

  output logic        irq_o,

  // The places that it may send to: 8 y + x.
  input  logic [63:0] reach_i,

  // Into the mesh, and out of it.
  output logic        out_valid_o,
  output logic        out_last_o,
  output logic [31:0] out_data_o,
  input  logic        out_credit_i,
  input  logic        in_valid_i,
  input  logic        in_last_i,
  input  logic [31:0] in_data_i,
  output logic        in_credit_o
);

  // There are several in a design: what they do is compiled once.
  /*verilator no_inline_module*/

  typedef logic [9:0] count_t;

  // Of each queue, and at most those of requests that are with the I/O hypervisor.
  localparam count_t      Words      = 10'd512;
  localparam int unsigned CreditBits = unsigned'($clog2(DEPTH + 1));

  // The page. A register between the bus and what is behind it: decoding takes a cycle.

  logic        req, req_is_wr, page_req_q, page_is_wr_q, unused_stall_wr, unused_stall_rd;
  logic [11:0] addr, page_addr_q;
  logic [31:0] wr_data, wr_biten, page_data_q, page_biten_q, rd_data;
  logic        rd_ack, rd_err, wr_ack, wr_err;

  mesh_interface_regs_pkg::mesh_interface__in_t  to_regs;
  mesh_interface_regs_pkg::mesh_interface__out_t from_regs;

  axil_slave #(.ADDR_WIDTH(12), .DATA_WIDTH(32)) u_slave (
    .clk_i, .rst_ni,
    .s_axil_awvalid, .s_axil_awready, .s_axil_awaddr, .s_axil_awprot,
    .s_axil_wvalid, .s_axil_wready, .s_axil_wdata, .s_axil_wstrb,
    .s_axil_bvalid, .s_axil_bready, .s_axil_bresp,
    .s_axil_arvalid, .s_axil_arready, .s_axil_araddr, .s_axil_arprot,
    .s_axil_rvalid, .s_axil_rready, .s_axil_rdata, .s_axil_rresp,
    .req_o(req), .req_is_wr_o(req_is_wr), .addr_o(addr),
    .wr_data_o(wr_data), .wr_biten_o(wr_biten),
    // It makes no other access before this one is answered.
    .req_stall_wr_i(1'b0), .req_stall_rd_i(1'b0),
    .rd_ack_i(rd_ack), .rd_err_i(rd_err), .rd_data_i(rd_data),
    .wr_ack_i(wr_ack), .wr_err_i(wr_err)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) page_req_q <= 1'b0;
    else page_req_q <= req;
  end

  always_ff @(posedge clk_i) begin
    {page_is_wr_q, page_addr_q, page_data_q, page_biten_q} <= {req_is_wr, addr, wr_data, wr_biten};
  end

  mesh_interface_regs u_regs (
    .clk(clk_i), .arst_n(rst_ni),
    .s_cpuif_req(page_req_q), .s_cpuif_req_is_wr(page_is_wr_q), .s_cpuif_addr(page_addr_q),
    .s_cpuif_wr_data(page_data_q), .s_cpuif_wr_biten(page_biten_q),
    .s_cpuif_req_stall_wr(unused_stall_wr), .s_cpuif_req_stall_rd(unused_stall_rd),
    .s_cpuif_rd_ack(rd_ack), .s_cpuif_rd_err(rd_err), .s_cpuif_rd_data(rd_data),
    .s_cpuif_wr_ack(wr_ack), .s_cpuif_wr_err(wr_err),
    .hwif_in(to_regs), .hwif_out(from_regs)
  );

  // The packet that HEADER was written for: in the cycle after, its registers hold it; in the next
  // it is checked, and then sent.

  logic    written_q, begins, checking_q, sending_q, accepted, fits;
  logic    is_request_q, reached_q;
  place_t  to;
  header_t header, header_q;
  count_t  size, size_q, least_q, answer_size_q;

  assign begins = written_q && !checking_q && !sending_q;
  assign to     = '{y: from_regs.HEADER.y.value, x: from_regs.HEADER.x.value};
  assign header = header_t'({to, PLACE, from_regs.HEADER.head.value});
  assign size   = count_t'(from_regs.PACKET.words.value) + 1'b1;

  always_ff @(posedge clk_i) begin
    if (begins) begin
      header_q      <= header;
      is_request_q  <= to == IO;
      reached_q     <= reach_i[to];
      size_q        <= size;
      // There is always room for a small one that is not quiet.
      least_q       <= size + (header.quiet ? count_t'(2) : '0);
      // A response that is not to a Read that is Done is one word.
      answer_size_q <= header.op == Read && !header.quiet
                       ? count_t'((13'(header.length) + 13'd7) >> 2) : count_t'(1);
    end
  end

  // What of requests is with the I/O hypervisor, and what of responses may come, in words. It
  // answers in order: with the response to one that is not quiet, all of those before are over.

  logic   requested_q, asked_q, over, over_quiet;
  count_t requests_q, coming_q, requests_free_q, responses_free_q, kept_responses;

  assign fits     = !asked_q && responses_free_q >= answer_size_q && requests_free_q >= least_q;
  assign accepted = checking_q && reached_q && (!is_request_q || fits);

  logic [7:0] refused_q, lost_q;
  logic [8:0] refused;
  logic       lost;

  assign refused = 9'(refused_q) + 9'(written_q && !begins) + 9'(checking_q && !accepted);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      written_q        <= 1'b0;
      checking_q       <= 1'b0;
      requested_q      <= 1'b0;
      asked_q          <= 1'b0;
      requests_q       <= '0;
      coming_q         <= '0;
      requests_free_q  <= Words;
      responses_free_q <= Words;
      refused_q        <= '0;
      lost_q           <= '0;
    end else begin
      written_q   <= from_regs.HEADER.head.swmod;
      checking_q  <= begins;
      requested_q <= accepted && is_request_q;
      if (over) begin
        asked_q    <= 1'b0;
        requests_q <= '0;
        coming_q   <= '0;
      end else begin
        coming_q <= coming_q - count_t'(over_quiet) + (requested_q ? answer_size_q : '0);
        if (requested_q) begin
          asked_q    <= !header_q.quiet;
          requests_q <= requests_q + size_q;
        end
      end
      // In time for the next packet, which is not checked before this one is sent.
      requests_free_q  <= Words - requests_q;
      responses_free_q <= Words - kept_responses - coming_q;
      refused_q        <= refused[8] ? '1 : refused[7:0];
      if (lost && lost_q != '1) lost_q <= lost_q + 1'b1;
    end
  end

  // Sending: the first word, then those of the buffer, one for each credit.

  // What is written in the cycle in which it is read may be sent or not.
  (* no_rw_check *)
  logic [31:0]           buffer [512];
  logic [31:0]           word_q;
  logic [8:0]            left_q, place_q, next_place;
  logic                  first_q, sends, last;
  logic [CreditBits-1:0] credit_q;

  assign sends      = sending_q && credit_q != '0;
  assign last       = left_q == 9'(!first_q);
  assign next_place = begins ? from_regs.PACKET.first.value : place_q + 9'(sends && !first_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sending_q   <= 1'b0;
      credit_q    <= CreditBits'(DEPTH);
      out_valid_o <= 1'b0;
    end else begin
      sending_q   <= accepted || (sending_q && !(sends && last));
      credit_q    <= credit_q + CreditBits'(out_credit_i) - CreditBits'(sends);
      out_valid_o <= sends;
    end
  end

  always_ff @(posedge clk_i) begin
    if (begins) begin
      first_q <= 1'b1;
      left_q  <= from_regs.PACKET.words.value;
    end else if (sends) begin
      first_q <= 1'b0;
      if (!first_q) left_q <= left_q - 1'b1;
    end
    out_last_o <= last;
    out_data_o <= first_q ? header_q : word_q;
    place_q    <= next_place;
  end

  // The buffer has a port that writes and one that reads: no access of the hart waits.

  always_ff @(posedge clk_i) begin
    if (from_regs.BUFFER.req && from_regs.BUFFER.req_is_wr) begin
      for (int unsigned i = 0; i < 4; i++) begin
        if (from_regs.BUFFER.wr_biten[8*i])
          buffer[from_regs.BUFFER.addr[10:2]][8*i +: 8] <= from_regs.BUFFER.wr_data[8*i +: 8];
      end
    end
    word_q <= buffer[next_place];
  end

  assign to_regs.BUFFER.wr_ack  = from_regs.BUFFER.req && from_regs.BUFFER.req_is_wr;
  assign to_regs.BUFFER.rd_ack  = 1'b0;
  assign to_regs.BUFFER.rd_data = '0;

  // What arrives, by the place of its first word: 0 from the I/O hypervisor, 1 from others.

  logic        within_q, others, others_q, quiet, quiet_q;
  answer_t     answer;
  logic [1:0]  room_first, room_next, room, there, take, spoiled_q, begun_q, put, keep;
  logic [32:0] data [2];
  count_t      used [2];

  assign answer = answer_t'(in_data_i);
  assign others = within_q ? others_q : place_t'(answer.route[5:0]) != IO;
  // A response with an error has no length: there it says that the request was quiet.
  assign quiet  = within_q ? quiet_q : answer.status != Done && answer.length[0];

  for (genvar i = 0; i < 2; i++) begin : gen_queue
    assign room[i] = within_q ? room_next[i] : room_first[i];
    assign put[i]  = in_valid_i && others == (i == 1) && room[i];
    assign keep[i] = put[i] && in_last_i && !(within_q && spoiled_q[i]);

    mesh_queue u_queue (
      .clk_i, .rst_ni, .put_i(put[i]), .first_i(!within_q), .keep_i(keep[i]),
      .data_i({in_last_i, within_q ? in_data_i : {6'h20, in_data_i[25:0]}}),
      .room_first_o(room_first[i]), .room_o(room_next[i]), .there_o(there[i]),
      .data_o(data[i]), .take_i(take[i]), .used_o(used[i])
    );

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        spoiled_q[i] <= 1'b0;
        begun_q[i]   <= 1'b0;
      end else begin
        if (in_valid_i) spoiled_q[i] <= (within_q && spoiled_q[i]) || !room[i];
        if (take[i]) begun_q[i] <= !data[i][32];
      end
    end
  end

  assign lost           = in_valid_i && in_last_i && keep == '0;
  assign over           = in_valid_i && in_last_i && !others && !quiet;
  assign over_quiet     = in_valid_i && in_last_i && !others && quiet;
  assign kept_responses = used[0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      within_q    <= 1'b0;
      others_q    <= 1'b0;
      quiet_q     <= 1'b0;
      in_credit_o <= 1'b0;
      irq_o       <= 1'b0;
    end else begin
      if (in_valid_i) begin
        within_q <= !in_last_i;
        others_q <= others;
        quiet_q  <= quiet;
      end
      in_credit_o <= in_valid_i;
      irq_o       <= (there & {from_regs.IRQ_ENABLE.message.value,
                               from_regs.IRQ_ENABLE.response.value}) != '0;
    end
  end

  // A word is read in the cycle after it was asked for and taken: what comes from a queue's memory
  // is late in its cycle.

  logic [1:0]  read_q;
  logic [31:0] read_word_q;

  assign take = there & {from_regs.MESSAGE.req, from_regs.RESPONSE.req};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) read_q <= '0;
    else read_q <= {from_regs.MESSAGE.req, from_regs.RESPONSE.req};
  end

  always_ff @(posedge clk_i) begin
    read_word_q <= (data[0][31:0] & {32{take[0]}}) | (data[1][31:0] & {32{take[1]}});
  end

  assign to_regs.RESPONSE.rd_ack       = read_q[0];
  assign to_regs.RESPONSE.rd_data.word = read_word_q;
  assign to_regs.MESSAGE.rd_ack        = read_q[1];
  assign to_regs.MESSAGE.rd_data.word  = read_word_q;

  assign to_regs.STATUS.sending.next        = written_q || checking_q || sending_q;
  assign to_regs.STATUS.asked.next          = asked_q;
  assign to_regs.STATUS.response.next       = there[0];
  assign to_regs.STATUS.message.next        = there[1];
  assign to_regs.STATUS.response_begun.next = begun_q[0];
  assign to_regs.STATUS.message_begun.next  = begun_q[1];
  assign to_regs.STATUS.refused.next        = refused_q;
  assign to_regs.STATUS.lost.next           = lost_q;
  assign to_regs.PLACES.x.next              = PLACE.x;
  assign to_regs.PLACES.y.next              = PLACE.y;
  assign to_regs.PLACES.io_x.next           = IO.x;
  assign to_regs.PLACES.io_y.next           = IO.y;
  assign to_regs.ROOM.requests.next         = requests_free_q;
  assign to_regs.ROOM.responses.next        = responses_free_q;

  logic unused;
  assign unused = ^{used[1], answer, from_regs.BUFFER.addr[1:0], from_regs.BUFFER.wr_biten,
                    from_regs.RESPONSE.req_is_wr, from_regs.MESSAGE.req_is_wr};

endmodule
