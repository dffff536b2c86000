/* Operations as requests: code shared by the clients of the I/O hypervisor and of the server. */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include <stddef.h>
#include <stdint.h>

/* Supplied by an implementation of I/O: makes `request` (request.h), with data to be written at `from` or read to `to`.
 * Stores the number of bytes received in `came`, unless null. */
uint32_t io_call(uint32_t request, uint32_t address, const void *from, void *to, size_t *came);

#endif
