import CLinux
import Glibc

/// A child process in a process group of its own, with no descriptors other than 0, 1 and 2.
///
/// The caller must call `ended()` until it reports the end. Otherwise the process stays a zombie until this program exits.
package final class ChildProcess: Sendable {
    /// How a process ended.
    package enum End: Hashable, Sendable {
        /// Exited with a status, 0 to 255. A shell uses 126 and 127 for a program that cannot be run.
        case exited(Int32)
        /// Killed by a signal.
        case killed(Int32)
    }

    /// The process id, which is also the id of its process group.
    package let id: Int32
    /// Readable as soon as the process has exited (pidfd_open(2)).
    let descriptor: Descriptor

    private init(_ id: Int32, _ descriptor: consuming Descriptor) {
        self.id = id
        self.descriptor = descriptor
    }

    /// Starts a program, found through PATH unless its name contains a slash. Blocks until it is loaded.
    ///
    /// The child reads `input` from its current offset and writes to `output`. This process's write end of `output` is
    /// closed on return. Signal mask and dispositions are the defaults.
    ///
    /// - Parameters:
    ///   - arguments: The program's name and its arguments, none with a NUL.
    ///   - environment: `NAME=value` each; the child gets no other variables.
    ///   - input: Its standard input.
    ///   - output: Where its standard output and standard error go; `nil` means this program's standard error.
    /// - Returns: The running process.
    /// - Throws: `SystemError`: ENOENT or EACCES if the program does not exist or may not be executed, EAGAIN or ENOMEM
    ///   if there is no room for another process.
    package static func start(
        _ arguments: [String], environment: [String], input: borrowing OpenFile, output: ChildOutput? = nil
    ) throws(SystemError) -> ChildProcess {
        precondition(!arguments.isEmpty, "a program without a name")
        var process: pid_t = 0
        let streams = (input.descriptor.rawValue, output?.writingNumber ?? 2)
        defer { output?.closeWriting() }
        let code = spawn(arguments, environment, streams, &process)
        guard code == 0 else { throw SystemError(code: code, operation: "posix_spawn", subject: arguments[0]) }
        let number = clinux_process_descriptor(process)
        guard number >= 0 else {
            let error = SystemError.last("pidfd_open", arguments[0])
            _ = kill(-process, SIGKILL)
            _ = waitpid(process, nil, 0)
            throw error
        }
        return ChildProcess(process, Descriptor(adopting: number))
    }

    /// Returns how the process ended, and kills (SIGKILL) what is left of its process group. Reports the end only once;
    /// later calls return `nil`.
    ///
    /// A process that has left the group (setsid(2), setpgid(2)) is not killed.
    ///
    /// - Returns: `nil` while it runs.
    package func ended() -> End? {
        // It is reaped only after its group has been killed: it may end between two calls. The process id cannot be reused
        // before waitpid, so this cannot hit another group.
        guard isOver else { return nil }
        killNow()
        var status: Int32 = 0
        guard unsafe waitpid(id, &status, WNOHANG) == id else { return nil }
        // As WIFEXITED and WEXITSTATUS of wait(2) decode it.
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal)
    }

    /// Whether it has exited. Leaves it waitable.
    private var isOver: Bool {
        var about = unsafe siginfo_t()
        guard unsafe waitid(P_PID, id_t(id), &about, WEXITED | WNOHANG | WNOWAIT) == 0 else { return false }
        return unsafe about.si_signo == SIGCHLD
    }

    /// Asks the process group to exit (SIGTERM).
    package func terminate() { _ = kill(-id, SIGTERM) }

    /// Kills the process group (SIGKILL).
    package func killNow() { _ = kill(-id, SIGKILL) }

    private static func spawn(
        _ arguments: [String], _ environment: [String], _ streams: (input: Int32, output: Int32), _ process: inout pid_t
    ) -> Int32 {
        guard let program = arguments.first else { return ENOENT }
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        guard unsafe posix_spawn_file_actions_init(&actions) == 0 else { return ENOMEM }
        defer { _ = unsafe posix_spawn_file_actions_destroy(&actions) }
        guard unsafe posix_spawnattr_init(&attributes) == 0 else { return ENOMEM }
        defer { _ = unsafe posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        let flags = Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
        let codes = unsafe [
            posix_spawn_file_actions_adddup2(&actions, streams.input, 0),
            posix_spawn_file_actions_adddup2(&actions, streams.output, 1),
            posix_spawn_file_actions_adddup2(&actions, streams.output, 2),
            clinux_spawn_closing(&actions, 3),
            posix_spawnattr_setflags(&attributes, flags),
            posix_spawnattr_setpgroup(&attributes, 0),
            posix_spawnattr_setsigmask(&attributes, &none),
            posix_spawnattr_setsigdefault(&attributes, &all),
        ]
        if let fault = codes.first(where: { $0 != 0 }) { return fault }
        var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        var settings = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer { unsafe (words + settings).forEach { unsafe free($0) } }
        return unsafe posix_spawnp(&process, program, &actions, &attributes, &words, &settings)
    }
}

extension ChildProcess {
    /// This process's environment, `NAME=value` each.
    package static var ownEnvironment: [String] {
        var settings: [String] = []
        var next = unsafe environ
        while let text = unsafe next.pointee {
            settings.append(unsafe String(cString: text))
            unsafe next = next.successor()
        }
        return settings
    }
}

/// Waits on a reactor for processes to exit.
package actor ChildWatch {
    private let reactor: Reactor

    /// The reactor's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// Creates a watch. It costs nothing while no caller waits.
    package init(on reactor: Reactor) {
        self.reactor = reactor
    }

    /// Waits for a process to exit, until the deadline. Unless `isFinal`, a cancelled task does not wait either.
    ///
    /// Once the process has exited, what is left of its process group is killed.
    ///
    /// - Returns: `nil` while it still runs.
    /// - Throws: `SystemError`: no descriptor left.
    package func end(
        of child: ChildProcess, until deadline: ContinuousClock.Instant, isFinal: Bool = false
    ) async throws(SystemError) -> ChildProcess.End? {
        let waiter = try Waiter(on: reactor, watching: child.descriptor.rawValue)
        defer { waiter.unwatch(child.descriptor) }
        while true {
            if let end = child.ended() { return end }
            let found =
                isFinal
                ? await waiter.waitToTheEnd(for: .readable, until: deadline)
                : await waiter.wait(for: .readable, until: deadline)
            if !found.contains(.readable) { return child.ended() }
        }
    }
}
