#include "counter.h"

#include "io.h"
#include "platform.h"

#define COUNTER_BITS 32u
/* Lead time in cycles of the read that measures the latency of the path. */
#define AHEAD 10000u

uint32_t io_timed_read(const struct io_times *times, int32_t *errors, uint32_t *bits)
{
    *bits = COUNTER_BITS;
    for (uint32_t i = 0; i < times->count; i++) {
        uint64_t wanted = times->at + (uint64_t)times->every * i;
        uint32_t counter, status;

        if (platform_time() > wanted - times->lead)
            return IO_LATE;
        status = io_counter(wanted - times->lead, &counter);
        if (status != IO_DONE)
            return status;
        errors[i] = (int32_t)(counter - (uint32_t)wanted);
    }
    return IO_DONE;
}

uint32_t io_flight(uint32_t *cycles)
{
    uint64_t asked = platform_time() + AHEAD;
    uint32_t counter, status = io_counter(asked, &counter);

    *cycles = counter - (uint32_t)asked;
    return status;
}

/* Software cannot change pins on exact cycles. */
uint32_t io_timed_pulses(const struct io_times *times, uint32_t lines, uint32_t width)
{
    (void)times, (void)lines, (void)width;
    return IO_NO_DEVICE;
}
