/* Boot arguments: words `NAME=VALUE`, separated by spaces. `name` ends with `=`. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

/* The rest of `text` after `begin`; null if `text` does not start with it. */
const char *argument_behind(const char *text, const char *begin);

/* The value of a boot argument, up to the next space or the end. Null: the argument is absent. */
const char *argument(const char *name);

/* The value of a boot argument as a decimal number; `otherwise` if the argument is absent. */
uint64_t argument_number(const char *name, uint64_t otherwise);

#endif
