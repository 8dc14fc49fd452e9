/* What the benchmarks' peers need: stopping with a reason, time spent, a listening socket, a TLS context with an identity. */
#ifndef PEER_H
#define PEER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* The largest plaintext of one TLS record, and so the best size of one write. */
enum { RECORD_SIZE = 16384 };

/* CPU and wall time of this process, in seconds. */
struct spent {
    double user, system, wall;
};

/* Prints what failed and OpenSSL's own reasons, and exits with status 1. */
static inline void fail(const char *what) {
    fprintf(stderr, "error: %s\n", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

/* Returns the time spent since the process began (CPU) and since boot (wall). */
static inline struct spent spent_now(void) {
    struct rusage usage;
    struct timespec now;
    getrusage(RUSAGE_SELF, &usage);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (struct spent){
        .user = usage.ru_utime.tv_sec + usage.ru_utime.tv_usec / 1e6,
        .system = usage.ru_stime.tv_sec + usage.ru_stime.tv_usec / 1e6,
        .wall = now.tv_sec + now.tv_nsec / 1e9,
    };
}

/* Returns what was spent after `start`. */
static inline struct spent spent_since(struct spent start) {
    struct spent now = spent_now();
    return (struct spent){now.user - start.user, now.system - start.system, now.wall - start.wall};
}

/* Returns a context for TLS 1.3 with AES-128-GCM and nothing else, with an identity and a trusted authority. */
static inline SSL_CTX *peer_context(
    const SSL_METHOD *method, const char *certificate, const char *key, const char *authority) {
    SSL_CTX *context = SSL_CTX_new(method);
    if (!context) fail("no TLS context");
    if (SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1) fail("TLS 1.3 is not available");
    if (SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") != 1) fail("AES-128-GCM is not available");
    if (SSL_CTX_use_certificate_chain_file(context, certificate) != 1) fail("cannot use the certificate");
    if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) fail("cannot use the key");
    if (SSL_CTX_load_verify_locations(context, authority, NULL) != 1) fail("cannot use the authority");
    return context;
}

/* Listens on 127.0.0.1 (port 0: one the kernel picks), and tells on standard output where. */
static inline int listen_at(uint16_t port, int backlog) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0) fail("no socket");
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, backlog) != 0) fail("cannot listen");
    getsockname(listener, (struct sockaddr *)&address, &size);
    printf("{\"port\":%d}\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

/* Accepts one connection, after telling on standard output where it listens. */
static inline int accept_one(uint16_t port) {
    /* OpenSSL may answer a connection that was cut. */
    signal(SIGPIPE, SIG_IGN);
    int listener = listen_at(port, 1), descriptor = accept(listener, NULL, NULL);
    if (descriptor < 0) fail("cannot accept");
    close(listener);
    return descriptor;
}

/* Chooses HTTP/2 among what the client offers. */
static inline int choose_http2(SSL *ssl, const unsigned char **chosen, unsigned char *size, const unsigned char *offered,
    unsigned int offered_size, void *context) {
    (void)ssl, (void)context;
    static const unsigned char wanted[] = "\x02h2";
    return SSL_select_next_proto((unsigned char **)chosen, size, wanted, 3, offered, offered_size) == OPENSSL_NPN_NEGOTIATED
        ? SSL_TLSEXT_ERR_OK
        : SSL_TLSEXT_ERR_ALERT_FATAL;
}

#endif
