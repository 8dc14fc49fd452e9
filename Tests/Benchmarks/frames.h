/* What the sinks need to know of HTTP/2's frames (RFC 9113), and what they send. */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdint.h>

enum {
    FRAME_HEADER = 9,
    PREFACE = 24,
    DATA = 0,
    HEADERS = 1,
    SETTINGS = 4,
    PING = 6,
    WINDOW_UPDATE = 8,
    END_HEADERS = 4,
    END_STREAM = 1,
    ACK = 1,
};

/* A thousand streams, and windows that are never full. */
static const uint8_t settings[] = {0, 3, 0, 0, 3, 0xe8, 0, 4, 0, 0xff, 0xff, 0xff};

/* `:status` 200, then `apns-id` as a literal without indexing: what a gateway sends at the least. */
static const char answer_block[] = "\x88\x00\x07" "apns-id\x24" "00112233-4455-8677-8899-aabbccddeeff";

#endif
