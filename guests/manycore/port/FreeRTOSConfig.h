/*
 * Configuration of the FreeRTOS kernel for a tile: that of guests/freertos, and options of the kernel's RISC-V port.
 */
#ifndef MANYCORE_CONFIG_H
#define MANYCORE_CONFIG_H

#include "../../freertos/port/FreeRTOSConfig.h"

/* The CLINT; the port adds mhartid to the latter. */
#define configMTIME_BASE_ADDRESS       0x0200bff8UL
#define configMTIMECMP_BASE_ADDRESS    0x02004000UL

/* Frequency of mtime. */
#define configCPU_CLOCK_HZ             100000000UL

/* Interrupts use the stack of main() afterwards, which link.ld reserves. */
#undef configISR_STACK_SIZE_WORDS

/* A tile has 1 MiB in all. */
#undef configTOTAL_HEAP_SIZE
#define configTOTAL_HEAP_SIZE          ( 64 * 1024 )

#endif /* MANYCORE_CONFIG_H */
