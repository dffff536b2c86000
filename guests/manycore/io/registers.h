/* Registers behind a bridge of the mesh, accessed by packets (docs/src/reference/mesh.md). */
#ifndef REGISTERS_H
#define REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mesh.h"

/* Words of one packet. */
#define REGISTERS_MAX 256u

/* All words are for one register, one after the other; otherwise the address is incremented. */
#define REGISTERS_FIXED 0x2000u

/* Reads `words` words from `address` on at a place; writes them, and waits for the answer; writes them without one.
 * Returns IO_DONE, IO_DEVICE_FAILED if an access was answered with an error, or IO_TIMED_OUT. */
uint32_t registers_read(uint32_t place, uint32_t flags, uint32_t address, void *to, size_t words);
uint32_t registers_write(uint32_t place, uint32_t flags, uint32_t address, const void *from, size_t words);
uint32_t registers_post(uint32_t place, uint32_t flags, uint32_t address, const void *from, size_t words);

/* A read of one word in parts: the preparation; the request itself, which is one store; and the answer. */
uint32_t registers_prepare(uint32_t address, uint64_t deadline);
void registers_launch(uint32_t place);
uint32_t registers_answer(uint32_t place, uint32_t *word, uint64_t deadline);

#endif
