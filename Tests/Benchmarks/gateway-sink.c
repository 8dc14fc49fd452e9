/* The other end for measurements of the daemon: takes everything on any number of connections, and counts.
 *
 * usage: gateway-sink binary|http2|fcm PORT CERT KEY CA [arrivals|payloads]
 *
 * Listens on 127.0.0.1 (port 0: one the kernel picks), prints {"port":N}, and takes connections that show a certificate of
 * the authority CA. Over HTTP/2 it answers every request with 200 and an `apns-id`; over the binary protocol it reads, and
 * answers nothing, which means that everything is accepted. It looks at frames only, so that it is never the limit.
 *
 * At SIGUSR1 it prints one JSON object with what came since the last one, and counts anew; at SIGTERM it prints one and
 * ends. `first` and `last` are the times of the first and the last notification in seconds of CLOCK_REALTIME, and
 * CPU time and share are those between them. With `arrivals` it prints, for every time when data brought a notification,
 * a line with the nanoseconds of CLOCK_MONOTONIC at which the kernel said that there was data. With `payloads`, over HTTP/2, it
 * prints such a line for each notification, with the payload behind the time. */
#include "frames.h"
#include "peer.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

enum {
    NOTIFICATION = 2,
    NOTIFICATION_HEADER = 5,
    EVENT_COUNT = 64,
};

/* One connection: its TLS, what of the last frame has come, and what waits to be written. */
struct connection {
    SSL *tls;
    int descriptor, is_greeted;
    uint64_t unreturned;
    size_t filled, output_size;
    uint8_t input[RECORD_SIZE * 4], output[RECORD_SIZE];
};

/* What has come since counting began. */
struct tally {
    uint64_t connections, notifications, bytes;
    double first, last;
    struct spent start, end;
};

static struct tally tally;
static int is_http2, tells_arrivals, tells_payloads;
/* When the kernel said that there was data, in nanoseconds of CLOCK_MONOTONIC. */
static uint64_t awoken;
static volatile sig_atomic_t is_asked, is_over;

static void note_signal(int number) {
    if (number == SIGUSR1) is_asked = 1;
    if (number == SIGTERM) is_over = 1;
}

static double real_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

static uint64_t monotonic_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void flush(struct connection *it) {
    size_t written;
    /* A client that is gone shows at the next reading. */
    if (it->output_size) SSL_write_ex(it->tls, it->output, it->output_size, &written);
    it->output_size = 0;
}

static void put(struct connection *it, const void *bytes, size_t count) {
    if (it->output_size + count > sizeof it->output) flush(it);
    memcpy(it->output + it->output_size, bytes, count);
    it->output_size += count;
}

static void put_frame_header(struct connection *it, uint32_t length, uint8_t type, uint8_t flags, const uint8_t *stream) {
    const uint8_t header[FRAME_HEADER] = {length >> 16, length >> 8, length, type, flags,
        stream[0], stream[1], stream[2], stream[3]};
    put(it, header, sizeof header);
}

static const uint8_t no_stream[4];

/* Gives back what was taken of the connection's window. */
static void widen(struct connection *it, uint32_t increment) {
    const uint8_t bytes[4] = {increment >> 24, increment >> 16, increment >> 8, increment};
    put_frame_header(it, sizeof bytes, WINDOW_UPDATE, 0, no_stream);
    put(it, bytes, sizeof bytes);
}

static void greet(struct connection *it) {
    put_frame_header(it, sizeof settings, SETTINGS, 0, no_stream);
    put(it, settings, sizeof settings);
    widen(it, 0x70000000);
    flush(it);
}

static void answer(struct connection *it, const uint8_t *stream) {
    put_frame_header(it, sizeof answer_block - 1, HEADERS, END_HEADERS | END_STREAM, stream);
    put(it, answer_block, sizeof answer_block - 1);
}

/* Takes a frame of HTTP/2 if all of it is there, and returns its size; 0 if not. */
static size_t take_http2_frame(struct connection *it, const uint8_t *frame, size_t size) {
    if (!it->is_greeted) return size < PREFACE ? 0 : (it->is_greeted = PREFACE);
    if (size < FRAME_HEADER) return 0;
    const size_t length = (size_t)frame[0] << 16 | (size_t)frame[1] << 8 | frame[2];
    if (size < FRAME_HEADER + length) return 0;
    if (frame[3] == DATA) {
        tally.bytes += length;
        it->unreturned += length;
        if (frame[4] & END_STREAM) {
            tally.notifications++;
            if (tells_payloads)
                printf("%llu %.*s\n", (unsigned long long)awoken, (int)length, (const char *)frame + FRAME_HEADER);
            answer(it, frame + 5);
        }
    } else if ((frame[3] == SETTINGS || frame[3] == PING) && !(frame[4] & ACK)) {
        put_frame_header(it, frame[3] == PING ? 8 : 0, frame[3], ACK, no_stream);
        if (frame[3] == PING) put(it, frame + FRAME_HEADER, 8);
    }
    return FRAME_HEADER + length;
}

/* The same for a frame of the binary protocol, of which there is but one kind. */
static size_t take_binary_frame(struct connection *it, const uint8_t *frame, size_t size) {
    (void)it;
    if (size < NOTIFICATION_HEADER) return 0;
    if (frame[0] != NOTIFICATION) fail("not a frame of command 2");
    const size_t length =
        (size_t)frame[1] << 24 | (size_t)frame[2] << 16 | (size_t)frame[3] << 8 | (size_t)frame[4];
    if (size < NOTIFICATION_HEADER + length) return 0;
    tally.notifications++;
    tally.bytes += NOTIFICATION_HEADER + length;
    return NOTIFICATION_HEADER + length;
}

/* Takes all whole frames that have come, and keeps the rest. */
static void take_frames(struct connection *it) {
    size_t at = 0, taken;
    do {
        const uint8_t *frame = it->input + at;
        const size_t size = it->filled - at;
        taken = is_http2 ? take_http2_frame(it, frame, size) : take_binary_frame(it, frame, size);
        at += taken;
    } while (taken);
    memmove(it->input, it->input + at, it->filled - at);
    it->filled -= at;
    if (it->unreturned > 1 << 20) {
        widen(it, (uint32_t)it->unreturned);
        it->unreturned = 0;
    }
}

/* Counts what time notifications took that came by one reading. */
static void note_times(uint64_t before) {
    if (tally.notifications == before) return;
    if (before == 0) {
        tally.first = real_time();
        tally.start = spent_now();
    }
    tally.last = real_time();
    tally.end = spent_now();
    if (tells_arrivals) printf("%llu\n", (unsigned long long)awoken);
    if (tells_payloads) fflush(stdout);
}

/* Reads what has come; nonzero if that was the end. */
static int read_all(struct connection *it) {
    const uint64_t before = tally.notifications;
    size_t count;
    awoken = tells_arrivals || tells_payloads ? monotonic_time() : 0;
    do {
        if (SSL_read_ex(it->tls, it->input + it->filled, sizeof it->input - it->filled, &count) != 1) return 1;
        it->filled += count;
        take_frames(it);
    } while (SSL_pending(it->tls));
    flush(it);
    note_times(before);
    return 0;
}

static void drop(struct connection *it) {
    SSL_shutdown(it->tls);
    SSL_free(it->tls);
    close(it->descriptor);
    free(it);
}

/* Takes a connection; a client that does not complete the handshake is not one. */
static void take_connection(SSL_CTX *context, int listener, int poller) {
    struct connection *it = calloc(1, sizeof *it);
    if (!it) fail("no memory");
    it->descriptor = accept(listener, NULL, NULL);
    if (it->descriptor < 0) fail("cannot accept");
    it->tls = SSL_new(context);
    if (!it->tls || SSL_set_fd(it->tls, it->descriptor) != 1) fail("no TLS connection");
    if (SSL_accept(it->tls) != 1) {
        drop(it);
        return;
    }
    tally.connections++;
    if (is_http2) greet(it);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = it};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, it->descriptor, &event) != 0) fail("cannot watch a connection");
}

/* Prints what has come, and counts anew. */
static void report(void) {
    const double cpu = tally.end.user + tally.end.system - tally.start.user - tally.start.system;
    const double wall = tally.end.wall - tally.start.wall;
    printf("{\"peer\":\"gateway-sink\",\"connections\":%llu,\"notifications\":%llu,\"bytes\":%llu,\"first\":%.6f,"
           "\"last\":%.6f,\"cpu_seconds\":%.4f,\"wall_seconds\":%.4f,\"cpu_share\":%.2f}\n",
        (unsigned long long)tally.connections, (unsigned long long)tally.notifications, (unsigned long long)tally.bytes,
        tally.first, tally.last, cpu, wall, wall > 0 ? cpu / wall : 0);
    fflush(stdout);
    tally = (struct tally){0};
    is_asked = 0;
}

/* Serves until told to end. Signals arrive while waiting only. */
static void serve(SSL_CTX *context, int listener, const sigset_t *waiting) {
    const int poller = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event events[EVENT_COUNT], event = {.events = EPOLLIN, .data.ptr = NULL};
    if (poller < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event) != 0) fail("cannot watch the socket");
    while (!is_over) {
        const int count = epoll_pwait(poller, events, EVENT_COUNT, -1, waiting);
        if (count < 0 && errno != EINTR) fail("cannot wait");
        for (int index = 0; index < count; index++) {
            struct connection *it = events[index].data.ptr;
            if (!it) take_connection(context, listener, poller);
            else if (read_all(it)) drop(it);
        }
        if (is_asked) report();
    }
    report();
}

/* Keeps signals for the time of waiting; returns the mask for then. */
static sigset_t hold_signals(void) {
    sigset_t held, waiting;
    struct sigaction action = {.sa_handler = note_signal};
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&held);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGUSR1);
    sigprocmask(SIG_BLOCK, &held, &waiting);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    return waiting;
}

int main(int argc, char **argv) {
    if (argc < 6 || argc > 7) {
        fprintf(stderr, "usage: gateway-sink binary|http2|fcm PORT CERT KEY CA [arrivals|payloads]\n");
        return 64;
    }
    is_http2 = strcmp(argv[1], "binary") != 0;
    tells_payloads = argc == 7 && strcmp(argv[6], "payloads") == 0;
    tells_arrivals = argc == 7 && !tells_payloads;
    SSL_CTX *context = peer_context(TLS_server_method(), argv[3], argv[4], argv[5]);
    // Over HTTP/2 a provider token may take the certificate's place.
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | (is_http2 ? 0 : SSL_VERIFY_FAIL_IF_NO_PEER_CERT), NULL);
    if (is_http2) SSL_CTX_set_alpn_select_cb(context, choose_http2, NULL);
    const sigset_t waiting = hold_signals();
    serve(context, listen_at((uint16_t)strtoul(argv[2], NULL, 10), SOMAXCONN), &waiting);
    return 0;
}
