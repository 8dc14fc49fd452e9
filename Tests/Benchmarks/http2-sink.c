/* The other end for measurements of HTTP/2: answers every request with 200 and an `apns-id`, and counts.
 *
 * usage: http2-sink PORT CERT KEY CA
 *
 * Listens on 127.0.0.1 (port 0: one the kernel picks), prints {"port":N}, serves one connection to its end, and
 * prints one JSON object with the requests it answered, the bytes of their bodies and its own share of a CPU. It looks
 * at frames only, not into header blocks, so that it is never the limit; it grants 1,000 streams and wide windows. */
#include "frames.h"
#include "peer.h"

#include <string.h>

static SSL *connection;
static uint8_t output[1 << 16];
static size_t output_size;

static void flush(void) {
    size_t written;
    if (output_size && SSL_write_ex(connection, output, output_size, &written) != 1) fail("cannot answer");
    output_size = 0;
}

static void put(const void *bytes, size_t count) {
    if (output_size + count > sizeof output) flush();
    memcpy(output + output_size, bytes, count);
    output_size += count;
}

static void put_frame_header(uint32_t length, uint8_t type, uint8_t flags, uint32_t stream) {
    const uint8_t header[FRAME_HEADER] = {length >> 16, length >> 8, length, type, flags,
        stream >> 24, stream >> 16, stream >> 8, stream};
    put(header, sizeof header);
}

static void answer(uint32_t stream) {
    put_frame_header(sizeof answer_block - 1, HEADERS, END_HEADERS | END_STREAM, stream);
    put(answer_block, sizeof answer_block - 1);
}

/* Gives back what was taken of the connection's window. */
static void widen(uint32_t increment) {
    const uint8_t bytes[4] = {increment >> 24, increment >> 16, increment >> 8, increment};
    put_frame_header(sizeof bytes, WINDOW_UPDATE, 0, 0);
    put(bytes, sizeof bytes);
}

int main(int argc, char **argv) {
    static uint8_t input[RECORD_SIZE * 8];
    if (argc != 5) {
        fprintf(stderr, "usage: http2-sink PORT CERT KEY CA\n");
        return 64;
    }
    SSL_CTX *context = peer_context(TLS_server_method(), argv[2], argv[3], argv[4]);
    SSL_CTX_set_alpn_select_cb(context, choose_http2, NULL);
    int descriptor = accept_one((uint16_t)strtoul(argv[1], NULL, 10));
    connection = SSL_new(context);
    if (!connection || SSL_set_fd(connection, descriptor) != 1) fail("no TLS connection");
    SSL_set_read_ahead(connection, 1);
    if (SSL_accept(connection) != 1) fail("the handshake failed");

    struct spent start = spent_now();
    uint64_t requests = 0, body_bytes = 0, unreturned = 0;
    size_t filled = 0, passed = 0, count;
    put_frame_header(sizeof settings, SETTINGS, 0, 0);
    put(settings, sizeof settings);
    widen(0x70000000);
    flush();
    while (SSL_read_ex(connection, input + filled, sizeof input - filled, &count) == 1) {
        filled += count;
        size_t at = 0;
        if (!passed && filled >= PREFACE) at = passed = PREFACE;
        while (passed && filled - at >= FRAME_HEADER) {
            const uint8_t *frame = input + at;
            size_t length = (size_t)frame[0] << 16 | (size_t)frame[1] << 8 | frame[2];
            uint32_t stream = (uint32_t)frame[5] << 24 | frame[6] << 16 | frame[7] << 8 | frame[8];
            if (filled - at < FRAME_HEADER + length) break;
            if (frame[3] == DATA) {
                body_bytes += length;
                unreturned += length;
                if (frame[4] & END_STREAM) {
                    requests++;
                    answer(stream);
                }
            } else if ((frame[3] == SETTINGS || frame[3] == PING) && !(frame[4] & ACK)) {
                put_frame_header(frame[3] == PING ? 8 : 0, frame[3], ACK, 0);
                if (frame[3] == PING) put(frame + FRAME_HEADER, 8);
            }
            at += FRAME_HEADER + length;
        }
        memmove(input, input + at, filled - at);
        filled -= at;
        if (unreturned > 1 << 20) {
            widen((uint32_t)unreturned);
            unreturned = 0;
        }
        if (SSL_pending(connection) == 0) flush();
    }
    struct spent cost = spent_since(start);
    SSL_shutdown(connection);
    close(descriptor);
    double cpu = cost.user + cost.system;
    printf("{\"peer\":\"http2-sink\",\"requests\":%llu,\"bytes\":%llu,\"cpu_seconds\":%.4f,\"wall_seconds\":%.4f,"
           "\"cpu_share\":%.2f}\n",
        (unsigned long long)requests, (unsigned long long)body_bytes, cpu, cost.wall,
        cost.wall > 0 ? cpu / cost.wall : 0);
    return 0;
}
