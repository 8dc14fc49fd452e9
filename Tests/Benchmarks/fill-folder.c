/* Fills a folder with empty files: what an archive looks like after a long time, to all who look for names in it.
 *
 * usage: fill-folder FOLDER COUNT */
#include "jobs.h"

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: fill-folder FOLDER COUNT\n");
        return 64;
    }
    const int folder = open_folder(AT_FDCWD, argv[1]);
    const uint64_t count = strtoull(argv[2], NULL, 10);
    char name[NAME_SIZE];
    for (uint64_t number = 0; number < count; number++) {
        snprintf(name, sizeof name, "old-%08llu.json", (unsigned long long)number);
        if (mknodat(folder, name, S_IFREG | 0644, 0) != 0) stop("cannot create %s", name);
    }
    if (syncfs(folder) != 0) stop("cannot sync");
    return 0;
}
