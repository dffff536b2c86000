/*
 * Timed I/O (docs/src/reference/timed-io.md): programs that change and read the VM's pins on exact cycles of the fabric. `tactus timed-io assemble` makes
 * their words.
 */
#ifndef TIMED_IO_H
#define TIMED_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words of the program memory. */
#define TIMED_IO_WORDS 64

/* Answers to a schedule. */
#define TIMED_IO_ACCEPTED 0
#define TIMED_IO_LATE 1
#define TIMED_IO_SCHEDULED 2
#define TIMED_IO_SHORT 3

/* Begins to use the VM's timed I/O: what a life of the VM before this one has scheduled is ended, the I/O manager is waited for, which gives the pins, and
 * all lines are low. False: the VM has none. */
bool timed_io_open(void);

/* The time: cycles of the fabric since reset, the same for all VMs. */
uint64_t timed_io_now(void);

/* Stores words of a program from a place of the memory on. */
void timed_io_store(size_t from, const uint32_t *words, size_t count);

/* Has the program that begins at the word `entry` run at `start`, and then so many times in all each `period` cycles; 0 runs: without end. */
uint32_t timed_io_run(uint32_t entry, uint64_t start, uint32_t period, uint32_t runs);

/* Whether a run is under way, or is to come. */
bool timed_io_is_busy(void);

/* Waits until what the runs so far had to report can be read: a microsecond. */
void timed_io_await_reports(void);

/* Ends the schedule; the run under way, too, if it is to `stop`. Lines stay as they are. */
void timed_io_cancel(bool stop);

/* Takes the oldest sample: the lines' levels. False: there is none. */
bool timed_io_sample(uint8_t *lines);

/* Takes the oldest report of something that was not done: its cause (1 to 6), and the cycle. 0: there is none. */
uint32_t timed_io_report(uint64_t *cycle);

#endif
