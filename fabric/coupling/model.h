/* What the board and a design's model agree on: board/src/fabric/model.rs has the same.
 *
 * A model is a shared object with the functions below. All are called from one thread at a time; models do not share
 * anything. */
#ifndef TACTUS_FABRIC_MODEL_H
#define TACTUS_FABRIC_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Goes up with each change of what is below. */
#define TACTUS_FABRIC_VERSION 3

/* Answers of memory to the design as a master. */
struct tactus_fabric_answers {
    uint64_t rdata;
    uint8_t awready, wready, bvalid, bresp, arready, rvalid, rresp, rlast;
};

/* What goes into the design during a cycle. */
struct tactus_fabric_inputs {
    uint32_t gp_awaddr, gp_wdata, gp_araddr;
    uint8_t gp_awvalid, gp_wvalid, gp_wstrb, gp_bready, gp_arvalid, gp_rready, event, unused;
    uint32_t unused2;
    struct tactus_fabric_answers acp, hp;
};

/* Requests of the design as a master. */
struct tactus_fabric_requests {
    uint64_t awaddr, wdata, araddr;
    uint8_t awvalid, awlen, wvalid, wstrb, wlast, bready, arvalid, arlen, rready;
    uint8_t unused[7];
};

/* What comes out of the design. */
struct tactus_fabric_outputs {
    uint32_t gp_rdata, irq, quiet;
    uint8_t gp_awready, gp_wready, gp_bvalid, gp_bresp, gp_arready, gp_rvalid, gp_rresp, unused;
    uint32_t unused2;
    struct tactus_fabric_requests acp, hp;
};

/* A tile's requests to the design, and its answers. */
struct tactus_fabric_tile_in {
    uint32_t awaddr, wdata, araddr;
    uint8_t awvalid, wvalid, wstrb, bready, arvalid, rready, unused[2];
};

struct tactus_fabric_tile_out {
    uint32_t rdata;
    uint8_t awready, wready, bvalid, bresp, arready, rvalid, rresp, unused;
};

uint32_t tactus_fabric_version(void);
const char *tactus_fabric_name(void);
/* A model after reset, and the end of it. */
void *tactus_fabric_new(void);
void tactus_fabric_delete(void *model);
void tactus_fabric_look(const void *model, struct tactus_fabric_outputs *outputs);
/* A cycle: the inputs up to a rising edge of the clock, and the outputs behind it. `picoseconds` is the time of that
 * edge; it matters to waveforms alone. */
void tactus_fabric_cycle(void *model, const struct tactus_fabric_inputs *inputs, uint64_t picoseconds,
                         struct tactus_fabric_outputs *outputs);
/* How many tiles have a port: 16 or 0. */
int tactus_fabric_tiles(void);
/* As tactus_fabric_look and tactus_fabric_cycle, with 16 tiles' ports. In a cycle without them nothing comes from
 * tiles. A model without such ports takes nothing from them, and gives zeros. */
void tactus_fabric_look_tiles(const void *model, struct tactus_fabric_tile_out *tiles_out);
void tactus_fabric_cycle_tiles(void *model, const struct tactus_fabric_inputs *inputs,
                               const struct tactus_fabric_tile_in *tiles_in, uint64_t picoseconds,
                               struct tactus_fabric_outputs *outputs, struct tactus_fabric_tile_out *tiles_out);
/* So many cycles in which nothing but the counters of cycles change. */
void tactus_fabric_skip(void *model, uint64_t cycles, struct tactus_fabric_outputs *outputs);
/* The supply fails and comes again: all is as after reset, but for what keeps its state without power. Of that, what is
 * being written is torn, as is drawn from `seed`. */
void tactus_fabric_lose_power(void *model, uint64_t seed, struct tactus_fabric_outputs *outputs);
/* All state: gives its bytes, and writes them where `size` is enough. */
size_t tactus_fabric_save(void *model, uint8_t *bytes, size_t size);
/* Takes state back that this model has saved; 0 where it is another's, and nothing has changed. */
int tactus_fabric_restore(void *model, const uint8_t *bytes, size_t size);
/* Waveforms of all that follows, with a clock of this period; 0 where the file can't be written. */
int tactus_fabric_waves(void *model, const char *file, uint64_t period_picoseconds);
void tactus_fabric_end_waves(void *model);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
