// An I/O port: the page through which a VM uses the devices behind the I/O hypervisor.
//
// The page has a queue of requests and one of responses, and a buffer for data each way
// (regs/io_port.rdl); io_port_engine carries the requests out. A request that finds no room is
// refused as a whole and counted; none is begun while there is no room for its response. So a VM
// that never takes its responses stops its own port, and no other. What a VM asks of the page is
// answered in a bounded time, whatever the port is doing. After RESET the page is as if nothing had
// been asked, but that the request under way takes its place until it is over, unseen.
module io_port
  import io_pkg::*;
  import io_port_pkg::*;
  import memory_tree_pkg::*;
#(
  parameter logic [PortWidth-1:0] PORT    = '0,
  parameter logic [7:0]           DEVICES = 8'b0001_1110
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

  // A response waits, and it is enabled.
  output logic        irq_o,

  // What the port is given, by the manager alone.
  input  logic [7:0]  devices_i,
  input  logic [19:0] window_base_i,
  input  logic [20:0] window_pages_i,

  // Devices and memory, as in io_port_engine.
  output logic [7:0]  ask_o,
  input  logic        grant_i,
  output request_t    request_o,
  output logic        in_valid_o,
  input  logic        in_ready_i,
  output logic [31:0] in_data_o,
  input  logic        out_valid_i,
  input  logic [31:0] out_data_i,
  input  logic        response_valid_i,
  input  response_t   response_i,

  output logic        access_valid_o,
  input  logic        access_ready_i,
  output access_t     access_o,
  input  logic        reply_valid_i,
  input  reply_t      reply_i
);

  // There are several in a design: what they do is compiled once.
  /*verilator no_inline_module*/

  localparam logic [2:0] Places = 3'd4;

  // The page.

  logic        req, req_is_wr, stall_wr, stall_rd;
  logic [11:0] addr;
  logic [31:0] wr_data, wr_biten, rd_data;
  logic        rd_ack, rd_err, wr_ack, wr_err;

  io_port_regs_pkg::io_port__in_t  to_regs;
  io_port_regs_pkg::io_port__out_t from_regs;

  axil_slave #(.ADDR_WIDTH(12), .DATA_WIDTH(32)) u_slave (
    .clk_i, .rst_ni,
    .s_axil_awvalid, .s_axil_awready, .s_axil_awaddr, .s_axil_awprot,
    .s_axil_wvalid, .s_axil_wready, .s_axil_wdata, .s_axil_wstrb,
    .s_axil_bvalid, .s_axil_bready, .s_axil_bresp,
    .s_axil_arvalid, .s_axil_arready, .s_axil_araddr, .s_axil_arprot,
    .s_axil_rvalid, .s_axil_rready, .s_axil_rdata, .s_axil_rresp,
    .req_o(req), .req_is_wr_o(req_is_wr), .addr_o(addr),
    .wr_data_o(wr_data), .wr_biten_o(wr_biten),
    .req_stall_wr_i(stall_wr), .req_stall_rd_i(stall_rd),
    .rd_ack_i(rd_ack), .rd_err_i(rd_err), .rd_data_i(rd_data),
    .wr_ack_i(wr_ack), .wr_err_i(wr_err)
  );

  io_port_regs u_regs (
    .clk(clk_i), .arst_n(rst_ni),
    .s_cpuif_req(req), .s_cpuif_req_is_wr(req_is_wr), .s_cpuif_addr(addr),
    .s_cpuif_wr_data(wr_data), .s_cpuif_wr_biten(wr_biten),
    .s_cpuif_req_stall_wr(stall_wr), .s_cpuif_req_stall_rd(stall_rd),
    .s_cpuif_rd_ack(rd_ack), .s_cpuif_rd_err(rd_err), .s_cpuif_rd_data(rd_data),
    .s_cpuif_wr_ack(wr_ack), .s_cpuif_wr_err(wr_err),
    .hwif_in(to_regs), .hwif_out(from_regs)
  );

  // The queues. A request is put in the cycle after it was written: its registers hold it then.

  queued_t    requests [4];
  answered_t  responses [4];
  logic [1:0] request_q, response_q;
  logic [2:0] requests_q, responses_q;
  logic [7:0] refused_q;
  logic       written_q, put, over, answers, take, resets, busy, dropped_q;
  queued_t    written;
  answered_t  answer;

  assign written = '{device: from_regs.REQUEST.device.value, op: op_e'(from_regs.REQUEST.op.value),
                     quiet: from_regs.REQUEST.quiet.value, memory: from_regs.REQUEST.memory.value,
                     tag: from_regs.REQUEST.tag.value, length: from_regs.REQUEST.length.value,
                     addr: from_regs.ADDRESS.value.value, place: from_regs.DATA.place.value};

  assign put    = written_q && requests_q != Places;
  assign take   = from_regs.RESPONSE.valid.swacc && responses_q != '0;
  assign resets = from_regs.RESET.now.value;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      request_q   <= '0;
      response_q  <= '0;
      requests_q  <= '0;
      responses_q <= '0;
      refused_q   <= '0;
      written_q   <= 1'b0;
      dropped_q   <= 1'b0;
      irq_o       <= 1'b0;
    end else begin
      written_q   <= from_regs.REQUEST.length.swmod;
      requests_q  <= resets ? 3'(busy && !over) : requests_q + 3'(put) - 3'(over);
      request_q   <= request_q + 2'(over);
      responses_q <= resets ? '0 : responses_q + 3'(answers) - 3'(take);
      response_q  <= response_q + 2'(take);
      dropped_q   <= (resets ? busy : dropped_q) && !over;
      if (resets) refused_q <= '0;
      else if (written_q && !put && refused_q != '1) refused_q <= refused_q + 1'b1;
      irq_o       <= responses_q != '0 && from_regs.IRQ_ENABLE.response.value;
    end
  end

  always_ff @(posedge clk_i) begin
    if (put) requests[request_q + 2'(requests_q)] <= written;
    if (answers) responses[response_q + 2'(responses_q)] <= answer;
  end

  assign to_regs.IRQ_ENABLE.response.hwclr = resets;

  answered_t oldest;
  assign oldest = responses_q != '0 ? responses[response_q]
                  : '{device: '0, status: Done, tag: '0, length: '0};

  assign to_regs.STATUS.room.next     = Places - requests_q;
  assign to_regs.STATUS.waiting.next  = responses_q;
  assign to_regs.STATUS.refused.next  = refused_q;
  assign to_regs.RESPONSE.valid.next  = responses_q != '0;
  assign to_regs.RESPONSE.device.next = oldest.device;
  assign to_regs.RESPONSE.status.next = oldest.status;
  assign to_regs.RESPONSE.tag.next    = oldest.tag;
  assign to_regs.RESPONSE.length.next = oldest.length;

  // The buffers: out_buffer to devices, in_buffer from them. An access of the VM waits while the
  // same side is used for memory: a write for at most a line, a read for a cycle. What is read is
  // kept before it goes on to the bus: a block RAM takes half a cycle and more.

  logic        page_valid_q, page_is_wr_q, page_read_q, page_there_q, page_write, page_read;
  logic [8:0]  page_word_q;
  logic [31:0] page_data_q;
  logic [3:0]  page_bytes_q;
  logic [9:0]  next_place, place;
  logic        store_read, fetched, place_half_q, out_write;
  logic [7:0]  row;
  logic [63:0] out_row, in_row;

  assign page_write = page_valid_q && page_is_wr_q && !fetched;
  assign page_read  = page_valid_q && !page_is_wr_q && !page_read_q && !page_there_q
                      && !store_read;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      page_valid_q <= 1'b0;
      page_read_q  <= 1'b0;
      page_there_q <= 1'b0;
    end else begin
      page_valid_q <= from_regs.BUFFER.req || (page_valid_q && !page_write && !page_there_q);
      page_read_q  <= page_read;
      page_there_q <= page_read_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (from_regs.BUFFER.req) begin
      page_is_wr_q <= from_regs.BUFFER.req_is_wr;
      page_word_q  <= from_regs.BUFFER.addr[10:2];
      page_data_q  <= from_regs.BUFFER.wr_data;
      for (int unsigned i = 0; i < 4; i++) page_bytes_q[i] <= from_regs.BUFFER.wr_biten[8*i];
    end else if (page_read_q) begin
      page_data_q <= page_word_q[0] ? in_row[63:32] : in_row[31:0];
    end
    place_half_q <= next_place[0];
  end

  assign to_regs.BUFFER.wr_ack  = page_write;
  assign to_regs.BUFFER.rd_ack  = page_there_q;
  assign to_regs.BUFFER.rd_data = page_data_q;

  io_buffer u_out (
    .clk_i,
    .write_i(fetched ? 8'hff : !page_write ? 8'h00
             : page_word_q[0] ? {page_bytes_q, 4'h0} : {4'h0, page_bytes_q}),
    .write_row_i(fetched ? {1'b1, row} : {1'b0, page_word_q[8:1]}),
    .data_i(fetched ? reply_i.data : {2{page_data_q}}),
    .row_i(next_place[9:1]), .data_o(out_row)
  );

  assign in_data_o = place_half_q ? out_row[63:32] : out_row[31:0];

  assign out_write = out_valid_i;

  io_buffer u_in (
    .clk_i,
    .write_i(!out_write ? 8'h00 : place[0] ? 8'hf0 : 8'h0f), .write_row_i(place[9:1]),
    .data_i({2{out_data_i}}),
    .row_i(store_read ? {1'b1, row} : {1'b0, page_word_q[8:1]}), .data_o(in_row)
  );

  io_port_engine #(.PORT(PORT), .DEVICES(DEVICES)) u_engine (
    .clk_i, .rst_ni, .devices_i, .window_base_i, .window_pages_i,
    .request_valid_i(requests_q != '0), .request_i(requests[request_q]),
    .room_i(responses_q != Places), .drop_i(dropped_q), .busy_o(busy), .over_o(over),
    .answer_valid_o(answers), .answer_o(answer),
    .next_place_o(next_place), .place_o(place), .store_read_o(store_read), .row_o(row),
    .row_i(in_row), .fetched_o(fetched),
    .ask_o, .grant_i, .device_request_o(request_o), .in_valid_o, .in_ready_i, .out_valid_i,
    .response_valid_i, .response_i,
    .access_valid_o, .access_ready_i, .access_o, .reply_valid_i, .reply_i
  );

  logic unused;
  assign unused = ^{from_regs.BUFFER.addr[1:0], from_regs.BUFFER.wr_biten};

endmodule
