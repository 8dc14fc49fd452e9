// C declarations that Swift's Glibc module does not offer: epoll, signalfd, timerfd, socket structures defined through
// macros, a few newer system calls, functions that glibc declares for _GNU_SOURCE only, and a hook of Swift's runtime. Each
// needs one commented inline or include.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <malloc.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// strerrorname_np(3), strerrordesc_np(3): declared for _GNU_SOURCE only. Both return null for a number that glibc does
// not know.
extern const char *strerrorname_np(int code);
extern const char *strerrordesc_np(int code);
static inline const char *clinux_error_name(int code) { return strerrorname_np(code); }
static inline const char *clinux_error_reason(int code) { return strerrordesc_np(code); }

// --- sockets and the reactor ---------------------------------------------------------------------------------------

// accept4(2), pipe2(2), pthread_setname_np(3): declared for _GNU_SOURCE only.
extern int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
extern int pipe2(int ends[2], int flags);
extern int pthread_setname_np(pthread_t thread, const char *name);
static inline int clinux_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }
static inline int clinux_accept(int fd) { return accept4(fd, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC); }
static inline void clinux_name_this_thread(const char *name) { (void)pthread_setname_np(pthread_self(), name); }

// sched_getaffinity(2): glibc declares cpu_set_t and CPU_COUNT for _GNU_SOURCE only. The number of processors that this
// process may use, of up to 1,024.
static inline int clinux_processor_count(void) {
    unsigned long set[1024 / (8 * sizeof(unsigned long))] = {0};
    const long size = syscall(SYS_sched_getaffinity, 0, sizeof set, set);
    int count = 0;
    for (long index = 0; index < size / (long)sizeof set[0]; index++) count += __builtin_popcountl(set[index]);
    return count > 0 ? count : 1;
}

// struct epoll_event contains a union and is packed on x86-64. These inlines pass one word of user data; arrays stay in C.
static inline int clinux_epoll_control(int epoll, int operation, int fd, uint32_t events, uint64_t tag) {
    struct epoll_event event;
    memset(&event, 0, sizeof event);
    event.events = events;
    event.data.u64 = tag;
    return epoll_ctl(epoll, operation, fd, &event);
}
static inline uint64_t clinux_epoll_tag(const struct epoll_event *event) { return event->data.u64; }
static inline uint32_t clinux_epoll_events(const struct epoll_event *event) { return event->events; }

// C declares the EPOLL constants in an anonymous enum, which Swift imports under a separate type.
enum : uint32_t {
    clinux_epoll_in = EPOLLIN,
    clinux_epoll_out = EPOLLOUT,
    clinux_epoll_rdhup = EPOLLRDHUP,
    clinux_epoll_hup = EPOLLHUP,
    clinux_epoll_err = EPOLLERR,
    clinux_epoll_edge = 1u << 31,
};

// ioctl(2) is variadic. SIOCOUTQ counts the bytes of a TCP socket that the peer's kernel has not acknowledged yet.
static inline int clinux_unacknowledged(int fd, int *count) { return ioctl(fd, SIOCOUTQ, count); }

// connect(2) to AF_UNSPEC ends a TCP connection. The peer gets a reset whether or not bytes are unread or unsent.
static inline int clinux_disconnect(int fd) {
    struct sockaddr nothing;
    memset(&nothing, 0, sizeof nothing);
    nothing.sa_family = AF_UNSPEC;
    return connect(fd, &nothing, sizeof nothing);
}

// SOCK_* are an enumeration in C; TCP options are missing from Swift's module map.
static inline int clinux_stream_socket(int family) {
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}
enum {
    clinux_tcp_nodelay = TCP_NODELAY,
    clinux_tcp_keepidle = TCP_KEEPIDLE,
    clinux_tcp_keepintvl = TCP_KEEPINTVL,
    clinux_tcp_keepcnt = TCP_KEEPCNT,
    clinux_tcp_user_timeout = TCP_USER_TIMEOUT,
    clinux_ipproto_tcp = IPPROTO_TCP,
    clinux_ipproto_ipv6 = IPPROTO_IPV6,
};

// unix(7): the address of a local socket is a path of at most 107 bytes. A longer path fails with ENAMETOOLONG.
static inline int clinux_local_address(struct sockaddr_un *address, const char *path) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address->sun_path, path);
    return 0;
}
static inline int clinux_bind_local(int fd, const char *path) {
    struct sockaddr_un address;
    if (clinux_local_address(&address, path) != 0) return -1;
    return bind(fd, (const struct sockaddr *)&address, sizeof address);
}
static inline int clinux_connect_local(int fd, const char *path) {
    struct sockaddr_un address;
    if (clinux_local_address(&address, path) != 0) return -1;
    return connect(fd, (const struct sockaddr *)&address, sizeof address);
}

// getaddrinfo(3): two of its errors are declared for _GNU_SOURCE only. The values are glibc's.
enum {
    clinux_eai_nodata = -5,
    clinux_eai_addrfamily = -9,
    clinux_sock_stream = SOCK_STREAM,
};

// pidfd_open(2): glibc 2.36 declares it in a header that Swift's module map lacks. Fails with ENOSYS before Linux 5.3.
static inline int clinux_process_descriptor(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

// posix_spawn_file_actions_addclosefrom_np(3): glibc 2.34, declared for _DEFAULT_SOURCE only.
#include <spawn.h>
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
static inline int clinux_spawn_closing(posix_spawn_file_actions_t *actions, int from) {
    return posix_spawn_file_actions_addclosefrom_np(actions, from);
}

// timerfd_settime(2), one shot. In C because the module that owns the members of its structure depends on the other imports.
static inline int clinux_set_timer(int fd, int64_t seconds, long nanoseconds) {
    struct itimerspec setting = {{0, 0}, {(time_t)seconds, nanoseconds}};
    return timerfd_settime(fd, 0, &setting, 0);
}

// signalfd(2): the flags are an enumeration in C.
static inline int clinux_signalfd(const sigset_t *set) { return signalfd(-1, set, SFD_NONBLOCK | SFD_CLOEXEC); }

// A blocking local socket. connect(2) and send(2) wait at most `seconds`, and then fail with EAGAIN (unix(7),
// SO_SNDTIMEO). SOCK_* are an enumeration in C.
static inline int clinux_waiting_local_socket(int seconds) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval limit = {seconds, 0};
    if (fd >= 0) (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return fd;
}

// SO_PEERCRED: struct ucred is declared for _GNU_SOURCE only. It consists of these three numbers.
static inline int clinux_peer(int fd, int32_t *process, uint32_t *user) {
    struct { int32_t process; uint32_t user, group; } peer;
    socklen_t length = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return -1;
    *process = peer.process;
    *user = peer.user;
    return 0;
}

// getgrnam_r(3): its structure of pointers stays in C. Returns 1 if the group exists, 0 if not, -1 on error.
#include <grp.h>
static inline int clinux_group(const char *name, uint32_t *number) {
    struct group entry, *found = 0;
    char room[16384];
    int code = getgrnam_r(name, &entry, room, sizeof room, &found);
    if (code != 0) {
        errno = code;
        return -1;
    }
    if (!found) return 0;
    *number = entry.gr_gid;
    return 1;
}

// getpwuid_r(3): its structure of pointers stays in C. Returns 1 and the name if the user has one, else 0.
#include <pwd.h>
static inline int clinux_user_name(uint32_t number, char *name, size_t size) {
    struct passwd entry, *found = 0;
    char room[16384];
    if (getpwuid_r(number, &entry, room, sizeof room, &found) != 0 || !found) return 0;
    if (strlen(entry.pw_name) >= size) return 0;
    strcpy(name, entry.pw_name);
    return 1;
}

// --- files -----------------------------------------------------------------------------------------------------------

#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

// An access control list (acl(5)) as the kernel stores it. Follows no link.
static inline ssize_t clinux_access_list(const char *path, uint8_t *bytes, size_t count) {
    return lgetxattr(path, "system.posix_acl_access", bytes, count);
}

// openat2(2): glibc 2.36 has no wrapper. Fails with ENOSYS before Linux 5.6, and with EPERM in some sandboxes.
static inline int clinux_open_beneath(int directory, const char *name, uint64_t flags) {
    struct open_how how;
    memset(&how, 0, sizeof how);
    how.flags = flags;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
    return (int)syscall(SYS_openat2, directory, name, &how, sizeof how);
}

// statx(2): declared for _GNU_SOURCE only. AT_STATX_DONT_SYNC (0x4000) returns what the kernel knows without asking a
// file server, which may never answer.
#include <linux/stat.h>
#include <sys/sysmacros.h>
static inline int clinux_identity(int directory, const char *name, uint64_t *device, uint64_t *inode) {
    struct statx status;
    memset(&status, 0, sizeof status);
    if (syscall(SYS_statx, directory, name, AT_SYMLINK_NOFOLLOW | 0x4000, STATX_INO, &status) != 0) return -1;
    *device = makedev(status.stx_dev_major, status.stx_dev_minor);
    *inode = status.stx_ino;
    return 0;
}

// Creation time of an open file, in nanoseconds since 1970. Returns 1 if the filesystem records it, 0 if not, -1 on error.
static inline int clinux_birth_time(int file, int64_t *time) {
    struct statx status;
    memset(&status, 0, sizeof status);
    // AT_EMPTY_PATH.
    if (syscall(SYS_statx, file, "", 0x1000, STATX_BTIME, &status) != 0) return -1;
    if (!(status.stx_mask & STATX_BTIME)) return 0;
    if (__builtin_mul_overflow((int64_t)status.stx_btime.tv_sec, INT64_C(1000000000), time)
        || __builtin_add_overflow(*time, (int64_t)status.stx_btime.tv_nsec, time)) {
        *time = status.stx_btime.tv_sec < 0 ? INT64_MIN : INT64_MAX;
    }
    return 1;
}

// renameat2(2): declared for _GNU_SOURCE only. The flag is RENAME_NOREPLACE.
static inline int clinux_rename_noreplace(int from, const char *name, int to, const char *new_name) {
    return (int)syscall(SYS_renameat2, from, name, to, new_name, 1u);
}

// mallopt(3): its constants are macros of malloc.h.
static inline void clinux_map_blocks_from(int size) {
    mallopt(M_MMAP_THRESHOLD, size);
    mallopt(M_TRIM_THRESHOLD, 2 * size);
}

// getdents64(2): declared for _GNU_SOURCE only. The caller decodes its records as bytes.
static inline long clinux_list(int directory, void *block, size_t size) {
    return syscall(SYS_getdents64, directory, block, size);
}

// fcntl(2) is variadic; F_SETLEASE (1024) and F_OFD_SETLK (37) are declared for _GNU_SOURCE only.
static inline int clinux_set_lease(int fd, int type) { return fcntl(fd, 1024, type); }
static inline int clinux_set_lock(int fd, short type) {
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    return fcntl(fd, 37, &lock);
}

static inline int clinux_lock_whole(int fd) { return clinux_set_lock(fd, F_WRLCK); }

static inline int clinux_unlock_whole(int fd) { return clinux_set_lock(fd, F_UNLCK); }

// F_OFD_GETLK (36): finds a lock that conflicts with a write lock of the whole file. Takes no lock.
static inline int clinux_find_lock(int fd, int *is_locked) {
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (fcntl(fd, 36, &lock) != 0) return -1;
    *is_locked = lock.l_type != F_UNLCK;
    return 0;
}

// adjtimex(2), read only. Returns 1 if the clock is synchronized, 0 if it is not, -1 if the kernel does not answer.
#include <sys/timex.h>
static inline int clinux_clock_state(long *maximum_error) {
    struct timex state;
    memset(&state, 0, sizeof state);
    int code = adjtimex(&state);
    if (code < 0) return -1;
    *maximum_error = state.maxerror;
    return code == TIME_ERROR || (state.status & STA_UNSYNC) ? 0 : 1;
}

// SIG_IGN contains a cast, which Swift does not import.
static inline void clinux_ignore_lease_breaks(void) { (void)signal(SIGIO, SIG_IGN); }

// fstatfs(2): missing from Swift's module map, and its field types differ between architectures.
struct clinux_filesystem {
    uint64_t type, block_size, blocks, available_blocks, files, free_files;
};
static inline int clinux_describe_filesystem(int fd, struct clinux_filesystem *result) {
    struct statfs raw;
    if (fstatfs(fd, &raw) != 0) return -1;
    result->type = (uint32_t)raw.f_type;
    result->block_size = raw.f_frsize ? (uint64_t)raw.f_frsize : (uint64_t)raw.f_bsize;
    result->blocks = raw.f_blocks;
    result->available_blocks = raw.f_bavail;
    result->files = raw.f_files;
    result->free_files = raw.f_ffree;
    return 0;
}

// posix_fallocate(3) returns its error instead of setting errno.
static inline int clinux_allocate(int fd, off_t size) {
    int code = posix_fallocate(fd, 0, size);
    if (code == 0) return 0;
    errno = code;
    return -1;
}

// fallocate(2), syncfs(2): declared for _GNU_SOURCE only. FALLOC_FL_PUNCH_HOLE requires FALLOC_FL_KEEP_SIZE.
static inline int clinux_punch(int fd, off_t offset, off_t size) {
    return (int)syscall(SYS_fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, size);
}
static inline int clinux_sync_filesystem(int fd) { return (int)syscall(SYS_syncfs, fd); }

// ioctl(2) is variadic, and its numbers are macros that Swift does not import.
static inline int clinux_set_no_copy_on_write(int fd) {
    int flags = 0;
    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) return -1;
    flags |= FS_NOCOW_FL;
    return ioctl(fd, FS_IOC_SETFLAGS, &flags);
}

// poll(2) on two descriptors without a time limit. Returns 1 if the first is readable, 2 if the second is, 3 for both,
// -1 on error.
static inline int clinux_wait_readable(int first, int second) {
    struct pollfd both[2] = {{first, POLLIN, 0}, {second, POLLIN, 0}};
    if (poll(both, 2, -1) < 0) return -1;
    return (both[0].revents ? 1 : 0) | (both[1].revents ? 2 : 0);
}

// poll(2) on one descriptor. Returns 1 if it is readable, 0 on timeout, -1 on error (EINTR after a signal).
static inline int clinux_wait_readable_until(int fd, int milliseconds) {
    struct pollfd one = {fd, POLLIN, 0};
    return poll(&one, 1, milliseconds);
}

// eventfd(2), inotify_init1(2): the flags are enumerations in C.
static inline int clinux_eventfd(void) { return eventfd(0, EFD_CLOEXEC); }
static inline int clinux_inotify(void) { return inotify_init1(IN_CLOEXEC | IN_NONBLOCK); }

// --- the process and who started it -----------------------------------------------------------------------------------

#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/un.h>

// Opens a datagram socket whose sends wait at most `seconds` for a reader whose queue is full.
static inline int clinux_datagram_socket(int seconds) {
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct timeval limit = {seconds, 0};
    if (fd >= 0) (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return fd;
}

// sendto(2) to a named Unix socket. The name has no NUL at its end; a name in the abstract namespace begins with a NUL
// (unix(7)). In C because Swift imports sun_path as a tuple.
static inline ssize_t clinux_send_to(int fd, const void *name, size_t length, const void *bytes, size_t count,
                                     int waits) {
    struct sockaddr_un address;
    memset(&address, 0, sizeof address);
    if (length > sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    address.sun_family = AF_UNIX;
    memcpy(address.sun_path, name, length);
    return sendto(fd, bytes, count, MSG_NOSIGNAL | (waits ? 0 : MSG_DONTWAIT), (const struct sockaddr *)&address,
                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
}

// prctl(2) is variadic.
static inline int clinux_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

// --- checksums -------------------------------------------------------------------------------------------------------

// The processor's instruction for CRC-32C (SSE 4.2, ARMv8). A compiler uses it only where the target says so, and not every
// processor has it: ask first.
#if defined(__aarch64__)
#include <sys/auxv.h>
static inline int clinux_has_crc32c(void) { return (getauxval(AT_HWCAP) & (1ul << 7)) != 0; }  // HWCAP_CRC32
#define CLINUX_CRC32C __attribute__((target("crc")))
#define clinux_crc32c_word __builtin_arm_crc32cd
#define clinux_crc32c_byte __builtin_arm_crc32cb
#else
static inline int clinux_has_crc32c(void) { return __builtin_cpu_supports("sse4.2"); }
#define CLINUX_CRC32C __attribute__((target("sse4.2")))
#define clinux_crc32c_word __builtin_ia32_crc32di
#define clinux_crc32c_byte __builtin_ia32_crc32qi
#endif
CLINUX_CRC32C static inline uint32_t clinux_crc32c(const uint8_t *bytes, size_t count) {
    uint32_t value = ~0u;
    uint64_t word;
    for (; count >= sizeof word; bytes += sizeof word, count -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        value = (uint32_t)clinux_crc32c_word(value, word);
    }
    for (; count > 0; bytes++, count--) value = clinux_crc32c_byte(value, *bytes);
    return ~value;
}

// --- terminals -------------------------------------------------------------------------------------------------------

#include <termios.h>

// termios(3): Swift imports the array c_cc as a tuple. The first call saves the terminal's modes, the second restores them.
struct clinux_terminal {
    struct termios modes;
};
static inline int clinux_keys_at_once(int fd, struct clinux_terminal *before) {
    if (tcgetattr(fd, &before->modes) != 0) return -1;
    struct termios now = before->modes;
    now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    now.c_cc[VMIN] = 0;
    now.c_cc[VTIME] = 0;
    return tcsetattr(fd, TCSADRAIN, &now);
}
static inline int clinux_restore_terminal(int fd, const struct clinux_terminal *before) {
    return tcsetattr(fd, TCSADRAIN, &before->modes);
}

// ioctl(2) is variadic.
static inline int clinux_terminal_size(int fd, int *columns, int *rows) {
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0) return -1;
    *columns = size.ws_col;
    *rows = size.ws_row;
    return 0;
}

// poll(2) on two descriptors, one of which may be -1. Returns 1 if the first is readable, 2 if the second is, 3 for
// both, 0 on timeout, -1 on error (EINTR after a signal).
static inline int clinux_wait_either_until(int first, int second, int milliseconds) {
    struct pollfd both[2] = {{first, POLLIN, 0}, {second, POLLIN, 0}};
    if (poll(both, 2, milliseconds) < 0) return -1;
    return (both[0].revents ? 1 : 0) | (both[1].revents ? 2 : 0);
}

// poll(2) without a time limit. Returns 1 if the first descriptor is readable, 2 if the second takes bytes or is broken, 3
// for both, -1 on error.
static inline int clinux_wait_read_or_write(int readable, int writable) {
    struct pollfd both[2] = {{readable, POLLIN, 0}, {writable, POLLOUT, 0}};
    if (poll(both, 2, -1) < 0) return -1;
    return (both[0].revents ? 1 : 0) | (both[1].revents ? 2 : 0);
}

// --- Swift's runtime -----------------------------------------------------------------------------------------------

// swift_task_enqueueGlobal_hook (swift/Runtime/Concurrency.h): the runtime calls it, instead of libdispatch's pool, with
// each task that runs on no executor of its own. Set it before the first task; the function must be callable on any thread.
// swift_job_run runs such a task on the calling thread until it suspends; two zeros stand for no executor.
extern __attribute__((swiftcall)) void (*swift_task_enqueueGlobal_hook)(void *task, void *pool);
extern __attribute__((swiftcall)) void swift_job_run(void *task, void *executor, uintptr_t kind);
typedef void (*clinux_taker)(void *task);
static inline clinux_taker clinux_task_taker(clinux_taker taker) {
    static clinux_taker current;
    if (taker) current = taker;
    return current;
}
static __attribute__((swiftcall)) void clinux_pass_task(void *task, void *pool) {
    (void)pool;
    clinux_task_taker(0)(task);
}
static inline void clinux_take_tasks(clinux_taker taker) {
    clinux_task_taker(taker);
    swift_task_enqueueGlobal_hook = clinux_pass_task;
}
static inline void clinux_run_task(void *task) { swift_job_run(task, 0, 0); }
