/// Why a job did not simply succeed: the `code` of `job` lines and result files.
package enum ResultCode: String, CaseIterable, Hashable, Sendable {
    /// It could not be opened or read.
    case unreadable
    /// It ends before it should: empty, cut, or with another number of recipients than its `count`.
    case incomplete
    /// The document is at fault, or every recipient of it.
    case invalid
    /// The gateway accepted none of its notifications.
    case refused
    /// It was too late for all that was left.
    case expired
    /// Notifications were given up.
    case unsent
    /// An earlier job of the app with the same `id` was sent.
    case duplicate
    /// An operator stopped it.
    case cancelled
    /// Its bytes changed after they were checked.
    case changed
    /// The daemon died over it again and again.
    case poison
}
