// What the flash's driver does for the I/O VMM: each is one command of the part.
package flash_pkg;

  typedef enum logic [3:0] {
    WriteEnable,
    Status,          // gives a byte
    Identify,        // gives three bytes
    Read,            // gives as many bytes as it is told
    Program,         // takes as many; they lie within a page
    EraseSector,
    EraseBlock,
    VolatileEnable,  // what QuadEnable writes is so until the part has no power
    QuadEnable,      // four lines may be used
    Status2          // gives a byte: bit 1 that they may
  } command_e;

endpackage
