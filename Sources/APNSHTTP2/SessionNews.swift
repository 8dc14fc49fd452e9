package import APNSModel
import Document
package import HTTP2

extension SessionNews.Farewell: CustomStringConvertible {
    /// The frame in words, such as `GOAWAY ENHANCE_YOUR_CALM "too_many_pings"`.
    package var description: String { text.isEmpty ? "GOAWAY \(code)" : "GOAWAY \(code) \"\(text)\"" }
}

/// What a connection has found out about the notifications on it.
package struct SessionNews: Sendable {
    /// A notification with an answer that is not an acceptance.
    package struct Refused: Sendable {
        /// The notification: a batch of one.
        package internal(set) var batch: Batch
        /// What the gateway said.
        package let reply: Reply
        /// How long it asked to wait (`retry-after`); Apple documents none.
        package let retryAfter: Duration?

        /// Creates a refusal.
        package init(batch: Batch, reply: Reply, retryAfter: Duration? = nil) {
            (self.batch, self.reply, self.retryAfter) = (batch, reply, retryAfter)
        }
    }

    /// Why the gateway takes no more streams on the connection.
    package struct Farewell: Sendable, Hashable {
        /// The error code of the GOAWAY frame.
        package let code: ErrorCode
        /// The reason in its debug data, where there is one of the table.
        package let reason: Reason?
        /// The debug data, as far as it is printable: at most 200 characters.
        package let text: String

        /// Reads the frame.
        init(code: ErrorCode, debug: ArraySlice<UInt8>, parser: inout some DocumentParser) {
            self.code = code
            self.reason = Reply.reason(ofGoAway: debug, parser: &parser)
            self.text = String(
                decoding: debug.prefix(200).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
        }
    }

    /// Taken by the gateway.
    package var accepted: [Batch] = []
    /// Refused by it.
    package var refused: [Refused] = []
    /// Certainly not processed: to be sent again, on any connection.
    package var returned: [Batch] = []
    /// Written and without an answer for good: perhaps accepted, perhaps not.
    package var doubtful: [Batch] = []
    /// The gateway's GOAWAY, told each time.
    package var farewell: Farewell?
    /// What the gateway did against the protocol: the connection is over.
    package var fault: ConnectionFault?

    /// Creates empty news.
    package init() {}

    /// Whether it says nothing about any notification.
    package var isEmpty: Bool {
        accepted.isEmpty && refused.isEmpty && returned.isEmpty && doubtful.isEmpty && farewell == nil && fault == nil
    }

    /// How many notifications are in doubt that are treated so.
    package func doubtfulCount(_ onDoubt: OnDoubt) -> Int {
        doubtful.reduce(0) { $0 + ($1.onDoubt == onDoubt ? $1.count : 0) }
    }

    /// Whether some may have to be sent again, by any connection.
    package var hasWork: Bool { !refused.isEmpty || !returned.isEmpty || !doubtful.isEmpty }

    /// How many are sent again that were not processed.
    package var returnedCount: Int { returned.notificationCount }
}
