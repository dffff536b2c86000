/*
 * What a disk and network cards cost Linux, for `tactus bench dma`: instructions of everything that runs on the hart
 * meanwhile (kernel, hypervisor, firmware), by the counter `instret`. Idle time has none.
 *
 *   tactus-dma file DEVICE MIB KIB     reads MIB of the disk, KIB at a time, by the page cache, which has none of it
 *   tactus-dma direct DEVICE MIB KIB   the same past the page cache: each read is a request of the disk
 *   tactus-dma cards ONE OTHER MIB     sends MIB from one card to the other one, which it is linked with
 *   tactus-dma seed                    has the random number generator begin, as all others do first
 *
 * Each does an eighth of it first, which is not counted, and prints instructions for each MiB, and for each read.
 */

#include "linux.h"

#define O_DIRECT 040000
#define AF_PACKET 17
#define SOCK_RAW 3
#define SIOCGIFHWADDR 0x8927
#define SIOCGIFINDEX 0x8933
#define RNDADDENTROPY 0x40085203

#define MIB (1UL << 20)
/* A buffer for a read, aligned as O_DIRECT wants it. */
#define BUFFER_KIB 1024
static char buffer[BUFFER_KIB << 10] __attribute__((aligned(4096)));

/* Frames of the greatest size, of an experimental protocol, and how many are under way. */
#define HEADER 14
#define PAYLOAD 1500
#define PROTOCOL 0x88b5
#define AT_ONCE 32

static uint64_t instructions(void)
{
    uint64_t value;

    __asm volatile("csrr %0, instret" : "=r"(value) : : "memory");
    return value;
}

static int fail(const char *what)
{
    print(2, "tactus-dma: %s\n", what);
    return 1;
}

static unsigned long number(const char *text)
{
    unsigned long value = 0;

    for (; *text >= '0' && *text <= '9'; text++)
        value = 10 * value + (unsigned long)(*text - '0');
    return value;
}

/* Reads so many bytes of a file; returns whether they are there. */
static int read_all(int file, size_t bytes, size_t piece)
{
    for (; bytes > 0; bytes -= piece)
        if (read(file, buffer, piece) != (long)piece)
            return 0;
    return 1;
}

/*
 * Has the kernel's random number generator begin. Until it has, each system call takes ten thousand instructions for a
 * random offset of its stack; a machine that gives its kernel a seed, and one that does not, could not be compared.
 */
static void begin_random(void)
{
    /* struct rand_pool_info */
    struct {
        int bits, bytes;
        char seed[32];
    } seed = {256, 32, {1}};
    int file = open("/dev/urandom", O_RDWR);

    if (file < 0)
        return;
    system_call(29, file, RNDADDENTROPY, (long)&seed, 0, 0, 0);
    close(file);
}

static int measure_disk(const char *how, const char *device, size_t mib, size_t kib)
{
    int file = open(device, O_RDONLY | (equal(how, "direct") ? O_DIRECT : 0));
    uint64_t begin;

    if (file < 0)
        return fail("the disk cannot be opened");
    if (kib == 0 || kib > BUFFER_KIB || mib < 8)
        return fail("wrong sizes");
    if (!read_all(file, mib / 8 * MIB, kib << 10))
        return fail("the disk cannot be read");
    begin = instructions();
    if (!read_all(file, mib * MIB, kib << 10))
        return fail("the disk cannot be read");
    begin = instructions() - begin;
    print(1, "@tactus metric name=%s_%luk_instructions value=%lu unit=instructions\n", how, kib, begin / mib);
    print(1, "@tactus metric name=%s_%luk_read_instructions value=%lu unit=instructions\n", how, kib,
          begin / (mib * 1024 / kib));
    return 0;
}

/* A card: a socket for the frames of the protocol, and its address. */
struct card {
    int file;
    char address[6];
};

/* Opens a card; returns whether it could be. */
static int open_card(const char *name, struct card *card)
{
    /* struct ifreq, with the card's number, or a family and an address; and struct sockaddr_ll: family, protocol in
       network order, and the card. */
    union {
        struct {
            char name[16];
            int index;
        };
        struct {
            char same[16], family[2], address[6];
        };
        char all[40];
    } request = {{{0}, 0}};
    struct {
        uint16_t family, protocol;
        int index;
        char rest[12];
    } address = {AF_PACKET, __builtin_bswap16(PROTOCOL), 0, {0}};
    card->file = (int)system_call(198, AF_PACKET, SOCK_RAW, __builtin_bswap16(PROTOCOL), 0, 0, 0);
    memcpy(request.name, name, strlen(name) < 16 ? strlen(name) : 15);
    if (card->file < 0 || system_call(29, card->file, SIOCGIFINDEX, (long)&request, 0, 0, 0) < 0)
        return 0;
    address.index = request.index;
    if (system_call(29, card->file, SIOCGIFHWADDR, (long)&request, 0, 0, 0) < 0)
        return 0;
    memcpy(card->address, request.address, sizeof card->address);
    return system_call(200, card->file, (long)&address, sizeof address, 0, 0, 0) >= 0;
}

/* Sends so many frames and takes them at the other end; returns whether all have come. */
static int carry(const struct card *one, const struct card *other, size_t frames)
{
    static char frame[HEADER + PAYLOAD];

    memcpy(frame, other->address, 6);
    memcpy(frame + 6, one->address, 6);
    frame[12] = (char)(PROTOCOL >> 8);
    frame[13] = (char)PROTOCOL;
    for (size_t sent = 0; sent < frames; sent += AT_ONCE) {
        for (int i = 0; i < AT_ONCE; i++)
            if (write(one->file, frame, sizeof frame) != (long)sizeof frame)
                return 0;
        for (int i = 0; i < AT_ONCE; i++)
            if (read(other->file, buffer, sizeof buffer) != (long)sizeof frame)
                return 0;
    }
    return 1;
}

static int measure_cards(const char *one, const char *other, size_t mib)
{
    struct card from, to;
    size_t frames = mib * MIB / PAYLOAD / AT_ONCE * AT_ONCE;
    uint64_t begin;

    if (!open_card(one, &from) || !open_card(other, &to))
        return fail("the cards cannot be used");
    /* A switch learns first where each is. */
    if (!carry(&to, &from, AT_ONCE) || !carry(&from, &to, frames / 8))
        return fail("a frame cannot be sent, or has not come");
    begin = instructions();
    if (!carry(&from, &to, frames))
        return fail("a frame cannot be sent, or has not come");
    print(1, "@tactus metric name=net_instructions value=%lu unit=instructions\n",
          (instructions() - begin) * MIB / (frames * PAYLOAD));
    return 0;
}

int main(int argc, char **argv)
{
    begin_random();
    if (argc == 2 && equal(argv[1], "seed"))
        return 0;
    if (argc == 5 && (equal(argv[1], "file") || equal(argv[1], "direct")))
        return measure_disk(argv[1], argv[2], number(argv[3]), number(argv[4]));
    if (argc == 5 && equal(argv[1], "cards"))
        return measure_cards(argv[2], argv[3], number(argv[4]));
    print(2, "usage: tactus-dma file|direct DEVICE MIB KIB | cards ONE OTHER MIB | seed\n");
    return 2;
}
