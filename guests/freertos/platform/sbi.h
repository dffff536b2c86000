/* Calls to the supervisor binary interface (SBI specification 2.0) that this platform uses. */
#ifndef SBI_H
#define SBI_H

#include <stdint.h>

#define SBI_DEBUG_CONSOLE 0x4442434e
#define SBI_DEBUG_CONSOLE_WRITE_BYTE 2
#define SBI_SYSTEM_RESET 0x53525354
#define SBI_SYSTEM_RESET_SHUTDOWN 0
#define SBI_SYSTEM_RESET_NO_REASON 0
#define SBI_SYSTEM_RESET_FAILURE 1

struct sbi_result {
    int64_t error;
    int64_t value;
};

/* Makes a call: extension, function, two arguments. All registers but a0 and a1 are preserved. */
static inline struct sbi_result sbi_call(uint64_t extension, uint64_t function, uint64_t first,
                                         uint64_t second)
{
    register uint64_t a0 __asm("a0") = first;
    register uint64_t a1 __asm("a1") = second;
    register uint64_t a6 __asm("a6") = function;
    register uint64_t a7 __asm("a7") = extension;

    __asm volatile("ecall" : "+r"(a0), "+r"(a1) : "r"(a6), "r"(a7) : "memory");
    return (struct sbi_result){(int64_t)a0, (int64_t)a1};
}

/* Makes a call with six arguments, the most that there can be. */
static inline struct sbi_result sbi_call_six(uint64_t extension, uint64_t function, const uint64_t arguments[6])
{
    register uint64_t a0 __asm("a0") = arguments[0];
    register uint64_t a1 __asm("a1") = arguments[1];
    register uint64_t a2 __asm("a2") = arguments[2];
    register uint64_t a3 __asm("a3") = arguments[3];
    register uint64_t a4 __asm("a4") = arguments[4];
    register uint64_t a5 __asm("a5") = arguments[5];
    register uint64_t a6 __asm("a6") = function;
    register uint64_t a7 __asm("a7") = extension;

    __asm volatile("ecall"
                   : "+r"(a0), "+r"(a1)
                   : "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a6), "r"(a7)
                   : "memory");
    return (struct sbi_result){(int64_t)a0, (int64_t)a1};
}

#endif
