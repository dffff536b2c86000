/*
 * An example of a program for a real-time vCPU: measures its own release latency.
 *
 *     tactus-rt run /lib/rt-loop.bin --period 1ms --budget 100us
 *
 * The words shared with Linux:
 *
 *     0   jobs done
 *     1   latency of the last job, from its release to its first instruction, in ticks
 *     2   maximum of all latencies
 *     3   sum of all latencies
 *     4   releases that were not a whole number of nominal periods (word 9) after the first
 *     8   written by Linux: ticks of work in each job; more than the budget causes overruns
 *     9   written by Linux: the nominal period in ticks; 0: unknown
 */

#include "rt-program.h"

enum word { JOBS = 0, LATE = 1, LATE_MAX = 2, LATE_SUM = 3, OFF_GRID = 4, WORK = 8, PERIOD = 9 };

void rt_main(uint64_t number, volatile uint64_t *words)
{
    uint64_t first = 0;

    (void)number;
    for (;;) {
        uint64_t release = rt_yield();
        uint64_t late = rt_time() - release;

        words[LATE] = late;
        words[LATE_SUM] += late;
        if (late > words[LATE_MAX])
            words[LATE_MAX] = late;
        if (first == 0)
            first = release;
        if (words[PERIOD] != 0 && (release - first) % words[PERIOD] != 0)
            words[OFF_GRID]++;

        uint64_t work = words[WORK], begin = rt_time();
        while (rt_time() - begin < work)
            ;
        words[JOBS]++;
    }
}
