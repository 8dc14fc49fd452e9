import CLinux
import Glibc

/// The service manager that started the program and wants status messages, by the protocol of sd_notify(3): each
/// message is a datagram to the socket that it named.
package final class ServiceManager: Sendable {
    /// A message to the service manager.
    package enum Message: Hashable, Sendable {
        /// Startup is complete, or the configuration has been reloaded.
        case ready
        /// The configuration is being reloaded; `ready` follows.
        case reloading
        /// Shutdown has begun.
        case stopping
        /// The program is working; see `heartbeat`.
        case alive
        /// The status as one line of text for people.
        case status(String)
        /// Startup or shutdown may take this long from now, regardless of the manager's own timeout.
        case needs(Duration)
    }

    /// How often to send `alive`: half of the watchdog timeout after which the manager kills a silent program. `nil`
    /// means never.
    package let heartbeat: Duration?
    /// The address for the kernel, with a leading NUL for a name in the abstract namespace.
    private let name: [UInt8]
    private let descriptor: Descriptor

    /// How long a message may wait for a manager that does not read, in seconds.
    private static let patience: Int32 = 1
    /// The maximum length of a socket name (sun_path, unix(7), without the trailing NUL).
    private static let longestName = 107

    /// Reads the service manager's variables and removes them from the environment, so that child processes cannot send
    /// messages for this one.
    ///
    /// Call it before a second thread exists, like everything that changes the environment.
    ///
    /// - Returns: `nil` if no manager wants messages: NOTIFY_SOCKET is unset or empty.
    /// - Throws: `SystemError`: the socket's name cannot be used, or no descriptor is left. No message can be sent.
    package static func takenFromEnvironment() throws(SystemError) -> ServiceManager? {
        let socket = EnvironmentVariable.take("NOTIFY_SOCKET")
        let microseconds = EnvironmentVariable.take("WATCHDOG_USEC")
        let process = EnvironmentVariable.take("WATCHDOG_PID")
        guard let socket, !socket.isEmpty else { return nil }
        return try ServiceManager(socket: socket, heartbeat: heartbeat(microseconds, process: process))
    }

    /// Creates a connection to a manager.
    ///
    /// - Parameters:
    ///   - socket: a path, or `@` and a name in the abstract namespace.
    ///   - heartbeat: how often it expects `alive`.
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

    /// Sends all messages in one datagram, from any thread.
    ///
    /// - Parameters:
    ///   - messages: what to send.
    ///   - waits: whether to block, for up to a second, if the manager does not read its socket.
    /// - Throws: `SystemError`: the manager has not received it. Send it again later.
    package func notify(_ messages: [Message], waits: Bool = true) throws(SystemError) {
        let text = Array(messages.map(\.text).joined(separator: "\n").utf8)
        while true {
            let count = unsafe text.withUnsafeBytes { text in
                unsafe name.withUnsafeBytes { name in
                    unsafe clinux_send_to(
                        descriptor.rawValue, name.baseAddress, name.count, text.baseAddress, text.count, waits ? 1 : 0)
                }
            }
            if count >= 0 { return }
            guard errno == EINTR else { throw .last("sendto", "the service manager") }
        }
    }

    /// Returns half of the time in `WATCHDOG_USEC`, if `WATCHDOG_PID` names this process or is missing.
    static func heartbeat(_ microseconds: String?, process: String?, own: Int32 = getpid()) -> Duration? {
        guard let microseconds = microseconds.flatMap({ Int64($0) }), microseconds > 1 else { return nil }
        guard process.map({ Int32($0) == own }) ?? true else { return nil }
        return Duration.microseconds(microseconds) / 2
    }
}

extension ServiceManager.Message {
    /// The message's lines, without the last newline.
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
