/*
 * tactus-ivshmem: a function of ivshmem version 2, from Linux user space. See docs/src/reference/ivshmem.md.
 *
 * It needs no driver: the kernel's PCI core finds the function and gives it its address, its registers are mapped by
 * their file in sysfs, and the shared memory by /dev/mem. It polls: to be
 * interrupted takes a driver in the kernel.
 */

#include "linux.h"

#define FUNCTION "/sys/bus/pci/devices/0000:00:00.0/"
#define ID 0x4106110a
#define PAGE 4096
#define COMMAND 4
#define COMMAND_MEMORY 2
#define CAPABILITIES 0x34
#define CAPABILITY 9
#define CAPABILITY_LENGTH 0x20
#define CAPABILITIES_MAX 48
#define PEERS_MAX 64
#define MILLISECONDS_MAX 5000

/* States, and the places of doublewords in the shared section. The same in guests/ivshmem/src/peer.rs. */
enum { READY = 1, DONE = 2, END = 3 };
enum { ASKED = 0, ANSWERED = 1, TEXT = 8, WORDS = 64 };

#define fail(...) (print(2, "tactus-ivshmem: " __VA_ARGS__), print(2, "\n"), exit(1))

static struct {
    uint64_t table, shared, output, base;
    volatile uint32_t *registers;
    volatile unsigned char *memory;
} link;

enum { REGISTER_ID, REGISTER_PEERS, REGISTER_INTERRUPTS, REGISTER_DOORBELL, REGISTER_STATE };

static void *map(const char *path, uint64_t address, uint64_t size)
{
    int file = open(path, O_RDWR | O_SYNC);
    long mapped = file < 0 ? file : mmap(size, PROT_READ | PROT_WRITE, MAP_SHARED, file, address);

    if (mapped < 0 && mapped > -PAGE)
        fail("%s cannot be mapped: this takes root", path);
    return (void *)mapped;
}

static uint64_t number(const unsigned char *from, int size)
{
    uint64_t value = 0;

    while (size-- > 0)
        value = value << 8 | from[size];
    return value;
}

/* Reads where all is from the configuration space, and has the registers decoded. */
static void find(void)
{
    static unsigned char space[256];
    int file = open(FUNCTION "config", O_RDONLY);
    unsigned at;

    if (file < 0 || read(file, space, sizeof space) != sizeof space)
        fail("there is no PCI function 0000:00:00.0, or this is not root");
    close(file);
    if (number(space, 4) != ID)
        fail("the PCI function 0000:00:00.0 is not ivshmem version 2");
    at = space[CAPABILITIES] & ~3u;
    for (int i = 0; i < CAPABILITIES_MAX && at != 0 && at <= sizeof space - CAPABILITY_LENGTH; i++) {
        if (space[at] == CAPABILITY && space[at + 2] >= CAPABILITY_LENGTH)
            break;
        at = space[at + 1] & ~3u;
    }
    if (at == 0 || at > sizeof space - CAPABILITY_LENGTH || space[at] != CAPABILITY)
        fail("it has no capability that says where the shared memory is");
    link.table = number(&space[at + 4], 4);
    link.shared = number(&space[at + 8], 8);
    link.output = number(&space[at + 16], 8);
    link.base = number(&space[at + 24], 8);

    /* Where a driver has the function, that has enabled it. */
    if (!(space[COMMAND] & COMMAND_MEMORY)) {
        file = open(FUNCTION "enable", O_WRONLY);
        if (file < 0 || write(file, "1", 1) != 1)
            fail("the function cannot be enabled");
        close(file);
    }
    link.registers = map(FUNCTION "resource0", 0, PAGE);
    if (link.registers[REGISTER_PEERS] < 2 || link.registers[REGISTER_PEERS] > PEERS_MAX)
        fail("it says that there are %lu peers", (unsigned long)link.registers[REGISTER_PEERS]);
    link.memory = map("/dev/mem", link.base,
                      link.table + link.shared + link.output * link.registers[REGISTER_PEERS]);
}

static uint32_t state(uint64_t peer)
{
    return ((volatile uint32_t *)link.memory)[peer];
}

static void set_state(uint32_t state)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    link.registers[REGISTER_STATE] = state;
}

static void ring(uint64_t peer)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    link.registers[REGISTER_DOORBELL] = (uint32_t)peer << 16;
}

static void wait_a_millisecond(void)
{
    int64_t time[2] = {0, 1000000};

    nanosleep(time);
}

/* Puts questions into the shared memory, which the other peer inverts. */
static void ask(uint64_t rounds)
{
    uint64_t other = link.registers[REGISTER_ID] == 0;
    volatile uint64_t *shared = (volatile uint64_t *)(link.memory + link.table);
    volatile uint64_t *own = (volatile uint64_t *)(link.memory + link.table + link.shared + link.output * !other);
    volatile uint64_t *others = (volatile uint64_t *)(link.memory + link.table + link.shared + link.output * other);

    if (link.shared < 8 * (TEXT + WORDS))
        fail("the section that peers share is too small");
    set_state(READY);
    for (int i = 0; state(other) == 0; i++, wait_a_millisecond())
        if (i == MILLISECONDS_MAX)
            fail("the other peer does not come");
    for (uint64_t round = 1; round <= rounds; round++) {
        for (uint64_t word = 0; word < WORDS; word++)
            shared[TEXT + word] = round << 32 | word;
        for (uint64_t word = 0; word < link.output / 8; word++)
            own[word] = round << 32 | word;
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        shared[ASKED] = round;
        ring(other);
        for (int i = 0; shared[ANSWERED] != round || state(other) != DONE; i++, wait_a_millisecond())
            if (i == MILLISECONDS_MAX)
                fail("the other peer does not answer");
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        for (uint64_t word = 0; word < WORDS; word++)
            if (shared[TEXT + word] != ~(round << 32 | word))
                fail("answer %lu is wrong", (unsigned long)round);
        for (uint64_t word = 0; word < link.output / 8; word++)
            if (others[word] != ~(round << 32 | word))
                fail("what the other peer puts out in answer %lu is wrong", (unsigned long)round);
    }
    set_state(END);
    print(1, "answers=%lu\n", (unsigned long)rounds);
}

/* A decimal number, or -1. */
static uint64_t decimal(const char *text)
{
    uint64_t value = 0;

    if (*text == 0)
        return UINT64_MAX;
    for (; *text != 0; text++) {
        if (*text < '0' || *text > '9' || value > UINT32_MAX)
            return UINT64_MAX;
        value = value * 10 + (uint64_t)(*text - '0');
    }
    return value;
}

int main(int argc, char **argv)
{
    const char *usage = "usage: tactus-ivshmem describe | states | state NUMBER | interrupts 0 | interrupts 1 | "
                        "ring PEER | ask ROUNDS";
    const char *command = argc > 1 ? argv[1] : "";
    int describes = argc == 2 && equal(command, "describe"), lists = argc == 2 && equal(command, "states");
    uint64_t value = argc == 3 ? decimal(argv[2]) : UINT64_MAX;

    if (!describes && !lists &&
        (value > UINT32_MAX || !(equal(command, "state") || equal(command, "interrupts") || equal(command, "ring") ||
                                 equal(command, "ask"))))
        fail("%s", usage);
    find();
    if (describes)
        print(1, "id=%lu peers=%lu table=%lu shared=%lu output=%lu base=0x%lx\n",
              (unsigned long)link.registers[REGISTER_ID], (unsigned long)link.registers[REGISTER_PEERS],
              (unsigned long)link.table, (unsigned long)link.shared, (unsigned long)link.output,
              (unsigned long)link.base);
    else if (lists)
        for (uint64_t peer = 0; peer < link.registers[REGISTER_PEERS]; peer++)
            print(1, "%lu%s", (unsigned long)state(peer), peer + 1 < link.registers[REGISTER_PEERS] ? " " : "\n");
    else if (equal(command, "state"))
        set_state((uint32_t)value);
    else if (equal(command, "interrupts"))
        link.registers[REGISTER_INTERRUPTS] = (uint32_t)value;
    else if (equal(command, "ring"))
        ring(value);
    else
        ask(value);
    return 0;
}
