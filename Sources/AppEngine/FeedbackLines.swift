import APNSModel
import JobFormat
import LinuxIO
import PushModel
import ServiceProcess
import SharedResources
import SpoolModel
import SpoolStore

/// Unpublished feedback lines, in memory.
final class FeedbackLines {
    /// How many bytes of lines are collected at most before they are published. At twice this number, nothing more is
    /// read and no outcome is recorded.
    private static let limit = 4 << 20

    private let writer: FeedbackLine
    private let notices: JobNotices
    /// Signalled when there are lines to publish.
    private let wakeup: Wakeup
    private var bytes: [UInt8] = []
    /// The number of bytes being published.
    private var publishingByteCount = 0

    init(_ context: AppContext, orSignal wakeup: Wakeup) {
        writer = FeedbackLine(app: context.name, node: context.daemon.node)
        (notices, self.wakeup) = (context.spool.notices, wakeup)
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
        writer.appendNotifications(settlement, of: job, at: time, to: &bytes)
        wakeup.signal()
    }

    /// Adds the line of a recipient that is not sent to, with the reason.
    func append(_ recipient: RejectedRecipient, of job: JobIdentity, at time: WallTime) {
        writer.appendRejected(recipient, of: job, at: time, to: &bytes)
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
