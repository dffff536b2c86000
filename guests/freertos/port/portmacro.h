/*
 * FreeRTOS Kernel V11.2.0
 * Copyright (C) 2021 Amazon.com, Inc. or its affiliates. All Rights Reserved.
 *
 * SPDX-License-Identifier: MIT
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of
 * this software and associated documentation files (the "Software"), to deal in
 * the Software without restriction, including without limitation the rights to
 * use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of
 * the Software, and to permit persons to whom the Software is furnished to do so,
 * subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all
 * copies or substantial portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
 * IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS
 * FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
 * COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER
 * IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
 * CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 *
 * https://www.FreeRTOS.org
 * https://github.com/FreeRTOS
 *
 * Derived from portable/GCC/RISC-V/portmacro.h. Changed for Tactus: RV64 only; supervisor level
 * (sstatus) instead of machine level; a yield pends the software interrupt instead of an
 * environment call; interrupt masking from handlers really masks; a yield requested by a handler
 * is carried out when the handler returns; critical sections check their nesting; applications have the time of each
 * tick, their own software interrupt, and a description of the interrupted context.
 */

#ifndef PORTMACRO_H
#define PORTMACRO_H

#ifndef __riscv
    #error "This port is for RISC-V."
#elif __riscv_xlen != 64
    #error "This port is for 64-bit RISC-V."
#elif !defined( __riscv_float_abi_double )
    #error "This port saves the D extension's registers: compile for the lp64d ABI."
#endif

/* Layout of a saved context, for the assembler and the C side: words of 8 bytes from the saved stack
 * pointer upwards. The size is a multiple of 16, as the stack must stay aligned to that. */
#define portFRAME_SEPC             0
#define portFRAME_SSTATUS          1
#define portFRAME_RA               2
#define portFRAME_T0               3  /* t0..t6 */
#define portFRAME_A0               10 /* a0..a7 */
#define portFRAME_S0               18 /* s0..s11; only s0 is valid until the task is switched out */
#define portFRAME_FP               30 /* the task's floating-point area; valid when switched out */
#define portFRAME_WORDS            32

/* A task's floating-point area: f0..f31 and fcsr, at the high end of its stack. */
#define portFP_FCSR                32
#define portFP_WORDS               34

/* Fields of sstatus (RISC-V privileged specification, section 4.1.1). */
#define portSSTATUS_SIE            0x2
#define portSSTATUS_SPIE           0x20
#define portSSTATUS_SPP            0x100
#define portSSTATUS_FS_SHIFT       13
#define portSSTATUS_FS             0x6000 /* off 0, initial 1, clean 2, dirty 3 */
#define portSSTATUS_FS_CLEAN       0x4000

/* Interrupt causes of the supervisor level, also their bits in sie and sip. */
#define portCAUSE_SOFTWARE         1
#define portCAUSE_TIMER            5
#define portCAUSE_EXTERNAL         9
#define portSIE_ALL                ( ( 1 << portCAUSE_SOFTWARE ) | ( 1 << portCAUSE_TIMER ) | ( 1 << portCAUSE_EXTERNAL ) )
#define portSIP_SSIP               2

/* Words of the stack for reporting exceptions. */
#define portEXCEPTION_STACK_SIZE_WORDS    512

/* Exception cause: illegal instruction. */
#define portCAUSE_ILLEGAL          2

#define portBYTE_ALIGNMENT         16
#define portSTACK_GROWTH           ( -1 )

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
    extern "C" {
#endif

/* Type definitions. */
#define portSTACK_TYPE             uint64_t
#define portBASE_TYPE              int64_t
#define portUBASE_TYPE             uint64_t
#define portMAX_DELAY              ( TickType_t ) 0xffffffffffffffffUL
#define portPOINTER_SIZE_TYPE      uint64_t

typedef portSTACK_TYPE   StackType_t;
typedef portBASE_TYPE    BaseType_t;
typedef portUBASE_TYPE   UBaseType_t;
typedef portUBASE_TYPE   TickType_t;

#define portTICK_TYPE_IS_ATOMIC    1
#define portTICK_PERIOD_MS         ( ( TickType_t ) 1000 / configTICK_RATE_HZ )

/* Scheduler utilities. A yield is a pending software interrupt. With interrupts enabled it is taken at
 * once (an explicit write to sip re-evaluates pending interrupts: privileged specification,
 * section 4.1.3); within a critical section, at its end. */
#define portYIELD()                __asm volatile ( "csrsi sip, %0" ::"i" ( portSIP_SSIP ) : "memory" )

/* From an interrupt handler: switches to another task when the handler returns. */
extern BaseType_t xPortYieldRequested;
#define portEND_SWITCHING_ISR( xSwitchRequired ) \
    do                                           \
    {                                            \
        if( ( xSwitchRequired ) != pdFALSE )     \
        {                                        \
            traceISR_EXIT_TO_SCHEDULER();        \
            xPortYieldRequested = pdTRUE;        \
        }                                        \
        else                                     \
        {                                        \
            traceISR_EXIT();                     \
        }                                        \
    } while( 0 )
#define portYIELD_FROM_ISR( x )    portEND_SWITCHING_ISR( x )

/* Interrupt masking. */
#define portDISABLE_INTERRUPTS()    __asm volatile ( "csrci sstatus, %0" ::"i" ( portSSTATUS_SIE ) : "memory" )
#define portENABLE_INTERRUPTS()     __asm volatile ( "csrsi sstatus, %0" ::"i" ( portSSTATUS_SIE ) : "memory" )

static inline __attribute__( ( always_inline ) ) UBaseType_t uxPortSetInterruptMask( void )
{
    UBaseType_t uxPrevious;

    __asm volatile ( "csrrci %0, sstatus, %1" : "=r" ( uxPrevious ) : "i" ( portSSTATUS_SIE ) : "memory" );
    return uxPrevious & portSSTATUS_SIE;
}

static inline __attribute__( ( always_inline ) ) void vPortClearInterruptMask( UBaseType_t uxPrevious )
{
    __asm volatile ( "csrs sstatus, %0" ::"r" ( uxPrevious ) : "memory" );
}

#define portSET_INTERRUPT_MASK_FROM_ISR()         uxPortSetInterruptMask()
#define portCLEAR_INTERRUPT_MASK_FROM_ISR( x )    vPortClearInterruptMask( x )

/* Critical sections. Tasks are switched only with interrupts enabled, so the nesting count is
 * zero at each switch and is not part of a task's context. */
#define portCRITICAL_NESTING_IN_TCB    0
extern UBaseType_t uxPortCriticalNesting;

static inline __attribute__( ( always_inline ) ) void vPortEnterCritical( void )
{
    portDISABLE_INTERRUPTS();
    uxPortCriticalNesting++;
}

static inline __attribute__( ( always_inline ) ) void vPortExitCritical( void )
{
    configASSERT( uxPortCriticalNesting != 0 );
    uxPortCriticalNesting--;

    if( uxPortCriticalNesting == 0 )
    {
        portENABLE_INTERRUPTS();
    }
}

#define portENTER_CRITICAL()    vPortEnterCritical()
#define portEXIT_CRITICAL()     vPortExitCritical()

/* Task function macros as described on the FreeRTOS.org WEB site. */
#define portTASK_FUNCTION_PROTO( vFunction, pvParameters )    void vFunction( void * pvParameters )
#define portTASK_FUNCTION( vFunction, pvParameters )          void vFunction( void * pvParameters )

#define portNOP()               __asm volatile ( " nop " )
#define portINLINE              __inline
#define portFORCE_INLINE        inline __attribute__( ( always_inline ) )
#define portMEMORY_BARRIER()    __asm volatile ( "" ::: "memory" )

/*-----------------------------------------------------------*/
/* This port's extensions of FreeRTOS's interface. */

/* Sets the number of ticks of the `time` CSR per second; to be called before the scheduler starts. A multiple of
 * configTICK_RATE_HZ; otherwise the tick drifts by the remainder. */
void vPortSetTimebase( uint64_t ullHertz );

/* Sets the ticks per second in place of configTICK_RATE_HZ, also before the start. pdMS_TO_TICKS() ignores it. */
void vPortSetTickRate( uint64_t ullHertz );

/* The value of the `time` CSR at which tick `xTick` is due. Valid after the scheduler has started; the
 * tick count must not have been advanced by vTaskStepTick() or xTaskCatchUpTicks(). */
uint64_t ullPortTickTime( TickType_t xTick );

/* Ticks of the `time` CSR in a tick of the kernel. */
uint64_t ullPortTickPeriod( void );

/* Ticks that were counted after the following tick was due. */
uint64_t ullPortTicksLate( void );

/* pdTRUE within an interrupt handler, and in main() before the scheduler starts. */
BaseType_t xPortIsInsideInterrupt( void );

/* Sets the handler of vPortRaiseSoftware(): on the interrupt stack, interrupts off. It may use ...FromISR functions,
 * and no floating point. A task of higher priority that it readies runs next, even if no switch is requested. */
void vPortAttachSoftware( void ( * pxHandler )( void ) );

/* Interrupts the caller as soon as interrupts are enabled. A second call before the handler starts has no effect. */
extern volatile BaseType_t xPortSoftwareRaised;
static inline void vPortRaiseSoftware( void )
{
    xPortSoftwareRaised = pdTRUE;
    portYIELD();
}

/* Disables external interrupts until the next tick; for a handler that has served too many of them. */
void vPortDeferExternalInterrupts( void );

/* Supplied by the platform: serves the pending external interrupts; bounded. */
void vApplicationExternalInterrupt( void );

/* A further handler of the software interrupt, or null. Called like a handler whenever tasks are about to be switched,
 * after the software interrupt has been cleared; it checks itself whether it has work. */
extern void ( * pxPortSoftwareInterrupt )( void );

/* Supplied by the platform: handles an exception that the port cannot. The complete saved context is at
 * `pullFrame`, laid out by portFRAME_.... Does not return. */
__attribute__( ( noreturn ) ) void vApplicationException( uint64_t ullCause,
                                                          uint64_t ullValue,
                                                          const uint64_t * pullFrame );

#ifdef __cplusplus
    }
#endif

#endif /* __ASSEMBLER__ */

#endif /* PORTMACRO_H */
