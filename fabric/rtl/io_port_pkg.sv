// What an I/O port's page gives to its engine.
package io_port_pkg;

  // A request, as it was written to the page.
  typedef struct packed {
    logic [2:0]                    device;
    io_pkg::op_e                   op;
    logic                          quiet;
    logic                          memory;
    logic [1:0]                    tag;
    logic [io_pkg::LengthWidth-1:0] length;
    logic [31:0]                   addr;
    logic [31:0]                   place;  // of the data
  } queued_t;

  // A response, as it is read.
  typedef struct packed {
    logic [2:0]                    device;
    io_pkg::status_e               status;
    logic [1:0]                    tag;
    logic [io_pkg::LengthWidth-1:0] length;
  } answered_t;

endpackage
