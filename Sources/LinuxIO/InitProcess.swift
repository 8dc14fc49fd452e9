import CLinux
import Glibc

/// The first process of a PID namespace, as a container has one. The kernel makes it the parent of every orphan, and drops
/// signals for it whose action is the default one.
package enum InitProcess {
    /// Leaves the work to a child if this process is the first one of its namespace: returns in the child only.
    ///
    /// The first process stays. It reaps orphans, passes signals to the child, and exits with the child's status, or with 128 and
    /// the number of the signal that killed the child. Call it before there is a second thread: the child has only the
    /// calling one.
    ///
    /// - Throws: `SystemError`: the limits allow no other process.
    package static func leaveWorkToChild() throws(SystemError) {
        guard getpid() == 1 else { return }
        var (all, former) = (sigset_t(), sigset_t())
        unsafe sigfillset(&all)
        // A blocked signal is kept, also for a first process without a handler.
        _ = unsafe pthread_sigmask(SIG_BLOCK, &all, &former)
        let child = fork()
        if child > 0 { attend(child, &all) }
        guard child == 0 else { throw .last("fork") }
        // A terminal sends signals to the group in its foreground. In the first process's group the child would get them twice.
        _ = setpgid(0, 0)
        _ = tcsetpgrp(STDIN_FILENO, getpid())
        _ = unsafe pthread_sigmask(SIG_SETMASK, &former, nil)
    }

    private static func attend(_ child: pid_t, _ signals: inout sigset_t) -> Never {
        while true {
            reap(upTo: child)
            switch unsafe sigwaitinfo(&signals, nil) {
            // The child decides itself whether it reads from the terminal.
            case ..<1, SIGCHLD, SIGTTIN, SIGTTOU: continue
            case let signal: _ = kill(child, signal)
            }
        }
    }

    /// Reaps all processes that have ended. Exits if the child is one of them, without running handlers of `atexit`.
    private static func reap(upTo child: pid_t) {
        var status: Int32 = 0
        while true {
            let process = unsafe waitpid(-1, &status, WNOHANG)
            guard process > 0 else { return }
            if process == child { _exit(exitStatus(of: status)) }
        }
    }

    /// As WTERMSIG and WEXITSTATUS of wait(2) decode it.
    private static func exitStatus(of status: Int32) -> Int32 {
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : 128 + signal
    }
}
