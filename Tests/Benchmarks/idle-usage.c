/* Watches a process that should do nothing.
 *
 * usage: idle-usage PID SECONDS
 *
 * Prints one JSON object: the processor time that the process used in that time, how often its threads woke up in all and how
 * often the most wakeful did, how many threads it has, and its memory: resident now, of that its own (not mapped files), and the
 * most it ever had. A wake-up is a voluntary context switch: a thread went to sleep again after having run. */
#include "jobs.h"

enum { THREAD_LIMIT = 256 };

/* What the threads of a process have slept so far. */
struct sleeps {
    size_t count;
    long thread[THREAD_LIMIT], sleeps[THREAD_LIMIT];
};

/* A number in a file of keys and values; -1 if it is not there. */
static long value_in(const char *path, const char *format) {
    char line[256];
    long value = -1;
    FILE *file = fopen(path, "re");
    if (!file) return -1;
    while (value < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, format, &value) != 1) value = -1;
    fclose(file);
    return value;
}

static struct sleeps sleeps_of(pid_t process) {
    struct sleeps all = {0};
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/proc/%d/task", process);
    const struct names threads = names_in(AT_FDCWD, path);
    for (size_t index = 0; index < threads.count && index < THREAD_LIMIT; index++) {
        snprintf(path, sizeof path, "/proc/%d/task/%s/status", process, threads.each[index]);
        all.thread[all.count] = strtol(threads.each[index], NULL, 10);
        all.sleeps[all.count++] = value_in(path, "voluntary_ctxt_switches: %ld");
    }
    return all;
}

/* How often a thread has slept; 0 if it was not there. */
static long sleeps_in(const struct sleeps *all, long thread) {
    for (size_t index = 0; index < all->count; index++)
        if (all->thread[index] == thread) return all->sleeps[index];
    return 0;
}

static double cpu_of(pid_t process) {
    clockid_t clock;
    if (clock_getcpuclockid(process, &clock) != 0) stop("process %d has no clock", process);
    return seconds_of(clock);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: idle-usage PID SECONDS\n");
        return 64;
    }
    const pid_t process = atoi(argv[1]);
    const unsigned seconds = strtoul(argv[2], NULL, 10);
    char status[64];
    snprintf(status, sizeof status, "/proc/%d/status", process);
    const struct sleeps before = sleeps_of(process);
    const double cpu = cpu_of(process);
    sleep(seconds);
    const double spent = cpu_of(process) - cpu;
    const struct sleeps after = sleeps_of(process);
    long total = 0, most = 0;
    for (size_t index = 0; index < after.count; index++) {
        const long more = after.sleeps[index] - sleeps_in(&before, after.thread[index]);
        total += more;
        if (more > most) most = more;
    }
    printf("{\"seconds\":%u,\"cpu_seconds\":%.6f,\"wakeups\":%ld,\"most_of_a_thread\":%ld,\"threads\":%zu,"
           "\"resident_kib\":%ld,\"own_kib\":%ld,\"peak_kib\":%ld}\n",
        seconds, spent, total, most, after.count, value_in(status, "VmRSS: %ld"), value_in(status, "RssAnon: %ld"),
        value_in(status, "VmHWM: %ld"));
    return 0;
}
