import APNSGateway
import APNSModel
import SpoolModel

/// Lines of feedback that are to be published: in memory until they are out.
final class FeedbackLines {
    /// How many bytes are gathered at the most before they are published. With twice as many nothing more is read and no
    /// outcome is taken.
    private static let limit = 4 << 20

    private let writer: FeedbackLine
    /// Rung when there is something to publish.
    private let bell: Bell
    private var bytes: [UInt8] = []
    /// How many bytes are being published.
    private var publishingByteCount = 0

    init(_ context: AppContext, orRing bell: Bell) {
        writer = FeedbackLine(app: context.name, node: context.daemon.node)
        self.bell = bell
    }

    /// Whether there is none, but for those that are being published.
    var isEmpty: Bool { bytes.isEmpty }

    /// Whether nothing is to be taken that makes more.
    var isFull: Bool { bytes.count + publishingByteCount >= Self.limit }

    /// Whether so many are not out that nothing may be read or recorded that makes more.
    var isOverfull: Bool { bytes.count + publishingByteCount >= 2 * Self.limit }

    /// Whether so many are gathered that they are published without delay.
    var isUrgent: Bool { bytes.count >= Self.limit }

    /// Adds what became of notifications, a line each.
    func append(_ settlement: Settlement, of job: JobIdentity, at time: WallTime = .now) {
        writer.appendNotifications(settlement, of: job, at: time, to: &bytes)
        bell.ring()
    }

    /// Adds why a recipient is not sent to.
    func append(_ recipient: RejectedRecipient, of job: JobIdentity, at time: WallTime) {
        writer.appendRejected(recipient, of: job, at: time, to: &bytes)
        bell.ring()
    }

    /// Adds how a job ended.
    func append(_ report: JobReport) {
        writer.appendJob(report, to: &bytes)
    }

    /// Adds that a token is gone, as the feedback service says.
    func append(_ token: DeviceToken, goneSince time: WallTime) {
        writer.appendToken(token, goneSince: time, to: &bytes)
    }

    /// Takes all of them, to be published.
    func take() -> [UInt8] {
        defer { bytes = [] }
        publishingByteCount = bytes.count
        return bytes
    }

    /// Puts them back, before those that came meanwhile: they are not out.
    func putBack(_ taken: [UInt8]) {
        // Nothing is copied if nothing came meanwhile: this may happen again and again.
        bytes = bytes.isEmpty ? taken : taken + bytes
        publishingByteCount = 0
        bell.ring()
    }

    /// Notes that what was taken is out, or was put back.
    func noteEndOfPublication() { publishingByteCount = 0 }
}
