// Register packets: what their first words say below the route.
package mesh_registers_pkg;

  // The most words that a request reads or writes.
  localparam logic [8:0] WordsMax = 9'd256;

  typedef struct packed {
    mesh_pkg::route_t route;
    logic [3:0]       tag;
    logic             write;
    logic             quiet;     // in an answer 0
    logic             fixed;     // in an answer: there was an error
    logic [3:0]       reserved;  // 0
    logic [8:0]       words;
  } head_t;

endpackage
