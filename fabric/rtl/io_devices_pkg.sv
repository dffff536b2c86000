// What the manager's page gives to the devices of the I/O hypervisor.
package io_devices_pkg;

  // What of them a port is given, by the manager alone.
  typedef struct packed {
    logic [9:0]  flash_first;     // its area of the flash, in sectors
    logic [10:0] flash_sectors;
    logic        flash_writable;
    logic [9:0]  vga_x;           // its window of the display, in pixels
    logic [9:0]  vga_y;
    logic [9:0]  vga_width;
    logic [9:0]  vga_height;
    logic [47:0] mac;             // its Ethernet address
  } given_t;

endpackage
