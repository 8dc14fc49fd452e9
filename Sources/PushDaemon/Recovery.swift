import APNSModel
import SpoolModel

/// What to do at start with a job that an earlier daemon had claimed and not finished.
enum Recovery: Equatable {
    /// Send all of it again.
    case sendWhole
    /// Move it to `hold/`, for a person to decide.
    case hold

    /// Decides. The one place where this is decided.
    ///
    /// There is no record of what was sent, so nothing can be left out: the job is sent whole, which may double up to
    /// all of it. A job that must not be sent twice is held instead.
    static func decide(_ header: JobHeader) -> Recovery {
        switch header.onDoubt {
        case .resend: .sendWhole
        case .report: .hold
        }
    }
}
