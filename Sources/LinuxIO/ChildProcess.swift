import CLinux
import Glibc

/// Another program that this one has started, in a process group of its own, with no descriptors but the usual three.
///
/// Whoever starts one must wait for its end with `ended()`, or it stays in the kernel's table until this program ends.
package final class ChildProcess: Sendable {
    /// How a process ended.
    package enum End: Hashable, Sendable {
        /// With a status, 0 to 255; 126 and 127 are a shell's for a program that cannot be run.
        case exited(Int32)
        /// By a signal.
        case killed(Int32)
    }

    /// Its number, which is its group's as well.
    package let id: Int32
    /// Readable as soon as it has ended (pidfd_open(2)).
    let descriptor: Descriptor

    private init(_ id: Int32, _ descriptor: consuming Descriptor) {
        self.id = id
        self.descriptor = descriptor
    }

    /// Starts a program, found by PATH unless its name has a slash. Blocks until it is loaded.
    ///
    /// It reads `input` from its start, and writes to `output`, of which this program's end is closed then. Signals are as in a
    /// fresh process.
    ///
    /// - Parameters:
    ///   - arguments: The program's name and its arguments, none with a NUL.
    ///   - environment: `NAME=value` each; these and no others.
    ///   - input: Its standard input.
    ///   - output: Where its output and its errors go; `nil`: where this program's errors go.
    /// - Returns: The process, at work.
    /// - Throws: `SystemError`: ENOENT or EACCES for a program that is not there or may not be run, EAGAIN or ENOMEM
    ///   without room for another process.
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

    /// How it has ended. Kills (SIGKILL) what is left of its process group then. Asked again after the end, it says the same
    /// no more.
    ///
    /// A process that has left the group (setsid(2), setpgid(2)) is not killed.
    ///
    /// - Returns: `nil` while it runs.
    package func ended() -> End? {
        // Until it is waited for, its number is nobody else's.
        if isOver { killNow() }
        var status: Int32 = 0
        guard unsafe waitpid(id, &status, WNOHANG) == id else { return nil }
        // As WIFEXITED and WEXITSTATUS of wait(2) have it.
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal)
    }

    /// Whether it has ended; it can still be waited for.
    private var isOver: Bool {
        var about = unsafe siginfo_t()
        guard unsafe waitid(P_PID, id_t(id), &about, WEXITED | WNOHANG | WNOWAIT) == 0 else { return false }
        return unsafe about.si_signo == SIGCHLD
    }

    /// Asks it, and what it has started itself, to end (SIGTERM).
    package func terminate() { _ = kill(-id, SIGTERM) }

    /// Ends it, and what it has started itself (SIGKILL).
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
    /// This program's environment, `NAME=value` each.
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

/// Waits on a reactor for processes to end.
package actor ChildWatch {
    private let reactor: Reactor

    /// The reactor's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// Creates a watch; it costs nothing while nobody waits.
    package init(on reactor: Reactor) {
        self.reactor = reactor
    }

    /// Waits for a process to end, but not beyond the deadline, nor, unless `isFinal`, in a task that is cancelled.
    ///
    /// Once it has ended, what is left of its process group is killed.
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
