/*
 * Requests for operations of devices, and responses, as the I/O hypervisor has them on the mesh
 * (docs/src/reference/mesh.md). The server's are the same, except that data may follow later.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Devices. Only the server has the last one: the counter of cycles, as one word. */
#define DEVICE_UART 1u
#define DEVICE_FLASH 2u
#define DEVICE_VGA 3u
#define DEVICE_ETHERNET 4u
#define DEVICE_COUNTER 5u

#define OP_READ 0u
#define OP_WRITE 1u
#define OP_CONTROL 2u
/* Only for the server: data of an earlier request, which the server has asked for. */
#define OP_DATA 3u

/* Requests a response only for an error. Not for the server. */
#define REQUEST_QUIET 0x4000u
/* Only for the server: the data follow when it asks for them. */
#define REQUEST_LATER 0x2000u

/* Flag in the address of a flash write: another write follows, so a partial page is buffered. */
#define FLASH_MORE 0x80000000u

/* From the server in place of a status: the client is to send `length` more bytes of data. */
#define STATUS_GRANT 15u

/* Bytes of data sent to the server at most with a request, and when it has asked for them. */
#define DATA_AT_ONCE 56u
#define DATA_LATER 1024u

static inline uint32_t request_make(uint32_t device, uint32_t op, size_t length)
{
    return device << 17 | op << 15 | (uint32_t)length;
}

static inline uint32_t request_device(uint32_t request)
{
    return request >> 17 & 7;
}

static inline uint32_t request_op(uint32_t request)
{
    return request >> 15 & 3;
}

/* Valid for responses, too. */
static inline uint32_t request_tag(uint32_t request)
{
    return request >> 11 & 3;
}

static inline size_t request_length(uint32_t request)
{
    return request & 0x7ff;
}

static inline uint32_t request_with_tag(uint32_t request, uint32_t tag)
{
    return request | (tag & 3) << 11;
}

static inline uint32_t response_make(uint32_t request, uint32_t status, size_t length)
{
    return (request & 0xe1800u) | status << 13 | (uint32_t)length;
}

static inline uint32_t response_status(uint32_t response)
{
    return response >> 13 & 15;
}

/* For a response with a status other than IO_DONE: whether it answers a quiet request. */
static inline bool response_was_quiet(uint32_t response)
{
    return response_status(response) != 0 && (response & 1) != 0;
}

#endif
