import CLinux
import Glibc
import Synchronization

/// How many files this process may have open (files, getrlimit(2)).
package enum OpenFileLimit {
    /// The most that the process can raise the limit to by itself: the hard limit.
    ///
    /// - Throws: `SystemError`, never seen.
    package static func most() throws(SystemError) -> Int {
        var limit = rlimit()
        let status = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        guard status == 0 else { throw .last("getrlimit") }
        return Int(clamping: limit.rlim_max)
    }

    /// Raises the limit as far as the process may by itself, to the hard limit, and keeps the last descriptors for those who
    /// cannot do without: from now on, opening what would leave fewer fails with EMFILE.
    ///
    /// The usual soft limit of 1024 is for programs that use select(2). libdispatch, under Swift's tasks, ends the process
    /// (SIGILL) when it cannot have a descriptor: it opens epoll(7) and timers when it needs the first, and once a second the
    /// status of each of its threads. New files of ours are let through as well, because what is written makes room.
    ///
    /// - Parameter reserve: how many descriptors are kept.
    /// - Returns: the limit now.
    /// - Throws: `SystemError`: the limit is as it was, and nothing is kept; go on with that.
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

    /// How many descriptors the process has open. Opens one for the time of the call.
    ///
    /// - Throws: `SystemError`: there is no /proc, or no descriptor left.
    package static func openCount() throws(SystemError) -> Int {
        try Directory.open(path: "/proc/self/fd").names().count - 2
    }

    /// The first number that no descriptor may get but those who are let through. The kernel gives the lowest that is free, so
    /// whoever gets this one has left fewer than are to be kept.
    static let ceiling = Atomic<Int32>(.max)
}
