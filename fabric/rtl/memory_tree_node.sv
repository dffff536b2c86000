// A node of the memory tree: two streams into one, in a time that is bounded for both.
//
// The left one goes first, but when it has done so BLOCKED_MAX times while something waited on the
// right, the right one has a turn (BlueIO, section 4.5: the blocking counter). So where the output
// is taken within S cycles, what waits on the left is taken within 2 S, and on the right within
// (BLOCKED_MAX + 1) S: the register here has an item in it, which takes S, and so does each that
// goes before.
module memory_tree_node #(
  parameter int unsigned WIDTH       = 8,
  parameter int unsigned BLOCKED_MAX = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             left_valid_i,
  output logic             left_ready_o,
  input  logic [WIDTH-1:0] left_data_i,

  input  logic             right_valid_i,
  output logic             right_ready_o,
  input  logic [WIDTH-1:0] right_data_i,

  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [WIDTH-1:0] out_data_o
);

  localparam int unsigned CountWidth = unsigned'($clog2(BLOCKED_MAX + 1));

  // How often what waits on the right has been passed.
  logic [CountWidth-1:0] blocked_q;
  logic                  right_goes, room;

  assign right_goes    = right_valid_i
                         && (!left_valid_i || blocked_q == CountWidth'(BLOCKED_MAX));
  assign left_ready_o  = room && !right_goes;
  assign right_ready_o = room && right_goes;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      blocked_q <= '0;
    end else if (room) begin
      blocked_q <= right_valid_i && !right_goes ? blocked_q + 1'b1 : '0;
    end
  end

  stream_register #(.WIDTH(WIDTH)) u_out (
    .clk_i, .rst_ni,
    .in_valid_i(left_valid_i || right_valid_i), .in_ready_o(room),
    .in_data_i(right_goes ? right_data_i : left_data_i),
    .out_valid_o, .out_ready_i, .out_data_o
  );

endmodule
