/*
 * Requests for an operation of a device, and responses: those of the I/O hypervisor on the mesh (docs/src/reference/mesh.md), of which the server's are but for
 * data that follow later.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Devices. The last is the server's alone: the counter of cycles, as one word. */
#define DEVICE_UART 1u
#define DEVICE_FLASH 2u
#define DEVICE_VGA 3u
#define DEVICE_ETHERNET 4u
#define DEVICE_COUNTER 5u

#define OP_READ 0u
#define OP_WRITE 1u
#define OP_CONTROL 2u
/* The server's: data of a request before, that it has asked for. */
#define OP_DATA 3u

/* A response only if something goes wrong. Not at the server. */
#define REQUEST_QUIET 0x4000u
/* The server's: the data follow when it asks for them. */
#define REQUEST_LATER 0x2000u

/* In the address of a write of the flash: more is to follow, and what does not fill a page is kept for that. */
#define FLASH_MORE 0x80000000u

/* The server's in place of a status: `length` more bytes of the data are to be sent. */
#define STATUS_GRANT 15u

/* Bytes of data that may be sent to the server with a request, and when it has asked for them. */
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

/* Of a response, too. */
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

/* Of a response with a status other than IO_DONE: it is one to a quiet request. */
static inline bool response_was_quiet(uint32_t response)
{
    return response_status(response) != 0 && (response & 1) != 0;
}

#endif
