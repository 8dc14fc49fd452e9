import CZeroMQ
import Glibc
package import LinuxIO

/// A failed call of libzmq, or of the kernel on its behalf.
package struct ReplySocketError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call, its endpoint, and the number of the error: errno(3), or one of libzmq's own above `ZMQ_HAUSNUMERO`.
    package let cause: SystemError

    /// Wraps an error of the kernel.
    package init(_ cause: SystemError) { self.cause = cause }

    /// Returns the error that the calling thread's last call of libzmq left.
    static func last(_ operation: String, _ subject: String = "") -> ReplySocketError {
        ReplySocketError(SystemError(code: zmq_errno(), operation: operation, subject: subject))
    }

    /// Runs calls of the kernel and wraps their error.
    static func wrapping<Result: ~Copyable>(
        _ body: () throws(SystemError) -> Result
    ) throws(ReplySocketError) -> Result {
        do throws(SystemError) {
            return try body()
        } catch {
            throw ReplySocketError(error)
        }
    }

    /// The error for an endpoint that is refused before libzmq sees it (EINVAL).
    static func badEndpoint(_ endpoint: String) -> ReplySocketError {
        ReplySocketError(SystemError(code: EINVAL, operation: "zmq_bind", subject: endpoint))
    }

    /// The reason in English, for example `Address already in use (EADDRINUSE)`.
    package var reason: String {
        if cause.code >= ZMQ_HAUSNUMERO, let text = unsafe zmq_strerror(cause.code) {
            return unsafe String(cString: text)
        }
        return "\(cause.reason) (\(cause.name))"
    }

    /// A remedy for the operator, if one is known.
    package var hint: String? {
        switch cause.code {
        case EADDRINUSE: "stop the program that listens there, or choose another endpoint"
        case EADDRNOTAVAIL, ENODEV: "give an address of this host, such as tcp://127.0.0.1:12195"
        case EACCES: "choose a port above 1023, or a folder that this user may write to"
        case EINVAL, EPROTONOSUPPORT: "write tcp://ADDRESS:PORT, or ipc:// and an absolute path of at most 107 bytes"
        case ENOENT: "make the folder of the socket"
        case EMFILE, ENFILE: "raise the limit of open files"
        default: nil
        }
    }

    /// One line: `zmq_bind tcp://127.0.0.1:80: Permission denied (EACCES); choose …`.
    package var description: String {
        let called = cause.subject.isEmpty ? cause.operation : "\(cause.operation) \(cause.subject)"
        return "\(called): \(reason)" + (hint.map { "; \($0)" } ?? "")
    }
}
