/* What lwIP needs to know of the compiler. */
#ifndef ARCH_CC_H
#define ARCH_CC_H

#include <stddef.h>
#include <stdint.h>

#include "FreeRTOS.h"
#include "console.h"
#include "platform.h"

/* <inttypes.h>, <limits.h>, <ctype.h> and <unistd.h> are not there. */
#define LWIP_NO_INTTYPES_H 1
#define LWIP_NO_LIMITS_H 1
#define LWIP_NO_CTYPE_H 1
#define LWIP_NO_UNISTD_H 1
#define X8_F "x"
#define U16_F "u"
#define S16_F "d"
#define X16_F "x"
#define U32_F "u"
#define S32_F "d"
#define X32_F "x"
#define SZT_F "lu"
#define INT_MAX __INT_MAX__
#define SSIZE_MAX __LONG_MAX__
typedef long ssize_t;

#define LWIP_PLATFORM_DIAG(text) console_print text
#define LWIP_PLATFORM_ASSERT(text) platform_fail("lwip", text)

/* Port numbers and sequence numbers: the clock, scrambled (SplitMix64). Not for secrets. */
static inline uint32_t lwip_random(void)
{
    uint64_t word;

    __asm volatile("csrr %0, time" : "=r"(word)::"memory");
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
    word = (word ^ word >> 27) * 0x94d049bb133111eb;
    return (uint32_t)(word >> 32);
}
#define LWIP_RAND() lwip_random()

#endif
