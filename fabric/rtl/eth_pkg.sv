// Ethernet's frame check sequence (IEEE 802.3, 3.2.9), a byte at a time.
package eth_pkg;

  // Of a frame's bytes before its check sequence: the sum so far, from all ones. The sequence is
  // its complement, the lowest byte first.
  function automatic logic [31:0] crc_next(logic [31:0] crc, logic [7:0] data);
    logic [31:0] sum;
    sum = crc ^ 32'(data);
    for (int unsigned i = 0; i < 8; i++) begin
      sum = (sum >> 1) ^ (sum[0] ? 32'hedb8_8320 : 32'h0);
    end
    return sum;
  endfunction

endpackage
