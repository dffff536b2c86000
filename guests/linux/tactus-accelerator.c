/*
 * tactus-accelerator: uses a virtual device of this VM from Linux user space (docs/src/how-to/share-an-accelerator.md).
 *
 * It needs no driver: it maps the device's page through /dev/mem, and keeps the frames in a huge page, which is
 * physically contiguous; /proc/self/pagemap gives its address. This is the native model of Ker-ONE, section 4.5: start
 * and wait, as with any device. The program does not depend on the assignment of regions.
 */

#include "linux.h"
#include "tactus.h"

#define PAGE 4096
#define HUGE_PAGE (2UL << 20)
#define MAP_ANONYMOUS_HUGE_POPULATED (0x02 | 0x20 | 0x40000 | 0x8000)
/* Start of a VM's memory (abi/src/map.rs, RAM_BASE). */
#define MEMORY_BASE 0x80000000UL

/* Registers, in words (fabric/regs/virtual_device.rdl). */
#define ID 0
#define START 2
#define OVER 3
#define CMD 4
#define DATA_ADDR 5
#define DATA_SIZE 6
#define RESULT 8
#define CYCLES 9
#define CUSTOM0 16
#define KIND 0x5644

#define fail(...) (print(2, "tactus-accelerator: " __VA_ARGS__), print(2, "\n"), exit(1))

/* The largest frame; its output has at most 16 times as many bytes. */
#define FRAME_MAX 65536
/* Offset of the output in the huge page. */
#define OUTPUT HUGE_PAGE / 2

/* A hardware task whose results are compared with those of software (docs/src/reference/hardware-tasks.md). */
struct task {
    const char *name;
    uint32_t number;
    /* Computes the output; returns its length in bytes. */
    size_t (*software)(const unsigned char *frame, size_t size, unsigned char *to);
};

/* The parameter for the accelerator `passthrough`. */
#define MASK 0x5ac3f00dU

static size_t passthrough(const unsigned char *frame, size_t size, unsigned char *to)
{
    for (size_t at = 0; at < size; at++)
        to[at] = frame[at] ^ (unsigned char)(MASK >> at % 4 * 8);
    return size;
}

/* Amplitudes of 3GPP TS 36.211, 7.1.3 and 7.1.4, with 14 fractional bits: 1 and 3 by sqrt(10); 1, 3, 5 and 7 by
 * sqrt(42). Index: the lower bit of a 16-QAM amplitude, the two lower bits of a 64-QAM one. */
static const int16_t levels16[2] = {5181, 15543};
static const int16_t levels64[4] = {7584, 2528, 12641, 17697};

static void put_symbol(unsigned char **to, int16_t in_phase, int16_t quadrature)
{
    uint32_t symbol = (uint16_t)in_phase | (uint32_t)(uint16_t)quadrature << 16;

    memcpy(*to, &symbol, sizeof symbol);
    *to += sizeof symbol;
}

static size_t qam16(const unsigned char *frame, size_t size, unsigned char *to)
{
    const unsigned char *begin = to;

    for (size_t at = 0; at < 2 * size; at++) {
        unsigned bits = frame[at / 2] >> (at % 2 ? 0 : 4);
        int16_t in_phase = levels16[bits >> 1 & 1], quadrature = levels16[bits & 1];

        put_symbol(&to, bits & 8 ? -in_phase : in_phase, bits & 4 ? -quadrature : quadrature);
    }
    return (size_t)(to - begin);
}

static size_t qam64(const unsigned char *frame, size_t size, unsigned char *to)
{
    const unsigned char *begin = to;

    for (size_t bit = 0; bit < 8 * size; bit += 6) {
        unsigned pair = (unsigned)frame[bit / 8] << 8 | (bit / 8 + 1 < size ? frame[bit / 8 + 1] : 0);
        unsigned bits = pair >> (10 - bit % 8);
        int16_t in_phase = levels64[(bits >> 2 & 2) | (bits >> 1 & 1)], quadrature = levels64[(bits >> 1 & 2) | (bits & 1)];

        put_symbol(&to, bits & 32 ? -in_phase : in_phase, bits & 16 ? -quadrature : quadrature);
    }
    return (size_t)(to - begin);
}

static const struct task tasks[] = {
    {"passthrough", 1, passthrough},
    {"qam16", 2, qam16},
    {"qam64", 3, qam64},
};

static void fence(void)
{
    __asm volatile("fence iorw, iorw" ::: "memory");
}

static unsigned long nanoseconds(void)
{
    int64_t time[2];

    clock_gettime(CLOCK_MONOTONIC, time);
    return (unsigned long)(time[0] * 1000000000 + time[1]);
}

static volatile uint32_t *map_device(const struct task *task)
{
    uint64_t address = TACTUS_ACCELERATOR_BASE + (uint64_t)task->number * PAGE;
    int file = open("/dev/mem", O_RDWR | O_SYNC);
    long mapped;

    if (file < 0)
        fail("cannot open /dev/mem: only root may, and /dev has to be mounted");
    mapped = mmap(PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, address);
    if (mapped < 0)
        fail("cannot map 0x%lx of /dev/mem", address);
    close(file);
    return (volatile uint32_t *)mapped;
}

/* Maps a huge page; stores its address for the accelerator. */
static unsigned char *map_frames(uint64_t *physical)
{
    long mapped;
    int file = open("/proc/sys/vm/nr_overcommit_hugepages", O_WRONLY);
    uint64_t entry = 0;

    /* Permits one huge page for each process, as far as memory allows. */
    if (file >= 0) {
        write(file, "64", 2);
        close(file);
    }
    mapped = system_call(222, 0, HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_ANONYMOUS_HUGE_POPULATED, -1, 0);
    if (mapped < 0)
        fail("no huge page is left: give the VM more memory");
    file = open("/proc/self/pagemap", O_RDONLY);
    /* pread64: reads the entry of this page. */
    if (file < 0 || system_call(67, file, (long)&entry, sizeof entry, mapped / PAGE * 8, 0, 0) != sizeof entry)
        fail("cannot read /proc/self/pagemap");
    close(file);
    /* Bits 54:0 of a present page are its frame number (the kernel's admin-guide/mm/pagemap). */
    entry &= (1UL << 55) - 1;
    if (entry == 0)
        fail("/proc/self/pagemap does not say where memory is: only root is told");
    *physical = entry * PAGE;
    return (unsigned char *)mapped;
}

/* The next number of a pseudorandom sequence (xorshift64). */
static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static unsigned long number(const char *text, const char *what)
{
    unsigned long value = 0;

    if (*text == 0)
        fail("%s is missing", what);
    for (; *text != 0; text++) {
        if (*text < '0' || *text > '9' || value > 1000000000)
            fail("%s is no number that makes sense", what);
        value = value * 10 + (unsigned long)(*text - '0');
    }
    return value;
}

/* Waits until the computation is complete; other processes run meanwhile. */
static void await(volatile uint32_t *device)
{
    static const int64_t pause[2] = {0, 20000};

    while (device[START] & 1 || !(device[OVER] & 1))
        nanosleep(pause);
}

int main(int argc, char **argv)
{
    static unsigned char expected[16 * FRAME_MAX];
    const struct task *task = NULL;
    volatile uint32_t *device;
    unsigned char *memory;
    uint64_t physical, random = 0x7463746d;
    unsigned long frames, size, longest = 0, all = 0, cycles = 0, wrong = 0, in_software = 0;

    for (size_t at = 0; argc == 4 && at < sizeof tasks / sizeof *tasks; at++)
        if (equal(argv[1], tasks[at].name))
            task = &tasks[at];
    if (task == NULL) {
        print(2, "usage: tactus-accelerator passthrough|qam16|qam64 FRAMES BYTES\n\n"
                 "Gives FRAMES random frames of BYTES bytes to the virtual device of that hardware task, compares each result with the same\n"
                 "in software, and says how long both have taken. The exit code is 1 when a result is wrong, or there is none.\n");
        return argc == 2 && equal(argv[1], "--help") ? 0 : 2;
    }
    frames = number(argv[2], "FRAMES");
    size = number(argv[3], "BYTES");
    if (frames == 0 || size == 0 || size > FRAME_MAX)
        fail("a frame has 1 to %lu bytes, and there is one at least", (unsigned long)FRAME_MAX);
    device = map_device(task);
    if (device[ID] >> 16 != KIND)
        fail("this VM has no virtual device of %s: `[[vm.accelerator]]` in system.toml gives it one", task->name);
    memory = map_frames(&physical);
    for (unsigned long frame = 0; frame < frames; frame++) {
        unsigned long begin, took;
        size_t length;

        for (size_t at = 0; at < size; at++)
            memory[at] = (unsigned char)next(&random);
        begin = nanoseconds();
        length = task->software(memory, size, expected);
        in_software += nanoseconds() - begin;
        memset(memory + OUTPUT, 0, length);
        begin = nanoseconds();
        device[DATA_ADDR] = (uint32_t)(physical - MEMORY_BASE);
        device[DATA_SIZE] = (uint32_t)size;
        device[CUSTOM0] = (uint32_t)(physical - MEMORY_BASE + OUTPUT);
        device[CMD] = MASK;
        /* The frame is in memory before the task reads it. */
        fence();
        device[START] = 1;
        await(device);
        fence();
        took = nanoseconds() - begin;
        all += took;
        longest = took > longest ? took : longest;
        cycles += device[CYCLES];
        if (device[RESULT] & 0xf)
            fail("frame %lu ended with error %lu", frame, (unsigned long)(device[RESULT] & 0xf));
        for (size_t at = 0; at < length; at++)
            if (memory[OUTPUT + at] != expected[at]) {
                wrong++;
                break;
            }
    }
    print(1, "task=%s frames=%lu wrong=%lu average_ns=%lu longest_ns=%lu fabric_cycles=%lu software_ns=%lu\n", task->name, frames, wrong,
          all / frames, longest, cycles / frames, in_software / frames);
    return wrong != 0;
}
