import CLinux

/// Core dumps and other ways to read the process's memory from outside.
package enum MemoryDump {
    /// Forbids core dumps, and lets only root read the process's memory or trace it (PR_SET_DUMPABLE, prctl(2);
    /// RLIMIT_CORE, getrlimit(2)).
    ///
    /// A limit alone is not enough: a `core_pattern` with a pipe receives a dump regardless of the limit. Afterwards
    /// the files in /proc/self belong to root; the process can still open its own descriptors there.
    ///
    /// - Throws: `SystemError`: a dump is still possible. Warn and continue.
    package static func forbid() throws(SystemError) {
        guard clinux_forbid_dumps() == 0 else { throw .last("prctl", "PR_SET_DUMPABLE") }
        let cores = __rlimit_resource_t(RLIMIT_CORE.rawValue)
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        guard unsafe setrlimit(cores, &none) == 0 else { throw .last("setrlimit", "RLIMIT_CORE") }
    }
}
