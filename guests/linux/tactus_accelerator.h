/*
 * Accelerators from Linux user space (docs/src/how-to/share-an-accelerator.md). This file and tactus_client.h, of which
 * it takes how devices are found and mapped, are the library.
 *
 *     struct tactus_accelerator sha256;
 *     struct tactus_computation hash = {.size = 3, .output = 4096, .output_size = 32};
 *     int error = tactus_accelerator_open(&sha256, "sha256");
 *
 *     if (error == TACTUS_ACCELERATOR_OK) {
 *         memcpy(sha256.memory, "abc", 3);
 *         error = tactus_accelerator_submit(&sha256, &hash);
 *     }
 *     if (error == TACTUS_ACCELERATOR_OK)
 *         error = tactus_accelerator_wait(&sha256, 1000000000);
 *     if (error != TACTUS_ACCELERATOR_OK)
 *         fprintf(stderr, "%s\n", tactus_accelerator_text(error));
 *     tactus_accelerator_close(&sha256);
 *
 * It needs root, as it maps /dev/mem, and a huge page, and no driver. One program at a time has a device, and one
 * thread of it. The device writes to physical memory: who kills a program while it computes leaves the device writing
 * to memory that is no longer the program's, until the next one opens the device.
 *
 * With a C library (-std=gnu11), or without one by linux.h (-ffreestanding).
 */
#ifndef TACTUS_ACCELERATOR_H
#define TACTUS_ACCELERATOR_H

#include "tactus_client.h"

#if __STDC_HOSTED__
#include <time.h>
#endif

enum tactus_accelerator_error {
    TACTUS_ACCELERATOR_OK,
    /* 1 to 15: the computation has ended with this error of the device (docs/src/reference/hardware-tasks.md). */
    /* The computation is still under way. */
    TACTUS_ACCELERATOR_BUSY = 16,
    /* Input or output goes beyond the accelerator's memory, or is no multiple of 8. Nothing was begun. */
    TACTUS_ACCELERATOR_OUTSIDE,
    /* This VM has no virtual device of that task. */
    TACTUS_ACCELERATOR_NO_DEVICE,
    /* Another program has the device. */
    TACTUS_ACCELERATOR_IN_USE,
    /* /dev/mem cannot be opened or mapped. */
    TACTUS_ACCELERATOR_NO_MEMORY,
    /* There is no huge page, or the kernel does not say where it is. */
    TACTUS_ACCELERATOR_NO_HUGE_PAGE,
};

/* A virtual device, and the memory that is shared with it. */
struct tactus_accelerator {
    /* Input and output, one behind the other. */
    unsigned char *memory;
    size_t size;
    /* Cycles of the fabric that the last computation took. */
    uint32_t cycles;
    /* Private: the device's registers, the place of `memory` in the VM's, and /dev/mem with the lock. */
    volatile uint32_t *device;
    uint32_t offset;
    int file;
};

/* What to compute: places in the accelerator's memory, in bytes from its beginning. */
struct tactus_computation {
    size_t input, size;
    /* `output_size` is what the task writes of so much input (docs/src/reference/hardware-tasks.md). */
    size_t output, output_size;
    /* The task's own parameter. */
    uint32_t parameter;
};

/* Private: registers, in words (fabric/regs/virtual_device.rdl). */
enum {
    TACTUS_ACCELERATOR_R_ID,
    TACTUS_ACCELERATOR_R_START = 2,
    TACTUS_ACCELERATOR_R_OVER,
    TACTUS_ACCELERATOR_R_PARAMETER,
    TACTUS_ACCELERATOR_R_INPUT,
    TACTUS_ACCELERATOR_R_SIZE,
    TACTUS_ACCELERATOR_R_RESULT = 8,
    TACTUS_ACCELERATOR_R_CYCLES,
    TACTUS_ACCELERATOR_R_END,
    TACTUS_ACCELERATOR_R_OUTPUT = 16
};
#define TACTUS_ACCELERATOR_KIND 0x5644
#define TACTUS_ACCELERATOR_HUGE_PAGE (2UL << 20)
/* Private: where a VM's memory begins (abi/src/map.rs, RAM_BASE). Devices count from there. */
#define TACTUS_ACCELERATOR_RAM_BASE 0x80000000UL
/* Private: time between two looks whether a computation is over. */
#define TACTUS_ACCELERATOR_LOOK_NS 20000

static inline const char *tactus_accelerator_text(int error)
{
    switch (error) {
    case TACTUS_ACCELERATOR_OK:
        return "no error";
    case 13:
        return "the computation was ended";
    case 14:
        return "the device was taken from a task that did not stop in time";
    case 15:
        return "there was no region for the task";
    case TACTUS_ACCELERATOR_BUSY:
        return "the computation is still under way";
    case TACTUS_ACCELERATOR_OUTSIDE:
        return "input or output goes beyond the accelerator's memory, or is no multiple of 8";
    case TACTUS_ACCELERATOR_NO_DEVICE:
        return "this VM has no virtual device of that task: `[[vm.accelerator]]` in system.toml gives it one";
    case TACTUS_ACCELERATOR_IN_USE:
        return "another program has the device";
    case TACTUS_ACCELERATOR_NO_MEMORY:
        return "/dev/mem cannot be mapped: this takes root";
    case TACTUS_ACCELERATOR_NO_HUGE_PAGE:
        return "there is no huge page: this takes root, and 2 MiB of memory in one piece";
    default:
        return error > 0 && error < 16 ? "the task ended with an error of its own" : "no such error";
    }
}

/* Private: waits for so long. */
static inline void tactus_accelerator_pause(void)
{
#if __STDC_HOSTED__
    static const struct timespec pause = {0, TACTUS_ACCELERATOR_LOOK_NS};

    nanosleep(&pause, NULL);
#else
    static const int64_t pause[2] = {0, TACTUS_ACCELERATOR_LOOK_NS};

    nanosleep(pause);
#endif
}

/* Private: all that was stored before is done before all that is stored or loaded behind it, devices included. */
static inline void tactus_accelerator_fence(void)
{
#ifdef __riscv
    __asm volatile("fence iorw, iorw" ::: "memory");
#else
    /* On another machine the library is only compiled, by tests. */
    __sync_synchronize();
#endif
}

/* Private: the address of a task's device, from the node below /soc that has the task's name. False: there is none. */
static inline int tactus_accelerator_find(const char *task, uint64_t *address)
{
    char entries[2048] __attribute__((aligned(8)));
    int directory = open(TACTUS_CLIENT_SOC, O_RDONLY | O_DIRECTORY);
    size_t length = strlen(task);
    int found = 0;
    long size;

    if (directory < 0)
        return 0;
#if __STDC_HOSTED__
    while (!found && (size = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0) {
#else
    while (!found && (size = getdents64(directory, entries, sizeof entries)) > 0) {
#endif
        for (long at = 0; !found && at < size;) {
            /* inode, offset, length, type, name: the kernel's struct linux_dirent64. */
            const char *name = &entries[at + 19];
            unsigned char number[4];
            uint64_t place[2] = {0};
            uint16_t entry;
            size_t same = 0;

            memcpy(&entry, &entries[at + 16], sizeof entry);
            at += entry;
            while (same < length && name[same] == task[same])
                same++;
            /* The node is named TASK@ADDRESS. */
            if (same != length || name[same] != '@' ||
                tactus_client_property(name, "tactus,task", number, sizeof number) != sizeof number)
                continue;
            /* Tasks are numbered from 1 to 7. */
            found = tactus_client_node(name, "tactus,virtual-device", "tactus,task", number[3], place);
            *address = place[0];
        }
    }
    close(directory);
    return found;
}

/* Private: maps a huge page, which is physically contiguous; its place in the VM's memory goes to `offset`. */
static inline unsigned char *tactus_accelerator_map(uint32_t *offset)
{
    /* Private, anonymous, of huge pages, populated (the kernel's include/uapi/asm-generic/mman.h). */
    const int flags = 0x02 | 0x20 | 0x40000 | 0x8000;
    unsigned char *memory;
    uint64_t entry = 0;
    long length = 0;
    int file = open("/proc/sys/vm/nr_overcommit_hugepages", O_WRONLY);

    /* Permits a huge page for each program, as far as memory allows. */
    if (file >= 0) {
        (void)!write(file, "64", 2);
        close(file);
    }
    file = open("/proc/self/pagemap", O_RDONLY);
    if (file < 0)
        return NULL;
#if __STDC_HOSTED__
    memory = mmap(NULL, TACTUS_ACCELERATOR_HUGE_PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory == MAP_FAILED)
        memory = NULL;
    else
        length = pread(file, &entry, sizeof entry, (off_t)((uintptr_t)memory / TACTUS_CLIENT_PAGE * sizeof entry));
#else
    memory = (unsigned char *)system_call(222, 0, TACTUS_ACCELERATOR_HUGE_PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);
    if ((long)memory < 0 && (long)memory > -TACTUS_CLIENT_PAGE)
        memory = NULL;
    else
        length = system_call(67, file, (long)&entry, sizeof entry, (long)memory / TACTUS_CLIENT_PAGE * 8, 0, 0);
#endif
    close(file);
    /* Bits 54:0 of a present page are its frame number, or 0 for who may not know it (the kernel's
     * admin-guide/mm/pagemap). */
    entry = (entry & ((1UL << 55) - 1)) * TACTUS_CLIENT_PAGE;
    if (memory != NULL && (length != sizeof entry || entry < TACTUS_ACCELERATOR_RAM_BASE)) {
        munmap(memory, TACTUS_ACCELERATOR_HUGE_PAGE);
        memory = NULL;
    }
    *offset = (uint32_t)(entry - TACTUS_ACCELERATOR_RAM_BASE);
    return memory;
}

/* Ends what the device computes, or was asked to compute. Its memory is then the program's alone. */
static inline void tactus_accelerator_cancel(struct tactus_accelerator *accelerator)
{
    accelerator->device[TACTUS_ACCELERATOR_R_END] = 1;
    while (accelerator->device[TACTUS_ACCELERATOR_R_END] & 1)
        tactus_accelerator_pause();
    tactus_accelerator_fence();
}

/* Gives the device to others; what it computes is ended. Also one that was not opened. */
static inline void tactus_accelerator_close(struct tactus_accelerator *accelerator)
{
    /* The huge page goes only after that, as the device writes to it. */
    if (accelerator->memory != NULL) {
        tactus_accelerator_cancel(accelerator);
        munmap(accelerator->memory, accelerator->size);
    }
    if (accelerator->device != NULL)
        munmap((void *)(uintptr_t)accelerator->device, TACTUS_CLIENT_PAGE);
    /* The end of the file ends its lock. */
    if (accelerator->file >= 0)
        close(accelerator->file);
    *accelerator = (struct tactus_accelerator){.file = -1};
}

/* Private: locks the device, and maps it. What its last program has left in it is ended. */
static inline int tactus_accelerator_begin(struct tactus_accelerator *accelerator, uint64_t address)
{
    /* struct flock of 64-bit Linux: type F_WRLCK, whence SEEK_SET, start, length, process. */
    struct {
        short type, whence;
        int64_t start, length;
        int process;
    } lock = {1, 0, (int64_t)address, TACTUS_CLIENT_PAGE, 0};

    accelerator->file = open(TACTUS_CLIENT_MEMORY, O_RDWR | O_SYNC);
    if (accelerator->file < 0)
        return TACTUS_ACCELERATOR_NO_MEMORY;
    /* F_OFD_SETLK: the lock is the open file's, not the process's. */
    if (fcntl(accelerator->file, 37, &lock) < 0)
        return TACTUS_ACCELERATOR_IN_USE;
    accelerator->device = tactus_client_map(accelerator->file, address, TACTUS_CLIENT_PAGE);
    if (accelerator->device == NULL)
        return TACTUS_ACCELERATOR_NO_MEMORY;
    if (accelerator->device[TACTUS_ACCELERATOR_R_ID] >> 16 != TACTUS_ACCELERATOR_KIND)
        return TACTUS_ACCELERATOR_NO_DEVICE;
    tactus_accelerator_cancel(accelerator);
    accelerator->memory = tactus_accelerator_map(&accelerator->offset);
    accelerator->size = TACTUS_ACCELERATOR_HUGE_PAGE;
    return accelerator->memory == NULL ? TACTUS_ACCELERATOR_NO_HUGE_PAGE : TACTUS_ACCELERATOR_OK;
}

/* Opens this VM's virtual device of a task, by the task's name. After an error nothing is open. */
static inline int tactus_accelerator_open(struct tactus_accelerator *accelerator, const char *task)
{
    uint64_t address = 0;
    int error = TACTUS_ACCELERATOR_NO_DEVICE;

    *accelerator = (struct tactus_accelerator){.file = -1};
    if (tactus_accelerator_find(task, &address))
        error = tactus_accelerator_begin(accelerator, address);
    if (error != TACTUS_ACCELERATOR_OK)
        tactus_accelerator_close(accelerator);
    return error;
}

/* Private: whether a part of the accelerator's memory is one. */
static inline int tactus_accelerator_has(const struct tactus_accelerator *accelerator, size_t place, size_t size)
{
    return place % 8 == 0 && place <= accelerator->size && size <= accelerator->size - place;
}

/* Whether the device computes, or is asked to. */
static inline int tactus_accelerator_is_busy(const struct tactus_accelerator *accelerator)
{
    return accelerator->device[TACTUS_ACCELERATOR_R_START] & 1 || !(accelerator->device[TACTUS_ACCELERATOR_R_OVER] & 1);
}

/*
 * Asks the device for a computation, and returns at once; tactus_accelerator_wait is to follow. Its memory is the
 * device's until then. TACTUS_ACCELERATOR_OUTSIDE: nothing was begun.
 */
static inline int tactus_accelerator_submit(struct tactus_accelerator *accelerator, const struct tactus_computation *computation)
{
    volatile uint32_t *device = accelerator->device;

    if (device == NULL)
        return TACTUS_ACCELERATOR_NO_DEVICE;
    if (!tactus_accelerator_has(accelerator, computation->input, computation->size) ||
        !tactus_accelerator_has(accelerator, computation->output, computation->output_size))
        return TACTUS_ACCELERATOR_OUTSIDE;
    device[TACTUS_ACCELERATOR_R_INPUT] = accelerator->offset + (uint32_t)computation->input;
    device[TACTUS_ACCELERATOR_R_SIZE] = (uint32_t)computation->size;
    device[TACTUS_ACCELERATOR_R_OUTPUT] = accelerator->offset + (uint32_t)computation->output;
    device[TACTUS_ACCELERATOR_R_PARAMETER] = computation->parameter;
    /* The input is in memory before the task reads it. */
    tactus_accelerator_fence();
    device[TACTUS_ACCELERATOR_R_START] = 1;
    return TACTUS_ACCELERATOR_OK;
}

/*
 * Waits until the computation is over, for so many nanoseconds at least; other programs run meanwhile. Returns its
 * error, or TACTUS_ACCELERATOR_BUSY: wait again, or cancel it.
 */
static inline int tactus_accelerator_wait(struct tactus_accelerator *accelerator, uint64_t nanoseconds)
{
    uint64_t looks = nanoseconds / TACTUS_ACCELERATOR_LOOK_NS;

    if (accelerator->device == NULL)
        return TACTUS_ACCELERATOR_NO_DEVICE;
    while (tactus_accelerator_is_busy(accelerator)) {
        if (looks-- == 0)
            return TACTUS_ACCELERATOR_BUSY;
        tactus_accelerator_pause();
    }
    tactus_accelerator_fence();
    accelerator->cycles = accelerator->device[TACTUS_ACCELERATOR_R_CYCLES];
    return (int)(accelerator->device[TACTUS_ACCELERATOR_R_RESULT] & 0xf);
}

#endif
