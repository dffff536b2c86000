/* Boot arguments: words `NAME=VALUE`, separated by spaces. `name` ends with `=`. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

/* What follows `begin` in `text`; null if that does not begin so. */
const char *argument_behind(const char *text, const char *begin);

/* The value of a boot argument, up to the next space or the end. Null: it is not there. */
const char *argument(const char *name);

/* The same as a decimal number, or another one if it is not there. */
uint64_t argument_number(const char *name, uint64_t otherwise);

#endif
