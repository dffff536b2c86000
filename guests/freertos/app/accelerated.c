/*
 * Computes a frame in each period on an accelerator that other VMs share. Reports the response times and the CRC-32
 * of the results, which shows whether every bit is right. The frames are those of guests/accelerated.
 *
 * Boot arguments: `task=N`, the number of the hardware task (docs/src/reference/hardware-tasks.md); `frames=N`;
 * `bytes=N` of a frame; `period=N`, in ticks of the kernel.
 */

#include "FreeRTOS.h"
#include "task.h"

#include "accelerator.h"
#include "arguments.h"
#include "clock.h"
#include "console.h"
#include "platform.h"
#include "record.h"

void accelerated_main(void);

#define FRAMES 20
#define FRAMES_MAX 1000
/* Bytes of a frame in the measurements of Ker-ONE: 4,700 symbols. */
#define BYTES 18800
#define BYTES_MAX 65536
/* Output bytes per byte of input at most (16-QAM), and the largest block that is padded (FFT of 1,024 points). */
#define GROWTH 8
#define BLOCK 4096
#define PERIOD 5
#define MEMORY_BASE 0x80000000UL

static uint64_t input[BYTES_MAX / 8];
static uint8_t output[GROWTH * BYTES_MAX + BLOCK] __attribute__((aligned(128)));
static uint32_t response_ns[FRAMES_MAX];
static StaticTask_t compute_task;
static StackType_t compute_stack[1024];

/* CRC-32 (IEEE 802.3) of `bytes`, continued from `crc`, four bits at a time. */
static uint32_t crc32(uint32_t crc, const uint8_t *bytes, size_t length)
{
    static const uint32_t of_nibble[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
        0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };

    crc = ~crc;
    for (size_t i = 0; i < length; i++) {
        crc ^= bytes[i];
        crc = (crc >> 4) ^ of_nibble[crc & 15];
        crc = (crc >> 4) ^ of_nibble[crc & 15];
    }
    return ~crc;
}

/* Bytes of output that a task produces from a frame; 0: there is no such task. */
static size_t output_bytes(uint32_t task, size_t bytes)
{
    switch (task) {
    case 2:
        return 8 * bytes;
    case 3:
        return (8 * bytes + 5) / 6 * 4;
    case 4:
        return (bytes + 2047) / 2048 * 2048;
    case 5:
        return (bytes + 4095) / 4096 * 4096;
    default:
        return 0;
    }
}

/* Fills `input` with frame number `frame`, from a 64-bit xorshift generator. */
static void make_frame(uint32_t task, uint64_t frame, size_t bytes)
{
    uint64_t random = (uint64_t)task << 32 | (frame + 1);

    for (size_t i = 0; i < (bytes + 7) / 8; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        input[i] = random;
    }
}

static void compute(void *unused)
{
    static struct accelerator device;
    uint32_t task = (uint32_t)argument_number("task=", 5);
    uint64_t frames = argument_number("frames=", FRAMES);
    size_t bytes = argument_number("bytes=", BYTES);
    TickType_t period = (TickType_t)argument_number("period=", PERIOD);
    size_t length = output_bytes(task, bytes);
    const struct accelerator_computation computation = {
        .input = (uint32_t)((uintptr_t)input - MEMORY_BASE),
        .length = (uint32_t)bytes,
        .output = (uint32_t)((uintptr_t)output - MEMORY_BASE),
    };
    uint32_t crc = 0, error = ACCELERATOR_DONE;
    uint64_t computed = 0;
    TickType_t release = xTaskGetTickCount();

    (void)unused;
    if (length == 0 || bytes > BYTES_MAX || frames > FRAMES_MAX || period == 0)
        platform_fail("accelerated", "a boot argument is out of range");
    if (!accelerator_open(&device, task))
        platform_fail("accelerated", "there is no virtual device of the task");
    for (; computed < frames && error == ACCELERATOR_DONE; computed++) {
        make_frame(task, computed, bytes);
        xTaskDelayUntil(&release, period);
        uint64_t begin = clock_time();

        error = accelerator_run(&device, &computation, NULL);
        response_ns[computed] = (uint32_t)clock_nanoseconds(clock_time() - begin);
        crc = crc32(crc, output, length);
    }
    /* The first one may have waited until the device manager has started. */
    record_samples("response", "boot", "ns", response_ns, computed > 0);
    if (computed > 1)
        record_samples("response", "run", "ns", response_ns + 1, computed - 1);
    console_print("@tactus metric name=crc32 value=%lu unit=count\n", (uint64_t)crc);
    if (error != ACCELERATOR_DONE)
        console_print("@tactus fail name=freertos-accelerated reason=error_%u\n", error);
    else
        console_print("@tactus pass name=freertos-accelerated\n");
    platform_power_off(error != ACCELERATOR_DONE);
}

void accelerated_main(void)
{
    xTaskCreateStatic(compute, "compute", sizeof compute_stack / sizeof *compute_stack, NULL, 1, compute_stack, &compute_task);
    vTaskStartScheduler();
}
