/* The yardstick for the binary transport: a client that does nothing but write ready-made frames with OpenSSL.
 *
 * usage: binary-writer HOST PORT CERT KEY CA FRAMES [hex]
 *
 * Connects with TLS 1.3, AES-128-GCM and a client certificate, writes FRAMES command-2 frames of 297 bytes in
 * writes of one full record, closes as a client must (close_notify, end of writing, read to the end), and prints
 * one JSON object with what the writing cost, handshake excluded.
 *
 * Without `hex` all frames are the same bytes, made before the clock starts: the bare cost of OpenSSL and the
 * kernel. With `hex` each frame is built anew, with its own identifier and a token decoded from 64 digits. */
#include "peer.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    TOKEN_SIZE = 32,
    PAYLOAD_SIZE = 236,
    TOKEN_AT = 8,
    IDENTIFIER_AT = 8 + TOKEN_SIZE + 3 + PAYLOAD_SIZE + 3,
    FRAME_SIZE = IDENTIFIER_AT + 4 + 7 + 4,
    TOKEN_COUNT = 1024,
};
_Static_assert(FRAME_SIZE == 297, "the frame the figures are about");

static char tokens[TOKEN_COUNT][2 * TOKEN_SIZE];
static uint8_t digit_values[256];

static void put_item_header(uint8_t *at, uint8_t item, uint16_t length) {
    at[0] = item;
    at[1] = length >> 8;
    at[2] = length & 0xff;
}

static void put_uint32(uint8_t *at, uint32_t value) {
    at[0] = value >> 24;
    at[1] = value >> 16;
    at[2] = value >> 8;
    at[3] = value;
}

/* Fills in a whole frame: command 2, then token, payload, identifier, expiry and priority. */
static void make_frame(uint8_t frame[FRAME_SIZE]) {
    static const char before[] = "{\"aps\":{\"alert\":\"", after[] = "\"}}";
    uint8_t *payload = frame + TOKEN_AT + TOKEN_SIZE + 3;
    frame[0] = 2;
    put_uint32(frame + 1, FRAME_SIZE - 5);
    put_item_header(frame + 5, 1, TOKEN_SIZE);
    memset(frame + TOKEN_AT, 0xab, TOKEN_SIZE);
    put_item_header(payload - 3, 2, PAYLOAD_SIZE);
    memset(payload, 'x', PAYLOAD_SIZE);
    memcpy(payload, before, sizeof before - 1);
    memcpy(payload + PAYLOAD_SIZE - (sizeof after - 1), after, sizeof after - 1);
    put_item_header(frame + IDENTIFIER_AT - 3, 3, 4);
    put_uint32(frame + IDENTIFIER_AT, 1);
    put_item_header(frame + IDENTIFIER_AT + 4, 4, 4);
    put_uint32(frame + IDENTIFIER_AT + 7, 2000000000);
    put_item_header(frame + IDENTIFIER_AT + 11, 5, 1);
    frame[IDENTIFIER_AT + 14] = 10;
}

/* Makes the hexadecimal tokens, different from each other, and the table that reads their digits. */
static void make_tokens(void) {
    static const char digits[] = "0123456789abcdef";
    uint32_t state = 1;
    for (int value = 0; value < 16; value++) digit_values[(uint8_t)digits[value]] = value;
    for (int token = 0; token < TOKEN_COUNT; token++)
        for (int digit = 0; digit < 2 * TOKEN_SIZE; digit++) {
            state = state * 1664525 + 1013904223;
            tokens[token][digit] = digits[state >> 28];
        }
}

static void decode_token(uint8_t *into, const char *hex) {
    for (int byte = 0; byte < TOKEN_SIZE; byte++)
        into[byte] = digit_values[(uint8_t)hex[2 * byte]] << 4 | digit_values[(uint8_t)hex[2 * byte + 1]];
}

static int connect_to(const char *host, const char *port) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    int one = 1, descriptor = -1;
    if (getaddrinfo(host, port, &hints, &found) != 0) fail("unknown host or port");
    for (struct addrinfo *each = found; each && descriptor < 0; each = each->ai_next) {
        descriptor = socket(each->ai_family, each->ai_socktype, each->ai_protocol);
        if (descriptor >= 0 && connect(descriptor, each->ai_addr, each->ai_addrlen) != 0) {
            close(descriptor);
            descriptor = -1;
        }
    }
    freeaddrinfo(found);
    if (descriptor < 0) fail("cannot connect");
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return descriptor;
}

/* Completes the handshake as a client that checks the other side's name. */
static SSL *handshake(SSL_CTX *context, int descriptor, const char *host) {
    SSL *connection = SSL_new(context);
    if (!connection || SSL_set_fd(connection, descriptor) != 1) fail("no TLS connection");
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), host) != 1) {
        ERR_clear_error();
        if (SSL_set_tlsext_host_name(connection, host) != 1 || SSL_set1_host(connection, host) != 1)
            fail("not a host name");
    }
    if (SSL_connect(connection) != 1) fail("the handshake failed");
    return connection;
}

static void write_all(SSL *connection, const uint8_t *bytes, size_t count) {
    size_t written;
    if (SSL_write_ex(connection, bytes, count, &written) != 1 || written != count)
        fail("the peer closed before the last frame");
}

/* Writes the same frame over and over, without touching its bytes again. */
static void write_ready_made(SSL *connection, uint64_t frame_count) {
    static uint8_t bytes[RECORD_SIZE + 2 * FRAME_SIZE];
    const uint64_t total = frame_count * FRAME_SIZE;
    for (size_t at = 0; at + FRAME_SIZE <= sizeof bytes; at += FRAME_SIZE) make_frame(bytes + at);
    for (uint64_t sent = 0; sent < total;) {
        size_t count = total - sent < RECORD_SIZE ? total - sent : RECORD_SIZE;
        write_all(connection, bytes + sent % FRAME_SIZE, count);
        sent += count;
    }
}

/* Writes frames that are built one by one, each with an identifier and a decoded token of its own. */
static void write_decoded(SSL *connection, uint64_t frame_count) {
    static uint8_t bytes[RECORD_SIZE + FRAME_SIZE];
    uint8_t template[FRAME_SIZE];
    size_t filled = 0;
    make_frame(template);
    make_tokens();
    for (uint64_t frame = 0; frame < frame_count; frame++) {
        memcpy(bytes + filled, template, FRAME_SIZE);
        decode_token(bytes + filled + TOKEN_AT, tokens[frame % TOKEN_COUNT]);
        put_uint32(bytes + filled + IDENTIFIER_AT, (uint32_t)frame);
        filled += FRAME_SIZE;
        if (filled >= RECORD_SIZE) {
            write_all(connection, bytes, RECORD_SIZE);
            filled -= RECORD_SIZE;
            memmove(bytes, bytes + RECORD_SIZE, filled);
        }
    }
    if (filled > 0) write_all(connection, bytes, filled);
}

/* Says that nothing follows and waits until the peer has read everything. Closing at once would lose the end:
 * unread session tickets make close() reset the connection, which discards what is still queued. */
static void finish(SSL *connection, int descriptor) {
    uint8_t rest[RECORD_SIZE];
    size_t count;
    SSL_shutdown(connection);
    shutdown(descriptor, SHUT_WR);
    while (SSL_read_ex(connection, rest, sizeof rest, &count) == 1) continue;
    if (SSL_get_error(connection, 0) != SSL_ERROR_ZERO_RETURN) fail("the peer did not close in good order");
}

int main(int argc, char **argv) {
    if (argc < 7 || argc > 8 || (argc == 8 && strcmp(argv[7], "hex") != 0)) {
        fprintf(stderr, "usage: binary-writer HOST PORT CERT KEY CA FRAMES [hex]\n");
        return 64;
    }
    signal(SIGPIPE, SIG_IGN);
    const int is_hex = argc == 8;
    const uint64_t frame_count = strtoull(argv[6], NULL, 10);
    SSL_CTX *context = peer_context(TLS_client_method(), argv[3], argv[4], argv[5]);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    int descriptor = connect_to(argv[1], argv[2]);
    SSL *connection = handshake(context, descriptor, argv[1]);

    struct spent start = spent_now();
    (is_hex ? write_decoded : write_ready_made)(connection, frame_count);
    finish(connection, descriptor);
    struct spent cost = spent_since(start);
    double cpu = cost.user + cost.system;
    printf("{\"peer\":\"binary-writer\",\"hex\":%s,\"frames\":%llu,\"bytes\":%llu,\"cpu_seconds\":%.4f,"
           "\"user_seconds\":%.4f,\"system_seconds\":%.4f,\"wall_seconds\":%.4f,\"frames_per_cpu_second\":%.0f}\n",
        is_hex ? "true" : "false", (unsigned long long)frame_count, (unsigned long long)frame_count * FRAME_SIZE,
        cpu, cost.user, cost.system, cost.wall, cpu > 0 ? frame_count / cpu : 0);
    return 0;
}
