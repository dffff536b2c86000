/* Operations as requests: what the I/O hypervisor's and the server's clients have in common. */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include <stddef.h>
#include <stdint.h>

/* To be supplied by what knows the way: asks for `request` (request.h), of which what is to be written is at `from` and what is read comes to `to`; `came`,
 * unless null, gets the bytes that did. */
uint32_t io_call(uint32_t request, uint32_t address, const void *from, void *to, size_t *came);

#endif
