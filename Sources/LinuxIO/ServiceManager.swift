import CLinux
import Glibc

/// The service manager that started the program and wants to hear how it does, by the protocol of sd_notify(3): a datagram
/// for each message, to the socket that it named.
package final class ServiceManager: Sendable {
    /// What it can be told.
    package enum Message: Hashable, Sendable {
        /// The start is over, or the configuration has been read again.
        case ready
        /// The configuration is being read again; `ready` follows.
        case reloading
        /// The end has begun.
        case stopping
        /// The program does its work; see `heartbeat`.
        case alive
        /// How it does, in a line for people.
        case status(String)
        /// The start, or the end, may take so long from now, whatever the manager's own limit is.
        case needs(Duration)
    }

    /// How often it wants to be told `alive`: half of the time after which it ends a program that it has not heard of. `nil`:
    /// never.
    package let heartbeat: Duration?
    /// As the kernel wants it: with a NUL in front if it is in the abstract namespace.
    private let name: [UInt8]
    private let descriptor: Descriptor

    /// How long a message may wait for a manager that does not read, in seconds.
    private static let patience: Int32 = 1
    /// The longest name of a socket (sun_path, unix(7), less the NUL behind it).
    private static let longestName = 107

    /// Takes what the environment says of a service manager out of it: no program that is started later is to speak for this
    /// one.
    ///
    /// Only before there is a second thread, as all that changes the environment.
    ///
    /// - Returns: `nil` if nobody wants to hear anything: there is no socket, or an empty name for it.
    /// - Throws: `SystemError`: the socket has a name that cannot be used, or no descriptor is left. Nobody can be told.
    package static func takenFromEnvironment() throws(SystemError) -> ServiceManager? {
        let socket = EnvironmentVariable.take("NOTIFY_SOCKET")
        let microseconds = EnvironmentVariable.take("WATCHDOG_USEC")
        let process = EnvironmentVariable.take("WATCHDOG_PID")
        guard let socket, !socket.isEmpty else { return nil }
        return try ServiceManager(socket: socket, heartbeat: heartbeat(microseconds, process: process))
    }

    /// Creates a way to a manager.
    ///
    /// - Parameters:
    ///   - socket: a path, or a name in the abstract namespace behind an `@`.
    ///   - heartbeat: how often it wants to be told `alive`.
    /// - Throws: `SystemError`: the name cannot be used, or no descriptor is left.
    package init(socket: String, heartbeat: Duration?) throws(SystemError) {
        let bytes = Array(socket.utf8)
        guard bytes.count > 1, socket.hasPrefix("/") || socket.hasPrefix("@") else {
            throw SystemError(code: EAFNOSUPPORT, operation: "sendto", subject: socket)
        }
        guard bytes.count <= Self.longestName else {
            throw SystemError(code: ENAMETOOLONG, operation: "sendto", subject: socket)
        }
        self.heartbeat = heartbeat
        name = bytes[0] == UInt8(ascii: "@") ? [0] + bytes.dropFirst() : bytes
        let number = clinux_datagram_socket(Self.patience)
        guard number >= 0 else { throw .last("socket", "AF_UNIX") }
        descriptor = Descriptor(adopting: number)
    }

    /// Tells it all of this in one datagram, from any thread.
    ///
    /// Blocks for a second if the manager does not read what it was sent.
    ///
    /// - Throws: `SystemError`: it has not heard it. Tell it again later.
    package func tell(_ messages: [Message]) throws(SystemError) {
        let text = Array(messages.map(\.text).joined(separator: "\n").utf8)
        while true {
            let count = unsafe text.withUnsafeBytes { text in
                unsafe name.withUnsafeBytes { name in
                    unsafe clinux_send_to(
                        descriptor.rawValue, name.baseAddress, name.count, text.baseAddress, text.count)
                }
            }
            if count >= 0 { return }
            guard errno == EINTR else { throw .last("sendto", "the service manager") }
        }
    }

    /// Half of the time that `WATCHDOG_USEC` gives to the process that `WATCHDOG_PID` names; without a name to this one.
    static func heartbeat(_ microseconds: String?, process: String?, own: Int32 = getpid()) -> Duration? {
        guard let microseconds = microseconds.flatMap({ Int64($0) }), microseconds > 1 else { return nil }
        guard process.map({ Int32($0) == own }) ?? true else { return nil }
        return Duration.microseconds(microseconds) / 2
    }
}

extension ServiceManager.Message {
    /// Its lines, without the end of the last.
    var text: String {
        switch self {
        case .ready: "READY=1"
        case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(MonotonicClock.nanoseconds() / 1000)"
        case .stopping: "STOPPING=1"
        case .alive: "WATCHDOG=1"
        case .status(let line): "STATUS=\(String(line.map { $0.isNewline ? " " : $0 }))"
        case .needs(let time): "EXTEND_TIMEOUT_USEC=\(Self.microseconds(of: time))"
        }
    }

    private static func microseconds(of time: Duration) -> Int64 {
        let (seconds, attoseconds) = time.components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .max : product.addingReportingOverflow(attoseconds / 1_000_000_000_000).partialValue
    }
}
