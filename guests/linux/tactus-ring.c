/*
 * tactus-ring: records by a channel's rings, from Linux user space. See docs/src/how-to/use-a-channel.md.
 *
 * It needs no driver: it maps the channel's memory and the doorbells through /dev/mem, and polls. The devicetree has
 * the channel's address, its size, and the number of this VM's end.
 */

#include "linux.h"

#include "tactus_channel.h"

#define SOC "/proc/device-tree/soc/"
#define PAGE 4096
#define RECORD_MAX 1024
#define MILLISECONDS_MAX 1000

#define fail(...) (print(2, "tactus-ring: " __VA_ARGS__), print(2, "\n"), exit(1))

struct channel {
    uint64_t number, end, address, size;
};

static struct tactus_producer producer;
static struct tactus_consumer consumer;
static volatile void *doorbells;

/* Reads `size` bytes at offset `at` of a property of a node below /soc, as a big-endian number. False: it is absent. */
static int number(const char *node, const char *property, size_t at, size_t size, uint64_t *value)
{
    unsigned char bytes[16];
    char path[128] = SOC;
    size_t length = strlen(path), node_length = strlen(node), property_length = strlen(property);
    long got;
    int file;

    if (length + node_length + 1 + property_length >= sizeof path)
        return 0;
    memcpy(path + length, node, node_length);
    path[length + node_length] = '/';
    memcpy(path + length + node_length + 1, property, property_length + 1);
    file = open(path, O_RDONLY);
    if (file < 0)
        return 0;
    got = read(file, bytes, sizeof bytes);
    close(file);
    if (got < (long)(at + size))
        return 0;
    *value = 0;
    for (size_t i = at; i < at + size; i++)
        *value = *value << 8 | bytes[i];
    return 1;
}

/* Finds channel `wanted` in the devicetree. False: there is no such channel. */
static int find(uint64_t wanted, struct channel *channel)
{
    static char entries[4096];
    int directory = open(SOC, O_RDONLY | O_DIRECTORY);
    long size;

    if (directory < 0)
        return 0;
    while ((size = getdents64(directory, entries, sizeof entries)) > 0) {
        for (long at = 0; at < size;) {
            const struct directory_entry *entry = (const struct directory_entry *)&entries[at];

            at += entry->size;
            if (begins(entry->name, "channel@") && number(entry->name, "tactus,index", 0, 4, &channel->number) &&
                channel->number == wanted && number(entry->name, "tactus,end", 0, 4, &channel->end) &&
                number(entry->name, "reg", 0, 8, &channel->address) && number(entry->name, "reg", 8, 8, &channel->size)) {
                close(directory);
                return 1;
            }
        }
    }
    close(directory);
    return 0;
}

static void *map(int memory, uint64_t address, uint64_t size)
{
    long mapped = mmap(size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, address);

    if (mapped < 0 && mapped > -PAGE)
        fail("/dev/mem cannot be mapped at 0x%lx", (unsigned long)address);
    return (void *)mapped;
}

static void wait_a_millisecond(void)
{
    int64_t time[2] = {0, 1000000};

    nanosleep(time);
}

/* Sends a record, and waits while the ring is full. */
static void send(const struct channel *channel, const char *text)
{
    for (int i = 0; i < MILLISECONDS_MAX; i++) {
        enum tactus_ring_result result = tactus_ring_send(&producer, text, strlen(text));

        if (result == TACTUS_RING_TOO_LONG)
            fail("a record has %lu bytes at most", (unsigned long)tactus_ring_record_max(&producer.ring));
        if (result == TACTUS_RING_OK) {
            tactus_doorbell(doorbells, (unsigned)channel->number);
            return;
        }
        wait_a_millisecond();
    }
    fail("the other end takes nothing");
}

/* Prints a record, with unprintable bytes as \xNN. */
static void show(const unsigned char *record, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char text[2] = {(char)record[i], 0};

        if (record[i] >= ' ' && record[i] < 127 && record[i] != '\\')
            print(1, "%s", text);
        else
            print(1, record[i] < 16 ? "\\x0%lx" : "\\x%lx", (unsigned long)record[i]);
    }
    print(1, "\n");
}

/* Prints `count` records, or fewer if none arrives for a second; returns their number. */
static uint64_t receive(uint64_t count)
{
    static unsigned char record[RECORD_MAX];
    uint64_t received = 0;

    for (int idle = 0; received < count && idle < MILLISECONDS_MAX;) {
        size_t length;

        switch (tactus_ring_receive(&consumer, record, sizeof record, &length)) {
        case TACTUS_RING_OK:
            show(record, length);
            received++;
            idle = 0;
            break;
        case TACTUS_RING_EMPTY:
            wait_a_millisecond();
            idle++;
            break;
        case TACTUS_RING_TOO_LONG:
            print(2, "tactus-ring: a record of %lu bytes is left out\n", (unsigned long)length);
            tactus_ring_skip(&consumer, &length);
            break;
        case TACTUS_RING_RESTARTED:
            print(2, "tactus-ring: the other end has restarted\n");
            break;
        default:
            /* The ring's data are dropped; later records may be valid. */
            print(2, "tactus-ring: the other end has written nonsense\n");
            idle++;
        }
    }
    return received;
}

int main(int argc, char **argv)
{
    struct channel channel;
    uint64_t count = (uint64_t)argc - 3;
    int memory;

    if (argc < 3 || argv[1][0] < '0' || argv[1][0] > '9' || argv[1][1] != 0)
        fail("usage: tactus-ring CHANNEL send TEXT... | ask TEXT... | receive");
    if (!find((uint64_t)(argv[1][0] - '0'), &channel))
        fail("the devicetree has no channel %s", argv[1]);
    memory = open("/dev/mem", O_RDWR | O_SYNC);
    if (memory < 0)
        fail("/dev/mem cannot be opened: this takes root");
    doorbells = map(memory, TACTUS_DOORBELLS, PAGE);
    if (!tactus_ring_open(map(memory, channel.address, channel.size), channel.size, (unsigned)channel.end, &producer,
                          &consumer))
        fail("the channel's memory is too small for rings");
    if (equal(argv[2], "receive")) {
        receive(UINT64_MAX);
        return 0;
    }
    if (!equal(argv[2], "send") && !equal(argv[2], "ask"))
        fail("%s is none of send, ask and receive", argv[2]);
    for (int i = 3; i < argc; i++)
        send(&channel, argv[i]);
    if (equal(argv[2], "ask") && receive(count) < count)
        fail("the other end does not answer");
    return 0;
}
