import TestSupport

/// Makes system calls of a daemon misbehave in ways that its own failpoints do not know: a library before libc's.
struct Sabotage: Sendable {
    /// What is done wrong, all the time unless it says otherwise.
    enum Fault: String, Sendable {
        /// The next fsync(2) or fdatasync(2) fails with EIO, and all after it succeed; not of a new file, which is written again,
        /// such as the mark of the first acceptance, nor of a job, which waits.
        case syncOnce = "sync-once"
        /// Each fsync(2) of a new file, and each syncfs(2), fails with ENOSPC: a file server tells only then that it is full.
        case fullServer = "full-server"
        /// The next fsync(2) of a new file fails with EIO.
        case newFileOnce = "new-file-once"
        /// The next syncfs(2) fails with EIO.
        case syncAllOnce = "sync-all-once"
        /// Each fsync(2) of `new/j13.json` fails with EIO.
        case syncOfJob = "sync-of-job"
        /// Each fsync(2) of a result file takes 50 ms.
        case slowResult = "slow-result"
        /// The next fsync(2) of `new/j13.json` takes this away, and comes back once there is `letGo`.
        case heldSyncOfJob = "held-sync-of-job"
        /// Lets that call go on.
        case letGo = "let-go"
        /// Reads and writes of files do a few bytes at a time, and every third call is interrupted.
        case short
        /// The process aborts when it reads a file with `PUSHSPOOL-POISON` in it.
        case poison
        /// Every rename is said to have been made and is not.
        case lyingRename = "lying-rename"
        /// Every rename is made and said to have failed with EIO.
        case deniedRename = "denied-rename"
    }

    private let library: SabotageLibrary

    /// Builds the library in the bench's folder.
    init(on bench: Bench) async throws {
        library = try await SabotageLibrary(Self.source, in: bench.home + "/sabotage")
    }

    /// What makes a program use the library.
    var environment: [String: String] { library.environment }

    func begin(_ fault: Fault) throws { try library.begin(fault) }

    func end(_ fault: Fault) throws { try library.end(fault) }

    /// Whether it goes on; `syncOnce` ends by itself.
    func isOn(_ fault: Fault) -> Bool { library.isOn(fault) }

    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <stdarg.h>
        #include <stdatomic.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/stat.h>
        #include <sys/syscall.h>
        #include <unistd.h>

        static const char *path_of(const char *name, char *path, size_t size) {
            snprintf(path, size, "%s/%s", getenv("SABOTAGE"), name);
            return path;
        }

        static int is_on(const char *name) {
            char path[4096];
            return access(path_of(name, path, sizeof path), F_OK) == 0;
        }

        // Whether this call is the one that takes the flag away.
        static int takes(const char *name) {
            char path[4096];
            return is_on(name) && unlink(path_of(name, path, sizeof path)) == 0;
        }

        static int is_file(int descriptor) {
            struct stat status;
            return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
        }

        // The path of an open file; empty if it cannot be read.
        static const char *path_at(int descriptor, char *path, size_t size) {
            char link[64];
            snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
            ssize_t length = readlink(link, path, size - 1);
            path[length < 0 ? 0 : length] = 0;
            return path;
        }

        // Whether a file's path has a part.
        static int is_at(int descriptor, const char *part) {
            char path[4096];
            return strstr(path_at(descriptor, path, sizeof path), part) != NULL;
        }

        // Whether a file does not have its name yet: a hidden one, a result, or the end of a log of refs.
        static int is_new(int descriptor) {
            char path[4096];
            const char *name = strrchr(path_at(descriptor, path, sizeof path), '/');
            return (name && name[1] == '.' && is_file(descriptor)) || is_at(descriptor, ".result") || is_at(descriptor, "/dedupe/");
        }

        static int refuses(int descriptor) {
            if (is_on("full-server") && is_new(descriptor)) {
                errno = ENOSPC;
                return 1;
            }
            if (is_new(descriptor) && takes("new-file-once")) {
                errno = EIO;
                return 1;
            }
            int fails = is_on("sync-of-job") && is_at(descriptor, "/new/j13.json");
            int isSpared = is_new(descriptor) || is_at(descriptor, "/new/");
            if (!fails && (isSpared || !takes("sync-once"))) return 0;
            errno = EIO;
            return 1;
        }

        int fsync(int descriptor) {
            int (*next)(int) = dlsym(RTLD_NEXT, "fsync");
            if (is_on("slow-result") && is_at(descriptor, ".result")) usleep(50000);
            if (is_at(descriptor, "/new/j13.json") && takes("held-sync-of-job"))
                while (!is_on("let-go")) usleep(10000);
            return refuses(descriptor) ? -1 : next(descriptor);
        }

        int fdatasync(int descriptor) {
            int (*next)(int) = dlsym(RTLD_NEXT, "fdatasync");
            return refuses(descriptor) ? -1 : next(descriptor);
        }

        static atomic_uint calls;

        // The length that a call may have; 0: it is interrupted.
        static size_t cut(int descriptor, size_t count) {
            if (count < 2 || !is_on("short") || !is_file(descriptor)) return count;
            unsigned call = calls++;
            if (call % 3 == 0) return 0;
            size_t most = 1 + call % 4093;
            return count < most ? count : most;
        }

        static ssize_t interrupted(void) {
            errno = EINTR;
            return -1;
        }

        static ssize_t tasted(const void *bytes, ssize_t count) {
            static const char poison[] = "PUSHSPOOL-POISON";
            if (count > 0 && is_on("poison") && memmem(bytes, count, poison, sizeof poison - 1)) abort();
            return count;
        }

        ssize_t read(int descriptor, void *bytes, size_t count) {
            ssize_t (*next)(int, void *, size_t) = dlsym(RTLD_NEXT, "read");
            size_t allowed = cut(descriptor, count);
            return allowed || !count ? tasted(bytes, next(descriptor, bytes, allowed)) : interrupted();
        }

        ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset) {
            ssize_t (*next)(int, void *, size_t, off_t) = dlsym(RTLD_NEXT, "pread");
            size_t allowed = cut(descriptor, count);
            return allowed || !count ? tasted(bytes, next(descriptor, bytes, allowed, offset)) : interrupted();
        }

        ssize_t write(int descriptor, const void *bytes, size_t count) {
            ssize_t (*next)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
            size_t allowed = cut(descriptor, count);
            return allowed || !count ? next(descriptor, bytes, allowed) : interrupted();
        }

        ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
            ssize_t (*next)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
            size_t allowed = cut(descriptor, count);
            return allowed || !count ? next(descriptor, bytes, allowed, offset) : interrupted();
        }

        long syscall(long number, ...) {
            long (*next)(long, ...) = dlsym(RTLD_NEXT, "syscall");
            va_list list;
            long a[6];
            va_start(list, number);
            for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
            va_end(list);
            if (number == SYS_renameat2 && is_on("lying-rename")) return 0;
            if (number == SYS_syncfs && is_on("full-server")) {
                errno = ENOSPC;
                return -1;
            }
            if (number == SYS_syncfs && takes("sync-all-once")) {
                errno = EIO;
                return -1;
            }
            long result = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
            if (number != SYS_renameat2 || !is_on("denied-rename")) return result;
            errno = EIO;
            return -1;
        }
        """
}
