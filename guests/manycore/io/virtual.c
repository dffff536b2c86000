/* I/O by the server, an I/O hypervisor in software on another tile (app/server.c). */

#include "arguments.h"
#include "counter.h"
#include "io.h"
#include "mesh.h"
#include "operations.h"
#include "packets.h"
#include "platform.h"
#include "request.h"

uint64_t io_timeout;

static uint32_t server, tag;

uint32_t io_open(const struct area *area)
{
    /* The server has the area's configuration. */
    (void)area;
    server = MESH_TILE((uint32_t)argument_number("server=", MESH_TILES - 1));
    return mesh_open() ? IO_DONE : IO_NO_DEVICE;
}

uint32_t io_call(uint32_t request, uint32_t address, const void *from, void *to, size_t *came)
{
    uint64_t deadline = platform_time() + io_timeout;
    size_t length = request_op(request) != OP_READ ? request_length(request) : 0, sent = 0;

    tag++;
    /* Each request has a response, which bounds the data that the server must receive. */
    request = request_with_tag(request & ~REQUEST_QUIET, tag);
    if (length > DATA_AT_ONCE)
        request |= REQUEST_LATER;
    else
        sent = length;
    if (!mesh_send(server | request, &address, 1, from, sent, deadline))
        return IO_TIMED_OUT;
    for (;;) {
        uint32_t response = packet_await(MESH_MESSAGES, deadline), status = response_status(response);
        size_t bytes = request_length(response);

        if (response == 0)
            return IO_TIMED_OUT;
        if (mesh_from(response) != server || request_tag(response) != request_tag(request)) {
            packet_stray(response);
            continue;
        }
        mesh_settled();
        if (status == STATUS_GRANT && bytes <= length - sent) {
            uint32_t data = request_make(request_device(request), OP_DATA, bytes);

            if (!mesh_send(server | request_with_tag(data, tag), NULL, 0, (const uint8_t *)from + sent, bytes, deadline))
                return IO_TIMED_OUT;
            sent += bytes;
        } else {
            if (status != IO_DONE || request_op(request) != OP_READ || bytes > request_length(request))
                bytes = 0;
            mesh_take(MESH_MESSAGES, to, bytes);
            mesh_skip(MESH_MESSAGES);
            if (came != NULL)
                *came = bytes;
            return status;
        }
    }
}

uint32_t io_finish(void)
{
    return IO_DONE;
}

uint32_t io_counter(uint64_t when, uint32_t *counter)
{
    while (platform_time() < when)
        ;
    return io_call(request_make(DEVICE_COUNTER, OP_READ, sizeof *counter), 0, NULL, counter, NULL);
}
