/*
 * Calls of another VM from Linux user space (docs/src/reference/call-window.md). A copy of this file is the library.
 *
 *     struct tactus_client client;
 *     uint64_t message[TACTUS_CLIENT_WORDS] = {1, 2}, reply[TACTUS_CLIENT_WORDS];
 *     int error = tactus_client_open(&client, 0);
 *
 *     if (error == TACTUS_CLIENT_OK)
 *         error = tactus_client_call(&client, message, reply);
 *     if (error != TACTUS_CLIENT_OK)
 *         fprintf(stderr, "%s\n", tactus_client_text(error));
 *     tactus_client_close(&client);
 *
 * It needs root, as it maps /dev/mem, and no driver. A client is used by one thread at a time; further threads and
 * processes open clients of their own. A child process does not use its parent's.
 *
 * With a C library (-std=gnu11), or without one by linux.h (-ffreestanding).
 */
#ifndef TACTUS_CLIENT_H
#define TACTUS_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#if __STDC_HOSTED__
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#include "linux.h"
#endif

#define TACTUS_CLIENT_WORDS 8

/* Where the devicetree and memory are, and the load that is a call: tests have others. */
#ifndef TACTUS_CLIENT_SOC
#define TACTUS_CLIENT_SOC "/proc/device-tree/soc"
#endif
#ifndef TACTUS_CLIENT_MEMORY
#define TACTUS_CLIENT_MEMORY "/dev/mem"
#endif
#ifndef TACTUS_CLIENT_LOAD
#define TACTUS_CLIENT_LOAD(address) (*(address))
#endif

enum tactus_client_error {
    TACTUS_CLIENT_OK,
    /* The service is not there: it has not started, or restarts. Nothing was done. */
    TACTUS_CLIENT_CLOSED,
    /* The service has had a fault in this call, or took too long. It may have done a part of it, and restarts. */
    TACTUS_CLIENT_FAILED,
    /* The service refuses the client: it has restarted with fewer clients, or does not keep to the convention. */
    TACTUS_CLIENT_REFUSED,
    /* The devicetree has no such channel with a window for calls. */
    TACTUS_CLIENT_NO_CHANNEL,
    /* /dev/mem cannot be opened or mapped. */
    TACTUS_CLIENT_NO_MEMORY,
    /* The VM at the other end emulates something else, or another version. */
    TACTUS_CLIENT_NO_SERVICE,
    /* All of the service's clients are in use. */
    TACTUS_CLIENT_ALL_IN_USE,
};

/* A client of a service. */
struct tactus_client {
    /* Memory that is shared with the service, a multiple of 64 bytes; there may be none. */
    void *data;
    size_t data_size;
    /* The number by which the service says which one it is. */
    uint64_t service;
    /* The service's life that gave the last reply, or the one at `tactus_client_open`. Another value: it has restarted
     * since, and what it kept in its memory is lost. */
    uint64_t life;
    /* Private: the number of the slot; the window, the slot with the message and the reply, what is mapped, and
     * /dev/mem with the lock. */
    unsigned number;
    volatile const uint64_t *window;
    volatile uint64_t *slot;
    void *mapped;
    size_t mapped_size;
    int file;
};

/* Private: the convention's numbers (guests/call-window/src/lib.rs). */
#define TACTUS_CLIENT_IDENTITY 0x4c4c414354434154ULL
#define TACTUS_CLIENT_VERSION 1
#define TACTUS_CLIENT_MAX 32
#define TACTUS_CLIENT_PAGE 4096
#define TACTUS_CLIENT_SLOT_WORDS 16
#define TACTUS_CLIENT_STATE 8
#define TACTUS_CLIENT_LIFE 9
/* Registers of the window, in words. */
enum {
    TACTUS_CLIENT_R_IDENTITY,
    TACTUS_CLIENT_R_VERSION,
    TACTUS_CLIENT_R_SERVICE,
    TACTUS_CLIENT_R_DATA,
    TACTUS_CLIENT_R_LIFE
};
#define TACTUS_CLIENT_R_CALL 256
#define TACTUS_CLIENT_REPLIED 1

static inline const char *tactus_client_text(int error)
{
    switch (error) {
    case TACTUS_CLIENT_OK:
        return "no error";
    case TACTUS_CLIENT_CLOSED:
        return "the service is not there: it has not started yet, or restarts; nothing was done";
    case TACTUS_CLIENT_FAILED:
        return "the service has failed in this call, or took too long; a part of it may be done";
    case TACTUS_CLIENT_REFUSED:
        return "the service refuses this client: open another one";
    case TACTUS_CLIENT_NO_CHANNEL:
        return "the devicetree has no window for calls by this channel: "
               "system.toml wants `calls` and `device = { compatible = \"tactus,calls\" }`";
    case TACTUS_CLIENT_NO_MEMORY:
        return "/dev/mem cannot be mapped: this takes root";
    case TACTUS_CLIENT_NO_SERVICE:
        return "the VM at the other end serves no calls, or those of another version";
    case TACTUS_CLIENT_ALL_IN_USE:
        return "all clients of the service are in use: close one, or have the service allow more";
    default:
        return "no such error";
    }
}

/* Private: loads a register of the window. */
static inline uint64_t tactus_client_load(const struct tactus_client *client, size_t word)
{
    uint64_t value;

    /* The kernel may interrupt, but the load and all before it are done by one hart, in this order. */
    __asm volatile("" ::: "memory");
    value = TACTUS_CLIENT_LOAD(&client->window[word]);
    __asm volatile("" ::: "memory");
    return value;
}

/* Private: copies text to `path`, behind what is there. False: it is too long. */
static inline int tactus_client_append(char *path, size_t size, const char *text)
{
    size_t length = strlen(path), more = strlen(text);

    if (length + more >= size)
        return 0;
    memcpy(path + length, text, more + 1);
    return 1;
}

/* Private: reads a property of a node below /soc; returns the number of bytes, negative if there is none. */
static inline long tactus_client_property(const char *node, const char *property, void *to, size_t size)
{
    char path[256] = "";
    long length;
    int file;

    if (!tactus_client_append(path, sizeof path, TACTUS_CLIENT_SOC) || !tactus_client_append(path, sizeof path, "/") ||
        !tactus_client_append(path, sizeof path, node) || !tactus_client_append(path, sizeof path, "/") ||
        !tactus_client_append(path, sizeof path, property))
        return -1;
    file = open(path, O_RDONLY);
    if (file < 0)
        return -1;
    length = (long)read(file, to, size);
    close(file);
    return length;
}

/* Private: the address and the size of a node below /soc that has this `compatible` and the channel's number in
 * `property`. False: it is not that node. */
static inline int tactus_client_node(const char *node, const char *compatible, const char *property, unsigned channel,
                                     uint64_t place[2])
{
    unsigned char bytes[64];
    size_t length = strlen(compatible) + 1;

    if (tactus_client_property(node, "compatible", bytes, sizeof bytes) != (long)length)
        return 0;
    for (size_t at = 0; at < length; at++)
        if (bytes[at] != (unsigned char)compatible[at])
            return 0;
    if (tactus_client_property(node, property, bytes, sizeof bytes) != 4 ||
        ((uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3]) != channel ||
        tactus_client_property(node, "reg", bytes, sizeof bytes) != 16)
        return 0;
    for (size_t cell = 0; cell < 2; cell++) {
        place[cell] = 0;
        for (size_t at = 0; at < 8; at++)
            place[cell] = place[cell] << 8 | bytes[8 * cell + at];
    }
    /* Whole pages, as in all devicetrees of Tactus. */
    return ((place[0] | place[1]) & (TACTUS_CLIENT_PAGE - 1)) == 0 && place[1] != 0 && place[0] < UINT64_MAX / 4 &&
           place[1] < UINT64_MAX / 4;
}

/* Private: finds the channel's window and its memory. */
static inline int tactus_client_find(unsigned channel, uint64_t window[2], uint64_t memory[2])
{
    char entries[2048] __attribute__((aligned(8)));
    int directory = open(TACTUS_CLIENT_SOC, O_RDONLY | O_DIRECTORY);
    int found = 0;
    long size;

    if (directory < 0)
        return 0;
#if __STDC_HOSTED__
    while ((size = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0) {
#else
    while ((size = getdents64(directory, entries, sizeof entries)) > 0) {
#endif
        for (long at = 0; at < size;) {
            /* inode, offset, length, type, name: the kernel's struct linux_dirent64. */
            const char *name = &entries[at + 19];
            uint16_t length;

            memcpy(&length, &entries[at + 16], sizeof length);
            if (tactus_client_node(name, "tactus,calls", "tactus,channel", channel, window))
                found |= 1;
            else if (tactus_client_node(name, "tactus,channel", "tactus,index", channel, memory))
                found |= 2;
            at += length;
        }
    }
    close(directory);
    return found == 3;
}

/* Private: maps memory by its guest-physical address. NULL: it cannot be mapped. */
static inline void *tactus_client_map(int file, uint64_t address, uint64_t size)
{
#if __STDC_HOSTED__
    void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)address);

    return mapped == MAP_FAILED ? NULL : mapped;
#else
    long mapped = mmap(size, PROT_READ | PROT_WRITE, MAP_SHARED, file, address);

    return mapped < 0 && mapped > -TACTUS_CLIENT_PAGE ? NULL : (void *)mapped;
#endif
}

/* Ends a client, and has another one use its slot; a client that was not opened as well. */
static inline void tactus_client_close(struct tactus_client *client)
{
    /* The end of the file ends its lock. */
    if (client->file >= 0)
        close(client->file);
    if (client->mapped != NULL)
        munmap(client->mapped, client->mapped_size);
    if (client->window != NULL)
        munmap((void *)(uintptr_t)client->window, TACTUS_CLIENT_PAGE);
    *client = (struct tactus_client){.file = -1};
}

/* Private: reads the window's registers, and takes a slot. */
static inline int tactus_client_begin(struct tactus_client *client, uint64_t memory)
{
    uint64_t identity = tactus_client_load(client, TACTUS_CLIENT_R_IDENTITY), version, data;

    client->life = tactus_client_load(client, TACTUS_CLIENT_R_LIFE);
    version = tactus_client_load(client, TACTUS_CLIENT_R_VERSION);
    client->service = tactus_client_load(client, TACTUS_CLIENT_R_SERVICE);
    data = tactus_client_load(client, TACTUS_CLIENT_R_DATA);
    if (identity == 0 || client->life == 0 || tactus_client_load(client, TACTUS_CLIENT_R_LIFE) != client->life)
        return TACTUS_CLIENT_CLOSED;
    if (identity != TACTUS_CLIENT_IDENTITY || (uint32_t)version != TACTUS_CLIENT_VERSION || version >> 32 == 0 ||
        version >> 32 > TACTUS_CLIENT_MAX || data % 64 != 0 ||
        data > (client->mapped_size - TACTUS_CLIENT_PAGE) / (version >> 32))
        return TACTUS_CLIENT_NO_SERVICE;
    for (uint64_t number = 0; number < version >> 32; number++) {
        const size_t bytes = TACTUS_CLIENT_SLOT_WORDS * sizeof(uint64_t);
        /* struct flock of 64-bit Linux: type F_WRLCK, whence SEEK_SET, start, length, process. */
        struct {
            short type, whence;
            int64_t start, length;
            int process;
        } lock = {1, 0, (int64_t)(memory + number * bytes), (int64_t)bytes, 0};

        /* F_OFD_SETLK: the lock is the open file's, not the process's. */
        if (fcntl(client->file, 37, &lock) < 0)
            continue;
        client->slot = (volatile uint64_t *)client->mapped + number * TACTUS_CLIENT_SLOT_WORDS;
        client->data = (char *)client->mapped + TACTUS_CLIENT_PAGE + number * data;
        client->data_size = data;
        client->number = (unsigned)number;
        return TACTUS_CLIENT_OK;
    }
    return TACTUS_CLIENT_ALL_IN_USE;
}

/*
 * Opens a client of the service at the other end of this VM's channel. TACTUS_CLIENT_CLOSED: try again after a
 * millisecond. After an error nothing is open.
 */
static inline int tactus_client_open(struct tactus_client *client, unsigned channel)
{
    uint64_t window[2] = {0}, memory[2] = {0};
    int error = TACTUS_CLIENT_NO_MEMORY;

    *client = (struct tactus_client){.file = -1};
    if (!tactus_client_find(channel, window, memory))
        return TACTUS_CLIENT_NO_CHANNEL;
    client->file = open(TACTUS_CLIENT_MEMORY, O_RDWR | O_SYNC);
    if (client->file >= 0) {
        client->window = tactus_client_map(client->file, window[0], TACTUS_CLIENT_PAGE);
        client->mapped = tactus_client_map(client->file, memory[0], memory[1]);
        client->mapped_size = memory[1];
        if (client->window != NULL && client->mapped != NULL)
            error = tactus_client_begin(client, memory[0]);
    }
    if (error != TACTUS_CLIENT_OK)
        tactus_client_close(client);
    return error;
}

/*
 * Calls the service, which has finished when this returns. The reply changes only with TACTUS_CLIENT_OK; it may be the
 * same memory as the message.
 */
static inline int tactus_client_call(struct tactus_client *client, const uint64_t message[TACTUS_CLIENT_WORDS],
                                     uint64_t reply[TACTUS_CLIENT_WORDS])
{
    volatile uint64_t *slot = client->slot;
    uint64_t status;

    if (slot == NULL)
        return TACTUS_CLIENT_CLOSED;
    for (size_t word = 0; word < TACTUS_CLIENT_WORDS; word++)
        slot[word] = message[word];
    slot[TACTUS_CLIENT_STATE] = 0;
    status = tactus_client_load(client, TACTUS_CLIENT_R_CALL + client->number);
    if (status == 0)
        return slot[TACTUS_CLIENT_STATE] == 0 ? TACTUS_CLIENT_CLOSED : TACTUS_CLIENT_FAILED;
    if (status != TACTUS_CLIENT_REPLIED)
        return TACTUS_CLIENT_REFUSED;
    for (size_t word = 0; word < TACTUS_CLIENT_WORDS; word++)
        reply[word] = slot[word];
    client->life = slot[TACTUS_CLIENT_LIFE];
    return TACTUS_CLIENT_OK;
}

#endif
