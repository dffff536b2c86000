/*
 * The experiments of docs/src/reference/manycore-guests.md, which describes the boot arguments: a tile repeats one of
 * them, through io.h, with the implementation of io.h that this image contains.
 */

#include <string.h>

#include "FreeRTOS.h"
#include "task.h"

#include "arguments.h"
#include "console.h"
#include "io.h"
#include "kernel.h"
#include "platform.h"
#include "record.h"

#define SAMPLES_MAX 4096
#define TIMEOUT 100000000
#define ROUNDS 100
#define FLASH_BYTES 4
#define FRAME_BYTES 1024
/* Destination, source and type, of "local experimental" frames (IEEE 802, 0x88b5); the frame's number follows them. */
#define FRAME_HEAD 14
#define FRAME_MIN (FRAME_HEAD + sizeof(uint32_t))

static struct area area;
static uint32_t samples[SAMPLES_MAX];
static uint8_t written[IO_LENGTH_MAX] __attribute__((aligned(8))), found[IO_LENGTH_MAX] __attribute__((aligned(8)));

static void expect(uint32_t status, const char *what)
{
    static const char *const names[] = {
        [IO_MALFORMED] = "malformed", [IO_NO_DEVICE] = "no-device",         [IO_DENIED] = "denied",
        [IO_BAD_OP] = "bad-op",       [IO_BAD_ADDRESS] = "bad-address",     [IO_BAD_LENGTH] = "bad-length",
        [IO_PROTECTED] = "protected", [IO_DEVICE_FAILED] = "device-failed", [IO_TIMED_OUT] = "timed-out",
        [IO_LATE] = "late",
    };

    if (status != IO_DONE)
        platform_fail(what, status < sizeof names / sizeof *names && names[status] != NULL ? names[status] : "unknown");
}

/* Reads a boot argument, which must be within bounds. */
static uint32_t number(const char *name, uint64_t otherwise, uint64_t most)
{
    uint64_t value = argument_number(name, otherwise);

    if (value > most)
        platform_fail("argument-too-large", name);
    return (uint32_t)value;
}

static bool is(const char *argument, const char *name)
{
    const char *end = argument != NULL ? argument_behind(argument, name) : NULL;

    return end != NULL && (*end == 0 || *end == ' ');
}

static void metric(const char *name, const char *what, uint64_t value, const char *unit)
{
    console_print("@tactus metric name=%s_%s value=%lu unit=%s\n", name, what, value, unit);
}

/* Sorts in ascending order. */
static void sort(uint32_t *values, size_t count)
{
    for (size_t gap = count / 2; gap > 0; gap /= 2)
        for (size_t i = gap; i < count; i++) {
            uint32_t value = values[i];
            size_t at = i;

            for (; at >= gap && values[at - gap] > value; at -= gap)
                values[at] = values[at - gap];
            values[at] = value;
        }
}

/* Reports the samples and their statistics. */
static void report(const char *name, size_t count)
{
    uint64_t sum = 0;

    if (!record_samples("cycles", name, "cycles", samples, count))
        platform_fail("record", name);
    sort(samples, count);
    for (size_t i = 0; i < count; i++)
        sum += samples[i];
    metric(name, "min", samples[0], "cycles");
    metric(name, "median", samples[count / 2], "cycles");
    metric(name, "mean", (sum + count / 2) / count, "cycles");
    metric(name, "max", samples[count - 1], "cycles");
}

/* Waits until the common start: all tiles continue in the same cycle, within a few instructions. */
static void barrier(void)
{
    uint64_t start = argument_number("start=", 0);

    if (start != 0 && platform_time() > start)
        platform_fail("start", "late");
    while (platform_time() < start)
        ;
}

static uint32_t since(uint64_t begin)
{
    return (uint32_t)(platform_time() - begin);
}

/* Fills a buffer with data for a tile's own area of the flash. */
static void fill(uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        bytes[i] = (uint8_t)(i * 7 + platform_tile * 13 + 3);
}

static uint32_t rounds_argument(void)
{
    uint32_t rounds = number("rounds=", ROUNDS, SAMPLES_MAX);

    if (rounds == 0)
        platform_fail("argument", "rounds=0");
    return rounds;
}

static void wrong_data(const char *name, uint32_t wrong)
{
    metric(name, "wrong", wrong, "count");
    if (wrong > 0)
        platform_fail(name, "wrong data");
}

/* Reads from the flash; returns the cycles. `wrong` counts reads that did not return the written data. */
static uint32_t flash_round(uint32_t length, uint32_t *wrong)
{
    uint64_t begin = platform_time();
    uint32_t cycles;

    expect(io_flash_read(0, found, length), "flash-read");
    cycles = since(begin);
    *wrong += memcmp(found, written, length) != 0;
    /* Overwrites the data, so that the next round cannot find those of this one. */
    memset(found, 0x5a, length);
    return cycles;
}

static void flash_read(uint32_t rounds)
{
    uint32_t length = number("bytes=", FLASH_BYTES, IO_LENGTH_MAX), warm = number("warm=", 0, SAMPLES_MAX), wrong = 0;
    bool alone = is(argument("interrupts="), "off");
    uint64_t begin, end;

    memset(written, 0xff, sizeof written);
    if (is(argument("expect="), "written")) {
        uint32_t half = length / 2;

        /* Buffered data of the first half must be readable like data in the flash. */
        fill(written, length);
        expect(io_flash_write(half, written + half, length - half), "flash-write");
        expect(io_flash_append(0, written, half), "flash-write");
    }
    barrier();
    if (alone)
        taskENTER_CRITICAL();
    begin = platform_time();
    for (uint32_t i = 0; i < warm; i++)
        flash_round(length, &wrong);
    for (uint32_t i = 0; i < rounds; i++)
        samples[i] = flash_round(length, &wrong);
    /* Continues while other tiles measure their rounds: no tile takes a quarter longer than another. */
    end = platform_time();
    for (end += (end - begin) / 4; warm > 0 && platform_time() < end;)
        flash_round(length, &wrong);
    if (alone)
        taskEXIT_CRITICAL();
    report("flash-read", rounds);
    wrong_data("flash-read", wrong);
}

static void flash_write(uint32_t rounds)
{
    uint32_t wrong = 0;
    uint64_t begin;

    if (rounds > sizeof written)
        platform_fail("argument-too-large", "rounds=");
    fill(written, rounds);
    barrier();
    begin = platform_time();
    for (uint32_t i = 0; i < rounds; i++) {
        uint64_t one = platform_time();

        /* When the last call has returned, all data are in the flash. */
        expect(i + 1 < rounds ? io_flash_append(i, &written[i], 1) : io_flash_write(i, &written[i], 1), "flash-write");
        samples[i] = since(one);
    }
    expect(io_finish(), "flash-write");
    metric("flash-write", "total", since(begin), "cycles");
    expect(io_flash_read(0, found, rounds), "flash-read");
    for (uint32_t i = 0; i < rounds; i++)
        wrong += found[i] != written[i];
    report("flash-write", rounds);
    wrong_data("flash-write", wrong);
}

static void flash_erase(uint32_t rounds)
{
    barrier();
    for (uint32_t i = 0; i < rounds; i++) {
        uint64_t begin = platform_time();

        expect(io_flash_erase(i % area.sectors * FLASH_SECTOR), "flash-erase");
        samples[i] = since(begin);
    }
    report("flash-erase", rounds);
}

static void ethernet(uint32_t rounds)
{
    static const uint8_t unknown[6] = {0x02, 0xff, 0xff, 0xff, 0xff, 0xff};
    uint32_t length = number("bytes=", FRAME_BYTES, IO_FRAME_MAX), wrong = 0;
    bool returns = !is(argument("to="), "nobody");

    if (length < FRAME_MIN)
        platform_fail("argument-too-small", "bytes=");
    fill(written, length);
    memcpy(written, returns ? area.mac : unknown, sizeof area.mac);
    memcpy(written + sizeof area.mac, area.mac, sizeof area.mac);
    written[12] = 0x88;
    written[13] = 0xb5;
    barrier();
    for (uint32_t i = 0; i < rounds; i++) {
        uint64_t begin;
        size_t came;

        memcpy(written + FRAME_HEAD, &i, sizeof i);
        begin = platform_time();
        expect(io_send_frame(written, length), "send-frame");
        if (!returns) {
            samples[i] = since(begin);
            continue;
        }
        do {
            came = sizeof found;
            expect(io_receive_frame(found, &came), "receive-frame");
            if (platform_time() - begin > io_timeout)
                platform_fail("receive-frame", "timed-out");
        } while (came == 0);
        samples[i] = since(begin);
        wrong += came < length || memcmp(found, written, length) != 0;
    }
    report("ethernet", rounds);
    wrong_data("ethernet", wrong);
}

static void timed_read(uint32_t rounds)
{
    /* The samples' memory holds the errors, until their absolute values replace them. */
    int32_t *errors = (int32_t *)samples;
    int32_t offset = (int32_t)number("offset=", 0, INT32_MAX);
    struct io_times times = {
        .at = argument_number("at=", 0),
        .every = number("every=", 1000, UINT32_MAX),
        .count = rounds,
        .lead = number("lead=", 0, UINT32_MAX),
    };
    uint32_t flight, bits;

    /* One read before the experiment, with the least traffic on the path. */
    expect(io_flight(&flight), "flight");
    metric("timed-read", "flight", flight, "cycles");
    if (is(argument("lead="), "flight"))
        times.lead = flight;
    barrier();
    expect(io_timed_read(&times, errors, &bits), "timed-read");
    metric("timed-read", "bits", bits, "count");
    console_print("@tactus metric name=timed-read_first value=%d unit=cycles\n", errors[0] - offset);
    for (uint32_t i = 0; i < rounds; i++)
        samples[i] = (uint32_t)(errors[i] >= offset ? errors[i] - offset : offset - errors[i]);
    report("timed-read", rounds);
}

/* Pulses this tile's pins, for an observer outside. */
static void timed_pulses(uint32_t rounds)
{
    struct io_times times = {
        .at = argument_number("at=", 0),
        .every = number("every=", 1000, UINT32_MAX),
        .count = rounds,
    };

    barrier();
    expect(io_timed_pulses(&times, number("lines=", 1u << platform_tile % 8, 0xff), number("width=", 100, 65535)), "timed-pulses");
}

static void draw(uint32_t rounds)
{
    uint32_t pixels = number("pixels=", 1, IO_LENGTH_MAX);
    uint64_t begin;

    fill(written, pixels);
    barrier();
    begin = platform_time();
    for (uint32_t i = 0; i < rounds; i++) {
        uint64_t one = platform_time();

        expect(io_draw(0, (uint16_t)(i % area.height), written, pixels), "draw");
        samples[i] = since(one);
    }
    expect(io_finish(), "draw");
    metric("draw", "total", since(begin), "cycles");
    report("draw", rounds);
}

static void print(uint32_t rounds)
{
    static const char text[] = "tactus\r\n";

    barrier();
    for (uint32_t i = 0; i < rounds; i++) {
        uint64_t begin = platform_time();

        expect(io_print(text, sizeof text - 1), "print");
        samples[i] = since(begin);
    }
    report("print", rounds);
}

/* Uses the kernel without I/O. */
static void kernel(uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++) {
        const char *problem = kernel_check();

        if (problem != NULL)
            platform_fail("kernel", problem);
    }
}

/* Reads a MAC address of twelve hexadecimal digits. */
static void read_mac(const char *text, uint8_t mac[6])
{
    for (size_t i = 0; i < 12; i++) {
        uint32_t digit = text[i] >= '0' && text[i] <= '9'   ? (uint32_t)(text[i] - '0')
                         : text[i] >= 'a' && text[i] <= 'f' ? (uint32_t)(text[i] - 'a') + 10
                                                            : 16;

        if (digit > 15)
            platform_fail("argument", "mac=");
        mac[i / 2] = (uint8_t)(mac[i / 2] << 4 | digit);
    }
}

static void read_area(void)
{
    area = area_of_tile(platform_tile);
    area.sector = number("sector=", area.sector, FLASH_SECTORS - 1);
    area.sectors = number("sectors=", area.sectors, FLASH_SECTORS);
    if (area.sectors == 0)
        platform_fail("argument", "sectors=");
    if (argument("mac=") != NULL)
        read_mac(argument("mac="), area.mac);
}

static void work(void *unused)
{
    static const struct {
        const char *name;
        void (*run)(uint32_t rounds);
    } experiments[] = {
        {"flash-read", flash_read}, {"flash-write", flash_write}, {"flash-erase", flash_erase}, {"ethernet", ethernet},
        {"timed-read", timed_read}, {"timed-pulses", timed_pulses}, {"draw", draw},       {"print", print},
    };
    const char *wanted = argument("experiment=");

    (void)unused;
    platform_external_enable(false);
    io_timeout = argument_number("timeout=", TIMEOUT);
    if (wanted == NULL || is(wanted, "kernel")) {
        kernel(number("rounds=", 1, 1));
        console_print("@tactus pass name=manycore\n");
        platform_power_off(false);
    }
    for (size_t i = 0; i < sizeof experiments / sizeof *experiments; i++)
        if (is(wanted, experiments[i].name)) {
            uint32_t rounds = rounds_argument();

            read_area();
            expect(io_open(&area), "open");
            experiments[i].run(rounds);
            console_print("@tactus pass name=manycore\n");
            platform_power_off(false);
        }
    platform_fail("argument", "experiment=");
}

void app_main(void)
{
    static StaticTask_t task;
    static StackType_t stack[1024];

    xTaskCreateStatic(work, "experiment", sizeof stack / sizeof *stack, NULL, 1, stack, &task);
    platform_schedule();
}
