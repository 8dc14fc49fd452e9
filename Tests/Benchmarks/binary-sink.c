/* The other end for measurements: a TLS server that reads, counts and forgets.
 *
 * usage: binary-sink PORT CERT KEY CA
 *
 * Listens on 127.0.0.1 (port 0: one the kernel picks), prints {"port":N}, serves one connection that must show a
 * certificate of the authority CA, reads it to the end, and prints one JSON object with the bytes it read and its
 * own share of a CPU. A share near 1 means that the sink, and not the client, was the limit: discard that run. */
#include "peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

/* Accepts one connection, after telling on standard output where it listens. */
static int accept_one(uint16_t port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0) fail("no socket");
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 1) != 0) fail("cannot listen");
    getsockname(listener, (struct sockaddr *)&address, &size);
    printf("{\"port\":%d}\n", ntohs(address.sin_port));
    fflush(stdout);
    int descriptor = accept(listener, NULL, NULL);
    if (descriptor < 0) fail("cannot accept");
    close(listener);
    return descriptor;
}

/* Reads to the peer's close_notify and returns the number of bytes. */
static uint64_t discard_all(SSL *connection) {
    static uint8_t bytes[RECORD_SIZE];
    uint64_t total = 0;
    size_t count;
    while (SSL_read_ex(connection, bytes, sizeof bytes, &count) == 1) total += count;
    if (SSL_get_error(connection, 0) != SSL_ERROR_ZERO_RETURN) fail("the client did not close in good order");
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
    uint64_t total = discard_all(connection);
    struct spent cost = spent_since(start);
    SSL_shutdown(connection);
    close(descriptor);
    double cpu = cost.user + cost.system;
    printf("{\"peer\":\"binary-sink\",\"bytes\":%llu,\"cpu_seconds\":%.4f,\"wall_seconds\":%.4f,\"cpu_share\":%.2f}\n",
        (unsigned long long)total, cpu, cost.wall, cost.wall > 0 ? cpu / cost.wall : 0);
    return 0;
}
