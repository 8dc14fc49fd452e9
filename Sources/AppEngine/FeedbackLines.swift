import APNSModel
import JobFormat
import LinuxIO
import PushModel
import ServiceProcess
import SpoolModel
import SpoolStore

/// Unpublished feedback lines, in memory.
final class FeedbackLines {
    /// How many bytes of lines are collected at most before they are published. At twice this number, nothing more is
    /// read and no outcome is recorded.
    private static let limit = 4 << 20
    /// How many recipients a job has at most whose lines readers may wait for. Those of long jobs would be written twice.
    static let awaitedCount = 1_000

    private let writer: FeedbackLine
    private let notices: JobNotices
    /// Signalled when there are lines to publish.
    private let wakeup: Wakeup
    private var bytes: [UInt8] = []
    /// Those of them that readers wait for, until they are taken.
    private var awaited: [UInt8] = []
    /// The number of bytes being published.
    private var publishingByteCount = 0

    init(of app: AppSpool, orSignal wakeup: Wakeup) {
        writer = FeedbackLine(app: app.name, node: app.node)
        (notices, self.wakeup) = (app.notices, wakeup)
    }

    /// Whether there are no lines, not counting those being published.
    var isEmpty: Bool { bytes.isEmpty }

    /// Whether no job may be taken, because it would add lines.
    var isFull: Bool { bytes.count + publishingByteCount >= Self.limit }

    /// Whether nothing may be read or recorded that adds lines, because too many are unpublished.
    var isOverfull: Bool { bytes.count + publishingByteCount >= 2 * Self.limit }

    /// Whether to publish the lines without delay.
    var isUrgent: Bool { bytes.count >= Self.limit }

    /// Adds a line for each settled notification.
    func append(_ settlement: Settlement, of job: JobIdentity, at time: WallTime = .now) {
        add(of: job) { writer.appendNotifications(settlement, of: job, at: time, to: &$0) }
    }

    /// Adds the line of a recipient that is not sent to, with the reason.
    func append(_ recipient: RejectedRecipient, of job: JobIdentity, at time: WallTime) {
        add(of: job) { writer.appendRejected(recipient, of: job, at: time, to: &$0) }
    }

    private func add(of job: JobIdentity, _ write: (inout [UInt8]) -> Void) {
        let start = bytes.count
        write(&bytes)
        if job.isAwaited { awaited.append(contentsOf: bytes[start...]) }
        wakeup.signal()
    }

    /// Adds the `job` line of an ended job, and its line for producers.
    func append(_ report: JobReport, notice: [UInt8]) {
        writer.appendJob(report, to: &bytes)
        notices.add(notice)
    }

    /// Adds the line of a token that the feedback service has reported.
    func append(_ token: DeviceToken, goneSince time: WallTime) {
        writer.appendToken(token, goneSince: time, to: &bytes)
    }

    /// Removes and returns all lines, to publish them.
    func take() -> [UInt8] {
        defer { bytes = [] }
        publishingByteCount = bytes.count
        notices.seal()
        return bytes
    }

    /// Returns the lines added since the last call that readers wait for. They are still to be published.
    func takeAwaited() -> [UInt8] {
        defer { awaited = [] }
        return awaited
    }

    /// Puts unpublished lines back, before those added meanwhile.
    func putBack(_ taken: [UInt8]) {
        // Avoids a copy if no lines were added meanwhile, because this may happen repeatedly.
        bytes = bytes.isEmpty ? taken : taken + bytes
        publishingByteCount = 0
        wakeup.signal()
    }

    /// Records that the publication has ended: the lines are published or were put back.
    func noteEndOfPublication() { publishingByteCount = 0 }
}
