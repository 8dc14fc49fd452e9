package import APNSModel
import Document
package import JobFormat
import JournalModel
package import PushModel

/// The lines of feedback files: one JSON object per line, each beginning with version, kind, app and node.
///
/// A member without a value is omitted, never `null`. Times are RFC 3339, UTC, with milliseconds; device tokens are lowercase
/// hexadecimal, addresses of FCM the text of the job; file names are escaped as in `FileName.escaped`. Every line ends with a line feed.
package struct FeedbackLine: Hashable, Sendable {
    /// The version at the start of every line.
    package static let version = 1

    /// The part of a line after `{"v":1,"kind":` and the kind: the app and the node.
    private let origin: [UInt8]

    /// Creates the lines of one app on one node.
    package init(app: String, node: String) {
        var writer = JSONWriter()
        writer.string(app)
        writer.bytes.append(contentsOf: ",\"node\":".utf8)
        writer.startLine()
        writer.string(node)
        self.origin = writer.bytes
    }

    /// Appends the line that reports how a job ended.
    package func appendJob(_ report: JobReport, to bytes: inout [UInt8]) {
        line(.job, onto: &bytes) { writer in
            report.identity.write(to: &writer)
            writer.member("state", report.conclusion.state.rawValue)
            writer.member("code", report.conclusion.code?.rawValue)
            writer.member("duplicate_of", report.earlier?.id.description)
            writer.member("duplicate_of_at", report.earlier?.endedAt.rfc3339)
            writer.member("path", report.path)
            report.write(to: &writer)
            if !report.uniqueIDs.isEmpty {
                writer.key("unique_ids")
                report.writeUniqueIDs(to: &writer)
            }
            writer.member("dropped_at", report.droppedAt)
            writer.member("claimed_at", report.claimedAt)
            writer.member("finished_at", report.finishedAt)
            if !report.isKnownComplete {
                writer.key("sealed")
                writer.boolean(false)
            }
            if report.unreadByteCount > 0 { writer.member("unread_bytes", Int(report.unreadByteCount)) }
        }
    }

    /// Appends a line for each notification of a settlement.
    package func appendNotifications(
        _ settlement: Settlement, of job: JobIdentity, at time: WallTime, to bytes: inout [UInt8]
    ) {
        let head = head(of: job)
        let kind = settlement.batch.attributes.addressKind
        var tail = JSONWriter()
        Self.writeOutcome(settlement.outcome, to: &tail)
        var end: [UInt8] = []
        Self.appendEnd(at: time, goneSince: settlement.outcome.refusal?.goneSince, to: &end)
        for index in settlement.batch.indices {
            bytes.append(contentsOf: head)
            bytes.appendDecimal(index)
            Self.appendKey(of: kind, to: &bytes)
            kind.append(settlement.batch.addressBytes(at: index), to: &bytes)
            bytes.append(contentsOf: "\",".utf8)
            bytes.append(contentsOf: tail.bytes)
            if kind.takesID { Self.append(settlement.batch.id(at: index), to: &bytes) }
            if let id = settlement.uniqueIDs[index] {
                bytes.append(contentsOf: (kind.takesID ? ",\"unique_id\":\"" : ",\"message_name\":\"").utf8)
                bytes.append(contentsOf: id.utf8)
                bytes.append(UInt8(ascii: "\""))
            }
            bytes.append(contentsOf: end)
        }
    }

    /// Appends the line of a recipient that was not sent to; without an address if that was the fault.
    package func appendRejected(
        _ recipient: RejectedRecipient, of job: JobIdentity, at time: WallTime, to bytes: inout [UInt8]
    ) {
        bytes.append(contentsOf: head(of: job))
        bytes.appendDecimal(recipient.index)
        if let address = recipient.address {
            Self.appendKey(of: address.kind, to: &bytes)
            address.append(to: &bytes)
            bytes.append(UInt8(ascii: "\""))
        }
        var outcome = JSONWriter()
        Self.writeOutcome(.rejected(recipient.refusal), to: &outcome)
        bytes.append(UInt8(ascii: ","))
        bytes.append(contentsOf: outcome.bytes)
        if let id = recipient.id { Self.append(id, to: &bytes) }
        Self.appendEnd(at: time, goneSince: nil, to: &bytes)
    }

    /// Appends the line of a token that the feedback service reported.
    package func appendToken(_ token: DeviceToken, goneSince: WallTime, to bytes: inout [UInt8]) {
        line(.token, onto: &bytes) { writer in
            writer.member("token", token.hex)
            writer.member("verdict", Verdict.gone.rawValue)
            writer.member("gone_since", goneSince)
            writer.member("source", "feedback_service")
        }
    }

    // MARK: Parts

    private static func appendKey(of kind: Address.Kind, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: ",\"".utf8)
        bytes.append(contentsOf: kind.key.utf8)
        bytes.append(contentsOf: "\":\"".utf8)
    }

    private static func append(_ id: NotificationID, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: ",\"apns_id\":\"".utf8)
        id.append(to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    private enum Kind: String {
        case job, notification, token
    }

    private func line(_ kind: Kind, onto bytes: inout [UInt8], _ body: (inout JSONWriter) -> Void) {
        var writer = JSONWriter(appendingTo: bytes)
        bytes = []
        appendStart(kind, to: &writer.bytes)
        // `appendStart` already writes the comma before the first member.
        writer.startLine()
        body(&writer)
        writer.endObject()
        writer.bytes.append(UInt8(ascii: "\n"))
        bytes = writer.bytes
    }

    private func appendStart(_ kind: Kind, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: "{\"v\":".utf8)
        bytes.appendDecimal(Self.version)
        bytes.append(contentsOf: ",\"kind\":\"".utf8)
        bytes.append(contentsOf: kind.rawValue.utf8)
        bytes.append(contentsOf: "\",\"app\":".utf8)
        bytes.append(contentsOf: origin)
        bytes.append(UInt8(ascii: ","))
    }

    /// Returns a `notification` line up to the index number.
    private func head(of job: JobIdentity) -> [UInt8] {
        var writer = JSONWriter()
        appendStart(.notification, to: &writer.bytes)
        job.write(to: &writer)
        writer.key("index")
        return writer.bytes
    }

    private static func writeOutcome(_ outcome: Outcome, to writer: inout JSONWriter) {
        writer.member("outcome", outcome.kind.rawValue)
        guard let refusal = outcome.refusal else { return }
        if let status = refusal.status {
            writer.key("status")
            writer.integer(status)
        }
        writer.member("reason", refusal.reason)
        writer.member("verdict", refusal.verdict.rawValue)
        writer.member("detail", refusal.detail)
    }

    /// Appends the rest of a line after the ids.
    private static func appendEnd(at time: WallTime, goneSince: WallTime?, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: ",\"at\":\"".utf8)
        time.appendRFC3339(to: &bytes)
        if let goneSince {
            bytes.append(contentsOf: "\",\"gone_since\":\"".utf8)
            goneSince.appendRFC3339(to: &bytes)
        }
        bytes.append(contentsOf: "\"}\n".utf8)
    }
}
