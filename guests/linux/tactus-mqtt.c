/*
 * MQTT 3.1.1 (OASIS) on Linux: a small broker, and the end of a plant's control loop that decides.
 *
 *   tactus-mqtt broker CLIENTS        serves at the TCP port 1883 until so many clients have come and all have gone
 *   tactus-mqtt control VALUES        connects to the broker on this machine, subscribes to `plant/temperature`, and
 *                                     publishes for each of so many the set point, which is 5 above, as `plant/setpoint`
 *
 * The broker takes publications of the qualities of service 0 and 1, and passes them on with 0. It keeps none: no
 * retained messages, no wills, no sessions, and no wildcards, whose subscriptions it refuses. Each prints what it has
 * done as a line `mqtt: ...` and ends with 0 where all was as it is to be.
 */

#include "linux.h"

#define AF_INET 2
#define SOCK_STREAM 1
#define SOL_SOCKET 1
#define SO_REUSEADDR 2
#define IPPROTO_TCP 6
#define TCP_NODELAY 1
#define POLLIN 1
#define MSG_NOSIGNAL 0x4000
#define PORT 1883
/* Attempts to connect, 50 ms apart. */
#define TRIES 100

enum packet { CONNECT = 1, CONNACK, PUBLISH, PUBACK, SUBSCRIBE = 8, SUBACK, PINGREQ = 12, PINGRESP, DISCONNECT };

/* Clients at once, topics of each, bytes of a topic, and of a packet behind its fixed header. */
#define CLIENTS_MAX 8
#define TOPICS_MAX 4
#define TOPIC_MAX 64
#define PACKET_MAX 1024

struct address {
    uint16_t family;
    uint16_t port;
    uint8_t host[4];
    uint8_t zero[8];
};

struct poll {
    int file;
    short wanted, found;
};

/* A stream of packets: what was received of the next one. */
struct stream {
    int file;
    size_t size;
    unsigned char bytes[PACKET_MAX + 5];
};

/* A packet of a stream. */
struct view {
    enum packet kind;
    unsigned flags;
    const unsigned char *body;
    size_t size;
    /* Bytes of the stream that it takes. */
    size_t taken;
};

struct client {
    struct stream stream;
    int is_there, is_connected;
    size_t topics;
    char topic[TOPICS_MAX][TOPIC_MAX];
};

static struct client clients[CLIENTS_MAX];

static int fail(const char *what)
{
    print(2, "mqtt: %s\n", what);
    return 1;
}

static int same(const void *left, const void *right, size_t size)
{
    const char *a = left, *b = right;

    for (size_t i = 0; i < size; i++)
        if (a[i] != b[i])
            return 0;
    return 1;
}

static int stream_socket(void)
{
    const int one = 1;
    int file = (int)system_call(198, AF_INET, SOCK_STREAM, 0, 0, 0, 0);

    system_call(208, file, SOL_SOCKET, SO_REUSEADDR, (long)&one, sizeof one, 0);
    system_call(208, file, IPPROTO_TCP, TCP_NODELAY, (long)&one, sizeof one, 0);
    return file;
}

static struct address at(uint8_t first, uint8_t last)
{
    struct address address = {.family = AF_INET, .port = __builtin_bswap16(PORT), .host = {first, 0, 0, last}};

    return address;
}

/* Takes more bytes of a stream. 0: it has ended. */
static int fill(struct stream *stream)
{
    long size = read(stream->file, stream->bytes + stream->size, sizeof stream->bytes - stream->size);

    if (size <= 0)
        return 0;
    stream->size += (size_t)size;
    return 1;
}

/* The packet that a stream begins with (section 2.2). 1: it is whole; 0: not yet; -1: it is none, or too long. */
static int peek(const struct stream *stream, struct view *view)
{
    size_t length = 0, used = 1;

    for (unsigned shift = 0;; shift += 7, used++) {
        if (shift > 21)
            return -1;
        if (used >= stream->size)
            return 0;
        length |= (size_t)(stream->bytes[used] & 0x7f) << shift;
        if ((stream->bytes[used] & 0x80) == 0)
            break;
    }
    used++;
    if (length > PACKET_MAX)
        return -1;
    if (stream->size < used + length)
        return 0;
    view->kind = (enum packet)(stream->bytes[0] >> 4);
    view->flags = stream->bytes[0] & 15;
    view->body = stream->bytes + used;
    view->size = length;
    view->taken = used + length;
    return 1;
}

static void take(struct stream *stream, const struct view *view)
{
    stream->size -= view->taken;
    for (size_t i = 0; i < stream->size; i++)
        stream->bytes[i] = stream->bytes[view->taken + i];
}

/* A string at a place of a packet (section 1.5.3), which moves behind it. -1: it is not whole. */
static long string(const struct view *view, size_t *place, const char **text)
{
    size_t size;

    if (*place + 2 > view->size)
        return -1;
    size = (size_t)view->body[*place] << 8 | view->body[*place + 1];
    if (*place + 2 + size > view->size)
        return -1;
    *text = (const char *)view->body + *place + 2;
    *place += 2 + size;
    return (long)size;
}

/* Sends a packet: its fixed header, and its two parts. */
static void send(int file, unsigned first, const void *head, size_t head_size, const void *rest, size_t rest_size)
{
    unsigned char packet[PACKET_MAX + 5];
    size_t length = head_size + rest_size, used = 1;

    packet[0] = (unsigned char)first;
    do
        packet[used++] = (unsigned char)((length & 0x7f) | (length > 0x7f ? 0x80 : 0));
    while ((length >>= 7) != 0);
    memcpy(packet + used, head, head_size);
    memcpy(packet + used + head_size, rest, rest_size);
    /* A client that has gone is found so when it is read from. */
    system_call(206, file, (long)packet, (long)(used + head_size + rest_size), MSG_NOSIGNAL, 0, 0);
}

/* Sends a packet of up to four bytes. */
static void send_short(int file, enum packet kind, const unsigned char *bytes, size_t size)
{
    send(file, (unsigned)kind << 4, bytes, size, "", 0);
}

static void pass_on(const char *topic, size_t topic_size, const void *payload, size_t payload_size)
{
    unsigned char head[2 + TOPIC_MAX] = {0, (unsigned char)topic_size};

    memcpy(head + 2, topic, topic_size);
    for (struct client *client = clients; client < clients + CLIENTS_MAX; client++)
        for (size_t i = 0; client->is_there && i < client->topics; i++)
            if (strlen(client->topic[i]) == topic_size && same(client->topic[i], topic, topic_size))
                send(client->stream.file, PUBLISH << 4, head, 2 + topic_size, payload, payload_size);
}

/* Serves a packet. 0: the client is to go. */
static int serve(struct client *client, const struct view *view, unsigned long *published)
{
    unsigned char answer[3] = {0};
    const char *text;
    size_t place = 0;
    long size;

    if (client->is_connected == (view->kind == CONNECT))
        return 0;
    switch (view->kind) {
    case CONNECT:
        size = string(view, &place, &text);
        /* Version 3.1.1. */
        if (size != 4 || !same(text, "MQTT", 4) || place >= view->size || view->body[place] != 4)
            return 0;
        client->is_connected = 1;
        send_short(client->stream.file, CONNACK, answer, 2);
        return 1;
    case PUBLISH:
        size = string(view, &place, &text);
        if (size <= 0 || size >= TOPIC_MAX || (view->flags & 6) > 2)
            return 0;
        if ((view->flags & 6) == 2) {
            if (place + 2 > view->size)
                return 0;
            send_short(client->stream.file, PUBACK, view->body + place, 2);
            place += 2;
        }
        ++*published;
        pass_on(text, (size_t)size, view->body + place, view->size - place);
        return 1;
    case SUBSCRIBE:
        /* One topic a packet. */
        place = 2;
        if (view->size < 2 || (size = string(view, &place, &text)) <= 0 || place + 1 != view->size)
            return 0;
        answer[0] = view->body[0];
        answer[1] = view->body[1];
        answer[2] = 0x80;
        if (client->topics < TOPICS_MAX && size < TOPIC_MAX) {
            char *topic = client->topic[client->topics];
            int is_plain = 1;

            for (long i = 0; i < size; i++)
                is_plain = is_plain && text[i] != '#' && text[i] != '+' && text[i] != 0;
            if (is_plain) {
                memcpy(topic, text, (size_t)size);
                topic[size] = 0;
                client->topics++;
                answer[2] = 0;
            }
        }
        send_short(client->stream.file, SUBACK, answer, 3);
        return 1;
    case PINGREQ:
        send_short(client->stream.file, PINGRESP, answer, 0);
        return 1;
    default:
        return 0;
    }
}

static void leave(struct client *client)
{
    close(client->stream.file);
    client->is_there = 0;
}

/* Takes in a client that connects. */
static void welcome(int listener)
{
    int file = (int)system_call(202, listener, 0, 0, 0, 0, 0);

    if (file < 0)
        return;
    for (struct client *client = clients; client < clients + CLIENTS_MAX; client++)
        if (!client->is_there) {
            memset(client, 0, sizeof *client);
            client->stream.file = file;
            client->is_there = 1;
            return;
        }
    close(file);
}

static int broker(unsigned long wanted)
{
    const struct address address = at(0, 0);
    int listener = stream_socket();
    unsigned long came = 0, published = 0;

    if (system_call(200, listener, (long)&address, sizeof address, 0, 0, 0) != 0 ||
        system_call(201, listener, CLIENTS_MAX, 0, 0, 0, 0) != 0)
        return fail("the broker cannot listen");
    for (;;) {
        struct poll polls[1 + CLIENTS_MAX] = {{listener, POLLIN, 0}};
        int are_there = 0;

        for (size_t i = 0; i < CLIENTS_MAX; i++) {
            polls[1 + i] = (struct poll){clients[i].is_there ? clients[i].stream.file : -1, POLLIN, 0};
            are_there |= clients[i].is_there;
        }
        if (came >= wanted && !are_there)
            break;
        if (system_call(73, (long)polls, 1 + CLIENTS_MAX, 0, 0, 0, 0) < 0)
            return fail("the broker cannot wait");
        for (size_t i = 0; i < CLIENTS_MAX; i++) {
            struct client *client = &clients[i];
            struct view view;
            int stays = 1, whole = 0;

            if (!client->is_there || polls[1 + i].found == 0)
                continue;
            stays = fill(&client->stream);
            while (stays && (whole = peek(&client->stream, &view)) == 1) {
                int was_connected = client->is_connected;

                stays = serve(client, &view, &published);
                came += !was_connected && client->is_connected;
                take(&client->stream, &view);
            }
            if (!stays || whole < 0)
                leave(client);
        }
        if (polls[0].found != 0)
            welcome(listener);
    }
    print(1, "mqtt: %lu clients, %lu publications\n", came, published);
    return 0;
}

/* Waits for a packet of a kind. Others are left out. 0: the stream has ended. */
static int await(struct stream *stream, enum packet kind, struct view *view)
{
    int whole;

    for (;;) {
        while ((whole = peek(stream, view)) == 1) {
            if (view->kind == kind)
                return 1;
            take(stream, view);
        }
        if (whole < 0 || !fill(stream))
            return 0;
    }
}

static int control(unsigned long values)
{
    static const unsigned char hello[] = "\0\4MQTT\4\2\0\74\0\5linux", topic[] = "\0\21plant/temperature";
    static const unsigned char setpoint[] = "\0\16plant/setpoint";
    const struct address address = at(127, 1);
    static struct stream stream;
    struct view view;
    long refused = -1;

    /* The broker may start later. */
    for (int tries = 0; refused != 0 && tries < TRIES; tries++) {
        const int64_t pause[2] = {0, 50000000};

        stream.file = stream_socket();
        refused = system_call(203, stream.file, (long)&address, sizeof address, 0, 0, 0);
        if (refused != 0) {
            close(stream.file);
            nanosleep(pause);
        }
    }
    if (refused != 0)
        return fail("there is no broker");
    send(stream.file, CONNECT << 4, hello, sizeof hello - 1, "", 0);
    if (!await(&stream, CONNACK, &view) || view.size != 2 || view.body[1] != 0)
        return fail("the broker accepts no connection");
    take(&stream, &view);
    {
        unsigned char request[2 + sizeof topic] = {0, 1};

        memcpy(request + 2, topic, sizeof topic - 1);
        /* The quality of service 0 is behind the topic. */
        send(stream.file, SUBSCRIBE << 4 | 2, request, sizeof request, "", 0);
    }
    if (!await(&stream, SUBACK, &view) || view.size != 3 || view.body[2] != 0)
        return fail("the broker refuses the subscription");
    take(&stream, &view);
    print(1, "mqtt: subscribed\n");
    for (unsigned long done = 0; done < values; done++) {
        char digits[20];
        const char *text;
        size_t place = 0, first = sizeof digits;
        unsigned long value = 0;

        if (!await(&stream, PUBLISH, &view) || string(&view, &place, &text) != 17)
            return fail("no temperature arrives");
        for (; place < view.size; place++) {
            if (view.body[place] < '0' || view.body[place] > '9')
                return fail("a temperature is no number");
            value = value * 10 + view.body[place] - '0';
        }
        take(&stream, &view);
        value += 5;
        do
            digits[--first] = (char)('0' + value % 10);
        while ((value /= 10) != 0);
        send(stream.file, PUBLISH << 4, setpoint, sizeof setpoint - 1, digits + first, sizeof digits - first);
    }
    send_short(stream.file, DISCONNECT, (const unsigned char *)"", 0);
    print(1, "mqtt: %lu set points\n", values);
    return 0;
}

static unsigned long number(const char *text)
{
    unsigned long value = 0;

    for (; *text >= '0' && *text <= '9'; text++)
        value = value * 10 + (unsigned long)(*text - '0');
    return value;
}

int main(int argc, char **argv)
{
    if (argc == 3 && equal(argv[1], "broker"))
        return broker(number(argv[2]));
    if (argc == 3 && equal(argv[1], "control"))
        return control(number(argv[2]));
    return fail("say `broker CLIENTS` or `control VALUES`");
}
