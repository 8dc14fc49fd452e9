/* The yardstick for small jobs: a loop that moves files as the daemon does, and reads them, and does nothing else.
 *
 * usage: bare-jobs SPOOL none|each
 *
 * SPOOL has one app, bench, with files staged in its tmp/. Drops them into new/ (not measured), and then, on one thread: lists
 * new/, and for one file after the other opens it, asks for its size, reads it, closes it, renames it into
 * work/bench/ under a longer name, and renames it to done/ under its own. With `each` it also writes a record of 512
 * bytes into space that is there already, and waits until it is durable (fdatasync), for every job. */
#include "jobs.h"

enum { RECORD_SIZE = 512, RECORD_SPACE = 64 << 20 };

/* The folders that a job goes through, and the records if there are any. */
struct places {
    int new, work, done, records;
};

static int make_folder(int at, const char *path) {
    if (mkdirat(at, path, 0750) != 0 && errno != EEXIST) stop("cannot make %s", path);
    return open_folder(at, path);
}

static struct places open_places(const char *spool, int has_records) {
    char day[11];
    name_today(day);
    const int app = open_folder(open_folder(AT_FDCWD, spool), "bench");
    struct places places = {
        .new = make_folder(app, "new"),
        .work = make_folder(make_folder(app, "work"), "bench"),
        .done = make_folder(make_folder(app, "done"), day),
        .records = -1,
    };
    if (!has_records) return places;
    places.records = openat(app, "records", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    static uint8_t zeros[1 << 20];
    for (off_t at = 0; at < RECORD_SPACE; at += sizeof zeros)
        if (pwrite(places.records, zeros, sizeof zeros, at) != sizeof zeros) stop("no space for records");
    fsync(places.records);
    return places;
}

/* Renames everything from tmp/ to new/. */
static void drop_all(const char *spool, int new) {
    const int staged = open_folder(open_folder(open_folder(AT_FDCWD, spool), "bench"), "tmp");
    const struct names names = names_in(staged, ".");
    for (size_t index = 0; index < names.count; index++)
        if (renameat(staged, names.each[index], new, names.each[index]) != 0) stop("cannot drop a job");
}

static void read_job(int folder, const char *name) {
    static uint8_t bytes[1 << 16];
    struct stat status;
    const int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0) stop("cannot open %s", name);
    if (read(file, bytes, sizeof bytes) != status.st_size) stop("cannot read %s", name);
    close(file);
}

static void write_record(int records, size_t number) {
    static uint8_t record[RECORD_SIZE];
    memset(record, (int)number, sizeof record);
    const off_t at = (off_t)(number * RECORD_SIZE % RECORD_SPACE);
    if (pwrite(records, record, sizeof record, at) != sizeof record || fdatasync(records) != 0)
        stop("cannot write a record");
}

/* Takes one job from new/ to done/. */
static void pass(const struct places *places, const char *name, size_t number) {
    char claimed[NAME_SIZE + 32];
    snprintf(claimed, sizeof claimed, "%026zu-%s", number, name);
    read_job(places->new, name);
    if (renameat2(places->new, name, places->work, claimed, RENAME_NOREPLACE) != 0) stop("cannot claim %s", name);
    if (places->records >= 0) write_record(places->records, number);
    if (renameat2(places->work, claimed, places->done, name, RENAME_NOREPLACE) != 0) stop("cannot archive %s", name);
}

static double seconds(struct timeval time) { return time.tv_sec + time.tv_usec / 1e6; }

int main(int argc, char **argv) {
    if (argc != 3 || (strcmp(argv[2], "none") != 0 && strcmp(argv[2], "each") != 0)) {
        fprintf(stderr, "usage: bare-jobs SPOOL none|each\n");
        return 64;
    }
    const struct places places = open_places(argv[1], strcmp(argv[2], "each") == 0);
    drop_all(argv[1], places.new);
    struct rusage start, end;
    getrusage(RUSAGE_SELF, &start);
    const double began = seconds_of(CLOCK_MONOTONIC);
    const struct names names = names_in(places.new, ".");
    for (size_t index = 0; index < names.count; index++) pass(&places, names.each[index], index);
    const double wall = seconds_of(CLOCK_MONOTONIC) - began;
    getrusage(RUSAGE_SELF, &end);
    const double user = seconds(end.ru_utime) - seconds(start.ru_utime);
    const double kernel = seconds(end.ru_stime) - seconds(start.ru_stime);
    printf("{\"client\":\"bare-%s\",\"jobs\":%zu,\"cpu_seconds\":%.4f,\"user_seconds\":%.4f,\"system_seconds\":%.4f,"
           "\"wall_seconds\":%.4f}\n",
        argv[2], names.count, user + kernel, user, kernel, wall);
    return 0;
}
