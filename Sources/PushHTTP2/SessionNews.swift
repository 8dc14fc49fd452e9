package import HTTP2
package import PushModel

extension SessionNews.GoAwayInfo: CustomStringConvertible {
    /// The frame as text, such as `GOAWAY ENHANCE_YOUR_CALM "too_many_pings"`.
    package var description: String { text.isEmpty ? "GOAWAY \(code)" : "GOAWAY \(code) \"\(text)\"" }
}

/// A connection's news about the notifications on it.
package struct SessionNews: Sendable {
    /// A notification with an answer other than acceptance.
    package struct Refused: Sendable {
        /// The notification: a batch of one.
        package internal(set) var batch: Batch
        /// The gateway's answer.
        package let reply: Reply
        /// How long the gateway asks to wait (`retry-after`, which Apple does not document).
        package let retryAfter: Duration?

        /// Creates a refusal.
        package init(batch: Batch, reply: Reply, retryAfter: Duration? = nil) {
            (self.batch, self.reply, self.retryAfter) = (batch, reply, retryAfter)
        }
    }

    /// Why the gateway accepts no more streams on the connection.
    package struct GoAwayInfo: Sendable, Hashable {
        /// The error code of the GOAWAY frame.
        package let code: ErrorCode
        /// What its debug data blames the app for, if it does.
        package let accusation: Accusation?
        /// The first 200 bytes of the debug data, with a full stop for each unprintable one.
        package let text: String

        /// Parses the frame.
        package init(code: ErrorCode, debug: ArraySlice<UInt8>, _ accusation: Accusation? = nil) {
            (self.code, self.accusation) = (code, accusation)
            self.text = String(
                decoding: debug.prefix(200).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
        }
    }

    /// Accepted by the gateway.
    package var accepted: [Batch] = []
    /// Refused by the gateway.
    package var refused: [Refused] = []
    /// Certainly not processed: resend them, on any connection.
    package var returned: [Batch] = []
    /// The gateway's ids of accepted and refused notifications, by job and index.
    package private(set) var uniqueIDs: [JobID: [Int: String]] = [:]
    /// Written and finally unanswered: they may or may not have been accepted.
    package var doubtful: [Batch] = []
    /// The gateway's GOAWAY, for each one received.
    package var farewell: GoAwayInfo?
    /// The gateway's protocol violation, which ends the connection.
    package var fault: ConnectionFault?

    /// Creates empty news.
    package init() {}

    /// Adds the gateway's id of a notification, a batch of one.
    mutating func note(_ uniqueID: String, of batches: [Batch]) {
        for batch in batches { uniqueIDs[batch.job, default: [:]][batch.indices.lowerBound] = uniqueID }
    }

    /// Whether the news are empty.
    package var isEmpty: Bool {
        accepted.isEmpty && refused.isEmpty && returned.isEmpty && doubtful.isEmpty && farewell == nil && fault == nil
    }

    /// The number of notifications in doubt with this policy for doubt.
    package func doubtfulCount(_ onDoubt: OnDoubt) -> Int {
        doubtful.reduce(0) { $0 + ($1.onDoubt == onDoubt ? $1.count : 0) }
    }

    /// Whether some notifications may have to be resent, on any connection.
    package var hasWork: Bool { !refused.isEmpty || !returned.isEmpty || !doubtful.isEmpty }

    /// The number of notifications that are resent because they were not processed.
    package var returnedCount: Int { returned.notificationCount }
}
