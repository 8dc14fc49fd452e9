import CLinux
import Glibc

/// A signal that the program handles.
package enum Signal: Sendable, Hashable, CaseIterable {
    /// SIGTERM: shut down cleanly.
    case terminate
    /// SIGINT: the same, from a keyboard.
    case interrupt
    /// SIGHUP: reload the configuration.
    case hangup
    /// SIGUSR1.
    case user1
    /// SIGUSR2.
    case user2

    /// The kernel's number.
    package var number: Int32 {
        switch self {
        case .terminate: SIGTERM
        case .interrupt: SIGINT
        case .hangup: SIGHUP
        case .user1: SIGUSR1
        case .user2: SIGUSR2
        }
    }

    /// The signal's name for kill(1).
    package var name: String {
        switch self {
        case .terminate: "TERM"
        case .interrupt: "INT"
        case .hangup: "HUP"
        case .user1: "USR1"
        case .user2: "USR2"
        }
    }
}

/// Proof that signals are blocked in the calling thread and in all threads that it starts later.
///
/// Create it first in `main`: a thread that already exists could still be killed by the signal.
package struct BlockedSignals: Sendable {
    let signals: [Signal]

    /// Blocks `signals` (pthread_sigmask(3)), and SIGPIPE, which no part of the program needs.
    ///
    /// - Throws: `SystemError`; not expected.
    package init(_ signals: [Signal]) throws(SystemError) {
        self.signals = signals
        var set = signals.kernelSet
        unsafe sigaddset(&set, SIGPIPE)
        let code = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        guard code == 0 else { throw SystemError(code: code, operation: "pthread_sigmask") }
    }
}

/// Receives blocked signals on a reactor (signalfd(2)). Pending signals of the same kind count as one.
///
/// Belongs to one actor on the reactor. Only that actor may call it.
package final class SignalWatch {
    private let channel: Channel

    /// Opens the watch. Signals that arrived since they were blocked are delivered first.
    ///
    /// - Throws: `SystemError`: no descriptor left.
    package init(_ blocked: BlockedSignals, on reactor: Reactor) throws(SystemError) {
        var set = blocked.signals.kernelSet
        let number = unsafe clinux_signalfd(&set)
        guard number >= 0 else { throw .last("signalfd") }
        channel = try Channel(Descriptor(adopting: number), on: reactor)
    }

    /// Waits for the next signal.
    ///
    /// - Throws: `CancellationError`; `SystemError`, which is not expected.
    package func next() async throws -> Signal {
        while true {
            if let signal = try nextNow() { return signal }
            if await channel.waiter.wait(for: .readable).contains(.cancelled) { throw CancellationError() }
        }
    }

    private func nextNow() throws(SystemError) -> Signal? {
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        guard unsafe Glibc.read(channel.descriptor.rawValue, &info, size) == size else {
            guard errno == EAGAIN || errno == EINTR else { throw .last("read", "signalfd") }
            if errno == EAGAIN { channel.waiter.noteExhausted(.readable) }
            return nil
        }
        return Signal.allCases.first { $0.number == Int32(info.ssi_signo) }
    }
}

extension [Signal] {
    var kernelSet: sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for signal in self { unsafe sigaddset(&set, signal.number) }
        return set
    }
}
