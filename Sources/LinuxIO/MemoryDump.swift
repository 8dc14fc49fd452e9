import CLinux
import Glibc

/// A copy of the process's memory in a file, where the kernel leaves one, or in somebody else's hands.
package enum MemoryDump {
    /// From now on the kernel makes none, whatever the process dies of, and only root can read the memory or trace the process
    /// (PR_SET_DUMPABLE, prctl(2); RLIMIT_CORE, getrlimit(2)).
    ///
    /// A limit alone is not enough: a `core_pattern` with a pipe is given a dump whatever the limit is. What is under
    /// /proc/self belongs to root then; the process's own descriptors there can still be opened by it.
    ///
    /// - Throws: `SystemError`: a dump may still be made. Warn, and go on.
    package static func forbid() throws(SystemError) {
        guard clinux_forbid_dumps() == 0 else { throw .last("prctl", "PR_SET_DUMPABLE") }
        let cores = __rlimit_resource_t(RLIMIT_CORE.rawValue)
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        guard unsafe setrlimit(cores, &none) == 0 else { throw .last("setrlimit", "RLIMIT_CORE") }
    }
}
