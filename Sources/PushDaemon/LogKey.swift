/// The keys of log metadata. Their order and meaning are part of the manual.
package enum LogKey {
    /// The app.
    package static let app = "app"
    /// The job file's name, escaped as in feedback lines.
    package static let job = "job"
    /// The job's id.
    package static let id = "id"
    /// A file, relative to the spool or as configured.
    package static let path = "path"
    /// Why a job or a connection ended.
    package static let code = "code"
    /// What went wrong, in words.
    package static let error = "error"
    /// What another program has printed.
    package static let text = "text"
    /// How many lines.
    package static let lines = "lines"
    /// What a person can do about it.
    package static let hint = "hint"
    /// Keys of the configuration.
    package static let keys = "keys"
    /// Where a connection goes.
    package static let gateway = "gateway"
    /// How many notifications.
    package static let count = "notifications"
    /// How many were accepted.
    package static let accepted = "accepted"
    /// How many were rejected.
    package static let rejected = "rejected"
    /// How many have another outcome.
    package static let other = "other"
    /// How many are sent again that cannot have been accepted.
    package static let resent = "resent"
    /// How many are sent again that may have been accepted.
    package static let doubtful = "possible_duplicates"
    /// How many will not be sent again, their outcome being unknown.
    package static let unknown = "unknown"
    /// How many are sent again that had been taken for accepted.
    package static let revoked = "revoked"
    /// How many cannot be sent again though they were thrown away.
    package static let lost = "lost"
    /// How many notifications a connection may have without an outcome.
    package static let window = "window"
    /// The pause before the next attempt.
    package static let pause = "pause"
    /// How often the kernel could not keep all events since the start.
    package static let overflows = "overflows"
    /// How much room is left.
    package static let free = "free"
    /// The name of a signal.
    package static let signal = "signal"
    /// The number of a process.
    package static let process = "process"
    /// How many tokens.
    package static let tokens = "tokens"
    /// How many bytes.
    package static let bytes = "bytes"
    /// How many files.
    package static let files = "files"
    /// The oldest of them.
    package static let oldest = "oldest"
    /// One of them.
    package static let example = "example"
    /// How many jobs.
    package static let jobs = "jobs"
    /// How many jobs of `done/`.
    package static let done = "done"
    /// How many jobs of `failed/`.
    package static let failed = "failed"
    /// How many files of `feedback/`.
    package static let feedback = "feedback"
    /// By how much the wall clock was set.
    package static let step = "step"
    /// What it shows since then, UTC.
    package static let time = "time"
    /// Until when something waits, UTC.
    package static let until = "until"
    /// How long something took or may take.
    package static let limit = "limit"
    /// The last second of a certificate's time.
    package static let notAfter = "not_after"
    /// How many whole days are left until then.
    package static let daysLeft = "days_left"
    /// Apps whose files are at fault, so that what was in force stays.
    package static let broken = "broken"
    /// What an operator asked for.
    package static let command = "command"
    /// The number of the user who did.
    package static let user = "uid"
    /// What came of it.
    package static let result = "result"

    /// Those whose values are whole numbers, and are written as such where the format tells numbers from text.
    package static let numbers: Set<String> = [
        lines, count, accepted, rejected, other, resent, doubtful, unknown, revoked, lost, window, overflows, process,
        tokens, bytes, files, jobs, done, failed, feedback, daysLeft, user,
    ]
}
