/* Uses each part of the kernel once, so that all images contain all of it, and as a test of the kernel on a tile. */
#ifndef KERNEL_H
#define KERNEL_H

/* To be called by a task. Null: success; otherwise the failure. */
const char *kernel_check(void);

#endif
