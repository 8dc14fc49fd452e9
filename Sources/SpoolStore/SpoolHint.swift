package import JobFormat

/// A change reported by the watch. It is never proof, but always a reason to look.
package enum SpoolHint: Hashable, Sendable {
    /// A file in an app's `new/` changed, even one that can never be a job: rsync's temporary files indicate unfinished
    /// uploads.
    case job(app: String, name: FileName, change: Change)
    /// An app's folders appeared or changed: open and scan the app.
    case app(String)
    /// An app's folder was removed.
    case appGone(String)
    /// Events were lost: scan all apps.
    case everything

    /// The kind of change to a file.
    package enum Change: Hashable, Sendable {
        /// It was renamed in, the only sign that its producer considers it complete.
        case published
        /// It was created or linked in.
        case created
        /// Its bytes are changing.
        case modified
        /// A writer closed it.
        case closed
    }
}
