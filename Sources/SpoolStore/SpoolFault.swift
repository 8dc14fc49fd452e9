package import LinuxIO

/// The spool is not as it must be; the operator has to change something.
package struct SpoolFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, with the path.
    package let message: String
    /// What to do about it.
    package let hint: String
    /// The system call that showed it, if one did.
    package let cause: SystemError?

    init(_ message: String, hint: String, cause: SystemError? = nil) {
        self.message = message
        self.hint = hint
        self.cause = cause
    }

    /// Message, cause and hint in one line.
    package var description: String {
        [message, cause?.description, hint].compactMap(\.self).joined(separator: "; ")
    }
}
