/*
 * tactus-io: uses this VM's I/O hypervisor port and timed I/O from Linux user space (docs/src/how-to/share-io.md).
 *
 * It needs no driver: it maps the pages through /dev/mem. Data of requests are in the port's buffer. The program polls
 * for the response every 20 us; other processes run meanwhile. A process has exclusive use of the port until it ends.
 */

#include "linux.h"
#include "tactus.h"

#include "io_port_regs.h"
#include "timed_io_regs.h"

#define PAGE 4096
/* Bytes that one request moves at most, and bytes of the longest frame. */
#define LENGTH_MAX 1536
#define FRAME_MAX 1514

/* Devices and operations. */
#define UART 1
#define FLASH 2
#define VGA 3
#define ETHERNET 4
#define READ 0
#define WRITE 1
#define CONTROL 2

#define fail(...) (print(2, "tactus-io: " __VA_ARGS__), print(2, "\n"), exit(1))

/* A register, by its name in fabric/regs. Accessed by words, as the structures in the headers are packed. */
#define PORT(name) (port[offsetof(io_port_t, name) / sizeof(uint32_t)])
#define TIMED(name) (timed[offsetof(timed_io_t, name) / sizeof(uint32_t)])
#define UPPER(name) (timed[offsetof(timed_io_t, name) / sizeof(uint32_t) + 1])

static volatile uint32_t *port;
static volatile uint32_t *timed;

static void fence(void)
{
    __asm volatile("fence iorw, iorw" ::: "memory");
}

/* Maps a page of the VM, for exclusive use until the process ends. */
static volatile uint32_t *map_page(uint64_t address)
{
    int file = open("/dev/mem", O_RDWR | O_SYNC);
    long mapped;

    if (file < 0)
        fail("cannot open /dev/mem: only root may, and /dev has to be mounted");
    flock(file, LOCK_EX);
    mapped = mmap(PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, address);
    if (mapped < 0)
        fail("cannot map 0x%lx of /dev/mem", address);
    return (volatile uint32_t *)mapped;
}

/* Whether the VM's devicetree has this node: reading an absent page would be a fault. */
static int has(const char *path)
{
    int file = open(path, O_RDONLY);

    if (file < 0)
        return 0;
    close(file);
    return 1;
}

static void open_port(void)
{
    if (!has("/proc/device-tree/soc/io-port@28010000/reg"))
        fail("this VM has no I/O port: `[[vm.io_port]]` in system.toml gives it one");
    port = map_page(TACTUS_IO_PORT_BASE);
    /* Ends requests that an earlier process did not wait for. */
    PORT(RESET) = IO_PORT__RESET__NOW_bm;
    while ((PORT(STATUS) & IO_PORT__STATUS__ROOM_bm) < 4)
        ;
}

static void open_timed(void)
{
    if (!has("/proc/device-tree/soc/timed-io@28020000/reg"))
        fail("this VM has no timed I/O: `[vm.timed_io]` in system.toml gives it some");
    timed = map_page(TACTUS_TIMED_IO_BASE);
}

/* The error of a request, in words. */
static const char *status_name(uint32_t status)
{
    static const char *const names[] = {
        "done",        "malformed", "no such device", "the port may not use the device", "no such operation",
        "no such address", "no such length", "this part may not be changed", "the device failed", "memory failed",
    };

    return status < sizeof names / sizeof *names ? names[status] : "an unknown status";
}

/* Sends a request, waits for the response, and returns the number of bytes received. */
static size_t ask(uint32_t device, uint32_t op, uint32_t address, size_t length)
{
    static const int64_t pause[2] = {0, 20000};
    uint32_t response, status;

    PORT(ADDRESS) = address;
    PORT(DATA) = 0;
    fence();
    PORT(REQUEST) = device << IO_PORT__REQUEST__DEVICE_bp | op << IO_PORT__REQUEST__OP_bp | (uint32_t)length;
    while (!((response = PORT(RESPONSE)) & IO_PORT__RESPONSE__VALID_bm))
        nanosleep(pause);
    fence();
    status = (response & IO_PORT__RESPONSE__STATUS_bm) >> IO_PORT__RESPONSE__STATUS_bp;
    if (status != 0)
        fail("%s", status_name(status));
    return response & IO_PORT__RESPONSE__LENGTH_bm;
}

static void put(const unsigned char *from, size_t length)
{
    volatile uint32_t *buffer = &PORT(BUFFER);

    for (size_t at = 0; at < length; at += sizeof(uint32_t)) {
        uint32_t word = 0;

        memcpy(&word, from + at, length - at < sizeof word ? length - at : sizeof word);
        buffer[at / sizeof word] = word;
    }
}

static void take(unsigned char *to, size_t length)
{
    volatile uint32_t *buffer = &PORT(BUFFER);

    for (size_t at = 0; at < length; at += sizeof(uint32_t)) {
        uint32_t word = buffer[at / sizeof word];

        memcpy(to + at, &word, length - at < sizeof word ? length - at : sizeof word);
    }
}

/* The value of a digit, or a large number for any other character. */
static unsigned digit(char character)
{
    if (character >= '0' && character <= '9')
        return (unsigned)(character - '0');
    if (character >= 'a' && character <= 'f')
        return (unsigned)(character - 'a' + 10);
    return 16;
}

/* Parses a number: decimal, or hexadecimal with the prefix 0x. */
static unsigned long number(const char *text, const char *what)
{
    unsigned base = begins(text, "0x") ? 16 : 10;
    unsigned long value = 0;

    text += base == 16 ? 2 : 0;
    if (*text == 0)
        fail("%s is no number", what);
    for (; *text != 0; text++) {
        if (digit(*text) >= base || value >> 48 != 0)
            fail("%s is no number that makes sense", what);
        value = value * base + digit(*text);
    }
    return value;
}

/* Parses six bytes in hexadecimal, separated by colons. */
static void station(const char *text, unsigned char to[6])
{
    for (int byte = 0; byte < 6; byte++) {
        unsigned upper = digit(text[0]), lower = upper < 16 ? digit(text[1]) : 16;

        if (lower >= 16 || text[2] != (byte < 5 ? ':' : 0))
            fail("an Ethernet address is six bytes in hexadecimal, as in 02:00:00:00:00:01");
        to[byte] = (unsigned char)(upper << 4 | lower);
        text += 3;
    }
}

static size_t limited(const char *text, size_t most)
{
    size_t length = strlen(text);

    if (length == 0 || length > most)
        fail("it has to have 1 to %lu bytes", most);
    return length;
}

/* Prints the received data unchanged, and ends. */
static void show(size_t length)
{
    static unsigned char data[LENGTH_MAX];

    take(data, length);
    write(1, data, length);
}

static void send(const char *to, const unsigned char *text, size_t length)
{
    static unsigned char frame[FRAME_MAX];

    station(to, frame);
    /* The port inserts its source address. The type is one for experiments (IEEE 802). */
    frame[12] = 0x88;
    frame[13] = 0xb5;
    memcpy(frame + 14, text, length);
    put(frame, 14 + length);
    ask(ETHERNET, WRITE, 0, 14 + length);
}

static void fill(char **arguments)
{
    unsigned long place[5];
    unsigned char operands[5];

    for (int i = 0; i < 5; i++)
        place[i] = number(arguments[i], "a coordinate or the colour");
    for (int i = 0; i < 4; i++)
        operands[i] = (unsigned char)(place[2 + i / 2] >> i % 2 * 8);
    operands[4] = (unsigned char)place[4];
    put(operands, sizeof operands);
    ask(VGA, CONTROL, (uint32_t)(place[1] << 16 | (place[0] & 0xffff)), sizeof operands);
}

static uint64_t now(void)
{
    uint32_t lower = TIMED(NOW);

    return (uint64_t)UPPER(NOW) << 32 | lower;
}

/* Stores a program, schedules it, and prints its start. */
static void run(char **arguments, int count)
{
    static const char *const refusals[] = {"", "it would be late", "there is one already", "the period is too short"};
    volatile uint32_t *program = &TIMED(PROGRAM);
    uint64_t start;
    uint32_t answer;

    if (count > 3 + 64)
        fail("a program has 64 words at most");
    for (int i = 3; i < count; i++)
        program[i - 3] = (uint32_t)number(arguments[i], "a word of the program");
    if (TIMED(STATUS) & (TIMED_IO__STATUS__SCHEDULED_bm | TIMED_IO__STATUS__ARMED_bm))
        fail("the schedule is refused: %s", refusals[2]);
    TIMED(PERIOD) = (uint32_t)number(arguments[1], "PERIOD");
    TIMED(RUNS) = (uint32_t)number(arguments[2], "RUNS");
    start = now() + number(arguments[0], "AHEAD");
    TIMED(START) = (uint32_t)start;
    UPPER(START) = (uint32_t)(start >> 32);
    TIMED(RUN) = 0;
    answer = (TIMED(STATUS) & TIMED_IO__STATUS__ANSWER_bm) >> TIMED_IO__STATUS__ANSWER_bp;
    if (answer != 0)
        fail("the schedule is refused: %s", refusals[answer & 3]);
    print(1, "%lu\n", start);
}

/* Prints reports of operations that were not done; returns the exit code: 1 if there are any. */
static int reports(void)
{
    int any = 0;

    while (TIMED(REPORT) & TIMED_IO__REPORT__VALID_bm) {
        print(1, "cause=%lu cycle=%lu\n", (unsigned long)(TIMED(REPORT) & TIMED_IO__REPORT__CAUSE_bm),
              (uint64_t)UPPER(REPORT_TIME) << 32 | TIMED(REPORT_TIME));
        TIMED(REPORT) = TIMED_IO__REPORT__VALID_bm;
        any = 1;
    }
    return any;
}

/* Writes a pattern to the area's start, which is erased or holds it already; reads it back `rounds` times. */
static int check(unsigned long rounds)
{
    static unsigned char written[1024], found[1024];
    unsigned long wrong = 0;

    for (size_t at = 0; at < sizeof written; at++)
        written[at] = (unsigned char)(at * 11 + 5);
    put(written, sizeof written);
    ask(FLASH, WRITE, 0, sizeof written);
    for (unsigned long round = 0; round < rounds; round++) {
        int same = 1;

        take(found, ask(FLASH, READ, 0, sizeof found));
        for (size_t at = 0; at < sizeof found; at++)
            same = same && found[at] == written[at];
        wrong += !same;
    }
    print(1, "rounds=%lu wrong=%lu\n", rounds, wrong);
    return wrong != 0;
}

static const char usage[] =
    "usage: tactus-io read ADDRESS BYTES | write ADDRESS TEXT | erase ADDRESS | check ROUNDS\n"
    "       tactus-io fill X Y WIDTH HEIGHT COLOUR | send STATION TEXT | receive | say TEXT | listen\n"
    "       tactus-io now | run AHEAD PERIOD RUNS WORD... | reports\n\n"
    "The first line is of the flash, within this VM's area: `check` writes 1 KiB to its beginning, which has to be erased or the same\n"
    "already, and reads it back so often. `fill` draws in its window of the display; `send` and `receive` are for frames, `say` and\n"
    "`listen` for the UART. `run` has a program of timed I/O, as `tactus timed-io assemble` prints it, run AHEAD cycles from now and then\n"
    "every PERIOD cycles, RUNS times in all, and prints when it begins; `reports` says what was not done on its cycle.\n";

int main(int argc, char **argv)
{
    const char *command = argc > 1 ? argv[1] : "";
    char **arguments = argv + 2;
    int count = argc - 2;

    if ((equal(command, "now") && count == 0) || (equal(command, "reports") && count == 0) || (equal(command, "run") && count > 3)) {
        open_timed();
        if (equal(command, "reports"))
            return reports();
        if (equal(command, "run"))
            run(arguments, count);
        else
            print(1, "%lu\n", now());
        return 0;
    }
    if (equal(command, "read") && count == 2) {
        unsigned long length = number(arguments[1], "BYTES");

        open_port();
        show(ask(FLASH, READ, (uint32_t)number(arguments[0], "ADDRESS"), length < LENGTH_MAX ? length : LENGTH_MAX));
    } else if (equal(command, "write") && count == 2) {
        size_t length = limited(arguments[1], LENGTH_MAX);

        open_port();
        put((const unsigned char *)arguments[1], length);
        ask(FLASH, WRITE, (uint32_t)number(arguments[0], "ADDRESS"), length);
    } else if (equal(command, "erase") && count == 1) {
        open_port();
        ask(FLASH, CONTROL, (uint32_t)number(arguments[0], "ADDRESS"), 0);
    } else if (equal(command, "check") && count == 1) {
        open_port();
        return check(number(arguments[0], "ROUNDS"));
    } else if (equal(command, "fill") && count == 5) {
        open_port();
        fill(arguments);
    } else if (equal(command, "send") && count == 2) {
        size_t length = limited(arguments[1], FRAME_MAX - 14);

        open_port();
        send(arguments[0], (const unsigned char *)arguments[1], length);
    } else if (equal(command, "receive") && count == 0) {
        open_port();
        show(ask(ETHERNET, READ, 0, FRAME_MAX));
    } else if (equal(command, "say") && count == 1) {
        size_t length = limited(arguments[0], LENGTH_MAX);

        open_port();
        put((const unsigned char *)arguments[0], length);
        ask(UART, WRITE, 0, length);
    } else if (equal(command, "listen") && count == 0) {
        open_port();
        show(ask(UART, READ, 0, LENGTH_MAX));
    } else {
        write(2, usage, sizeof usage - 1);
        return argc == 2 && equal(command, "--help") ? 0 : 2;
    }
    return 0;
}
