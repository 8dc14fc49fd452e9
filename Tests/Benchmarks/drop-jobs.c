/* Drops everything that is staged, and measures what the daemon needs until all of it is done.
 *
 * usage: drop-jobs SPOOL PID [at-once]
 *
 * Renames every file of every app from tmp/ to new/, one app after the other in turn, and waits until each of them stands in
 * done/. Prints one JSON object: how many jobs, the processor time that process PID used since just before the first rename,
 * the time until the last rename and until the last job was done, the most memory that the process ever had, and when
 * the first rename was, in seconds of CLOCK_REALTIME. PID 0: only drops. With `at-once` the process is stopped while the
 * files are renamed, and the times begin when it goes on: it has both processors then.
 *
 * Waiting is looking for one file after the other, a thousand times a second while it is not there: no listing and no watch,
 * which would stand in the daemon's way. */
#include "jobs.h"

/* A file, the app it belongs to, and the app's folders. */
struct job {
    int app, staged, dropped;
    const char *name;
};

struct jobs {
    size_t count, capacity;
    struct job *each;
};

/* What a process has used: all its threads, also those that have ended. */
struct usage {
    double cpu, user, system;
};

static void add_job(struct jobs *jobs, struct job job) {
    if (jobs->count == jobs->capacity) {
        jobs->capacity = jobs->capacity ? 2 * jobs->capacity : 1024;
        jobs->each = realloc(jobs->each, jobs->capacity * sizeof *jobs->each);
        if (!jobs->each) stop("no memory for jobs");
    }
    jobs->each[jobs->count++] = job;
}

/* All staged files: the first of each app, the second of each, and so on. */
static struct jobs staged_jobs(const char *spool) {
    struct jobs jobs = {0};
    const int root = open_folder(AT_FDCWD, spool);
    const struct names apps = names_in(root, ".");
    struct names *names = calloc(apps.count, sizeof *names);
    struct job *kinds = calloc(apps.count, sizeof *kinds);
    if (apps.count && (!names || !kinds)) stop("no memory for apps");
    for (size_t app = 0; app < apps.count; app++) {
        kinds[app].app = open_folder(root, apps.each[app]);
        kinds[app].staged = open_folder(kinds[app].app, "tmp");
        kinds[app].dropped = open_folder(kinds[app].app, "new");
        names[app] = names_in(kinds[app].app, "tmp");
    }
    for (size_t turn = 0, left = 1; left; turn++) {
        left = 0;
        for (size_t app = 0; app < apps.count; app++) {
            if (turn >= names[app].count) continue;
            kinds[app].name = names[app].each[turn];
            add_job(&jobs, kinds[app]);
            left++;
        }
    }
    return jobs;
}

static void drop_all(const struct jobs *jobs) {
    for (const struct job *job = jobs->each; job < jobs->each + jobs->count; job++)
        if (renameat(job->staged, job->name, job->dropped, job->name) != 0) stop("cannot drop %s", job->name);
}

/* Whether a job stands in done/, in the folder of this day. */
static int is_done(const struct job *job, const char *day) {
    char path[PATH_SIZE];
    struct stat status;
    snprintf(path, sizeof path, "done/%s/%s", day, job->name);
    return fstatat(job->app, path, &status, 0) == 0;
}

/* Whether the process is there, and not just a remainder that nobody has asked for yet. */
static int is_running(pid_t process) {
    char path[64], state = 'Z';
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    if (fscanf(file, "%*d %*s %c", &state) != 1) state = 'Z';
    fclose(file);
    return state != 'Z';
}

static void await_all(const struct jobs *jobs, pid_t process) {
    const struct timespec pause = {.tv_nsec = 1000000};
    char first_day[11], day[11];
    name_today(first_day);
    for (const struct job *job = jobs->each; job < jobs->each + jobs->count; job++)
        while (!is_done(job, first_day)) {
            name_today(day);
            if (is_done(job, day)) break;
            errno = 0;
            if (!is_running(process)) stop("the daemon ended before %s was done", job->name);
            nanosleep(&pause, NULL);
        }
}

/* Reads the user and system time, in the kernel's coarse ticks, and the sum of both, which is exact. */
static struct usage usage_of(pid_t process) {
    char path[64], line[1024], *at;
    unsigned long user, system;
    clockid_t clock;
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    FILE *file = fopen(path, "re");
    if (!file || !fgets(line, sizeof line, file) || !(at = strrchr(line, ')'))) stop("cannot read %s", path);
    fclose(file);
    if (sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2)
        stop("cannot understand %s", path);
    if (clock_getcpuclockid(process, &clock) != 0) stop("process %d has no clock", process);
    const double ticks = sysconf(_SC_CLK_TCK);
    return (struct usage){seconds_of(clock), user / ticks, system / ticks};
}

/* The most memory that a process ever had, in KiB. */
static long peak_of(pid_t process) {
    char path[64], line[256];
    long peak = 0;
    snprintf(path, sizeof path, "/proc/%d/status", process);
    FILE *file = fopen(path, "re");
    if (!file) stop("cannot read %s", path);
    while (fgets(line, sizeof line, file)) sscanf(line, "VmHWM: %ld", &peak);
    fclose(file);
    return peak;
}

int main(int argc, char **argv) {
    const int is_at_once = argc == 4 && strcmp(argv[3], "at-once") == 0;
    if (argc != 3 && !is_at_once) {
        fprintf(stderr, "usage: drop-jobs SPOOL PID [at-once]\n");
        return 64;
    }
    const pid_t process = atoi(argv[2]);
    const struct jobs jobs = staged_jobs(argv[1]);
    const struct usage start = process ? usage_of(process) : (struct usage){0};
    if (is_at_once && kill(process, SIGSTOP) != 0) stop("cannot stop process %d", process);
    double began = seconds_of(CLOCK_MONOTONIC);
    const double began_at = seconds_of(CLOCK_REALTIME);
    drop_all(&jobs);
    const double dropped = seconds_of(CLOCK_MONOTONIC), drop_seconds = dropped - began;
    if (is_at_once) {
        began = dropped;
        if (kill(process, SIGCONT) != 0) stop("process %d cannot go on", process);
    }
    if (process) await_all(&jobs, process);
    const double ended = seconds_of(CLOCK_MONOTONIC);
    const struct usage end = process ? usage_of(process) : (struct usage){0};
    printf("{\"jobs\":%zu,\"cpu_seconds\":%.4f,\"user_seconds\":%.2f,\"system_seconds\":%.2f,\"drop_seconds\":%.4f,"
           "\"wall_seconds\":%.4f,\"peak_kib\":%ld,\"dropped_at\":%.6f}\n",
        jobs.count, end.cpu - start.cpu, end.user - start.user, end.system - start.system, drop_seconds,
        ended - began, process ? peak_of(process) : 0, began_at);
    return 0;
}
