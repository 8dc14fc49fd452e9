/* Drops staged jobs one by one with pauses of random length, and after each tells how long a bare sync takes.
 *
 * usage: space-jobs SPOOL LOWEST HIGHEST
 *
 * SPOOL has one app, bench. Between two drops it waits LOWEST to HIGHEST milliseconds, once before the sync and once after it, so
 * that both find a quiet disk. A sync is a write of 512 bytes into space that is there already, and fdatasync(2), on the
 * spool's filesystem. Prints a line for each job: when it was dropped, in nanoseconds of CLOCK_MONOTONIC just before the
 * rename, and the nanoseconds of the sync. */
#include "jobs.h"

enum { RECORD_SIZE = 512, RECORD_SPACE = 1 << 20 };

static uint64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void wait_about(unsigned lowest, unsigned highest) {
    static uint32_t state = 1;
    state = state * 1664525 + 1013904223;
    const uint64_t pause = (lowest + (uint64_t)(highest - lowest) * (state >> 16) / 65536.0) * 1000000;
    const struct timespec time = {.tv_sec = pause / 1000000000, .tv_nsec = pause % 1000000000};
    nanosleep(&time, NULL);
}

/* Makes a file whose space is there already, so that a sync has nothing but the data to write. */
static int make_records(int spool) {
    static uint8_t zeros[RECORD_SPACE];
    const int file = openat(spool, ".records", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || pwrite(file, zeros, sizeof zeros, 0) != sizeof zeros || fsync(file) != 0)
        stop("no space for records");
    return file;
}

static uint64_t sync_once(int records, size_t number) {
    uint8_t record[RECORD_SIZE];
    memset(record, (int)number, sizeof record);
    const uint64_t began = nanoseconds();
    const off_t at = (off_t)(number * RECORD_SIZE % RECORD_SPACE);
    if (pwrite(records, record, sizeof record, at) != sizeof record || fdatasync(records) != 0) stop("cannot sync");
    return nanoseconds() - began;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: space-jobs SPOOL LOWEST HIGHEST\n");
        return 64;
    }
    const unsigned lowest = strtoul(argv[2], NULL, 10), highest = strtoul(argv[3], NULL, 10);
    const int spool = open_folder(AT_FDCWD, argv[1]), app = open_folder(spool, "bench");
    const int staged = open_folder(app, "tmp"), dropped = open_folder(app, "new"), records = make_records(spool);
    const struct names names = names_in(app, "tmp");
    for (size_t index = 0; index < names.count; index++) {
        wait_about(lowest, highest);
        const uint64_t at = nanoseconds();
        if (renameat(staged, names.each[index], dropped, names.each[index]) != 0) stop("cannot drop a job");
        wait_about(lowest, highest);
        printf("%llu %llu\n", (unsigned long long)at, (unsigned long long)sync_once(records, index));
    }
    return 0;
}
