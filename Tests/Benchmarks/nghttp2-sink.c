/* A gateway on libnghttp2 with its default settings, and so with windows of 64 KiB, at some distance.
 *
 * usage: nghttp2-sink PORT CERT KEY CA STREAMS LATENCY JITTER
 *
 * Listens on 127.0.0.1 (port 0: one the kernel picks), prints {"port":N}, and takes one connection; a certificate that it
 * shows must be of the authority CA. It allows so many streams, looks at what comes LATENCY microseconds later, and answers
 * each request with 200 and an `apns-id` after up to JITTER microseconds more. Without either, the answers of a reading share
 * TLS records, as libnghttp2 groups them; otherwise every answer has a record of its own.
 *
 * Prints one JSON object about the connection at its end. */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <string.h>

enum {
    ARRIVAL_LIMIT = 1 << 16,
    ANSWER_LIMIT = 1 << 17,
    OUTPUT_LIMIT = 1 << 24,
};

/* Bytes that came, and when they are looked at, in microseconds. A ring. */
struct arrival {
    uint64_t due;
    size_t size;
    uint8_t *bytes;
};
static struct arrival arrivals[ARRIVAL_LIMIT];
static size_t first_arrival, arrival_count;

/* The requests that wait for their answers, the first to be answered at the root of a heap. */
struct answer {
    uint64_t due;
    int32_t stream;
};
static struct answer answers[ANSWER_LIMIT + 1];
static size_t answer_count;

static uint64_t requests, bytes, latency, jitter;
static uint8_t output[OUTPUT_LIMIT];
static size_t output_start, output_end;
static int is_over;

static uint64_t now_in_microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void add_answer(struct answer new) {
    if (answer_count == ANSWER_LIMIT) fail("too many requests wait for their answers");
    size_t place = ++answer_count;
    for (; place > 1 && answers[place / 2].due > new.due; place /= 2) answers[place] = answers[place / 2];
    answers[place] = new;
}

static struct answer take_answer(void) {
    const struct answer first = answers[1], last = answers[answer_count--];
    size_t place = 1, child;
    for (; (child = place * 2) <= answer_count; place = child) {
        if (child < answer_count && answers[child + 1].due < answers[child].due) child++;
        if (answers[child].due >= last.due) break;
        answers[place] = answers[child];
    }
    answers[place] = last;
    return first;
}

static int note_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context) {
    (void)session, (void)context;
    if (frame->hd.type != NGHTTP2_DATA || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM)) return 0;
    requests++;
    const uint64_t wait = jitter ? (uint64_t)rand() % jitter : 0;
    add_answer((struct answer){latency || jitter ? now_in_microseconds() + wait : 0, frame->hd.stream_id});
    return 0;
}

static int note_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *data, size_t size, void *context) {
    (void)session, (void)flags, (void)stream, (void)data, (void)context;
    bytes += size;
    return 0;
}

/* Writes what the kernel takes. */
static void flush(SSL *tls) {
    while (output_start < output_end) {
        const size_t left = output_end - output_start;
        size_t written;
        if (!SSL_write_ex(tls, output + output_start, left < RECORD_SIZE ? left : RECORD_SIZE, &written)) return;
        output_start += written;
    }
    output_start = output_end = 0;
}

/* Takes what the session has to say. */
static void collect(nghttp2_session *session) {
    const uint8_t *piece;
    ssize_t size;
    while ((size = nghttp2_session_mem_send(session, &piece)) > 0) {
        if (output_end + size > OUTPUT_LIMIT) fail("the client does not read");
        memcpy(output + output_end, piece, size);
        output_end += size;
    }
    if (size < 0) fail("the session cannot write");
}

static void answer_due(nghttp2_session *session, SSL *tls, uint64_t now) {
    static uint8_t status[] = ":status", ok[] = "200", id[] = "apns-id",
        value[] = "00112233-4455-8677-8899-aabbccddeeff";
    const nghttp2_nv fields[] = {{status, ok, sizeof status - 1, sizeof ok - 1, 0},
        {id, value, sizeof id - 1, sizeof value - 1, 0}};
    while (answer_count && answers[1].due <= now) {
        if (nghttp2_submit_response(session, take_answer().stream, fields, 2, NULL) != 0) fail("cannot answer");
        if (!latency && !jitter) continue;
        collect(session);
        flush(tls);
    }
    collect(session);
    flush(tls);
}

/* Reads what there is, to be looked at later. */
static void read_all(SSL *tls, uint64_t now) {
    static uint8_t input[RECORD_SIZE * 4];
    size_t size;
    while (SSL_read_ex(tls, input, sizeof input, &size)) {
        if (arrival_count == ARRIVAL_LIMIT) fail("too much waits to be looked at");
        struct arrival *const new = &arrivals[(first_arrival + arrival_count++) % ARRIVAL_LIMIT];
        *new = (struct arrival){now + latency, size, malloc(size)};
        memcpy(new->bytes, input, size);
    }
    const int reason = SSL_get_error(tls, 0);
    if (reason != SSL_ERROR_WANT_READ && reason != SSL_ERROR_WANT_WRITE) is_over = 1;
}

static void look_at_due(nghttp2_session *session, uint64_t now) {
    while (arrival_count && arrivals[first_arrival].due <= now) {
        struct arrival *const it = &arrivals[first_arrival];
        if (nghttp2_session_mem_recv(session, it->bytes, it->size) != (ssize_t)it->size) fail("the client breaks the protocol");
        free(it->bytes);
        first_arrival = (first_arrival + 1) % ARRIVAL_LIMIT;
        arrival_count--;
    }
}

/* Waits for bytes, or until something is due. */
static void wait_for_more(int descriptor, uint64_t now) {
    uint64_t due = UINT64_MAX;
    if (arrival_count) due = arrivals[first_arrival].due;
    if (answer_count && answers[1].due < due) due = answers[1].due;
    struct pollfd poll_descriptor = {descriptor, POLLIN | (output_end > output_start ? POLLOUT : 0), 0};
    const uint64_t left = due > now ? due - now : 0;
    const struct timespec limit = {left / 1000000, left % 1000000 * 1000};
    ppoll(&poll_descriptor, 1, due == UINT64_MAX ? NULL : &limit, NULL);
}

int main(int count, char **arguments) {
    if (count != 8) {
        fprintf(stderr, "usage: %s PORT CERT KEY CA STREAMS LATENCY JITTER\n", arguments[0]);
        return 2;
    }
    const uint32_t streams = atoi(arguments[5]);
    latency = atoi(arguments[6]), jitter = atoi(arguments[7]);
    SSL_CTX *const context = peer_context(TLS_server_method(), arguments[2], arguments[3], arguments[4]);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_alpn_select_cb(context, choose_http2, NULL);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    const int descriptor = accept_one(atoi(arguments[1]));
    int one = 1;
    setsockopt(descriptor, IPPROTO_TCP, 1 /* TCP_NODELAY */, &one, sizeof one);
    SSL *const tls = SSL_new(context);
    SSL_set_fd(tls, descriptor);
    if (SSL_accept(tls) != 1) fail("the handshake failed");
    fcntl(descriptor, F_SETFL, O_NONBLOCK);

    nghttp2_session_callbacks *callbacks;
    nghttp2_session *session;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, note_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, note_data);
    if (nghttp2_session_server_new(&session, callbacks, NULL) != 0) fail("no session");
    const nghttp2_settings_entry limit = {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams};
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, &limit, 1);

    const struct spent start = spent_now();
    for (uint64_t now = now_in_microseconds(); !is_over; now = now_in_microseconds()) {
        read_all(tls, now);
        look_at_due(session, now);
        answer_due(session, tls, now);
        if (!is_over) wait_for_more(descriptor, now);
    }
    const struct spent spent = spent_since(start);
    printf("{\"requests\":%llu,\"bytes\":%llu,\"user_seconds\":%.3f,\"system_seconds\":%.3f,\"wall_seconds\":%.3f,\"cpu_share\":%.2f}\n",
        (unsigned long long)requests, (unsigned long long)bytes, spent.user, spent.system, spent.wall,
        (spent.user + spent.system) / spent.wall);
    return 0;
}
