/*
 * Configuration of the FreeRTOS kernel for the applications of this folder. The options are
 * described at https://www.freertos.org/Documentation/02-Kernel/03-Supported-devices/02-Customization
 */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

/* The tick is derived from the timebase that the devicetree states, not from the CPU's clock. */
#define configTICK_RATE_HZ                        1000
#define configTICK_TYPE_WIDTH_IN_BITS             TICK_TYPE_WIDTH_64_BITS

/* Scheduling. */
#define configUSE_PREEMPTION                      1
#define configUSE_TIME_SLICING                    1
#define configUSE_PORT_OPTIMISED_TASK_SELECTION   0 /* RV64GC has no count-leading-zeros. */
#define configMAX_PRIORITIES                      8
#define configIDLE_SHOULD_YIELD                   1
#define configUSE_IDLE_HOOK                       1 /* Port: waits for an interrupt. */
#define configUSE_TICK_HOOK                       0
#define configUSE_TICKLESS_IDLE                   0

/* Memory. Sizes of stacks are in words of 8 bytes. */
#define configMINIMAL_STACK_SIZE                  256
#define configSUPPORT_STATIC_ALLOCATION           1
#define configSUPPORT_DYNAMIC_ALLOCATION          1
#define configTOTAL_HEAP_SIZE                     ( 256 * 1024 )
#define configKERNEL_PROVIDED_STATIC_MEMORY       1
#define configSTACK_DEPTH_TYPE                    size_t
#define configMAX_TASK_NAME_LEN                   16

/* Features of the kernel that the applications use. */
#define configUSE_TASK_NOTIFICATIONS              1
#define configUSE_MUTEXES                         1
#define configUSE_RECURSIVE_MUTEXES               1
#define configUSE_COUNTING_SEMAPHORES             1
#define configUSE_QUEUE_SETS                      1
#define configUSE_EVENT_GROUPS                    1
#define configUSE_STREAM_BUFFERS                  1
#define configQUEUE_REGISTRY_SIZE                 0
#define configUSE_TIMERS                          1
#define configTIMER_TASK_PRIORITY                 ( configMAX_PRIORITIES - 2 )
#define configTIMER_QUEUE_LENGTH                  16
#define configTIMER_TASK_STACK_DEPTH              512
#define configUSE_CO_ROUTINES                     0
#define configENABLE_BACKWARD_COMPATIBILITY       0
#define configUSE_TRACE_FACILITY                  0

#define INCLUDE_vTaskPrioritySet                  1
#define INCLUDE_uxTaskPriorityGet                 1
#define INCLUDE_vTaskDelete                       1
#define INCLUDE_vTaskSuspend                      1
#define INCLUDE_xTaskDelayUntil                   1
#define INCLUDE_vTaskDelay                        1
#define INCLUDE_xTaskGetIdleTaskHandle            1
#define INCLUDE_xTaskAbortDelay                   1
#define INCLUDE_xTaskGetHandle                    1
#define INCLUDE_xSemaphoreGetMutexHolder          1
#define INCLUDE_xTaskGetCurrentTaskHandle         1
#define INCLUDE_uxTaskGetStackHighWaterMark       1
#define INCLUDE_eTaskGetState                     1
#define INCLUDE_xTimerPendFunctionCall            1
#define INCLUDE_xTaskGetSchedulerState            1

/* Checks. Both report on the console and power the machine off as failed. */
#define configCHECK_FOR_STACK_OVERFLOW            2
#define configASSERT( x )                         \
    do                                            \
    {                                             \
        if( !( x ) )                              \
        {                                         \
            vPortAssertFailed( __FILE__, __LINE__ ); \
        }                                         \
    } while( 0 )
#ifndef __ASSEMBLER__
__attribute__( ( noreturn ) ) void vPortAssertFailed( const char * pcFile, int iLine );
#endif

/* The port. Words of the stack that interrupt handlers, and main() before the scheduler, run on. */
#define configISR_STACK_SIZE_WORDS                2048

#endif /* FREERTOS_CONFIG_H */
