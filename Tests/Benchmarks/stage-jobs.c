/* Writes job files into an app's tmp/, and syncs them.
 *
 * usage: stage-jobs APP_FOLDER COUNT [TOKENS [FIRST [binary|http2|fcm [keyed]]]]
 *
 * They are called job-0000001 and so on, or from FIRST on. With one token they are .json files of 326 bytes; with more, .jsonl
 * files with a token a line; keyed ones have it as {"token": "..."}. Tokens are all different; the payload has 236 bytes. For FCM,
 * tokens have 163 characters, as Google's. */
#include "jobs.h"

enum { ALERT_SIZE = 216, TEXT_SIZE = 210, TOKEN_SIZE = 64, FCM_TOKEN_SIZE = 163 };

/* Fills in hexadecimal digits, different ones for every number. */
static void make_token(char token[TOKEN_SIZE + 1], uint64_t number) {
    static const char digits[] = "0123456789abcdef";
    uint64_t state = number * 0x9e3779b97f4a7c15;
    for (int digit = 0; digit < TOKEN_SIZE; digit++) {
        if (digit % 16 == 0) {
            state += 0x9e3779b97f4a7c15;
            state = (state ^ state >> 30) * 0xbf58476d1ce4e5b9;
        }
        token[digit] = digits[state >> (4 * (digit % 16)) & 15];
    }
    token[TOKEN_SIZE] = 0;
}

/* What recipients look like, and what they are told. */
static int is_fcm, is_keyed;

/* Makes a token of the right kind. One of FCM's is an installation's id, a colon, and the rest. */
static void make_address(char address[FCM_TOKEN_SIZE + 1], uint64_t number) {
    char digits[TOKEN_SIZE + 1];
    make_token(digits, number);
    if (is_fcm)
        snprintf(address, FCM_TOKEN_SIZE + 1, "%.22s:APA91b%s%s%.5s", digits, digits, digits, digits);
    else
        memcpy(address, digits, sizeof digits);
}

/* The members of a job that say what its recipients are told. */
static const char *message(void) {
    static char text[ALERT_SIZE + 64];
    char words[ALERT_SIZE + 1];
    memset(words, 'x', ALERT_SIZE);
    words[is_fcm ? TEXT_SIZE : ALERT_SIZE] = 0;
    snprintf(text, sizeof text, is_fcm ? "\"notification\":{\"body\":\"%s\"}" : "\"payload\":{\"aps\":{\"alert\":\"%s\"}}", words);
    return text;
}

static FILE *create(int folder, const char *name) {
    const int descriptor = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (!file) stop("cannot create %s", name);
    return file;
}

static void write_job(int folder, uint64_t number, uint64_t tokens) {
    char name[NAME_SIZE], token[FCM_TOKEN_SIZE + 1];
    snprintf(name, sizeof name, "job-%07llu.%s", (unsigned long long)number, tokens == 1 ? "json" : "jsonl");
    FILE *file = create(folder, name);
    if (tokens == 1) {
        make_address(token, number);
        fprintf(file, "{\"token\":\"%s\",%s}\n", token, message());
    } else {
        fprintf(file, "{\"job\":{\"count\":%llu},\"defaults\":{%s}}\n", (unsigned long long)tokens, message());
        for (uint64_t index = 0; index < tokens; index++) {
            make_address(token, number * tokens + index);
            fprintf(file, is_keyed ? "{\"token\": \"%s\"}\n" : "\"%s\"\n", token);
        }
    }
    if (fclose(file) != 0) stop("cannot write %s", name);
}

int main(int argc, char **argv) {
    if (argc < 3 || argc > 7) {
        fprintf(stderr, "usage: stage-jobs APP_FOLDER COUNT [TOKENS [FIRST [binary|http2|fcm [keyed]]]]\n");
        return 64;
    }
    const uint64_t count = strtoull(argv[2], NULL, 10), tokens = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    const uint64_t first = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
    is_fcm = argc > 5 && strcmp(argv[5], "fcm") == 0;
    is_keyed = argc > 6 && strcmp(argv[6], "keyed") == 0;
    const int folder = open_folder(open_folder(AT_FDCWD, argv[1]), "tmp");
    for (uint64_t number = first; number < first + count; number++) write_job(folder, number, tokens);
    if (syncfs(folder) != 0) stop("cannot sync");
    return 0;
}
