// Ethernet's frame check sequence as IEEE 802.3 has it, 3.2.9: with the polynomial's highest
// coefficient first, a bit at a time. `eth_pkg`, which the MAC uses, has it the other way round.
package eth_sequence_pkg;

  // The remainder of the bits so far, the first of a frame from all ones on.
  function automatic logic [31:0] remainder(logic [31:0] so_far, logic [7:0] bits);
    logic [31:0] sum;
    sum = so_far;
    for (int unsigned i = 0; i < 8; i++) begin
      sum = {sum[30:0], 1'b0} ^ (sum[31] ^ bits[i] ? 32'h04c1_1db7 : 32'h0);
    end
    return sum;
  endfunction

  // A remainder's bits in the order in which they are sent.
  function automatic logic [31:0] reversed(logic [31:0] word);
    for (int unsigned i = 0; i < 32; i++) reversed[i] = word[31-i];
  endfunction

endpackage
