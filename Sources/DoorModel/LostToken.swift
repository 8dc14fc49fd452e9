package import APNSModel
package import Document
package import PushModel

/// A token that should not be used any more, from a line of feedback.
package struct LostToken: Hashable, Sendable {
    /// The token.
    package let token: DeviceToken
    /// Whether it is gone; if not, the gateway called it invalid.
    package let isGone: Bool
    /// Since when it is gone, if the gateway said so.
    package let goneSince: WallTime?
    /// When the gateway said so.
    package let reportedAt: WallTime?

    /// Since when it is gone, as far as is known.
    package var time: WallTime { goneSince ?? reportedAt ?? WallTime(epochSeconds: 0) }

    /// Creates one.
    package init(_ token: DeviceToken, isGone: Bool = true, goneSince: WallTime?, reportedAt: WallTime? = nil) {
        (self.token, self.isGone, self.goneSince, self.reportedAt) = (token, isGone, goneSince, reportedAt)
    }

    /// Reads a line; `nil` if it is about something else.
    package init?(_ line: Node) {
        isGone = line["verdict"]?.isText(Verdict.gone.rawValue) == true
        let isInvalid = line["reason"]?.isText(Reason.badDeviceToken.rawValue) == true && line["status"] != nil
        guard isGone || isInvalid, let text = line["token"]?.string, let token = DeviceToken(text) else { return nil }
        self.token = token
        goneSince = line["gone_since"]?.string.flatMap { WallTime(rfc3339: $0) }
        reportedAt = line["at"]?.string.flatMap { WallTime(rfc3339: $0) }
    }
}
