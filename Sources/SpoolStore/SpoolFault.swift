package import LinuxIO

/// A problem with the spool that the operator must correct.
package struct SpoolFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problem, with the path.
    package let message: String
    /// The remedy.
    package let hint: String
    /// The system call that revealed it, if any.
    package let cause: SystemError?

    /// Creates a fault.
    package init(_ message: String, hint: String, cause: SystemError? = nil) {
        self.message = message
        self.hint = hint
        self.cause = cause
    }

    /// Message, cause and hint in one line.
    package var description: String {
        [message, cause?.description, hint].compactMap(\.self).joined(separator: "; ")
    }

    /// The fault of a node name that a running daemon has.
    static func nodeIsTaken(_ node: String, in directory: Directory) -> SpoolFault {
        SpoolFault(
            "another daemon uses \(directory.path) as node '\(node)'", hint: "stop it, or set `node:` to another name",
            cause: .locked("fcntl F_OFD_SETLK", directory.path + "/journal"))
    }
}
