/*
 * Discards a part of a disk and has the kernel write zeroes to another, and reads both back past the page cache:
 *
 *   tactus-disk DEVICE    overwrites the first 64 KiB
 *
 * What it finds are records (docs/src/reference/formats.md).
 */

#include "linux.h"

#define O_DIRECT 040000
#define BLKDISCARD 0x1277
#define BLKZEROOUT 0x127f

#define SECTOR 512
#define SIZE (64UL << 10)
/* Aligned as O_DIRECT wants it. */
static char data[SIZE] __attribute__((aligned(4096)));
/* What the disk has to have. */
static char wanted[SIZE];

static int fail(const char *name, const char *reason)
{
    print(1, "@tactus fail name=%s reason=%s\n", name, reason);
    return 1;
}

static long at_begin(int file)
{
    return system_call(62, file, 0, 0, 0, 0, 0);
}

/* Makes a part zeroes by that request, and compares the whole. */
static int zero(int file, const char *name, long request, uint64_t first, uint64_t bytes)
{
    uint64_t range[2] = {first, bytes};

    if (system_call(29, file, request, (long)range, 0, 0, 0) < 0)
        return fail(name, "refused");
    memset(wanted + first, 0, bytes);
    if (at_begin(file) != 0 || read(file, data, SIZE) != (long)SIZE)
        return fail(name, "unreadable");
    for (size_t at = 0; at < SIZE; at++)
        if (data[at] != wanted[at])
            return fail(name, wanted[at] == 0 ? "still_there" : "gone_beside");
    print(1, "@tactus pass name=%s\n", name);
    return 0;
}

int main(int argc, char **argv)
{
    int file;

    if (argc != 2) {
        print(2, "usage: tactus-disk DEVICE\n");
        return 2;
    }
    file = open(argv[1], O_RDWR | O_DIRECT | O_SYNC);
    for (size_t at = 0; at < SIZE; at++)
        data[at] = wanted[at] = (char)(1 + at / SECTOR % 100);
    if (file < 0 || write(file, data, SIZE) != (long)SIZE)
        return fail("disk_discard", "unwritable");
    /* Whole blocks of 4 KiB; then sectors of written, discarded and further blocks. fsync flushes the disk. */
    return zero(file, "disk_discard", BLKDISCARD, 8192, 12288) ||
           zero(file, "disk_zeroes", BLKZEROOUT, 7 * SECTOR, 30 * SECTOR) ||
           (system_call(82, file, 0, 0, 0, 0, 0) < 0 && fail("disk_zeroes", "no_flush"));
}
