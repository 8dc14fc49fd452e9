#include "CSimdJSON.h"

#include <cstring>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

// Stop at the end of the text even if the bytes after it look like more JSON.
#define SIMDJSON_CHECK_EOF 1
#include <simdjson.h>

namespace ondemand = simdjson::ondemand;

struct csimdjson_parser {
    ondemand::parser parser;
    std::vector<uint8_t> copy;
    std::vector<csimdjson_event> events;
    std::vector<uint8_t> arena;
};

namespace {

enum kind : uint32_t { MAPPING = 0, SEQUENCE = 1, KEY = 2, STRING = 3, NUMBER = 5, TRUE_ = 6, FALSE_ = 7, NULL_ = 8 };

constexpr uint32_t in_arena = 1u << 31;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view token) {
    while (!token.empty() && is_space(token.back())) token.remove_suffix(1);
    return token;
}

size_t digits(std::string_view text, size_t from) {
    size_t end = from;
    while (end < text.size() && is_digit(text[end])) end++;
    return end - from;
}

// Accepts the numbers of RFC 8259, section 6, at any length; simdjson's own readers reject those beyond 64 bits.
bool is_number(std::string_view text) {
    size_t at = !text.empty() && text[0] == '-' ? 1 : 0;
    size_t whole = digits(text, at);
    if (whole == 0 || (whole > 1 && text[at] == '0')) return false;
    at += whole;
    if (at < text.size() && text[at] == '.') {
        size_t fraction = digits(text, at + 1);
        if (fraction == 0) return false;
        at += 1 + fraction;
    }
    if (at < text.size() && (text[at] | 0x20) == 'e') {
        at++;
        if (at < text.size() && (text[at] == '+' || text[at] == '-')) at++;
        size_t exponent = digits(text, at);
        if (exponent == 0) return false;
        at += exponent;
    }
    return at == text.size();
}

// Detects lone surrogates that simdjson accepted: they appear as three bytes that UTF-8 forbids.
bool has_surrogate(std::string_view text) {
    for (size_t i = 0; i + 1 < text.size(); i++) {
        if (uint8_t(text[i]) == 0xED && uint8_t(text[i + 1]) >= 0xA0) return true;
    }
    return false;
}

class walker {
public:
    walker(csimdjson_parser &parser, const csimdjson_input &input, const char *text, ondemand::document &document)
        : parser(parser), input(input), text(text), document(document) {}

    csimdjson_code root() {
        ondemand::json_type type;
        if (document.type().get(type)) return CSIMDJSON_MALFORMED;
        std::string_view token = document.raw_json_token().value_unsafe();
        const char *start = token.data();
        if (type == ondemand::json_type::array) return root_container<ondemand::array>(start);
        if (type == ondemand::json_type::object) return root_container<ondemand::object>(start);
        if (start + token.size() != text + input.length) return CSIMDJSON_MALFORMED;
        if (type != ondemand::json_type::string) return literal(type, trimmed(token));
        return string(document, trimmed(token));
    }

private:
    csimdjson_parser &parser;
    const csimdjson_input &input;
    const char *text;
    ondemand::document &document;
    uint32_t depth = 0;

    template <typename container> csimdjson_code root_container(const char *start) {
        container content;
        if (document.get(content)) return CSIMDJSON_MALFORMED;
        if (csimdjson_code code = walk(content, start)) return code;
        return document.current_location().error() == simdjson::OUT_OF_BOUNDS ? CSIMDJSON_OK : CSIMDJSON_MALFORMED;
    }

    csimdjson_code value(ondemand::value &value) {
        ondemand::json_type type;
        if (value.type().get(type)) return CSIMDJSON_MALFORMED;
        std::string_view token = value.raw_json_token();
        switch (type) {
        case ondemand::json_type::array: return container<ondemand::array>(value, token.data());
        case ondemand::json_type::object: return container<ondemand::object>(value, token.data());
        case ondemand::json_type::string: return string(value, trimmed(token));
        default: return literal(type, trimmed(token));
        }
    }

    template <typename container_type> csimdjson_code container(ondemand::value &value, const char *start) {
        container_type content;
        if (value.get(content)) return CSIMDJSON_MALFORMED;
        return walk(content, start);
    }

    csimdjson_code walk(ondemand::array &array, const char *start) {
        size_t index = parser.events.size();
        if (csimdjson_code code = open(SEQUENCE, start)) return code;
        uint32_t count = 0;
        for (auto element : array) {
            ondemand::value next;
            if (std::move(element).get(next)) return CSIMDJSON_MALFORMED;
            // Return immediately: iterating past an invalid value may read beyond the end.
            if (csimdjson_code code = value(next)) return code;
            count++;
        }
        close(index, count);
        return CSIMDJSON_OK;
    }

    csimdjson_code walk(ondemand::object &object, const char *start) {
        size_t index = parser.events.size();
        if (csimdjson_code code = open(MAPPING, start)) return code;
        uint32_t count = 0;
        for (auto member : object) {
            ondemand::field field;
            if (std::move(member).get(field)) return CSIMDJSON_MALFORMED;
            if (csimdjson_code code = key(field)) return code;
            if (csimdjson_code code = value(field.value())) return code;
            count++;
        }
        close(index, count);
        return CSIMDJSON_OK;
    }

    csimdjson_code open(kind kind, const char *start) {
        if (++depth > input.max_depth) return CSIMDJSON_TOO_DEEP;
        return add(kind, std::string_view(start, 1), 0, 0);
    }

    // The closing bracket is the last byte before the next token that is not whitespace.
    void close(size_t index, uint32_t count) {
        const char *end;
        if (document.current_location().get(end)) end = text + input.length;
        while (end > text && is_space(end[-1])) end--;
        csimdjson_event &event = parser.events[index];
        event.raw_length = uint32_t(end - text) + input.base - event.raw_offset;
        event.text_length = count;
        event.link = uint32_t(parser.events.size()) << 4 | (event.link & 15);
        depth--;
    }

    csimdjson_code key(ondemand::field &field) {
        const char *start = field.key().raw();
        const char *end = start;
        bool escaped = false;
        while (*end != '"') {
            escaped = escaped || *end == '\\';
            end += *end == '\\' ? 2 : 1;
        }
        std::string_view raw(start - 1, size_t(end - start) + 2);
        if (!escaped) return add(KEY, raw, offset(start), raw.size() - 2);
        std::string_view unescaped;
        if (field.unescaped_key().get(unescaped)) return CSIMDJSON_MALFORMED;
        return add_unescaped(KEY, raw, unescaped);
    }

    template <typename source> csimdjson_code string(source &value, std::string_view raw) {
        if (raw.size() < 2 || raw.back() != '"') return CSIMDJSON_MALFORMED;
        if (!memchr(raw.data(), '\\', raw.size())) {
            if (value.get_raw_json_string().error()) return CSIMDJSON_MALFORMED;
            return add(STRING, raw, offset(raw.data() + 1), raw.size() - 2);
        }
        std::string_view unescaped;
        if (value.get_string().get(unescaped)) return CSIMDJSON_MALFORMED;
        return add_unescaped(STRING, raw, unescaped);
    }

    csimdjson_code literal(ondemand::json_type type, std::string_view raw) {
        if (type == ondemand::json_type::number && is_number(raw)) return add_plain(NUMBER, raw);
        if (raw == "true") return add_plain(TRUE_, raw);
        if (raw == "false") return add_plain(FALSE_, raw);
        if (raw == "null") return add_plain(NULL_, raw);
        return CSIMDJSON_MALFORMED;
    }

    uint32_t offset(const char *position) const { return uint32_t(position - text) + input.base; }

    csimdjson_code add_plain(kind kind, std::string_view raw) { return add(kind, raw, offset(raw.data()), raw.size()); }

    csimdjson_code add_unescaped(kind kind, std::string_view raw, std::string_view unescaped) {
        if (has_surrogate(unescaped)) return CSIMDJSON_MALFORMED;
        size_t start = parser.arena.size();
        parser.arena.insert(parser.arena.end(), unescaped.begin(), unescaped.end());
        return add(kind, raw, uint32_t(start) | in_arena, unescaped.size());
    }

    csimdjson_code add(kind kind, std::string_view raw, uint32_t text_offset, size_t text_length) {
        size_t next = parser.events.size() + 1;
        if (next > input.max_events) return CSIMDJSON_TOO_MANY;
        parser.events.push_back({offset(raw.data()), uint32_t(raw.size()), text_offset, uint32_t(text_length),
                                 uint32_t(next) << 4 | kind});
        return CSIMDJSON_OK;
    }
};

const char *padded(csimdjson_parser &parser, const csimdjson_input &input) {
    if (input.readable - input.length >= simdjson::SIMDJSON_PADDING) return reinterpret_cast<const char *>(input.bytes);
    parser.copy.resize(input.length + simdjson::SIMDJSON_PADDING);
    if (input.length > 0) memcpy(parser.copy.data(), input.bytes, input.length);
    memset(parser.copy.data() + input.length, ' ', simdjson::SIMDJSON_PADDING);
    return reinterpret_cast<const char *>(parser.copy.data());
}

csimdjson_result parse(csimdjson_parser &parser, const csimdjson_input &input) {
    parser.events.clear();
    parser.arena.clear();
    const char *text = padded(parser, input);
    csimdjson_result result = {CSIMDJSON_OK, input.base, nullptr, 0, nullptr, 0};
    ondemand::document document;
    simdjson::error_code error =
        parser.parser.iterate(text, input.length, input.length + simdjson::SIMDJSON_PADDING).get(document);
    if (error) {
        result.code = error == simdjson::MEMALLOC || error == simdjson::CAPACITY ? CSIMDJSON_NO_MEMORY
                                                                                  : CSIMDJSON_MALFORMED;
        return result;
    }
    result.code = walker(parser, input, text, document).root();
    const char *location;
    if (result.code != CSIMDJSON_OK && !document.current_location().get(location) && location >= text &&
        location <= text + input.length) {
        result.offset = input.base + size_t(location - text);
    }
    result.events = parser.events.data();
    result.event_count = parser.events.size();
    result.arena = parser.arena.data();
    result.arena_count = parser.arena.size();
    return result;
}

} // namespace

csimdjson_parser *csimdjson_create(void) { return new (std::nothrow) csimdjson_parser; }

void csimdjson_destroy(csimdjson_parser *parser) { delete parser; }

csimdjson_result csimdjson_parse(csimdjson_parser *parser, csimdjson_input input) {
    try {
        return parse(*parser, input);
    } catch (const std::bad_alloc &) {
        return {CSIMDJSON_NO_MEMORY, input.base, nullptr, 0, nullptr, 0};
    }
}

void csimdjson_trim(csimdjson_parser *parser) {
    parser->parser = ondemand::parser();
    parser->copy = std::vector<uint8_t>();
    parser->events = std::vector<csimdjson_event>();
    parser->arena = std::vector<uint8_t>();
}
