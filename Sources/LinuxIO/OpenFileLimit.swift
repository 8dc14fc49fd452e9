import CLinux
import Synchronization

/// The limit on open files of this process (RLIMIT_NOFILE, getrlimit(2)).
package enum OpenFileLimit {
    /// Returns the hard limit, up to which the process can raise its limit itself.
    ///
    /// - Throws: `SystemError`; not expected.
    package static func most() throws(SystemError) -> Int {
        var limit = rlimit()
        let status = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        guard status == 0 else { throw .last("getrlimit") }
        return Int(clamping: limit.rlim_max)
    }

    /// Raises the limit to the hard limit, and reserves the last descriptors for code that cannot do without. From now
    /// on, `Descriptor(opened:_:_:)` fails with EMFILE if fewer than `reserve` would be left.
    ///
    /// The usual soft limit of 1024 is for programs that use select(2). libdispatch, where it runs Swift's tasks, ends the
    /// process (SIGILL) when it gets no descriptor: it opens epoll(7) and timers on first use, and once a second the status of
    /// each of its threads. Opening our own files for writing is exempt from the reserve, because writing them makes room.
    ///
    /// - Parameter reserve: how many descriptors to reserve.
    /// - Returns: the limit now.
    /// - Throws: `SystemError`: the limit is unchanged and nothing is reserved. Continue without the reserve.
    @discardableResult
    package static func raise(keeping reserve: Int) throws(SystemError) -> Int {
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard unsafe getrlimit(files, &limit) == 0 else { throw .last("getrlimit") }
        if limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max
            guard unsafe setrlimit(files, &limit) == 0 else { throw .last("setrlimit") }
        }
        let most = Int(clamping: limit.rlim_cur)
        ceiling.store(Int32(clamping: max(0, most - reserve)), ordering: .relaxed)
        return most
    }

    /// Counts the open descriptors of the process. Opens one itself during the call.
    ///
    /// - Throws: `SystemError`: /proc is missing, or no descriptor is left.
    package static func openCount() throws(SystemError) -> Int {
        try Directory.open(path: "/proc/self/fd").names().count - 2
    }

    /// The lowest descriptor number that only exempt code may use. The kernel assigns the lowest free number, so
    /// getting this one means that fewer than the reserve are left.
    static let ceiling = Atomic<Int32>(.max)
}
