import APNSHTTP2
package import APNSModel
package import PushModel

/// The relay's answer to a request, in the words of Apple's gateway.
package struct RelayAnswer: Hashable, Sendable {
    /// The HTTP status.
    package let status: Int
    /// The reason; empty for an acceptance.
    package let reason: String
    /// Since when a token is gone, in milliseconds since 1970.
    package var timestamp: Int64?
    /// Whether it is only known that the request was spooled, and not what the gateway answers.
    package var isSpooledOnly = false

    /// The request was spooled, and the gateway has not answered in time.
    package static let spooled = {
        var answer = accepted
        answer.isSpooledOnly = true
        return answer
    }()

    /// The request was accepted.
    package static let accepted = RelayAnswer(status: 200, reason: "")

    /// The request comes from a daemon of the spool that it would be dropped into.
    static let ownDoor = RelayAnswer(status: 403, reason: LocalReason.ownDoor.rawValue)

    private init(status: Int, reason: String) {
        (self.status, self.reason) = (status, reason)
    }

    /// Creates the answer for one of Apple's reasons.
    package init(_ reason: Reason) {
        self.init(status: reason.status, reason: reason.rawValue)
    }

    /// Creates the answer for a recipient that was refused, by the gateway or by the daemon.
    ///
    /// A token that the daemon suppresses has the answer that Apple gave to an earlier notification. The daemon's other reasons
    /// have the status 400.
    package init(_ refusal: Refusal) {
        let isSuppressed = refusal.reason == LocalReason.suppressed.rawValue
        let reason = isSuppressed ? Reason.unregistered.rawValue : refusal.reason
        self.init(status: refusal.status ?? Reason(rawValue: reason)?.status ?? 400, reason: reason)
        timestamp = refusal.goneSince.map { $0.nanoseconds / 1_000_000 }
    }

    /// Whether the request was accepted.
    package var isAcceptance: Bool { status == 200 }

    /// Whether the same request may be accepted later: 429 and 5xx.
    package var mayComeAgain: Bool { status == 429 || status >= 500 }

    /// The body: `{"reason":"Unregistered","timestamp":1700000000123}`; empty for an acceptance.
    package var body: [UInt8] {
        guard !isAcceptance else { return [] }
        let end = timestamp.map { ",\"timestamp\":\($0)}" } ?? "}"
        return Array("{\"reason\":\"\(reason)\"\(end)".utf8)
    }
}
