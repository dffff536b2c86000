// A property of a bus, proved of the side that is under proof and taken for granted of the other.
//
// In simulation both kinds are checked. NAME has to be unique in its module; EXPRESSION is looked
// at on each rising edge of clk_i out of reset.
`ifndef TACTUS_PROPERTY_SVH
`define TACTUS_PROPERTY_SVH

`define PROPERTY(PROVED, NAME, EXPRESSION) \
  if (PROVED) begin : gen_``NAME \
    always_ff @(posedge clk_i) if (rst_ni) NAME: assert (EXPRESSION); \
  end else begin : gen_``NAME``_given \
    always_ff @(posedge clk_i) if (rst_ni) NAME``_given: assume (EXPRESSION); \
  end

// The same while in reset.
`define PROPERTY_IN_RESET(PROVED, NAME, EXPRESSION) \
  if (PROVED) begin : gen_``NAME \
    always_ff @(posedge clk_i) if (!rst_ni) NAME: assert (EXPRESSION); \
  end else begin : gen_``NAME``_given \
    always_ff @(posedge clk_i) if (!rst_ni) NAME``_given: assume (EXPRESSION); \
  end

`endif
