/* The kernel's sources include <stdlib.h> and use nothing of it. */
#ifndef STDLIB_H
#define STDLIB_H

#include <stddef.h>

#endif
