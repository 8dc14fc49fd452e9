/// The keys of log metadata. The manual documents their order and meaning.
package enum LogKey {
    /// The app.
    package static let app = "app"
    /// The job file's name, escaped as in feedback lines.
    package static let job = "job"
    /// The node of a cluster.
    package static let node = "node"
    /// The job's id.
    package static let id = "id"
    /// A file, relative to the spool or as configured.
    package static let path = "path"
    /// The code with which a job or a connection ended.
    package static let code = "code"
    /// The error message.
    package static let error = "error"
    /// The output of another program.
    package static let text = "text"
    /// The number of lines.
    package static let lines = "lines"
    /// How to fix the problem.
    package static let hint = "hint"
    /// Keys of the configuration.
    package static let keys = "keys"
    /// The address of a gateway.
    package static let gateway = "gateway"
    /// The number of notifications.
    package static let count = "notifications"
    /// The number of accepted notifications.
    package static let accepted = "accepted"
    /// The number of rejected notifications.
    package static let rejected = "rejected"
    /// The number of notifications with other outcomes.
    package static let other = "other"
    /// The number of notifications to be resent that cannot have been accepted.
    package static let resent = "resent"
    /// The number of notifications to be resent that may have been accepted.
    package static let doubtful = "possible_duplicates"
    /// The number of notifications with an unknown outcome that are not resent.
    package static let unknown = "unknown"
    /// The number of notifications to be resent that had counted as accepted.
    package static let revoked = "revoked"
    /// The number of discarded notifications that cannot be resent.
    package static let lost = "lost"
    /// The most unconfirmed notifications on a connection.
    package static let window = "window"
    /// The pause before the next attempt.
    package static let pause = "pause"
    /// How often the kernel's event queue has overflowed since the start.
    package static let overflows = "overflows"
    /// The free space.
    package static let free = "free"
    /// The name of a signal.
    package static let signal = "signal"
    /// A process id.
    package static let process = "process"
    /// The number of tokens.
    package static let tokens = "tokens"
    /// The number of bytes.
    package static let bytes = "bytes"
    /// The number of files.
    package static let files = "files"
    /// The oldest of these files.
    package static let oldest = "oldest"
    /// An example of these files.
    package static let example = "example"
    /// The number of jobs.
    package static let jobs = "jobs"
    /// The number of jobs in `done/`.
    package static let done = "done"
    /// The number of jobs in `failed/`.
    package static let failed = "failed"
    /// The number of files in `feedback/`.
    package static let feedback = "feedback"
    /// By how much the wall clock was set.
    package static let step = "step"
    /// The time of the wall clock after that, UTC.
    package static let time = "time"
    /// The end of a wait, UTC.
    package static let until = "until"
    /// A duration or a time limit.
    package static let limit = "limit"
    /// The last second at which a certificate is valid.
    package static let notAfter = "not_after"
    /// The number of whole days until then.
    package static let daysLeft = "days_left"
    /// Apps with faulty files, which keep their previous configuration.
    package static let broken = "broken"
    /// The command that an operator gave.
    package static let command = "command"
    /// The id of the user who gave it.
    package static let user = "uid"
    /// The result of the command.
    package static let result = "result"

    /// The keys with whole numbers as values, which are written as numbers if the format has those.
    package static let numbers: Set<String> = [
        lines, count, accepted, rejected, other, resent, doubtful, unknown, revoked, lost, window, overflows, process,
        tokens, bytes, files, jobs, done, failed, feedback, daysLeft, user,
    ]
}
