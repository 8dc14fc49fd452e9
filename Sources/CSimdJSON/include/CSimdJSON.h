#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// One value or key, with the layout of Document's Event. Offsets refer to the caller's source, or to the arena if the
// high bit of text_offset is set. link holds the kind (0 mapping, 1 sequence, 2 key, 3 string, 5 number, 6 true, 7
// false, 8 null) and, from bit 4, the index of the first event after the value.
typedef struct {
    uint32_t raw_offset;
    uint32_t raw_length;
    uint32_t text_offset;
    uint32_t text_length;
    uint32_t link;
} csimdjson_event;

typedef enum {
    CSIMDJSON_OK = 0,
    CSIMDJSON_MALFORMED = 1,
    CSIMDJSON_TOO_DEEP = 2,
    CSIMDJSON_TOO_MANY = 3,
    CSIMDJSON_NO_MEMORY = 4,
} csimdjson_code;

// The result of a parse. `offset` is the approximate position of an error. The buffers belong to the parser and remain
// valid until its next use.
typedef struct {
    csimdjson_code code;
    size_t offset;
    const csimdjson_event *events;
    size_t event_count;
    const uint8_t *arena;
    size_t arena_count;
} csimdjson_result;

// The text to parse, the number of `readable` bytes from its start, and `base`, which is added to each offset.
typedef struct {
    const uint8_t *bytes;
    size_t length;
    size_t readable;
    uint32_t base;
    uint32_t max_depth;
    size_t max_events;
} csimdjson_input;

typedef struct csimdjson_parser csimdjson_parser;

// Creates a parser, or returns NULL if there is not enough memory.
csimdjson_parser *csimdjson_create(void);
void csimdjson_destroy(csimdjson_parser *parser);

// Checks a complete document and lists its values. Reads 64 bytes beyond the text: from the caller's memory if they are
// readable, otherwise from a copy.
csimdjson_result csimdjson_parse(csimdjson_parser *parser, csimdjson_input input);

// Releases the buffers of a large document.
void csimdjson_trim(csimdjson_parser *parser);

#ifdef __cplusplus
}
#endif
