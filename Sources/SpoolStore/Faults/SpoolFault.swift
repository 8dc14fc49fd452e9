package import LinuxIO

/// A problem with the spool that the operator must correct.
package struct SpoolFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problem, with the path.
    package let message: String
    /// The remedy.
    package let hint: String
    /// The system call that revealed it, if any.
    package let cause: SystemError?

    /// The node whose daemon has the spool, if that is the problem.
    package let holder: String?

    /// Creates a fault.
    package init(_ message: String, hint: String, cause: SystemError? = nil) {
        self.init(message, hint: hint, cause: cause, holder: nil)
    }

    private init(_ message: String, hint: String, cause: SystemError?, holder: String?) {
        (self.message, self.hint, self.cause, self.holder) = (message, hint, cause, holder)
    }

    /// Message, cause and hint in one line.
    package var description: String {
        [message, cause?.description, hint].compactMap(\.self).joined(separator: "; ")
    }

    /// The fault of a spool that a daemon uses.
    ///
    /// - Parameters:
    ///   - node: The node of that daemon.
    ///   - root: The spool's root.
    ///   - isClustered: Whether the daemon that finds it is part of a cluster.
    /// - Returns: The fault; it may pass.
    static func isInUse(by node: String, _ root: Directory, isClustered: Bool) -> SpoolFault {
        SpoolFault(
            "another daemon uses \(root.path) as node '\(node)'",
            hint: isClustered
                ? "stop it; several daemons share a spool only if all have `cluster: true`, and no two have the same name"
                : "stop it: two daemons would send the same jobs; only with `cluster: true` in both may they share the spool",
            cause: .locked("fcntl F_OFD_SETLK", "\(root.path)/.pushspool/\(node)/journal"), holder: node)
    }
}
