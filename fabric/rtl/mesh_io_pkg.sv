// Which places of a mesh may ask the I/O hypervisor.
package mesh_io_pkg;

  typedef mesh_pkg::place_t [15:0] places_t;

  // Four rows of four, the first one lowest.
  localparam places_t FourByFour = places_t'(96'o33_32_31_30_23_22_21_20_13_12_11_10_03_02_01_00);

endpackage
