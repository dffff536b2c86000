// Three ports that share a flash by io_turn, with a part whose times are short.
module preemption_harness
  import io_pkg::*;
#(
  parameter int unsigned PROGRAM_CYCLES = 600,
  parameter int unsigned SECTOR_CYCLES  = 1_000,
  localparam int unsigned Ports         = 3
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  policy_e               policy_i,
  // Each port has two sectors, in the order of their numbers, and may change them.
  input  logic [Ports-1:0]      go_i,
  input  request_t [Ports-1:0]  ask_i,
  output logic [Ports-1:0]      done_o,
  output response_t [Ports-1:0] answer_o,
  output logic [Ports-1:0][8:0] words_o,
  // From go to done.
  output logic [Ports-1:0][31:0] cycles_o,

  // How often a request of each port was suspended; commands that the part ignored.
  output logic [Ports-1:0][31:0] suspensions_o,
  output logic [31:0]           ignored_o
);

  logic [Ports-1:0]       ask, grant, in_valid, in_ready, out_valid, answered;
  logic [Ports-1:0][31:0] in_data;
  logic                   r_valid, r_ready, i_valid, i_ready, o_valid, a_valid, yields;
  logic                   cs_n, sck, unused_busy;
  logic [31:0]            i_data, o_data;
  logic [3:0]             io, drives, from_part;
  request_t               r;
  response_t              a, answer;

  // By name: a test finds no instances of a generate block.
  logic [Ports-1:0][31:0]  unused_cycles;
  request_t [Ports-1:0]    unused_request;

  io_vmm_port #(.PORTS(Ports)) u_port_0 (
    .clk_i, .rst_ni, .go_i(go_i[0]), .ask_i(ask_i[0]), .done_o(done_o[0]),
    .answer_o(answer_o[0]), .words_o(words_o[0]), .cycles_o(unused_cycles[0]),
    .request_valid_o(ask[0]), .request_ready_i(grant[0]), .request_o(unused_request[0]),
    .in_valid_o(in_valid[0]), .in_ready_i(in_ready[0]), .in_data_o(in_data[0]),
    .out_valid_i(out_valid[0]), .out_data_i(o_data),
    .response_valid_i(answered[0]), .response_i(answer)
  );

  io_vmm_port #(.PORTS(Ports)) u_port_1 (
    .clk_i, .rst_ni, .go_i(go_i[1]), .ask_i(ask_i[1]), .done_o(done_o[1]),
    .answer_o(answer_o[1]), .words_o(words_o[1]), .cycles_o(unused_cycles[1]),
    .request_valid_o(ask[1]), .request_ready_i(grant[1]), .request_o(unused_request[1]),
    .in_valid_o(in_valid[1]), .in_ready_i(in_ready[1]), .in_data_o(in_data[1]),
    .out_valid_i(out_valid[1]), .out_data_i(o_data),
    .response_valid_i(answered[1]), .response_i(answer)
  );

  io_vmm_port #(.PORTS(Ports)) u_port_2 (
    .clk_i, .rst_ni, .go_i(go_i[2]), .ask_i(ask_i[2]), .done_o(done_o[2]),
    .answer_o(answer_o[2]), .words_o(words_o[2]), .cycles_o(unused_cycles[2]),
    .request_valid_o(ask[2]), .request_ready_i(grant[2]), .request_o(unused_request[2]),
    .in_valid_o(in_valid[2]), .in_ready_i(in_ready[2]), .in_data_o(in_data[2]),
    .out_valid_i(out_valid[2]), .out_data_i(o_data),
    .response_valid_i(answered[2]), .response_i(answer)
  );

  io_turn #(.PORTS(Ports), .PREEMPTIBLE(1'b1)) u_turn (
    .clk_i, .rst_ni, .policy_i,
    .ask_i(ask), .request_i(ask_i), .grant_o(grant),
    .in_valid_i(in_valid), .in_ready_o(in_ready), .in_data_i(in_data),
    .out_valid_o(out_valid), .response_valid_o(answered), .response_o(answer),
    .request_valid_o(r_valid), .request_ready_i(r_ready), .request_o(r),
    .in_valid_o(i_valid), .in_ready_i(i_ready), .in_data_o(i_data),
    .out_valid_i(o_valid), .response_valid_i(a_valid), .response_i(a), .yield_o(yields)
  );

  logic ignored;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cycles_o      <= '0;
      suspensions_o <= '0;
      ignored_o     <= '0;
    end else begin
      ignored_o <= ignored_o + 32'(ignored);
      for (int unsigned p = 0; p < Ports; p++) begin
        cycles_o[p]      <= go_i[p] ? '0 : cycles_o[p] + 32'(!done_o[p]);
        suspensions_o[p] <= suspensions_o[p]
                            + 32'(a_valid && a.status == Suspended && u_turn.owner[p]);
      end
    end
  end

  io_flash #(
    .PORTS(Ports), .PROGRAM_CYCLES(PROGRAM_CYCLES + PROGRAM_CYCLES / 10),
    .SECTOR_CYCLES(SECTOR_CYCLES + SECTOR_CYCLES / 10)
  ) u_flash (
    .clk_i, .rst_ni, .area_first_i({10'd4, 10'd2, 10'd0}), .area_sectors_i({3{11'd2}}),
    .area_writable_i('1),
    .request_valid_i(r_valid), .request_ready_o(r_ready), .request_i(r),
    .in_valid_i(i_valid), .in_ready_o(i_ready), .in_data_i(i_data),
    .out_valid_o(o_valid), .out_data_o(o_data),
    .response_valid_o(a_valid), .response_o(a), .yield_i(yields),
    .cs_no(cs_n), .sck_o(sck), .io_o(io), .io_oe_o(drives), .io_i(from_part)
  );

  flash_part #(.PROGRAM_CYCLES(PROGRAM_CYCLES), .SECTOR_CYCLES(SECTOR_CYCLES)) u_part (
    .clk_i, .power_i(1'b1), .seed_i('0),
    .cs_ni(cs_n), .sck_i(sck), .io_i(io), .io_oe_i(drives), .io_o(from_part),
    .busy_o(unused_busy), .ignored_o(ignored)
  );

endmodule
