/*
 * Timed I/O (docs/src/reference/timed-io.md): programs that change and read the VM's pins on exact cycles of the
 * fabric. `tactus timed-io assemble` generates their words.
 */
#ifndef TIMED_IO_H
#define TIMED_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words of the program memory. */
#define TIMED_IO_WORDS 64

/* Results of scheduling a program. */
#define TIMED_IO_ACCEPTED 0
#define TIMED_IO_LATE 1
#define TIMED_IO_SCHEDULED 2
#define TIMED_IO_SHORT 3

/* Opens the VM's timed I/O: ends schedules from before the VM's restart, waits until the I/O manager has assigned the
 * pins, and sets all lines low. False: the VM has none. */
bool timed_io_open(void);

/* The time: cycles of the fabric since reset, the same for all VMs. */
uint64_t timed_io_now(void);

/* Stores words of a program, from index `from` of the program memory on. */
void timed_io_store(size_t from, const uint32_t *words, size_t count);

/* Schedules the program at word `entry`: `runs` runs, the first at `start`, one each `period` cycles; 0: no end. */
uint32_t timed_io_run(uint32_t entry, uint64_t start, uint32_t period, uint32_t runs);

/* Whether a program is running or scheduled. */
bool timed_io_is_busy(void);

/* Waits until all reports of the runs so far can be read: a microsecond. */
void timed_io_await_reports(void);

/* Cancels the schedule, and with `stop` also the current run. Lines keep their levels. */
void timed_io_cancel(bool stop);

/* Takes the oldest sample: the lines' levels. False: there is no sample. */
bool timed_io_sample(uint8_t *lines);

/* Takes the oldest report of an operation that was not done: its cause (1 to 6), and the cycle. 0: no report. */
uint32_t timed_io_report(uint64_t *cycle);

#endif
