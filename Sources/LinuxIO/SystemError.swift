import CLinux
import Glibc

/// A failed system call: its name, its object, and the kernel's reason (errno(3)).
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The value of errno, for example 13 for EACCES.
    package let code: Int32
    /// The name of the system call, for example `openat`.
    package let operation: String
    /// The object of the call: a path or an address; empty if there is none.
    package let subject: String

    /// Creates an error as a system call would report it.
    package init(code: Int32, operation: String, subject: String = "") {
        self.code = code
        self.operation = operation
        self.subject = subject
    }

    /// Returns the error that the calling thread's last system call left in errno.
    ///
    /// Saves errno before it evaluates the subject, which may make system calls itself.
    package static func last(_ operation: String, _ subject: @autoclosure () -> String = "") -> SystemError {
        let code = errno
        return SystemError(code: code, operation: operation, subject: subject())
    }

    /// The symbolic name, for example `EACCES`, or the number if the C library has no name for it.
    package var name: String {
        guard let text = unsafe clinux_error_name(code) else { return "errno \(code)" }
        return unsafe String(cString: text)
    }

    /// The reason in English, independent of the locale, for example `Permission denied`.
    package var reason: String {
        guard let text = unsafe clinux_error_reason(code) else { return "unknown error" }
        return unsafe String(cString: text)
    }

    /// One line: `open /x: Permission denied (EACCES)`.
    package var description: String {
        let called = subject.isEmpty ? operation : operation + " " + subject
        return "\(called): \(reason) (\(name))"
    }

    /// The description without the object: `open: Permission denied (EACCES)`.
    package var cause: String { "\(operation): \(reason) (\(name))" }

    /// Whether the same call may succeed if repeated at once or soon, without any correction.
    package var isTransient: Bool {
        switch code {
        case EINTR, EAGAIN, EBUSY, ENOBUFS, ENOMEM, EMFILE, ENFILE: true
        default: false
        }
    }

    /// The error for a deadline of our own that passed during `operation` (ETIMEDOUT).
    package static func timedOut(_ operation: String, _ subject: String = "") -> SystemError {
        SystemError(code: ETIMEDOUT, operation: operation, subject: subject)
    }

    /// The error for missing space although a file has it reserved (ENOSPC).
    package static func outOfSpace(_ operation: String, _ subject: String = "") -> SystemError {
        SystemError(code: ENOSPC, operation: operation, subject: subject)
    }

    /// The error for a write on a connection that is known to be broken (EPIPE).
    package static func brokenPipe(_ operation: String, _ subject: String = "") -> SystemError {
        SystemError(code: EPIPE, operation: operation, subject: subject)
    }

    /// The error for a file that was replaced since it was opened, or that another daemon has taken over (ESTALE).
    package static func stale(_ operation: String, _ subject: String = "") -> SystemError {
        SystemError(code: ESTALE, operation: operation, subject: subject)
    }

    /// The error for a lock that another process holds (EAGAIN).
    package static func locked(_ operation: String, _ subject: String = "") -> SystemError {
        SystemError(code: EAGAIN, operation: operation, subject: subject)
    }

    /// The error for a name that is already taken (EEXIST).
    package static func alreadyThere(_ operation: String, _ subject: String = "") -> SystemError {
        SystemError(code: EEXIST, operation: operation, subject: subject)
    }

    /// The error for a number beyond the last representable one (EOVERFLOW).
    package static func overflow(_ operation: String, _ subject: String = "") -> SystemError {
        SystemError(code: EOVERFLOW, operation: operation, subject: subject)
    }

    /// The error for a descriptor that is unavailable because others use them all (EMFILE).
    package static func noDescriptor(_ operation: String, _ subject: String = "") -> SystemError {
        SystemError(code: EMFILE, operation: operation, subject: subject)
    }

    /// Whether another process holds the requested lock (EAGAIN).
    package var isLocked: Bool { code == EAGAIN }

    /// Whether an open file has been removed, replaced or taken over since it was opened (ESTALE).
    package var isStale: Bool { code == ESTALE }

    /// Whether a deadline passed, the kernel's or our own (ETIMEDOUT).
    package var isTimeOut: Bool { code == ETIMEDOUT }

    /// Whether the peer reset the connection, or closed it with bytes in flight (ECONNRESET, EPIPE).
    package var isConnectionReset: Bool { code == ECONNRESET || code == EPIPE }

    /// Whether no process listens at the address (ECONNREFUSED).
    package var isConnectionRefused: Bool { code == ECONNREFUSED }

    /// Whether another program listens on the address and port (EADDRINUSE).
    package var isAddressInUse: Bool { code == EADDRINUSE }

    /// Whether the named file or process does not exist (ENOENT).
    package var isNotFound: Bool { code == ENOENT }

    /// Whether a path component that should be a directory is something else (ENOTDIR).
    package var isNoDirectory: Bool { code == ENOTDIR }

    /// Whether the name is already taken (EEXIST).
    package var isAlreadyThere: Bool { code == EEXIST }

    /// Whether permission was denied (EACCES, EPERM).
    package var isPermission: Bool { code == EACCES || code == EPERM }

    /// Whether a sync failed. The data may be lost, and trying again proves nothing.
    ///
    /// That does not count for `OpenFile.syncDraft`, nor for a filesystem without space: a file server may report only at a
    /// sync of all that some file could not be written, and that file's own sync reports it, too.
    package var isFailedSync: Bool {
        ["fsync", "fdatasync"].contains(operation) || operation == "syncfs" && !isOutOfSpace
    }

    /// Whether the process or the system has no descriptor or memory left (EMFILE, ENFILE, ENOMEM).
    package var isShortage: Bool { [EMFILE, ENFILE, ENOMEM].contains(code) }

    /// Whether the filesystem is broken, read-only or unavailable until it is repaired (EIO, EROFS, ESTALE, ENOTCONN).
    package var isBrokenFilesystem: Bool { [EIO, EROFS, ESTALE, ENOTCONN].contains(code) }

    /// Whether the volume, or the quota on it, is full (ENOSPC, EDQUOT).
    package var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT }
}
