#include "timed_io.h"

#include "platform.h"
#include "timed_io_regs.h"

/* A register, by its name in fabric/regs/timed_io.rdl (lower word of 64 bits). By words: the structs are packed. */
#define REGISTER(name) (((volatile uint32_t *)platform.timed_io)[offsetof(timed_io_t, name) / sizeof(uint32_t)])
#define UPPER(name) (((volatile uint32_t *)platform.timed_io)[offsetof(timed_io_t, name) / sizeof(uint32_t) + 1])
#define FIELD(word, name) (((word) & TIMED_IO__##name##_bm) >> TIMED_IO__##name##_bp)

#define KIND 0x5449
/* Lead time of a schedule in cycles: enough to write it if nothing preempts the vCPU. */
#define AHEAD 2000
/* Cycles until a run's reports can be read: two rounds through four VMs, of 10 cycles each, and some reserve. */
#define REPORTED 100

uint64_t timed_io_now(void)
{
    /* A read of the lower word latches the upper one. */
    uint32_t lower = REGISTER(NOW);

    return (uint64_t)UPPER(NOW) << 32 | lower;
}

void timed_io_store(size_t from, const uint32_t *words, size_t count)
{
    volatile uint32_t *program = &REGISTER(PROGRAM);

    for (size_t i = 0; i < count && from + i < TIMED_IO_WORDS; i++)
        program[from + i] = words[i];
}

uint32_t timed_io_run(uint32_t entry, uint64_t start, uint32_t period, uint32_t runs)
{
    if (REGISTER(STATUS) & (TIMED_IO__STATUS__SCHEDULED_bm | TIMED_IO__STATUS__ARMED_bm))
        return TIMED_IO_SCHEDULED;
    REGISTER(START) = (uint32_t)start;
    UPPER(START) = (uint32_t)(start >> 32);
    REGISTER(PERIOD) = period;
    REGISTER(RUNS) = runs;
    REGISTER(RUN) = entry;
    return FIELD(REGISTER(STATUS), STATUS__ANSWER);
}

bool timed_io_is_busy(void)
{
    return (REGISTER(STATUS) & (TIMED_IO__STATUS__SCHEDULED_bm | TIMED_IO__STATUS__ARMED_bm | TIMED_IO__STATUS__RUNNING_bm)) != 0;
}

void timed_io_await_reports(void)
{
    uint64_t now = timed_io_now();

    while (timed_io_now() < now + REPORTED)
        ;
}

void timed_io_cancel(bool stop)
{
    REGISTER(CANCEL) = stop;
}

bool timed_io_sample(uint8_t *lines)
{
    uint32_t sample = REGISTER(SAMPLE);

    *lines = (uint8_t)FIELD(sample, SAMPLE__LINES);
    return (sample & TIMED_IO__SAMPLE__VALID_bm) != 0;
}

uint32_t timed_io_report(uint64_t *cycle)
{
    uint32_t report = REGISTER(REPORT);

    if (!(report & TIMED_IO__REPORT__VALID_bm))
        return 0;
    *cycle = (uint64_t)UPPER(REPORT_TIME) << 32 | REGISTER(REPORT_TIME);
    REGISTER(REPORT) = TIMED_IO__REPORT__VALID_bm;
    return FIELD(report, REPORT__CAUSE);
}

bool timed_io_open(void)
{
    /* A program that sets each line low, and its end. */
    const uint32_t low[2] = {0x10000 | platform.timed_io_lines << 8, 0};
    uint64_t cycle;

    if (platform.timed_io == 0 || REGISTER(ID) >> TIMED_IO__ID__KIND_bp != KIND)
        return false;
    REGISTER(CANCEL) = TIMED_IO__CANCEL__STOP_bm | TIMED_IO__CANCEL__CLEAR_bm;
    timed_io_store(0, low, 2);
    for (;;) {
        while (timed_io_report(&cycle) != 0)
            ;
        if (timed_io_run(0, timed_io_now() + AHEAD, 0, 1) != TIMED_IO_ACCEPTED)
            continue;
        while (timed_io_is_busy())
            ;
        timed_io_await_reports();
        if (timed_io_report(&cycle) == 0)
            return true;
    }
}
