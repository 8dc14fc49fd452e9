import TestSupport

/// Makes system calls of a daemon fail, or the daemon die at one, when the test says so: a library in front of libc's.
struct Sabotage: Sendable {
    /// What can go wrong, and does while there is a file of this name.
    enum Fault: String {
        /// fdatasync(2) fails with EIO.
        case fdatasync
        /// fsync(2) does not come back.
        case fsync
        /// pread(2) fails with EIO, but at the beginning of a file.
        case pread
        /// signalfd(2) fails with EMFILE.
        case signalfd
        /// The process dies at the rename to the name that the file holds.
        case rename
        /// The time of day is so many seconds ahead, or behind with a minus; looked at when the program starts.
        case clock
        /// The time of day is so many seconds ahead, or behind with a minus, from then on: the clock is set.
        case step
    }

    private let library: SabotageLibrary

    /// Builds the library in the bench's folder.
    init(on bench: Bench) async throws {
        library = try await SabotageLibrary(Self.source, in: bench.path + "/sabotage")
    }

    /// What makes a program use the library, as arguments of env(1).
    var environment: [String] { library.environment.map { "\($0)=\($1)" } }

    func begin(_ fault: Fault, _ detail: String = "") throws { try library.begin(fault, detail) }

    func end(_ fault: Fault) throws { try library.end(fault) }

    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <signal.h>
        #include <stdarg.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/signalfd.h>
        #include <sys/syscall.h>
        #include <time.h>
        #include <unistd.h>

        static int flag(const char *name) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", getenv("SABOTAGE"), name);
            return open(path, O_RDONLY | O_CLOEXEC);
        }

        static int fails(const char *name, int code) {
            int descriptor = flag(name);
            if (descriptor < 0) return 0;
            close(descriptor);
            errno = code;
            return 1;
        }

        static void die_at(const char *name) {
            char wanted[256] = {0};
            int descriptor = flag("rename");
            if (descriptor < 0) return;
            ssize_t count = read(descriptor, wanted, sizeof wanted - 1);
            close(descriptor);
            if (count > 0 && strcmp(wanted, name) == 0) raise(SIGKILL);
        }

        int fdatasync(int descriptor) {
            int (*next)(int) = dlsym(RTLD_NEXT, "fdatasync");
            return fails("fdatasync", EIO) ? -1 : next(descriptor);
        }

        int fsync(int descriptor) {
            int (*next)(int) = dlsym(RTLD_NEXT, "fsync");
            int found = flag("fsync");
            if (found < 0) return next(descriptor);
            for (;;) pause();
        }

        ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset) {
            ssize_t (*next)(int, void *, size_t, off_t) = dlsym(RTLD_NEXT, "pread");
            return offset > 0 && fails("pread", EIO) ? -1 : next(descriptor, bytes, count, offset);
        }

        int signalfd(int descriptor, const sigset_t *set, int flags) {
            int (*next)(int, const sigset_t *, int) = dlsym(RTLD_NEXT, "signalfd");
            return fails("signalfd", EMFILE) ? -1 : next(descriptor, set, flags);
        }

        static long seconds_of(const char *name) {
            char seconds[32] = {0};
            int descriptor = flag(name);
            if (descriptor < 0) return 0;
            ssize_t count = read(descriptor, seconds, sizeof seconds - 1);
            close(descriptor);
            return count > 0 ? atol(seconds) : 0;
        }

        int clock_gettime(clockid_t clock, struct timespec *time) {
            static int (*next)(clockid_t, struct timespec *);
            static long ahead;
            static int is_known;
            if (!next) next = dlsym(RTLD_NEXT, "clock_gettime");
            if (!is_known) {
                ahead = seconds_of("clock");
                is_known = 1;
            }
            int code = next(clock, time);
            if (clock == CLOCK_REALTIME) time->tv_sec += ahead + seconds_of("step");
            return code;
        }

        long syscall(long number, ...) {
            long (*next)(long, ...) = dlsym(RTLD_NEXT, "syscall");
            va_list list;
            long a[6];
            va_start(list, number);
            for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
            va_end(list);
            if (number == SYS_renameat2) die_at((const char *)a[3]);
            return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
        }
        """
}
