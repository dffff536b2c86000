/* The page that a program on a real-time vCPU shares with Linux, as 64-bit words. */
#ifndef RT_WORDS_H
#define RT_WORDS_H

/* The program's own words come first. The two behind them hold the result of its end. */
#define RT_WORDS 510
#define RT_WORD_END 510
#define RT_WORD_CAUSE 511

/* RT_WORD_END: 0 while the program runs. */
#define RT_ENDED_RETURNED 1
/* RT_WORD_CAUSE is the `scause` code. */
#define RT_ENDED_EXCEPTION 2

#endif
