import JobFormat
package import JournalModel
package import PushModel
import SpoolModel

/// The journal's records of an app from an earlier run.
package struct LeftBehind: Sendable {
    /// The jobs that had not ended.
    package var jobs: [JobID: JournalJob] = [:]
    /// The time in the name of its newest feedback file.
    package var newestFeedback: WallTime?

    /// Creates an empty record.
    package init() {}
}

extension JournalReplay {
    /// The records of each app.
    package var leftBehind: [String: LeftBehind] {
        var left: [String: LeftBehind] = [:]
        for (id, job) in jobs { left[job.facts.app, default: LeftBehind()].jobs[id] = job }
        for (app, name) in newestFeedback {
            left[app, default: LeftBehind()].newestFeedback = FeedbackFileName.time(of: name.bytes)
        }
        return left
    }
}
