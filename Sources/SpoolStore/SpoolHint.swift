package import SpoolModel

/// What the watch noticed; never proof, always a reason to look.
package enum SpoolHint: Hashable, Sendable {
    /// Something happened to a file in an app's `new/`, also to one that is never a job: rsync's temporary files tell
    /// of unfinished ones.
    case job(app: String, name: FileName, change: Change)
    /// An app's folders appeared or changed: open and scan it.
    case app(String)
    /// An app's folder went away.
    case appGone(String)
    /// Events were lost: scan all apps.
    case everything

    /// What happened to a file.
    package enum Change: Hashable, Sendable {
        /// It was renamed in, the one sign that its producer meant it to be whole.
        case published
        /// It was made, or linked in.
        case created
        /// Its bytes change.
        case modified
        /// A writer closed it.
        case closed
    }
}
