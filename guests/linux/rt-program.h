/*
 * For programs that tactus-rt starts on a real-time vCPU. Such a program is one C file that includes this, and defines
 *
 *     void rt_main(uint64_t number, volatile uint64_t *words)
 *
 * which runs at supervisor level, without translation or interrupts, with 4 KiB of stack (by default) and floating
 * point. `number` is its vCPU's. `words` are RT_WORDS words of memory that `tactus-rt read` and `write` access. When
 * rt_main returns or raises an exception, the vCPU ends. There is no C library. programs.sh compiles such a program to
 * a flat file that runs at any address.
 */
#ifndef RT_PROGRAM_H
#define RT_PROGRAM_H

#include <stdint.h>

#include "rt-words.h"
#include "tactus.h"

void rt_main(uint64_t number, volatile uint64_t *words);

/* Ends the job. Returns at the next release, with its time in ticks. */
static inline uint64_t rt_yield(void)
{
    register uint64_t a0 __asm("a0");
    register uint64_t a1 __asm("a1");
    register uint64_t a6 __asm("a6") = TACTUS_RT_YIELD;
    register uint64_t a7 __asm("a7") = TACTUS_EXTENSION;

    __asm volatile("ecall" : "=r"(a0), "=r"(a1) : "r"(a6), "r"(a7) : "memory");
    return a1;
}

/* Reads the `time` CSR. */
static inline uint64_t rt_time(void)
{
    uint64_t time;

    __asm volatile("csrr %0, time" : "=r"(time)::"memory");
    return time;
}

#define RT_TEXT_(number) #number
#define RT_TEXT(number) RT_TEXT_(number)

/* Entry: a0 is the number, a1 the words' address, sp the top of the stack. */
__asm(".section .text.start, \"ax\"\n"
      "    csrw sie, zero\n"
      "    csrci sstatus, 2\n"
      "    csrw sscratch, a1\n"
      "    lla t0, 1f\n"
      "    csrw stvec, t0\n"
      "    li t0, 3 << 13\n"
      "    csrs sstatus, t0\n"
      "    fscsr zero\n"
      "    call rt_main\n"
      "    li t0, " RT_TEXT(RT_ENDED_RETURNED) "\n"
      "    li t1, 0\n"
      "    j 2f\n"
      "    .balign 4\n"
      "1:  li t0, " RT_TEXT(RT_ENDED_EXCEPTION) "\n"
      "    csrr t1, scause\n"
      "2:  csrr a1, sscratch\n"
      "    li t2, 4096\n"
      "    add a1, a1, t2\n"
      "    sd t1, -8(a1)\n"
      "    fence w, w\n"
      "    sd t0, -16(a1)\n"
      "    li a0, -1\n"
      "    li a6, " RT_TEXT(TACTUS_RT_DELETE) "\n"
      "    li a7, " RT_TEXT(TACTUS_EXTENSION) "\n"
      "    ecall\n"
      "3:  j 3b\n"
      ".text\n");

#endif
