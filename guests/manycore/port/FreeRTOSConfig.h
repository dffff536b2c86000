/*
 * Configuration of the FreeRTOS kernel for a tile: that of guests/freertos, and what the kernel's own RISC-V port asks for.
 */
#ifndef MANYCORE_CONFIG_H
#define MANYCORE_CONFIG_H

#include "../../freertos/port/FreeRTOSConfig.h"

/* The CLINT; the port adds mhartid to the latter. */
#define configMTIME_BASE_ADDRESS       0x0200bff8UL
#define configMTIMECMP_BASE_ADDRESS    0x02004000UL

/* What mtime counts in a second. */
#define configCPU_CLOCK_HZ             100000000UL

/* The stack of main() is that of interrupts afterwards: link.ld has it. */
#undef configISR_STACK_SIZE_WORDS

/* A tile has 1 MiB in all. */
#undef configTOTAL_HEAP_SIZE
#define configTOTAL_HEAP_SIZE          ( 64 * 1024 )

#endif /* MANYCORE_CONFIG_H */
