/*
 * tactus-rt: real-time vCPUs from Linux user space. See docs/src/how-to/real-time-vcpus.md.
 *
 * It needs no driver. The VM's configuration reserves memory from Linux (`rt_memory`), which the devicetree describes.
 * This program maps it through /dev/mem, and makes hypercalls by stores to the call page (abi/src/hypercall.rs).
 * The first page is a directory of the programs, and the only state. A lock on /dev/mem serializes these processes.
 */

#include "linux.h"
#include "rt-words.h"
#include "tactus.h"

#define PAGE 4096
/* The most that a VM can have (abi/src/blob.rs, RT_VCPUS_PER_VM). */
#define ENTRIES 64
#define NAME_MAX 24
#define MAGIC 0x7463746d6f757274

#define RESERVED_MEMORY "/proc/device-tree/reserved-memory/"
#define TIMEBASE "/proc/device-tree/cpus/timebase-frequency"
#define COMPATIBLE "tactus,rt-memory"

/* A program that was started. Its memory holds the program, a page of words, and the stack. */
struct entry {
    /* Pages in all; 0: the entry is free. */
    uint64_t pages;
    uint64_t first;
    /* Index of the page that holds the words. */
    uint64_t words;
    uint64_t number;
    char name[NAME_MAX];
};

/* The memory's first page. */
struct directory {
    uint64_t magic;
    struct tactus_call call;
    struct tactus_rt_status status;
    struct entry entries[ENTRIES];
};

_Static_assert(sizeof(struct directory) <= PAGE, "the directory is one page");
_Static_assert((RT_WORDS + 2) * sizeof(uint64_t) == PAGE, "the words are one page");

/* The memory: its guest-physical address and size, and its address in this process. */
static uint64_t base, size;
static char *memory;
static struct directory *directory;
static volatile uint64_t *call_register;
static uint64_t ticks_per_second;

#define fail(...) (print(2, "tactus-rt: " __VA_ARGS__), print(2, "\n"), exit(1))

/* Makes a call of the hypervisor. The answer is in directory->call. */
static int64_t call(uint64_t function, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5)
{
    directory->call = (struct tactus_call){
        .function = function, .arguments = {a0, a1, a2, a3, a4, a5}, .error = TACTUS_FAILED};
    __asm volatile("fence rw, rw" ::: "memory");
    *call_register = base + offsetof(struct directory, call);
    __asm volatile("fence rw, rw" ::: "memory");
    return *(volatile int64_t *)&directory->call.error;
}

/* The error of the last call, in words. */
static const char *reason(void)
{
    int64_t error = directory->call.error;

    return error == TACTUS_DENIED ? tactus_refusal_text(directory->call.value) : tactus_error_text(error);
}

/* A system call's negative error in words, for the common ones. */
static const char *system_error(long error)
{
    switch (-error) {
    case EPERM:
    case EACCES:
        return "permission denied";
    case ENOENT:
        return "no such file";
    case EISDIR:
        return "it is a directory";
    default:
        return "the system says no";
    }
}

/* Reads a small file completely; returns its length, or a negative error. */
static long contents(const char *path, void *to, size_t room)
{
    int file = open(path, O_RDONLY);
    long got;

    if (file < 0)
        return file;
    got = read(file, to, room);
    close(file);
    return got;
}

static uint64_t big_endian(const unsigned char *bytes, int count)
{
    uint64_t value = 0;

    while (count-- > 0)
        value = value << 8 | *bytes++;
    return value;
}

/* Reads the property `name` of the node `node` below /reserved-memory. */
static long property(const char *node, const char *name, void *to, size_t room)
{
    char path[256] = RESERVED_MEMORY;
    size_t at = strlen(path), node_size = strlen(node), name_size = strlen(name);

    if (at + node_size + 1 + name_size >= sizeof path)
        return -ENOENT;
    memcpy(path + at, node, node_size);
    path[at + node_size] = '/';
    memcpy(path + at + node_size + 1, name, name_size + 1);
    return contents(path, to, room);
}

/* Finds the memory in the devicetree. */
static void find_memory(void)
{
    char names[4096];
    int file = open(RESERVED_MEMORY, O_RDONLY | O_DIRECTORY);
    long got;

    while (file >= 0 && size == 0 && (got = getdents64(file, names, sizeof names)) > 0)
        for (long at = 0; at < got;) {
            struct directory_entry *entry = (struct directory_entry *)(names + at);
            char compatible[64] = {0};
            unsigned char reg[16];

            at += entry->size;
            if (property(entry->name, "compatible", compatible, sizeof compatible - 1) < 0 ||
                !equal(compatible, COMPATIBLE) || property(entry->name, "reg", reg, sizeof reg) != sizeof reg)
                continue;
            base = big_endian(reg, 8);
            size = big_endian(reg + 8, 8);
        }
    if (file >= 0)
        close(file);
    if (size < 4 * PAGE)
        fail("this VM has no memory for real-time vCPUs: give it some in system.toml, rt_memory = \"1MiB\", and rt_vcpus = 4");
}

static void *map(int file, uint64_t address, uint64_t bytes)
{
    long mapped = mmap(bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, address);

    if (mapped < 0 && mapped > -4096)
        fail("cannot map 0x%lx of /dev/mem: %s: the kernel must let /dev/mem have memory that is not its own", address,
             system_error(mapped));
    return (void *)mapped;
}

/* Maps the memory and the call page, and locks them until this process ends. */
static void begin(void)
{
    unsigned char timebase[4];
    int file;

    find_memory();
    if (contents(TIMEBASE, timebase, sizeof timebase) != sizeof timebase)
        fail("cannot read " TIMEBASE ": is /proc mounted?");
    ticks_per_second = big_endian(timebase, 4);
    file = open("/dev/mem", O_RDWR | O_SYNC);
    if (file == -EPERM || file == -EACCES)
        fail("cannot open /dev/mem: only root may");
    if (file < 0)
        fail("cannot open /dev/mem: %s: is /dev mounted?", system_error(file));
    flock(file, LOCK_EX);
    memory = map(file, base, size);
    directory = (struct directory *)memory;
    call_register =
        (uint64_t *)((char *)map(file, TACTUS_CALL_BASE / PAGE * PAGE, PAGE) + TACTUS_CALL_BASE % PAGE);
    if (directory->magic != MAGIC) {
        memset(directory, 0, sizeof *directory);
        directory->magic = MAGIC;
    }
}

/* The entry of a vCPU's number, running or ended. */
static struct entry *entry_of(uint64_t number)
{
    for (int i = 0; i < ENTRIES; i++)
        if (directory->entries[i].pages != 0 && directory->entries[i].number == number)
            return &directory->entries[i];
    fail("no real-time vCPU %lu was started: `tactus-rt list` tells which there are", number);
}

static volatile uint64_t *words_of(const struct entry *entry)
{
    return (volatile uint64_t *)(memory + (entry->first + entry->words) * PAGE);
}

/* Whether an entry's vCPU still exists, whatever its program has stored; its status is in the directory then. */
static int runs(const struct entry *entry)
{
    return call(TACTUS_RT_QUERY, entry->number, base + offsetof(struct directory, status), sizeof directory->status, 0, 0,
                0) == 0;
}

static uint64_t number(const char *text, const char **end)
{
    uint64_t value = 0;

    for (*end = text; **end >= '0' && **end <= '9'; ++*end) {
        if (value > (UINT64_MAX - 9) / 10)
            fail("%s is too large", text);
        value = value * 10 + (uint64_t)(**end - '0');
    }
    return value;
}

static uint64_t whole_number(const char *text)
{
    const char *end;
    uint64_t value = number(text, &end);

    if (end == text || *end != 0)
        fail("%s is no number", text);
    return value;
}

/* Parses a time such as 250us; returns ticks, rounded up. */
static uint64_t time(const char *text)
{
    static const struct {
        const char *name;
        uint64_t in_second;
    } units[] = {{"ns", 1000000000}, {"us", 1000000}, {"ms", 1000}, {"s", 1}};
    const char *unit;
    uint64_t value = number(text, &unit);

    if (unit != text && equal(unit, "ticks"))
        return value;
    for (size_t i = 0; unit != text && i < sizeof units / sizeof *units; i++)
        if (equal(unit, units[i].name)) {
            uint64_t per_second = units[i].in_second;

            if (value / per_second > UINT32_MAX)
                fail("%s is too long", text);
            return value / per_second * ticks_per_second +
                   (value % per_second * ticks_per_second + per_second - 1) / per_second;
        }
    fail("%s is no time: say 250us, for example; units are ns, us, ms, s and ticks", text);
}

/* The options of a command, by name and value. */
struct options {
    const char *period, *budget, *deadline, *stack;
};

static struct options options(char **arguments)
{
    struct options options = {0};

    for (; *arguments != NULL; arguments += 2) {
        const char **into = equal(*arguments, "--period")     ? &options.period
                            : equal(*arguments, "--budget")   ? &options.budget
                            : equal(*arguments, "--deadline") ? &options.deadline
                            : equal(*arguments, "--stack")    ? &options.stack
                                                              : NULL;
        if (into == NULL)
            fail("there is no option %s: there are --period, --budget, --deadline and --stack", *arguments);
        if (arguments[1] == NULL)
            fail("%s wants a value", *arguments);
        *into = arguments[1];
    }
    if (options.period == NULL || options.budget == NULL)
        fail("a reservation is wanted: --period 1ms --budget 100us, for example");
    if (options.deadline == NULL)
        options.deadline = options.period;
    return options;
}

/* Times in ticks, in the order of a call's arguments. */
struct times {
    uint64_t period, budget, deadline;
};

/* The options' times, checked for their order. */
static struct times times(const struct options *given)
{
    struct times times = {time(given->period), time(given->budget), time(given->deadline)};

    if (times.budget < 1 || times.budget > times.deadline || times.deadline > times.period || times.period > UINT32_MAX)
        fail("%s in %s by %s: a budget is at least 1 tick and at most the deadline, that is at most the period, and that at most %lu "
             "ticks; a second has %lu",
             given->budget, given->period, given->deadline, (unsigned long)UINT32_MAX, ticks_per_second);
    return times;
}

/* The first of `pages` unused pages; an ended program keeps its pages until it is deleted. */
static uint64_t room(uint64_t pages)
{
    uint64_t first = 1;

    for (int again = 1; again;) {
        again = 0;
        for (int i = 0; i < ENTRIES; i++) {
            const struct entry *entry = &directory->entries[i];

            if (entry->pages != 0 && first < entry->first + entry->pages && entry->first < first + pages) {
                first = entry->first + entry->pages;
                again = 1;
            }
        }
    }
    if ((first + pages) * PAGE > size)
        fail("%lu KiB are wanted, and not free in one piece of the %lu KiB there are: give the VM more rt_memory, or delete "
             "what has ended (`tactus-rt list`)",
             pages * PAGE / 1024, size / 1024);
    return first;
}

/* Loads a program at page `first`; returns the number of its pages. */
static uint64_t load(const char *path, uint64_t first)
{
    int file = open(path, O_RDONLY);
    uint64_t at = first * PAGE;
    long got;

    if (file < 0)
        fail("cannot open %s: %s", path, system_error(file));
    while ((got = read(file, memory + at, size - at)) > 0)
        at += (uint64_t)got;
    if (got < 0)
        fail("cannot read %s: %s", path, system_error(got));
    close(file);
    if (at == first * PAGE)
        fail("%s is empty", path);
    return (at - first * PAGE + PAGE - 1) / PAGE;
}

/* The number of bytes in a file, by reading it. */
static uint64_t file_size(const char *path)
{
    static char piece[PAGE];
    int file = open(path, O_RDONLY);
    uint64_t bytes = 0;
    long got;

    if (file < 0)
        fail("cannot open %s: %s", path, system_error(file));
    while ((got = read(file, piece, sizeof piece)) > 0)
        bytes += (uint64_t)got;
    close(file);
    if (got < 0)
        fail("cannot read %s: %s", path, system_error(got));
    return bytes;
}

static int command_run(char **arguments)
{
    const char *path = arguments[0];
    struct options given = options(arguments + 1);
    struct times asked = times(&given);
    uint64_t stack = (given.stack == NULL ? 4 : whole_number(given.stack)) * 1024;
    uint64_t stack_pages, program_pages, first;
    struct entry *entry = NULL;

    if (stack < 1024 || stack > size)
        fail("a stack of %lu KiB: 1 KiB is the least, and it must fit into the VM's rt_memory", stack / 1024);
    stack_pages = (stack + PAGE - 1) / PAGE;
    program_pages = (file_size(path) + PAGE - 1) / PAGE;
    for (int i = 0; entry == NULL && i < ENTRIES; i++)
        if (directory->entries[i].pages == 0)
            entry = &directory->entries[i];
    if (entry == NULL)
        fail("%lu programs were started: delete those that have ended (`tactus-rt list`)", (unsigned long)ENTRIES);
    first = room(program_pages + 1 + stack_pages);
    if (load(path, first) != program_pages)
        fail("%s changed while it was read", path);
    memset(memory + (first + program_pages) * PAGE, 0, (1 + stack_pages) * PAGE);

    uint64_t entry_point = base + first * PAGE, words = entry_point + program_pages * PAGE;
    if (call(TACTUS_RT_CREATE, entry_point, words + (1 + stack_pages) * PAGE, words, asked.period, asked.budget,
             asked.deadline) != 0)
        fail("%s is not admitted with %s in %s by %s: %s", path, given.budget, given.period, given.deadline, reason());
    uint64_t made = directory->call.value;

    /* An earlier vCPU of this number has ended. */
    for (int i = 0; i < ENTRIES; i++)
        if (directory->entries[i].number == made)
            directory->entries[i].pages = 0;
    *entry = (struct entry){.pages = program_pages + 1 + stack_pages, .first = first, .words = program_pages, .number = made};
    for (const char *at = path; *at != 0; at++)
        if (*at == '/')
            path = at + 1;
    for (size_t i = 0; i + 1 < NAME_MAX && path[i] != 0; i++)
        entry->name[i] = path[i];
    print(1, "%lu\n", made);
    return 0;
}

/* The reason for the end of an entry's vCPU, in words. */
static const char *end_of(const struct entry *entry)
{
    static const char *const causes[] = {
        [0] = "instruction address misaligned", [1] = "instruction access fault",
        [2] = "illegal instruction",            [3] = "breakpoint",
        [4] = "load address misaligned",        [5] = "load access fault",
        [6] = "store address misaligned",       [7] = "store access fault",
        [12] = "instruction page fault",        [13] = "load page fault",
        [15] = "store page fault",
    };
    uint64_t end = words_of(entry)[RT_WORD_END], cause = words_of(entry)[RT_WORD_CAUSE];

    if (end == RT_ENDED_RETURNED)
        return "it returned";
    if (end == RT_ENDED_EXCEPTION && cause < sizeof causes / sizeof *causes && causes[cause] != NULL)
        return causes[cause];
    return "unknown";
}

/* Converts ticks to nanoseconds. */
static uint64_t nanoseconds(uint64_t ticks)
{
    return ticks / ticks_per_second * 1000000000 + ticks % ticks_per_second * 1000000000 / ticks_per_second;
}

static void print_status(const struct entry *entry)
{
    const struct tactus_rt_status *status = &directory->status;

    print(1, "vcpu=%lu program=%s ", entry->number, entry->name);
    if (runs(entry))
        print(1,
              "hart=%lu period_ns=%lu budget_ns=%lu deadline_ns=%lu jobs=%lu overruns=%lu missed=%lu used_ns=%lu used_max_ns=%lu\n",
              (uint64_t)status->hart, nanoseconds(status->period), nanoseconds(status->budget),
              nanoseconds(status->deadline), status->jobs, status->overruns, status->missed, nanoseconds(status->used),
              nanoseconds(status->used_max));
    else
        print(1, "ended: %s\n", end_of(entry));
}

static int command_list(char **arguments)
{
    (void)arguments;
    for (int i = 0; i < ENTRIES; i++)
        if (directory->entries[i].pages != 0)
            print_status(&directory->entries[i]);
    return 0;
}

static int command_status(char **arguments)
{
    print_status(entry_of(whole_number(arguments[0])));
    return 0;
}

static int command_change(char **arguments)
{
    struct entry *entry = entry_of(whole_number(arguments[0]));
    struct options given = options(arguments + 1);

    if (given.stack != NULL)
        fail("a stack's size cannot be changed");
    struct times asked = times(&given);
    if (!runs(entry))
        fail("real-time vCPU %lu has ended: %s", entry->number, end_of(entry));
    if (call(TACTUS_RT_CHANGE, entry->number, asked.period, asked.budget, asked.deadline, 0, 0) != 0)
        fail("real-time vCPU %lu keeps its reservation: %s", entry->number, reason());
    return 0;
}

static int command_delete(char **arguments)
{
    struct entry *entry = entry_of(whole_number(arguments[0]));

    /* The vCPU may end by itself meanwhile, which is equivalent. */
    if (runs(entry) && call(TACTUS_RT_DELETE, entry->number, 0, 0, 0, 0, 0) != 0 &&
        directory->call.error != TACTUS_INVALID_PARAM)
        fail("real-time vCPU %lu cannot be deleted: %s", entry->number, reason());
    /* Another hart may take a moment to stop the vCPU. */
    while (runs(entry))
        ;
    entry->pages = 0;
    return 0;
}

static uint64_t index_of(const char *text)
{
    uint64_t index = whole_number(text);

    if (index >= RT_WORDS)
        fail("there is no word %lu: words are numbered from 0 to %lu", index, (unsigned long)RT_WORDS - 1);
    return index;
}

static int command_read(char **arguments)
{
    volatile uint64_t *words = words_of(entry_of(whole_number(arguments[0])));
    uint64_t first = index_of(arguments[1]);
    uint64_t count = arguments[2] == NULL ? 1 : whole_number(arguments[2]);

    if (count > RT_WORDS - first)
        fail("there are no %lu words from %lu on", count, first);
    for (uint64_t i = first; i < first + count; i++)
        print(1, "%lu\n", words[i]);
    return 0;
}

static int command_write(char **arguments)
{
    volatile uint64_t *words = words_of(entry_of(whole_number(arguments[0])));

    words[index_of(arguments[1])] = whole_number(arguments[2]);
    return 0;
}

static const struct {
    const char *name, *usage;
    /* Number of arguments at least; at most, or -1. */
    int least, most;
    int (*run)(char **arguments);
} commands[] = {
    {"run", "run PROGRAM --period TIME --budget TIME [--deadline TIME] [--stack KIB]\n"
            "                            starts a program on a real-time vCPU, and says its number",
     1, -1, command_run},
    {"list", "list                        says what has been started", 0, 0, command_list},
    {"status", "status NUMBER               says how one does", 1, 1, command_status},
    {"change", "change NUMBER --period TIME --budget TIME [--deadline TIME]\n"
               "                            gives one another reservation",
     1, -1, command_change},
    {"delete", "delete NUMBER               stops one, and forgets it", 1, 1, command_delete},
    {"read", "read NUMBER FIRST [COUNT]   says words that a program shares", 2, 3, command_read},
    {"write", "write NUMBER INDEX VALUE    writes such a word", 3, 3, command_write},
};

static void usage(int file)
{
    print(file, "usage: tactus-rt COMMAND\n\n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        print(file, "  %s\n", commands[i].usage);
    print(file, "\nA TIME is a number with ns, us, ms, s or ticks behind it. The deadline is the period unless told.\n");
}

int main(int argc, char **argv)
{
    if (argc < 2 || equal(argv[1], "--help") || equal(argv[1], "-h")) {
        usage(argc < 2 ? 2 : 1);
        return argc < 2 ? 2 : 0;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (!equal(argv[1], commands[i].name))
            continue;
        if (argc - 2 < commands[i].least || (commands[i].most >= 0 && argc - 2 > commands[i].most)) {
            print(2, "usage: tactus-rt %s\n", commands[i].usage);
            return 2;
        }
        begin();
        return commands[i].run(argv + 2);
    }
    print(2, "tactus-rt: there is no command %s\n", argv[1]);
    usage(2);
    return 2;
}
