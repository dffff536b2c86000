// What goes through the memory tree: docs/src/reference/memory-tree.md has the rules.
package memory_tree_pkg;

  // A word to be written, or a burst of words to be read. Nothing of it comes later: an access
  // that was let through holds up no other.
  typedef struct packed {
    logic        write;
    logic [1:0]  log2_words;  // of a read: 1, 2, 4 or 8, from a multiple of its own length
    logic [31:0] addr;
    logic [63:0] data;
    logic [7:0]  strobe;
  } access_t;

  // A word of a read, or that a write is done.
  typedef struct packed {
    logic        write;
    logic        last;
    logic        error;
    logic [63:0] data;
  } reply_t;

endpackage
