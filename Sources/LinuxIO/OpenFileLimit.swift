import CLinux
import Glibc

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

    /// Raises the limit as far as the process may by itself, to the hard limit.
    ///
    /// The usual soft limit of 1024 is for programs that use select(2).
    ///
    /// - Returns: the limit now.
    /// - Throws: `SystemError`: the limit is as it was; go on with that.
    @discardableResult
    package static func raise() throws(SystemError) -> Int {
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard unsafe getrlimit(files, &limit) == 0 else { throw .last("getrlimit") }
        if limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max
            guard unsafe setrlimit(files, &limit) == 0 else { throw .last("setrlimit") }
        }
        return Int(clamping: limit.rlim_cur)
    }
}
