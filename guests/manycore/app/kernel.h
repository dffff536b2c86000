/* The kernel's parts, each used once: so that all images have all of it, and to see that it works on a tile. */
#ifndef KERNEL_H
#define KERNEL_H

/* For a task. Null: all right; otherwise what is not. */
const char *kernel_check(void);

#endif
