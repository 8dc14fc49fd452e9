package import LinuxIO

/// The users whose files in `feedback/` and `tmp/.jobs/` count as the daemon's. Consumers with write permission there can create files,
/// which must not pass for outcomes.
package struct FeedbackWriters: Sendable {
    /// The user whose files the daemon's are; root may have restored some.
    private let owner: UInt32
    /// The process's own user, if it is a daemon: some filesystems report a different owner than the user that created
    /// the file.
    private var publisher: UInt32?

    /// Creates the rule for the daemon that publishes, whose files in `work` belong to its user.
    ///
    /// - Throws: `SystemError`: the folder cannot be read.
    init(publishingFrom work: Directory) throws(SystemError) {
        owner = try work.status().owner
        publisher = Host.userID
    }

    /// Creates the rule for the readers of an app's feedback. Only the daemon writes in `work/`.
    ///
    /// - Throws: `SystemError`: the app's folder cannot be read.
    package init(of home: Directory) throws(SystemError) {
        if let work = try home.status(of: Array("work".utf8)) {
            owner = work.owner
        } else {
            owner = try home.status().owner
        }
    }

    /// Whether a file is the daemon's.
    func areOwners(of status: FileStatus) -> Bool { [owner, publisher, 0].contains(status.owner) }

    /// Returns why a file is not the daemon's; `nil` if it is.
    package func objection(to status: FileStatus) -> String? {
        guard status.kind == .regular else { return "it is a \(status.kind.rawValue)" }
        guard areOwners(of: status) else {
            let users = (its: Host.userText(status.owner), daemons: Host.userText(owner))
            return "it belongs to user \(users.its), but the daemon's files belong to user \(users.daemons)"
        }
        return nil
    }
}
