/* lwIP's sources include <stdio.h>; what is compiled of them uses nothing of it. */
#ifndef STDIO_H
#define STDIO_H

#endif
