/* What the programs that drop jobs share: folders, files, and time. */
#ifndef JOBS_H
#define JOBS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAME_SIZE = 256, PATH_SIZE = 4096 };

/* Prints what failed and why, and exits with status 1. */
__attribute__((noreturn, format(printf, 1, 2))) static inline void stop(const char *format, ...) {
    const int number = errno;
    va_list arguments;
    va_start(arguments, format);
    fputs("error: ", stderr);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, number ? ": %s\n" : "\n", strerror(number));
    exit(1);
}

/* The time of a clock, in seconds. */
static inline double seconds_of(clockid_t clock) {
    struct timespec now;
    if (clock_gettime(clock, &now) != 0) stop("cannot read a clock");
    return now.tv_sec + now.tv_nsec / 1e9;
}

/* Opens a folder that must be there. */
static inline int open_folder(int at, const char *path) {
    const int folder = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) stop("cannot open the folder %s", path);
    return folder;
}

/* The names in a folder in the order of their bytes, without those that begin with a dot. */
struct names {
    size_t count, capacity;
    char (*each)[NAME_SIZE];
};

static inline void add_name(struct names *names, const char *name) {
    if (names->count == names->capacity) {
        names->capacity = names->capacity ? 2 * names->capacity : 1024;
        names->each = realloc(names->each, names->capacity * NAME_SIZE);
        if (!names->each) stop("no memory for names");
    }
    snprintf(names->each[names->count++], NAME_SIZE, "%s", name);
}

static inline int compare_names(const void *one, const void *other) { return strcmp(one, other); }

static inline struct names names_in(int at, const char *path) {
    struct names names = {0};
    DIR *folder = fdopendir(open_folder(at, path));
    if (!folder) stop("cannot list %s", path);
    for (struct dirent *entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.') add_name(&names, entry->d_name);
    closedir(folder);
    if (names.count) qsort(names.each, names.count, NAME_SIZE, compare_names);
    return names;
}

/* Today's name as archives have it, in UTC. */
static inline void name_today(char day[11]) {
    const time_t now = time(NULL);
    strftime(day, 11, "%Y-%m-%d", gmtime(&now));
}

#endif
