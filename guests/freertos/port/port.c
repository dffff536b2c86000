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
 * Derived from portable/GCC/RISC-V/port.c. Changed for Tactus: the tick comes from the supervisor's
 * own timer comparator (Sstc) and catches up with ticks that fell due while none could
 * be counted; the initial stack is built here, with an area for floating-point registers; running
 * off the end of the interrupt stack and returning from a task are reported; an application may raise its own software
 * interrupt.
 */

/* Implementation of the functions that portable.h requires of a port, for RV64 in supervisor mode. */

#include "FreeRTOS.h"
#include "task.h"

/* The stack of interrupt handlers, and of main() until the scheduler starts. Its lowest word shows whether it
 * has ever overflowed. */
#define portISR_STACK_MARK    0x5afe57ac0ffee000ULL
__attribute__( ( aligned( 16 ) ) ) StackType_t xPortISRStack[ configISR_STACK_SIZE_WORDS ];

/* The stack for reporting exceptions: the stack in use may be the cause of the exception. */
__attribute__( ( aligned( 16 ) ) ) StackType_t xPortExceptionStack[ portEXCEPTION_STACK_SIZE_WORDS ];

/* Ticks counted in one timer interrupt at most; the interrupt stays pending if more are due. */
#define portTICK_CATCH_UP_LIMIT    64

/* Non-zero until the scheduler starts, so that the kernel's functions do not enable interrupts earlier. */
UBaseType_t uxPortCriticalNesting = 0xaaaaaaaa;

/* Set by a handler to switch tasks on return from the interrupt. */
BaseType_t xPortYieldRequested = pdFALSE;

/* Whether the application has raised its software interrupt, and the interrupt's handler. */
volatile BaseType_t xPortSoftwareRaised = pdFALSE;
static void ( * pxSoftwareHandler )( void ) = NULL;

/* A further handler of the software interrupt, or null. */
void ( * pxPortSoftwareInterrupt )( void ) = NULL;

/* The running task's floating-point area, and that of the task whose values are in the registers. */
StackType_t * pxPortFpArea = NULL;
StackType_t * pxPortFpOwner = NULL;

static uint64_t ullTimebase = 0;
static uint64_t ullTickRate = configTICK_RATE_HZ;
static uint64_t ullPeriod = 0;
static uint64_t ullFirstTick = 0;
static uint64_t ullNextTick = 0;
static uint64_t ullTicksLate = 0;

extern const char vPortTrapEntry[];
extern void vPortStartFirstTask( void );

/*-----------------------------------------------------------*/

static inline uint64_t prvTime( void )
{
    uint64_t ullTime;

    __asm volatile ( "csrr %0, time" : "=r" ( ullTime ) );
    return ullTime;
}

/* stimecmp: Sstc specification, section 2.1. By number, as this assembler does not know the name. */
static inline void prvSetTimer( uint64_t ullTime )
{
    __asm volatile ( "csrw 0x14d, %0" ::"r" ( ullTime ) );
}

static void prvTaskReturned( void )
{
    /* A task's function must not return: it has no caller. */
    configASSERT( pdFALSE );

    for( ; ; )
    {
    }
}
/*-----------------------------------------------------------*/

void vPortSetTimebase( uint64_t ullHertz )
{
    ullTimebase = ullHertz;
}

void vPortSetTickRate( uint64_t ullHertz )
{
    ullTickRate = ullHertz;
}

uint64_t ullPortTickTime( TickType_t xTick )
{
    return ullFirstTick + xTick * ullPeriod;
}

uint64_t ullPortTickPeriod( void )
{
    return ullPeriod;
}

uint64_t ullPortTicksLate( void )
{
    return ullTicksLate;
}

void vPortDeferExternalInterrupts( void )
{
    __asm volatile ( "csrc sie, %0" ::"r" ( 1 << portCAUSE_EXTERNAL ) );
}

void vPortAttachSoftware( void ( * pxHandler )( void ) )
{
    pxSoftwareHandler = pxHandler;
}

BaseType_t xPortIsInsideInterrupt( void )
{
    uintptr_t uxStack;

    __asm volatile ( "mv %0, sp" : "=r" ( uxStack ) );
    return ( uxStack - ( uintptr_t ) xPortISRStack <= sizeof( xPortISRStack ) ) ? pdTRUE : pdFALSE;
}
/*-----------------------------------------------------------*/

StackType_t * pxPortInitialiseStack( StackType_t * pxTopOfStack,
                                     TaskFunction_t pxCode,
                                     void * pvParameters )
{
    uint64_t ullStatus;
    StackType_t * pxFp = pxTopOfStack - portFP_WORDS;
    StackType_t * pxFrame = pxFp - portFRAME_WORDS;

    /* Interrupts enabled when it first runs, supervisor level, floating point off until its first use. All other
     * fields keep their values. */
    __asm volatile ( "csrr %0, sstatus" : "=r" ( ullStatus ) );
    ullStatus &= ~( uint64_t ) ( portSSTATUS_SIE | portSSTATUS_FS );
    ullStatus |= portSSTATUS_SPIE | portSSTATUS_SPP;

    for( UBaseType_t i = 0; i < portFRAME_WORDS + portFP_WORDS; i++ )
    {
        pxFrame[ i ] = 0;
    }

    pxFrame[ portFRAME_SEPC ] = ( StackType_t ) pxCode;
    pxFrame[ portFRAME_SSTATUS ] = ullStatus;
    pxFrame[ portFRAME_RA ] = ( StackType_t ) prvTaskReturned;
    pxFrame[ portFRAME_A0 ] = ( StackType_t ) pvParameters;
    pxFrame[ portFRAME_FP ] = ( StackType_t ) pxFp;
    return pxFrame;
}
/*-----------------------------------------------------------*/

BaseType_t xPortStartScheduler( void )
{
    configASSERT( ullTickRate > 0 && ullTimebase >= ullTickRate );

    xPortISRStack[ 0 ] = portISR_STACK_MARK;
    ullPeriod = ullTimebase / ullTickRate;
    ullFirstTick = prvTime() - xTaskGetTickCount() * ullPeriod;
    ullNextTick = ullPortTickTime( xTaskGetTickCount() + 1 );
    prvSetTimer( ullNextTick );
    uxPortCriticalNesting = 0;

    /* Install the trap vector and the interrupt stack, and enable all three kinds of interrupts. */
    __asm volatile ( "csrw stvec, %0" ::"r" ( vPortTrapEntry ) );
    __asm volatile ( "csrw sscratch, %0" ::"r" ( &xPortISRStack[ configISR_STACK_SIZE_WORDS ] ) );
    __asm volatile ( "csrc sip, %0" ::"r" ( portSIP_SSIP ) );
    __asm volatile ( "csrw sie, %0" ::"r" ( portSIE_ALL ) );

    vPortStartFirstTask();

    return pdFAIL; /* Not reached. */
}

void vPortEndScheduler( void )
{
    /* The machine is powered off; the scheduler never returns to main(). */
    configASSERT( pdFALSE );
}
/*-----------------------------------------------------------*/

/* The timer interrupt. Returns whether tasks are to be switched. Declared here, as only the trap handler calls it,
 * by name. */
BaseType_t xPortTimerInterrupt( void );
BaseType_t xPortTimerInterrupt( void )
{
    BaseType_t xSwitch = pdFALSE;
    uint64_t ullNext = ullNextTick;

    xPortYieldRequested = pdFALSE;
    __asm volatile ( "csrs sie, %0" ::"r" ( 1 << portCAUSE_EXTERNAL ) ); /* see vPortDeferExternalInterrupts */

    /* Normally one iteration. More when the hart ran other VMs, or interrupts were disabled, for more than a tick: the
     * tick count must not fall behind the time. */
    for( int i = 0; i < portTICK_CATCH_UP_LIMIT; i++ )
    {
        uint64_t ullNow = prvTime();

        if( ullNow < ullNext )
        {
            break;
        }

        xSwitch |= xTaskIncrementTick();
        ullNext += ullPeriod;
        ullTicksLate += ( ullNow >= ullNext );
    }

    prvSetTimer( ullNext );
    ullNextTick = ullNext;
    return xSwitch | xPortYieldRequested;
}

/* The external interrupt, also called by the trap handler. */
BaseType_t xPortExternalInterrupt( void );
BaseType_t xPortExternalInterrupt( void )
{
    xPortYieldRequested = pdFALSE;
    vApplicationExternalInterrupt();
    return xPortYieldRequested;
}
/*-----------------------------------------------------------*/

/* The application's software interrupt, also called by the trap handler, which then switches tasks in any case. */
void vPortSoftwareInterrupt( void );
void vPortSoftwareInterrupt( void )
{
    xPortSoftwareRaised = pdFALSE;
    configASSERT( pxSoftwareHandler != NULL );
    pxSoftwareHandler();
}
/*-----------------------------------------------------------*/

/* Runs when no other task can: waits for the next interrupt. An interrupt that readies a task before `wfi` also
 * switches to that task before it, so that no wake-up is missed. */
void vApplicationIdleHook( void )
{
    configASSERT( xPortISRStack[ 0 ] == portISR_STACK_MARK );
    __asm volatile ( "wfi" ::: "memory" );
}
/*-----------------------------------------------------------*/
