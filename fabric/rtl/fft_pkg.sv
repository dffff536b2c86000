// The numbers within the FFT.
package fft_pkg;

  // 16 bits of a sample, one above them and one below: turning makes one of the parts up to the
  // square root of two times as large.
  typedef struct packed {
    logic signed [17:0] im;
    logic signed [17:0] re;
  } complex_t;

  // The order in which a twiddle's exponents come.
  typedef enum logic [1:0] {
    Radix2   = 2'd0,  // half a block of zeros, half a block counted
    Radix4   = 2'd1,  // quarters that count by 0, 2, 1 and 3
    Reversed = 2'd2   // counted with the bits reversed
  } order_e;

endpackage
