import APNSModel
package import Document
import JobFormat
package import PushModel

/// What a line of feedback tells the relay: how a notification ended, or the rest of a job, or that a token is gone.
package struct HeardOutcome: Sendable {
    /// The id of the notification; `nil` if the line is about a job or a token.
    package let id: NotificationID?
    /// The file of the job; empty if the line is about a token alone.
    package let job: String
    /// Whether the job ended before it was claimed: nothing that has no line of its own will be sent or have one.
    package let isJobEnd: Bool
    /// The answer that the gateway would have given to the client.
    package let answer: RelayAnswer
    /// The bytes of the token, or the text of the channel.
    package let receiver: [UInt8]
    /// Whether it is gone.
    package let isGone: Bool
    /// Since when it is gone, if the gateway said so.
    package let goneSince: WallTime?

    /// Reads a line; `nil` if it tells nothing of that.
    package init?(_ line: Node) {
        let isGone = line["verdict"]?.isText(Verdict.gone.rawValue) == true
        id = line["apns_id"].flatMap { NotificationID($0.bytes.span) }
        job = line["job"]?.string ?? ""
        goneSince = line["gone_since"]?.string.flatMap { WallTime(rfc3339: $0) }
        var token: [UInt8] = []
        if let text = line["token"], case .success = TokenSpelling.append(text.bytes.span, to: &token) {
            (receiver, self.isGone) = (token, isGone)
        } else {
            (receiver, self.isGone) = (line["channel"].map { Array($0.bytes) } ?? [], false)
        }
        let end = id == nil ? Self.end(line) : nil
        isJobEnd = end != nil
        guard id != nil || self.isGone || isJobEnd else { return nil }
        let outcome = end ?? line["outcome"]?.string.flatMap { Outcome.Kind(rawValue: $0) }
        answer = Self.answer(outcome, line, goneSince)
    }

    /// The outcome of all notifications of a job that was never claimed, or was taken out of `hold/`, if a line is about one:
    /// only the others have `claimed_at`.
    private static func end(_ line: Node) -> Outcome.Kind? {
        guard line["claimed_at"] == nil else { return nil }
        switch line["code"]?.string.flatMap({ ResultCode(rawValue: $0) }) {
        case .expired: return .expired
        case .cancelled, .unsent: return .unsent
        case .unreadable, .incomplete, .invalid, .refused, .duplicate, .changed, .poison: return .unknown
        case nil: return nil
        }
    }

    private static func answer(_ outcome: Outcome.Kind?, _ line: Node, _ goneSince: WallTime?) -> RelayAnswer {
        switch outcome {
        case .accepted: .accepted
        case .rejected:
            RelayAnswer(
                Refusal(
                    status: line["status"]?.integer, reason: line["reason"]?.string ?? "", verdict: .invalid,
                    goneSince: goneSince))
        case .expired: RelayAnswer(.badExpirationDate)
        case .unsent: RelayAnswer(.serviceUnavailable)
        case .unknown, nil: RelayAnswer(.internalServerError)
        }
    }
}
