/* Record lines for the `tactus` tool (abi/src/record.rs). Single values are written with console_print. */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Prints `count` values as `samples` records. Names contain no spaces. False: the names leave no room in a line. */
bool record_samples(const char *name, const char *phase, const char *unit, const uint32_t *values,
                    size_t count);

#endif
