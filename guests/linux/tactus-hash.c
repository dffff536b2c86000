/*
 * tactus-hash: the SHA-256 of a file by this VM's accelerator, printed as sha256sum does: an example of
 * tactus_accelerator.h (docs/src/how-to/share-an-accelerator.md).
 */

#include "tactus_accelerator.h"

#if __STDC_HOSTED__
#include <stdio.h>
#include <stdlib.h>
#define print(file, ...) fprintf((file) == 1 ? stdout : stderr, __VA_ARGS__)
#endif

/* Output behind the input, whose end the task reads in whole words of 8 bytes. */
#define DIGEST 32

static int hash(struct tactus_accelerator *sha256, int file)
{
    size_t room = sha256->size - DIGEST, size = 0;
    long read_now;

    while (size < room && (read_now = (long)read(file, sha256->memory + size, room - size)) > 0)
        size += (size_t)read_now;
    if (size == 0 || size == room) {
        print(2, "tactus-hash: a file has 1 to %lu bytes\n", (unsigned long)room - 1);
        return 1;
    }
    struct tactus_computation computation = {.size = size, .output = room, .output_size = DIGEST};
    int error = tactus_accelerator_submit(sha256, &computation);

    if (error == TACTUS_ACCELERATOR_OK)
        error = tactus_accelerator_wait(sha256, 1000000000);
    if (error != TACTUS_ACCELERATOR_OK) {
        print(2, "tactus-hash: %s\n", tactus_accelerator_text(error));
        return 1;
    }
    for (size_t at = 0; at < DIGEST; at++) {
        static const char digits[] = "0123456789abcdef";
        const unsigned char byte = sha256->memory[room + at];
        const char text[3] = {digits[byte >> 4], digits[byte & 15], 0};

        print(1, "%s", text);
    }
    print(1, "\n");
    return 0;
}

int main(int argc, char **argv)
{
    struct tactus_accelerator sha256;
    int file = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    int error, code = 1;

    if (file < 0) {
        print(2, "usage: tactus-hash FILE\n");
        return 2;
    }
    error = tactus_accelerator_open(&sha256, "sha256");
    if (error == TACTUS_ACCELERATOR_OK)
        code = hash(&sha256, file);
    else
        print(2, "tactus-hash: %s\n", tactus_accelerator_text(error));
    tactus_accelerator_close(&sha256);
    return code;
}
