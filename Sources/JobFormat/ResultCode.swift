/// The reason why a job did not simply succeed: the `code` of `job` lines and result files.
package enum ResultCode: String, CaseIterable, Hashable, Sendable {
    /// The file could not be opened or read.
    case unreadable
    /// The file is incomplete: empty, cut off, or with a number of recipients other than its `count`.
    case incomplete
    /// The document is invalid, or every recipient in it is.
    case invalid
    /// The gateway accepted none of its notifications.
    case refused
    /// All remaining notifications had expired.
    case expired
    /// Notifications were given up.
    case unsent
    /// An earlier job of the app with the same `id` was sent.
    case duplicate
    /// An operator cancelled the job.
    case cancelled
    /// The file's bytes changed after they were checked.
    case changed
    /// The daemon died repeatedly while reading the file.
    case poison
}
