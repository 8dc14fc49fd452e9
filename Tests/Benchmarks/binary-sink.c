/* The other end for measurements: a TLS server that reads, counts and forgets.
 *
 * usage: binary-sink PORT CERT KEY CA
 *
 * Listens on 127.0.0.1 (port 0: one the kernel picks), prints {"port":N}, serves one connection that must show a
 * certificate of the authority CA, reads it to the end, and prints one JSON object with the bytes it read, whether
 * they ended in good order (close_notify), and its own share of a CPU. A share near 1 means that the sink, and not the client, was the limit: discard that run. */
#include "peer.h"

/* Reads to the end and returns the number of bytes, and whether a close_notify was the end. */
static uint64_t discard_all(SSL *connection, int *is_in_order) {
    static uint8_t bytes[RECORD_SIZE];
    uint64_t total = 0;
    size_t count;
    while (SSL_read_ex(connection, bytes, sizeof bytes, &count) == 1) total += count;
    *is_in_order = SSL_get_error(connection, 0) == SSL_ERROR_ZERO_RETURN;
    return total;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: binary-sink PORT CERT KEY CA\n");
        return 64;
    }
    SSL_CTX *context = peer_context(TLS_server_method(), argv[2], argv[3], argv[4]);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    int descriptor = accept_one((uint16_t)strtoul(argv[1], NULL, 10));
    SSL *connection = SSL_new(context);
    if (!connection || SSL_set_fd(connection, descriptor) != 1) fail("no TLS connection");
    if (SSL_accept(connection) != 1) fail("the handshake failed");

    struct spent start = spent_now();
    int is_in_order;
    uint64_t total = discard_all(connection, &is_in_order);
    struct spent cost = spent_since(start);
    if (is_in_order) SSL_shutdown(connection);
    close(descriptor);
    double cpu = cost.user + cost.system;
    printf("{\"peer\":\"binary-sink\",\"bytes\":%llu,\"in_order\":%s,\"cpu_seconds\":%.4f,\"wall_seconds\":%.4f,"
           "\"cpu_share\":%.2f}\n",
        (unsigned long long)total, is_in_order ? "true" : "false", cpu, cost.wall, cost.wall > 0 ? cpu / cost.wall : 0);
    return 0;
}
