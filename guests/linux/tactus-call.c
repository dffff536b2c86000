/*
 * tactus-call: calls another VM from Linux user space (docs/src/how-to/call-another-vm.md).
 *
 *   tactus-call CHANNEL describe           says which service it is, its clients and their data
 *   tactus-call CHANNEL call WORD...       calls with up to eight words, and prints the reply
 *   tactus-call CHANNEL text COMMAND TEXT  copies the text to the data, calls with COMMAND and the number of its bytes,
 *                                          and prints the reply and the text that is in the data then
 *   tactus-call CHANNEL add COUNT ENTRY    calls COUNT times with 4, ENTRY and 1, and checks each reply
 *   tactus-call CHANNEL measure COUNT      prints the mean time of a call that does nothing, as a record for the tool;
 *                                          with `counters` behind it, the fewest instructions of one
 *   tactus-call CHANNEL hold COUNT         opens COUNT clients, and prints the error of one more; then closes one, and
 *                                          prints that of another
 *
 * Waits up to a second for a service that is not there. Exit code: 0, 1 after an error, 2 for wrong arguments.
 */

#include "linux.h"

#include "tactus_client.h"

#define WAIT_MILLISECONDS 1000
#define HELD_MAX 64

__attribute__((noreturn)) static void usage(void)
{
    print(2, "usage: tactus-call CHANNEL describe | call WORD... | text COMMAND TEXT | add COUNT ENTRY | measure COUNT [counters] | "
             "hold COUNT\n");
    exit(2);
}

/* A decimal number, or one of hexadecimal digits behind 0x. */
static uint64_t number(const char *text)
{
    uint64_t value = 0, base = 10;

    if (begins(text, "0x")) {
        text += 2;
        base = 16;
    }
    if (*text == 0)
        usage();
    for (; *text != 0; text++) {
        uint64_t digit = (uint64_t)*text - '0';

        if (digit > 9)
            digit = ((uint64_t)*text | 0x20) - 'a' + 10;
        if (digit >= base || value > (UINT64_MAX - digit) / base)
            usage();
        value = value * base + digit;
    }
    return value;
}

static int failed(int error)
{
    print(2, "tactus-call: %s\n", tactus_client_text(error));
    return 1;
}

static void wait_a_millisecond(void)
{
    int64_t time[2] = {0, 1000000};

    nanosleep(time);
}

/* Opens a client, and waits for the service. */
static int open_client(struct tactus_client *client, unsigned channel)
{
    int error = tactus_client_open(client, channel);

    for (int i = 0; i < WAIT_MILLISECONDS && error == TACTUS_CLIENT_CLOSED; i++) {
        wait_a_millisecond();
        error = tactus_client_open(client, channel);
    }
    return error;
}

static uint64_t nanoseconds(void)
{
    int64_t time[2];

    clock_gettime(CLOCK_MONOTONIC, time);
    return (uint64_t)(time[0] * 1000000000 + time[1]);
}

static int call(struct tactus_client *client, const uint64_t message[TACTUS_CLIENT_WORDS])
{
    uint64_t reply[TACTUS_CLIENT_WORDS];
    int error = tactus_client_call(client, message, reply);

    if (error != TACTUS_CLIENT_OK)
        return failed(error);
    for (size_t word = 0; word < TACTUS_CLIENT_WORDS; word++)
        print(1, word == 0 ? "%lu" : " %lu", reply[word]);
    print(1, "\n");
    return 0;
}

static int call_with_text(struct tactus_client *client, uint64_t command, const char *text)
{
    uint64_t message[TACTUS_CLIENT_WORDS] = {command, strlen(text)};

    if (message[1] > client->data_size) {
        print(2, "tactus-call: the client has %lu bytes of data, the text %lu\n", (unsigned long)client->data_size,
              message[1]);
        return 1;
    }
    memcpy(client->data, text, message[1]);
    if (call(client, message) != 0)
        return 1;
    write(1, client->data, message[1]);
    print(1, "\n");
    return 0;
}

/* The service replies with the message's last word, so that the reply to another process's message is noticed. */
static int add(struct tactus_client *client, uint64_t count, uint64_t entry)
{
    uint64_t lost = 0, wrong = 0;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t message[TACTUS_CLIENT_WORDS] = {4, entry, 1, 0, 0, 0, 0, count << 32 | i}, reply[TACTUS_CLIENT_WORDS];

        if (tactus_client_call(client, message, reply) != TACTUS_CLIENT_OK)
            lost++;
        else if (reply[0] != 0 || reply[7] != message[7])
            wrong++;
    }
    print(1, "calls=%lu lost=%lu wrong=%lu\n", count, lost, wrong);
    return lost + wrong != 0;
}

static uint64_t instructions(void)
{
    uint64_t value;

    __asm volatile("csrr %0, instret" : "=r"(value) : : "memory");
    return value;
}

static int measure(struct tactus_client *client, uint64_t count, int has_counters)
{
    uint64_t words[TACTUS_CLIENT_WORDS] = {0};
    uint64_t begin = 0, took = 0, counted = 0, shortest = UINT64_MAX;

    /* The first calls are not counted. */
    for (uint64_t i = 0; i < count + 16; i++) {
        uint64_t before = has_counters ? instructions() : 0;
        int error;

        if (i == 16)
            begin = nanoseconds();
        error = tactus_client_call(client, words, words);
        if (error != TACTUS_CLIENT_OK)
            return failed(error);
        if (has_counters) {
            counted = instructions() - before;
            shortest = counted < shortest ? counted : shortest;
        }
    }
    took = nanoseconds() - begin;
    print(1, "@tactus metric name=call_roundtrip value=%lu unit=ns\n", count == 0 ? 0 : took / count);
    if (has_counters)
        print(1, "@tactus metric name=call_roundtrip_instructions value=%lu unit=instructions\n", shortest);
    return 0;
}

static int hold(unsigned channel, uint64_t count)
{
    static struct tactus_client clients[HELD_MAX];
    struct tactus_client further;
    int error;

    if (count > HELD_MAX)
        usage();
    for (uint64_t i = 0; i < count; i++) {
        error = open_client(&clients[i], channel);
        if (error != TACTUS_CLIENT_OK)
            return failed(error);
    }
    error = tactus_client_open(&further, channel);
    print(1, "further: %s\n", tactus_client_text(error));
    tactus_client_close(&further);
    /* One that is closed makes room for another. */
    if (count > 0)
        tactus_client_close(&clients[0]);
    error = tactus_client_open(&further, channel);
    print(1, "then: %s\n", tactus_client_text(error));
    return 0;
}

int main(int argc, char **argv)
{
    static struct tactus_client client;
    const char *verb = argc > 2 ? argv[2] : "";
    uint64_t channel;
    int error;

    if (argc < 3)
        usage();
    channel = number(argv[1]);
    if (channel > UINT32_MAX)
        usage();
    if (equal(verb, "hold") && argc == 4)
        return hold((unsigned)channel, number(argv[3]));
    error = open_client(&client, (unsigned)channel);
    if (error != TACTUS_CLIENT_OK)
        return failed(error);
    if (equal(verb, "describe") && argc == 3) {
        print(1, "service=0x%lx life=%lu data=%lu client=%lu\n", client.service, client.life,
              (unsigned long)client.data_size, (unsigned long)client.number);
        return 0;
    }
    if (equal(verb, "call") && argc <= 3 + TACTUS_CLIENT_WORDS) {
        uint64_t message[TACTUS_CLIENT_WORDS] = {0};

        for (int i = 3; i < argc; i++)
            message[i - 3] = number(argv[i]);
        return call(&client, message);
    }
    if (equal(verb, "text") && argc == 5)
        return call_with_text(&client, number(argv[3]), argv[4]);
    if (equal(verb, "add") && argc == 5)
        return add(&client, number(argv[3]), number(argv[4]));
    if (equal(verb, "measure") && (argc == 4 || (argc == 5 && equal(argv[4], "counters"))))
        return measure(&client, number(argv[3]), argc == 5);
    usage();
}
