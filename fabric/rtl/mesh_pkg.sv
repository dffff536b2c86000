// The mesh: its routers' ports, and what the first flit of a packet says.
package mesh_pkg;

  // A router's ports: its own network interface, and its neighbours. Y grows to the south.
  typedef enum logic [2:0] {
    Local = 3'd0,
    North = 3'd1,
    East  = 3'd2,
    South = 3'd3,
    West  = 3'd4
  } side_e;

  typedef struct packed {
    logic [2:0] y;
    logic [2:0] x;
  } place_t;

  // The uppermost bits of a packet's first flit.
  typedef struct packed {
    place_t to;
    place_t from;
  } route_t;

endpackage
