import CLinux
import Glibc

/// A system call that failed: which one, on what, and the kernel's reason (errno(3)).
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The value of errno, for example 13 for EACCES.
    package let code: Int32
    /// The name of the system call, for example `openat`.
    package let operation: String
    /// What it was called on: a path, an address; empty if there is nothing to name.
    package let subject: String

    /// An error as a call would have reported it.
    package init(code: Int32, operation: String, subject: String = "") {
        self.code = code
        self.operation = operation
        self.subject = subject
    }

    /// The error that the calling thread's last system call left in errno.
    ///
    /// The subject is built only after errno was saved, so building it may make system calls itself.
    package static func last(_ operation: String, _ subject: @autoclosure () -> String = "") -> SystemError {
        let code = errno
        return SystemError(code: code, operation: operation, subject: subject())
    }

    /// The symbolic name, for example `EACCES`, or the number where the C library knows none.
    package var name: String {
        guard let text = unsafe clinux_error_name(code) else { return "errno \(code)" }
        return unsafe String(cString: text)
    }

    /// The reason in English whatever the locale is, for example `Permission denied`.
    package var reason: String {
        guard let text = unsafe clinux_error_reason(code) else { return "unknown error" }
        return unsafe String(cString: text)
    }

    /// One line: `open /x: Permission denied (EACCES)`.
    package var description: String {
        let called = subject.isEmpty ? operation : operation + " " + subject
        return "\(called): \(reason) (\(name))"
    }

    /// Whether the same call may succeed at once or soon without anybody changing anything.
    package var isTransient: Bool {
        switch code {
        case EINTR, EAGAIN, EBUSY, ENOBUFS, ENOMEM, EMFILE, ENFILE: true
        default: false
        }
    }

    /// A deadline of ours that passed during `operation`, told as the kernel tells its own (ETIMEDOUT).
    package static func timedOut(_ operation: String, _ subject: String = "") -> SystemError {
        SystemError(code: ETIMEDOUT, operation: operation, subject: subject)
    }

    /// Room that is not there though a file has it reserved, told as the kernel tells its own lack (ENOSPC).
    package static func outOfSpace(_ operation: String, _ subject: String = "") -> SystemError {
        SystemError(code: ENOSPC, operation: operation, subject: subject)
    }

    /// A write on a connection that is known to be broken (EPIPE).
    package static func brokenPipe(_ operation: String, _ subject: String = "") -> SystemError {
        SystemError(code: EPIPE, operation: operation, subject: subject)
    }

    /// A file that is not the one any more that was opened, or not ours, told as a network filesystem tells it (ESTALE).
    package static func stale(_ operation: String, _ subject: String = "") -> SystemError {
        SystemError(code: ESTALE, operation: operation, subject: subject)
    }

    /// A lock that somebody else holds, told as the kernel tells it (EAGAIN).
    package static func locked(_ operation: String, _ subject: String = "") -> SystemError {
        SystemError(code: EAGAIN, operation: operation, subject: subject)
    }

    /// A name that somebody else has taken, told as the kernel tells it (EEXIST).
    package static func alreadyThere(_ operation: String, _ subject: String = "") -> SystemError {
        SystemError(code: EEXIST, operation: operation, subject: subject)
    }

    /// A number behind the last one that can be told, as the kernel tells it (EOVERFLOW).
    package static func overflow(_ operation: String, _ subject: String = "") -> SystemError {
        SystemError(code: EOVERFLOW, operation: operation, subject: subject)
    }

    /// A descriptor that others have, told as the kernel tells it (EMFILE).
    package static func noDescriptor(_ operation: String, _ subject: String = "") -> SystemError {
        SystemError(code: EMFILE, operation: operation, subject: subject)
    }

    /// Whether somebody else holds the lock that was asked for (EAGAIN).
    package var isLocked: Bool { code == EAGAIN }

    /// Whether an open file is not there any more as it was opened (ESTALE).
    package var isStale: Bool { code == ESTALE }

    /// Whether a deadline passed, the kernel's or ours (ETIMEDOUT).
    package var isTimeOut: Bool { code == ETIMEDOUT }

    /// Whether the peer has reset the connection or ended it while bytes were under way (ECONNRESET, EPIPE).
    package var isConnectionReset: Bool { code == ECONNRESET || code == EPIPE }

    /// Whether nobody listens there (ECONNREFUSED).
    package var isConnectionRefused: Bool { code == ECONNREFUSED }

    /// Whether another program listens on that address and port (EADDRINUSE).
    package var isAddressInUse: Bool { code == EADDRINUSE }

    /// Whether a file or a process that was named is not there (ENOENT).
    package var isNotFound: Bool { code == ENOENT }

    /// Whether something that is no directory is where one should be (ENOTDIR).
    package var isNoDirectory: Bool { code == ENOTDIR }

    /// Whether the name is already taken (EEXIST).
    package var isAlreadyThere: Bool { code == EEXIST }

    /// Whether rights are missing (EACCES, EPERM).
    package var isPermission: Bool { code == EACCES || code == EPERM }

    /// Whether it was a sync that failed: what was to be made durable may be lost, and trying again proves nothing.
    package var isFailedSync: Bool { ["fsync", "fdatasync", "syncfs"].contains(operation) }

    /// Whether the process or the system has no descriptor or memory left (EMFILE, ENFILE, ENOMEM).
    package var isShortage: Bool { [EMFILE, ENFILE, ENOMEM].contains(code) }

    /// Whether the filesystem is broken, read-only or away, which its repair ends (EIO, EROFS, ESTALE, ENOTCONN).
    package var isBrokenFilesystem: Bool { [EIO, EROFS, ESTALE, ENOTCONN].contains(code) }

    /// Whether the volume, or the quota on it, is full (ENOSPC, EDQUOT).
    package var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT }
}
