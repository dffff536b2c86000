/*
 * Changes its pins on exact cycles while it uses all devices of its I/O port, which are shared with other VMs. It
 * reads its data in the flash back again and again.
 *
 * Boot arguments: `runs=N`: number of runs of the pins' program; `period=N`: cycles of the fabric between two runs.
 */

#include <string.h>

#include "FreeRTOS.h"
#include "task.h"

#include "arguments.h"
#include "console.h"
#include "io_port.h"
#include "platform.h"
#include "record.h"
#include "timed_io.h"

void io_main(void);

#define RUNS 50
#define PERIOD 20000
/* Cycles from now to the first run. */
#define AHEAD 20000
/* Bytes written to the flash: the most that one request moves. */
#define BYTES IO_LENGTH_MAX
#define RECORD 100
#define MEMORY_BASE 0x80000000UL

/* docs/src/how-to/fire-pins-on-a-cycle.md, valves.tio: six lines up; read 100 cycles later; down 250 cycles later. */
static const uint32_t valves[] = {0x13f3f, 0x30063, 0x02000, 0x30095, 0x13f00, 0x00000};

static uint8_t written[BYTES], found[BYTES] __attribute__((aligned(64)));
static StaticTask_t io_task;
static StackType_t io_stack[1024];

static void expect(uint32_t status, const char *what)
{
    if (status != IO_DONE)
        platform_fail("io", what);
}

/* Reads the flash through the port's buffer and into the VM's memory, and compares both. */
static void compare_flash(struct io_port *port)
{
    size_t came = 0;

    memset(found, 0, sizeof found);
    expect(io_flash_read(port, 0, found, BYTES), "the flash cannot be read");
    if (memcmp(found, written, BYTES) != 0)
        platform_fail("io", "the flash has other data");
    memset(found, 0, sizeof found);
    expect(io_port_call(port, IO_FLASH, 0, 0, (uint32_t)((uintptr_t)found - MEMORY_BASE), BYTES, &came),
           "the flash cannot be read into memory");
    if (came != BYTES || memcmp(found, written, BYTES) != 0)
        platform_fail("io", "the flash gives memory other data");
}

/* Sends a broadcast frame. */
static void send(struct io_port *port, uint32_t number)
{
    uint8_t frame[64] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0x88, 0xb5};

    memcpy(frame + 14, &number, sizeof number);
    expect(io_send(port, frame, sizeof frame), "a frame cannot be sent");
}

static void work(void *unused)
{
    static struct io_port port;
    uint32_t runs = (uint32_t)argument_number("runs=", RUNS);
    uint32_t period = (uint32_t)argument_number("period=", PERIOD);
    uint32_t rounds = 0, samples = 0, cause;
    uint64_t start, cycle;
    uint8_t lines;

    (void)unused;
    if (!timed_io_open() || !io_port_open(&port, 0))
        platform_fail("io", "this VM has no port, or no timed I/O");
    for (size_t i = 0; i < BYTES; i++)
        written[i] = (uint8_t)(i * 7 + 3);
    /* The size of a record does not divide the size of a page. */
    for (size_t at = 0; at < BYTES; at += RECORD) {
        size_t rest = BYTES - at;

        expect(rest > RECORD ? io_flash_append(&port, (uint32_t)at, written + at, RECORD) : io_flash_write(&port, (uint32_t)at, written + at, rest),
               "the flash cannot be written");
    }

    timed_io_store(0, valves, sizeof valves / sizeof *valves);
    start = timed_io_now() + AHEAD;
    if (timed_io_run(0, start, period, runs) != TIMED_IO_ACCEPTED)
        platform_fail("io", "the schedule is refused");
    console_print("@tactus metric name=pins_start value=%lu unit=cycles\n", start);
    while (timed_io_is_busy()) {
        compare_flash(&port);
        expect(io_fill(&port, 0, 0, 160, 120, (uint8_t)rounds), "a rectangle cannot be filled");
        expect(io_draw(&port, 0, (uint16_t)(rounds % 120), written, 160), "pixels cannot be drawn");
        send(&port, rounds);
        expect(io_write_text(&port, ".", 1), "no text can be written");
        while (timed_io_sample(&lines))
            samples += lines == 0x3f;
        rounds++;
    }
    timed_io_await_reports();
    while (timed_io_sample(&lines))
        samples += lines == 0x3f;
    cause = timed_io_report(&cycle);
    console_print("@tactus metric name=flash_rounds value=%u unit=count\n", rounds);
    console_print("@tactus metric name=samples value=%u unit=count\n", samples);
    if (cause != 0)
        console_print("@tactus fail name=freertos-io reason=report_%u\n", cause);
    else
        console_print("@tactus pass name=freertos-io\n");
    platform_power_off(cause != 0);
}

void io_main(void)
{
    xTaskCreateStatic(work, "io", sizeof io_stack / sizeof *io_stack, NULL, 1, io_stack, &io_task);
    vTaskStartScheduler();
}
