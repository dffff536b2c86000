// Registers at a place of the mesh: carries out requests of 16 other places as AXI4-Lite accesses,
// one after the other, and answers them.
//
// The number of the place that a request comes from is the upper part of the addresses of its
// accesses: it is what the mesh says, and nothing that a request can say. A packet is kept when
// all of it has come and found room, or dropped whole; those of other places are dropped. One
// whose size is not what its first word says is kept as that word alone, and answered with an
// error. An answer says first whether there was an error, so it goes when all accesses are over;
// with an error the accesses that are left are not made.
module mesh_registers
  import mesh_io_pkg::*;
  import mesh_pkg::*;
  import mesh_registers_pkg::*;
#(
  // Where requests come from, by their senders' numbers; flits that the router has room for.
  parameter place_t [15:0] PLACES     = FourByFour,
  parameter int unsigned   DEPTH      = 4,
  // Of the registers, without the sender's number.
  parameter int unsigned   ADDR_WIDTH = 12
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  // A packet found no room.
  output logic                  lost_o,

  // Into the mesh, and out of it.
  output logic                  out_valid_o,
  output logic                  out_last_o,
  output logic [31:0]           out_data_o,
  input  logic                  out_credit_i,
  input  logic                  in_valid_i,
  input  logic                  in_last_i,
  input  logic [31:0]           in_data_i,
  output logic                  in_credit_o,

  // The registers.
  output logic                  m_axil_awvalid,
  input  logic                  m_axil_awready,
  output logic [ADDR_WIDTH+3:0] m_axil_awaddr,
  output logic [2:0]            m_axil_awprot,
  output logic                  m_axil_wvalid,
  input  logic                  m_axil_wready,
  output logic [31:0]           m_axil_wdata,
  output logic [3:0]            m_axil_wstrb,
  input  logic                  m_axil_bvalid,
  output logic                  m_axil_bready,
  input  logic [1:0]            m_axil_bresp,
  output logic                  m_axil_arvalid,
  input  logic                  m_axil_arready,
  output logic [ADDR_WIDTH+3:0] m_axil_araddr,
  output logic [2:0]            m_axil_arprot,
  input  logic                  m_axil_rvalid,
  output logic                  m_axil_rready,
  input  logic [31:0]           m_axil_rdata,
  input  logic [1:0]            m_axil_rresp
);

  // There are several in a design: what they do is compiled once.
  /*verilator no_inline_module*/

  localparam int unsigned CreditBits = unsigned'($clog2(DEPTH + 1));
  // Of a register's number.
  localparam int unsigned PlaceBits  = ADDR_WIDTH - 2;

  typedef enum logic [2:0] {
    Idle,
    Address,
    Check,
    Fetch,    // a word to write
    Access,
    Drop,     // what is left of a request behind an error
    Answer,
    Send
  } state_e;

  // What comes. The first flit says how many are to come behind it.

  logic        flit_q, first_q, last_flit_q, within_q, known, known_q;
  logic [31:0] data_q;

  always_comb begin
    known = 1'b0;
    for (int unsigned i = 0; i < 16; i++) begin
      known = known || place_t'(in_data_i[25:20]) == PLACES[i];
    end
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
      data_q      <= in_data_i;
      first_q     <= !within_q;
      last_flit_q <= in_last_i;
      if (!within_q) known_q <= known;
    end
  end

  head_t       came, came_q;
  logic [9:0]  left_q;
  // So far there was room; it is not too long.
  logic        all_q, sized_q, right, put_first, fits, put, room_first, room, there, take, last;
  logic [31:0] word;
  logic [32:0] put_data;
  logic [9:0]  unused_used;

  assign came      = first_q ? head_t'(data_q) : came_q;
  assign right     = !first_q && sized_q && left_q == 10'd1;
  assign put_first = first_q || (last_flit_q && !right);
  assign fits      = put_first ? room_first : room && all_q;
  assign put       = flit_q && known_q && fits;
  assign put_data  = last_flit_q && !right ? {1'b1, came} : {last_flit_q, data_q};
  assign lost_o    = flit_q && known_q && last_flit_q && !fits;

  always_ff @(posedge clk_i) begin
    if (flit_q) begin
      came_q  <= came;
      left_q  <= !first_q ? left_q - 1'b1 : came.write ? 10'(came.words) + 10'd1 : 10'd1;
      sized_q <= first_q || (sized_q && left_q != '0);
      all_q   <= fits;
    end
  end

  mesh_queue u_queue (
    .clk_i, .rst_ni, .put_i(put), .first_i(put_first), .keep_i(last_flit_q),
    .data_i(put_data),
    .room_first_o(room_first), .room_o(room),
    .there_o(there), .data_o({last, word}), .take_i(take), .used_o(unused_used)
  );

  // The request under way.

  state_e               state_q;
  head_t                head_q;
  logic [3:0]           sender, sender_q;
  logic [31:0]          address_q;
  logic [PlaceBits-1:0] place_q;
  logic [8:0]           left_words_q, done_q;
  logic                 last_q, failed_q, bad, ends;
  logic                 aw_q, w_q, ar_q, b_q, r_q, answered, error;
  logic [PlaceBits:0]   behind;

  always_comb begin
    sender = '0;
    for (int unsigned i = 0; i < 16; i++) begin
      if (head_q.route.from == PLACES[i]) sender = sender | 4'(i);
    end
  end

  // Whether the registers are there, counted in words.
  assign behind = {1'b0, address_q[ADDR_WIDTH-1:2]} + (PlaceBits+1)'(head_q.words);
  assign bad    = head_q.reserved != '0 || head_q.words == '0 || head_q.words > WordsMax
                  || address_q[1:0] != '0 || address_q[31:ADDR_WIDTH] != '0
                  || (!head_q.fixed && behind[PlaceBits] && behind[PlaceBits-1:0] != '0);

  // What was taken last says how it goes on: what comes from the queue is late in its cycle.
  assign take = state_q == Idle || state_q == Fetch ? there
                : (state_q == Address || state_q == Drop) && !last_q;

  assign answered = (b_q && m_axil_bvalid) || (r_q && m_axil_rvalid);
  assign error    = b_q ? m_axil_bresp != '0 : m_axil_rresp != '0;
  assign ends     = left_words_q == 9'd1 || error;

  logic [CreditBits-1:0] credit_q;
  logic                  sends, send_first_q, send_last;
  logic [8:0]            send_left_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      {aw_q, w_q, ar_q, b_q, r_q} <= '0;
    end else begin
      aw_q <= aw_q && !m_axil_awready;
      w_q  <= w_q && !m_axil_wready;
      ar_q <= ar_q && !m_axil_arready;
      b_q  <= b_q && !m_axil_bvalid;
      r_q  <= r_q && !m_axil_rvalid;
      unique case (state_q)
        Idle:    if (take) state_q <= Address;
        Address: state_q <= last_q ? Answer : Check;
        Check: begin
          if (bad) state_q <= last_q ? Answer : Drop;
          else if (head_q.write) state_q <= Fetch;
          else begin
            state_q <= Access;
            ar_q    <= 1'b1;
            r_q     <= 1'b1;
          end
        end
        Fetch: if (take) begin
          state_q <= Access;
          aw_q    <= 1'b1;
          w_q     <= 1'b1;
          b_q     <= 1'b1;
        end
        Access: if (answered) begin
          if (ends) state_q <= last_q ? Answer : Drop;
          else if (head_q.write) state_q <= Fetch;
          else begin
            ar_q <= 1'b1;
            r_q  <= 1'b1;
          end
        end
        Drop:   if (last_q) state_q <= Answer;
        Answer: state_q <= head_q.quiet ? Idle : Send;
        Send:   if (sends && send_last) state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) last_q <= last;
    unique case (state_q)
      Idle: if (take) begin
        head_q   <= head_t'(word);
        failed_q <= 1'b0;
        done_q   <= '0;
      end
      Address: begin
        sender_q  <= sender;
        address_q <= word;
        if (last_q) failed_q <= 1'b1;
      end
      Check: begin
        failed_q     <= bad;
        place_q      <= address_q[ADDR_WIDTH-1:2];
        left_words_q <= head_q.words;
      end
      Fetch: m_axil_wdata <= word;
      Access: if (answered) begin
        failed_q     <= error;
        left_words_q <= left_words_q - 1'b1;
        done_q       <= done_q + 1'b1;
        if (!head_q.fixed) place_q <= place_q + 1'b1;
      end
      Drop, Answer, Send: ;
    endcase
  end

  assign m_axil_awvalid = aw_q;
  assign m_axil_awaddr  = {sender_q, place_q, 2'b00};
  assign m_axil_awprot  = '0;
  assign m_axil_wvalid  = w_q;
  assign m_axil_wstrb   = '1;
  assign m_axil_bready  = b_q;
  assign m_axil_arvalid = ar_q;
  assign m_axil_araddr  = m_axil_awaddr;
  assign m_axil_arprot  = '0;
  assign m_axil_rready  = r_q;

  // What was read, and the answer: its first word, then those, one for each credit.

  // What is being written is not asked for yet.
  (* no_rw_check *)
  logic [31:0] words [256];
  logic [31:0] word_q;
  logic [7:0]  index_q, next_index;
  head_t       answer;

  assign answer = '{
    route: '{to: head_q.route.from, from: head_q.route.to}, tag: head_q.tag, write: head_q.write,
    quiet: 1'b0, fixed: failed_q, reserved: '0,
    words: head_q.write || failed_q ? '0 : head_q.words
  };

  assign sends      = state_q == Send && credit_q != '0;
  assign send_last  = send_left_q == 9'(!send_first_q);
  assign next_index = state_q == Answer ? '0 : index_q + 8'(sends && !send_first_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      credit_q    <= CreditBits'(DEPTH);
      out_valid_o <= 1'b0;
    end else begin
      credit_q    <= credit_q + CreditBits'(out_credit_i) - CreditBits'(sends);
      out_valid_o <= sends;
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Answer) begin
      send_first_q <= 1'b1;
      send_left_q  <= answer.words;
    end else if (sends) begin
      send_first_q <= 1'b0;
      if (!send_first_q) send_left_q <= send_left_q - 1'b1;
    end
    out_last_o <= send_last;
    out_data_o <= send_first_q ? answer : word_q;
    index_q    <= next_index;
    if (r_q && m_axil_rvalid) words[done_q[7:0]] <= m_axil_rdata;
    word_q <= words[next_index];
  end

endmodule
