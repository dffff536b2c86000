/*
 * The part of Linux's interface that this folder's programs need, without a C library: set-up has a C compiler for
 * RISC-V, but no libraries for Linux. The functions are those of POSIX, but return an error as a negative number.
 * System calls are numbered as in the kernel's include/uapi/asm-generic/unistd.h.
 */
#ifndef LINUX_H
#define LINUX_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define AT_FDCWD -100
#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 0100
#define O_TRUNC 01000
#define O_DIRECTORY 0200000
#define O_SYNC 04010000
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_SHARED 1
#define LOCK_EX 2
#define SIGCHLD 17
#define CLOCK_MONOTONIC 1
#define EPERM 1
#define ENOENT 2
#define EACCES 13
#define EISDIR 21

static long system_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long a0 __asm("a0") = a;
    register long a1 __asm("a1") = b;
    register long a2 __asm("a2") = c;
    register long a3 __asm("a3") = d;
    register long a4 __asm("a4") = e;
    register long a5 __asm("a5") = f;
    register long a7 __asm("a7") = number;

    __asm volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7) : "memory");
    return a0;
}

/* Only the owner may access a file that is created here. */
static int open(const char *path, int flags)
{
    return (int)system_call(56, AT_FDCWD, (long)path, flags, 0600, 0, 0);
}

static void close(int file)
{
    system_call(57, file, 0, 0, 0, 0, 0);
}

static long read(int file, void *to, size_t size)
{
    return system_call(63, file, (long)to, (long)size, 0, 0, 0);
}

static long write(int file, const void *from, size_t size)
{
    return system_call(64, file, (long)from, (long)size, 0, 0, 0);
}

static long getdents64(int file, void *to, size_t size)
{
    return system_call(61, file, (long)to, (long)size, 0, 0, 0);
}

/* `argument` is as the command wants it. */
static int fcntl(int file, int command, const void *argument)
{
    return (int)system_call(25, file, command, (long)argument, 0, 0, 0);
}

static long flock(int file, int operation)
{
    return system_call(32, file, operation, 0, 0, 0, 0);
}

/* `time`: seconds and nanoseconds. */
static long nanosleep(const int64_t time[2])
{
    return system_call(101, (long)time, 0, 0, 0, 0, 0);
}

static void clock_gettime(int clock, int64_t time[2])
{
    system_call(113, clock, (long)time, 0, 0, 0, 0);
}

/* Returns 0 in the child, which has a copy of the memory. */
static int fork(void)
{
    return (int)system_call(220, SIGCHLD, 0, 0, 0, 0, 0);
}

/* Makes `to` a duplicate of the file descriptor `from`. */
static int dup3(int from, int to)
{
    return (int)system_call(24, from, to, 0, 0, 0, 0);
}

static int execve(const char *path, char *const *arguments, char *const *environment)
{
    return (int)system_call(221, (long)path, (long)arguments, (long)environment, 0, 0, 0);
}

/* Waits until any child ends. */
static int wait(int *status)
{
    return (int)system_call(260, -1, (long)status, 0, 0, 0, 0);
}

/* Returns an address, or a negative error. */
static long mmap(size_t size, int protection, int flags, int file, uint64_t offset)
{
    return system_call(222, 0, (long)size, protection, flags, file, (long)offset);
}

static int munmap(void *address, size_t size)
{
    return (int)system_call(215, (long)address, (long)size, 0, 0, 0, 0);
}

__attribute__((noreturn)) static void exit(int code)
{
    for (;;)
        system_call(94, code, 0, 0, 0, 0, 0);
}

/* An entry of a directory, in the format of getdents64. */
struct directory_entry {
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;
    char name[];
};

/* The compiler generates calls of these two. */
void *memset(void *to, int byte, size_t size);
void *memcpy(void *restrict to, const void *restrict from, size_t size);

__attribute__((optimize("no-tree-loop-distribute-patterns"))) void *memset(void *to, int byte, size_t size)
{
    for (char *at = to; size > 0; size--)
        *at++ = (char)byte;
    return to;
}

__attribute__((optimize("no-tree-loop-distribute-patterns"))) void *memcpy(void *restrict to, const void *restrict from,
                                                                         size_t size)
{
    const char *source = from;

    for (char *at = to; size > 0; size--)
        *at++ = *source++;
    return to;
}

static size_t strlen(const char *text)
{
    size_t size = 0;

    while (text[size] != 0)
        size++;
    return size;
}

/* Whether `text` begins with `prefix`. */
static int begins(const char *text, const char *prefix)
{
    while (*prefix != 0)
        if (*text++ != *prefix++)
            return 0;
    return 1;
}

static int equal(const char *left, const char *right)
{
    return strlen(left) == strlen(right) && begins(left, right);
}

/* Writes formatted text to a file, completely. Supports %s, %lu and %lx. */
__attribute__((format(printf, 2, 3))) static void print(int file, const char *format, ...)
{
    char line[512];
    size_t size = 0;
    va_list arguments;

    va_start(arguments, format);
    for (; *format != 0; format++) {
        char digits[21];
        const char *text = digits;
        unsigned long value, base = 10;
        size_t at = sizeof digits - 1;

        if (*format != '%') {
            digits[0] = *format;
            digits[1] = 0;
        } else if (*++format == 's') {
            text = va_arg(arguments, const char *);
        } else {
            base = *++format == 'x' ? 16 : 10;
            value = va_arg(arguments, unsigned long);
            digits[at] = 0;
            do
                digits[--at] = "0123456789abcdef"[value % base];
            while ((value /= base) != 0);
            text = &digits[at];
        }
        while (*text != 0 && size < sizeof line)
            line[size++] = *text++;
    }
    va_end(arguments);
    write(file, line, size);
}

/* The entry of a program: argc and argv are on the stack. */
int main(int argc, char **argv);

__asm(".globl _start\n"
      "_start:\n"
      "    .option push\n"
      "    .option norelax\n"
      "    la gp, __global_pointer$\n"
      "    .option pop\n"
      "    ld a0, 0(sp)\n"
      "    addi a1, sp, 8\n"
      "    andi sp, sp, -16\n"
      "    call main\n"
      "    li a7, 94\n"
      "    ecall\n");

#endif
