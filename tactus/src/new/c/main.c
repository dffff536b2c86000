/*
 * @NAME@, a guest of Tactus: prints, measures how late timer interrupts are, and talks with another VM by a channel.
 *
 * system.toml runs this program in two VMs, one at each end of a channel. The first end asks, the second one answers.
 */
#include "guest.h"

/* Number and rate of the timer interrupts to take. */
#define BEATS 100
#define BEATS_PER_SECOND 1000

/* Number of questions sent through the channel. */
#define QUESTIONS 20

static uint64_t deadline;
static uint64_t late[BEATS];
static volatile unsigned beats;

/* Timer interrupt handler: records its lateness and sets the next deadline. */
static void beat(void)
{
    late[beats++] = time_now() - deadline;
    deadline += time_hz() / BEATS_PER_SECOND;
    timer_set(beats < BEATS ? deadline : TIMER_NEVER);
}

static void measure_timer(void)
{
    on_timer(beat);
    deadline = time_now() + time_hz() / BEATS_PER_SECOND;
    timer_set(deadline);
    while (beats < BEATS)
        wait_for_interrupt();
    record_samples("timer_lateness", "run", "ticks", late, BEATS);
    record_metric("beats", beats, "count");
}

/* Doorbell handler. `receive` polls the ring after each wait, so there is nothing to do here. */
static void rung(void)
{
}

/* Ends the guest as failed: `tactus run` reports the reason and exits with 1. */
static _Noreturn void fail(const char *reason)
{
    record_fail("@NAME@", reason);
    power_off(true);
}

/* Waits for the next record of the other end, for a second at most. */
static uint64_t receive(struct channel *channel)
{
    uint64_t end = time_now() + time_hz();

    on_timer(NULL); /* The interrupt ends the wait; nothing else is to be done. */
    timer_set(end);
    for (;;) {
        uint64_t value = 0;
        size_t length = 0;
        enum tactus_ring_result result = tactus_ring_receive(&channel->in, &value, sizeof value, &length);

        switch (result) {
        case TACTUS_RING_OK:
            timer_set(TIMER_NEVER);
            return value;
        case TACTUS_RING_EMPTY:
            if (time_now() >= end)
                fail("other_end_is_silent");
            wait_for_interrupt();
            break;
        case TACTUS_RING_RESTARTED: /* Look again at once. */
            break;
        default:
            fail("bad_record");
        }
    }
}

/* Sends a record and rings the other end. */
static void send(struct channel *channel, uint64_t value)
{
    if (tactus_ring_send(&channel->out, &value, sizeof value) != TACTUS_RING_OK)
        fail("ring_full");
    channel_ring(channel);
}

static void ask(struct channel *channel)
{
    uint64_t longest = 0;

    for (uint64_t question = 0; question < QUESTIONS; question++) {
        uint64_t begin = time_now(), took;

        send(channel, question);
        if (receive(channel) != question * question)
            fail("wrong_answer");
        took = time_now() - begin;
        if (took > longest)
            longest = took;
    }
    record_metric("answers", QUESTIONS, "count");
    record_metric("round_trip_max", longest, "ticks");
}

static void answer(struct channel *channel)
{
    for (unsigned answered = 0; answered < QUESTIONS; answered++) {
        uint64_t question = receive(channel);

        send(channel, question * question);
    }
}

int main(void)
{
    struct channel channel;
    bool has_channel = channel_open(0, &channel, rung);

    if (has_channel && channel.end == 1) {
        print("@NAME@ answers.\n");
        answer(&channel);
        record_pass("@NAME@");
        return 0;
    }
    print("Hello from @NAME@, %lu ticks a second.\n", time_hz());
    measure_timer();
    if (has_channel)
        ask(&channel);
    record_pass("@NAME@");
    return 0; /* Powers the VM off; another value, as failed. */
}
