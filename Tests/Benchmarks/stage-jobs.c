/* Writes job files into an app's tmp/, each with one notification for a token of its own, and syncs them.
 *
 * usage: stage-jobs APP_FOLDER COUNT [FIRST]
 *
 * They are called job-0000001.json and so on, and have 326 bytes with a payload of 236. */
#include "jobs.h"

enum { ALERT_SIZE = 216, TOKEN_SIZE = 64 };

/* Fills in hexadecimal digits, different ones for every number. */
static void make_token(char token[TOKEN_SIZE + 1], uint32_t number) {
    static const char digits[] = "0123456789abcdef";
    uint32_t state = number * 2654435761u + 1;
    for (int digit = 0; digit < TOKEN_SIZE; digit++) {
        state = state * 1664525 + 1013904223;
        token[digit] = digits[state >> 28];
    }
    token[TOKEN_SIZE] = 0;
}

static void write_job(int folder, uint32_t number) {
    char name[NAME_SIZE], token[TOKEN_SIZE + 1], alert[ALERT_SIZE + 1], job[512];
    snprintf(name, sizeof name, "job-%07u.json", number);
    make_token(token, number);
    memset(alert, 'x', ALERT_SIZE);
    alert[ALERT_SIZE] = 0;
    const int size = snprintf(job, sizeof job, "{\"token\":\"%s\",\"payload\":{\"aps\":{\"alert\":\"%s\"}}}\n", token, alert);
    const int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0 || write(file, job, size) != size) stop("cannot write %s", name);
    close(file);
}

int main(int argc, char **argv) {
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: stage-jobs APP_FOLDER COUNT [FIRST]\n");
        return 64;
    }
    const uint32_t count = strtoul(argv[2], NULL, 10), first = argc == 4 ? strtoul(argv[3], NULL, 10) : 1;
    const int folder = open_folder(open_folder(AT_FDCWD, argv[1]), "tmp");
    for (uint32_t number = first; number < first + count; number++) write_job(folder, number);
    if (syncfs(folder) != 0) stop("cannot sync");
    return 0;
}
