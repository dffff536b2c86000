/*
 * Load for Linux, for `tactus bench spumone`.
 *
 *   tactus-load files FILE              rewrites the file repeatedly, until it is killed
 *   tactus-load compute PROCESSES N     N rounds of integer work in each of PROCESSES concurrent processes
 *   tactus-load time PROGRAM ...        runs a program
 *
 * The latter two print their duration, in nanoseconds.
 */

#include "linux.h"

/* Size of the file, and bytes written by one call. */
#define FILE_SIZE (4 << 20)
#define PIECE 4096
#define NANOSECONDS 1000000000ULL

static uint64_t now(void)
{
    int64_t time[2] = {0, 0};

    clock_gettime(CLOCK_MONOTONIC, time);
    return (uint64_t)time[0] * NANOSECONDS + (uint64_t)time[1];
}

static int write_files(const char *path)
{
    static char piece[PIECE];

    for (;;) {
        int file = open(path, O_WRONLY | O_CREAT | O_TRUNC);

        if (file < 0)
            return 1;
        for (long at = 0; at < FILE_SIZE; at += PIECE) {
            piece[0]++;
            if (write(file, piece, sizeof piece) != PIECE)
                return 1;
        }
        close(file);
    }
}

/* The data of a round: an item of a list, of typical size and contents. */
struct item {
    struct item *next;
    long kind;
    long value;
    char name[24];
};

#define ITEMS 16
/* Index of the character in which names differ. */
#define LETTER 19
static struct item items[ITEMS];

static void prepare(void)
{
    for (int i = 0; i < ITEMS; i++) {
        items[i] = (struct item){&items[(i + 5) % ITEMS], i % 3, i, "item of this list: "};
        items[i].name[LETTER] = (char)('A' + i);
    }
}

__attribute__((noinline)) static long compare(const char *left, const char *right)
{
    while (*left != 0 && *left == *right) {
        left++;
        right++;
    }
    return *left - *right;
}

__attribute__((noinline)) static long weigh(const struct item *item, long round)
{
    switch (item->kind) {
    case 0: return item->value + round;
    case 1: return item->value * 7 - round;
    default: return round / (item->value + 1);
    }
}

/* Integer work: a list, copies, strings, calls, branches, a product and a quotient. */
static long compute(long rounds)
{
    struct item *item = items, copy = items[0];
    long sum = 0;

    prepare();
    for (long round = 0; round < rounds; round++) {
        item = item->next;
        sum += weigh(item, round);
        if (compare(item->name, copy.name) > 0)
            copy = *item;
        else
            copy.name[LETTER] = (char)('A' + (sum & 15));
        item->value = (item->value + sum) & 0xffff;
    }
    return sum;
}

/* Waits for `children` children; returns whether all succeeded. */
static int all_well(long children)
{
    int well = 1;

    for (; children > 0; children--) {
        int status = 1;

        well = wait(&status) >= 0 && status == 0 && well;
    }
    return well;
}

static int compute_at_once(long processes, long rounds)
{
    uint64_t begin = now();

    for (long i = 0; i < processes; i++) {
        int child = fork();

        if (child < 0)
            return 1;
        if (child == 0) {
            volatile long sum = compute(rounds);

            (void)sum;
            exit(0);
        }
    }
    if (!all_well(processes))
        return 1;
    print(1, "%lu\n", now() - begin);
    return 0;
}

static int run(char **arguments)
{
    static char *const environment[] = {NULL};
    uint64_t begin = now();
    int child = fork();

    if (child == 0) {
        /* Discards the program's own output. */
        int nowhere = open("/dev/null", O_WRONLY);

        dup3(nowhere, 1);
        execve(arguments[0], arguments, environment);
        exit(1);
    }
    if (child < 0 || !all_well(1))
        return 1;
    print(1, "%lu\n", now() - begin);
    return 0;
}

static long number(const char *text)
{
    long value = 0;

    for (; *text >= '0' && *text <= '9'; text++)
        value = 10 * value + (*text - '0');
    return value;
}

int main(int argc, char **argv)
{
    if (argc == 3 && equal(argv[1], "files"))
        return write_files(argv[2]);
    if (argc == 4 && equal(argv[1], "compute"))
        return compute_at_once(number(argv[2]), number(argv[3]));
    if (argc >= 3 && equal(argv[1], "time"))
        return run(argv + 2);
    print(2, "usage: tactus-load files FILE | compute PROCESSES ROUNDS | time PROGRAM ...\n");
    return 2;
}
