import CLinux
import Glibc

/// CPU time that this process has used since its start, all threads together (getrusage(2)).
package struct ProcessTimes: Hashable, Sendable {
    /// Time in the program and its libraries.
    package let user: Duration
    /// Time in the kernel on its behalf.
    package let system: Duration

    /// Reads the times now. Costs a system call.
    package static func now() -> ProcessTimes {
        var usage = rusage()
        let code = unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        precondition(code == 0, "getrusage fails on bad arguments only")
        return ProcessTimes(user: Duration(usage.ru_utime), system: Duration(usage.ru_stime))
    }

    /// The CPU time used between `start` and `end`.
    package static func - (end: ProcessTimes, start: ProcessTimes) -> ProcessTimes {
        ProcessTimes(user: end.user - start.user, system: end.system - start.system)
    }
}

extension Duration {
    fileprivate init(_ time: timeval) {
        self = .seconds(time.tv_sec) + .microseconds(time.tv_usec)
    }
}
