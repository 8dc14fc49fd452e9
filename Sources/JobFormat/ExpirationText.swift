package import Document
package import PushModel

/// Reads when a notification expires: `+3600`, `+1h`, `1795000000`, `2026-11-22T06:00:00Z`, or `now` or `0`.
package enum ExpirationText {
    /// How long a notification without an expiration may be delivered.
    package static let defaultLifetime = Duration.seconds(30 * 86_400)

    private static let form = "write +3600, +1h, epoch seconds, a time such as 2026-11-22T06:00:00Z, or now"

    /// Reads an expiration. A relative one counts from the drop.
    ///
    /// - Throws: The fault of the text; show it with the field's place.
    package static func parse(_ text: String, droppedAt: WallTime) throws(TextFault) -> Expiration {
        if text == "now" || TimeText.isNumber(text) && Int64(text) == 0 { return .singleAttempt }
        let time = try TimeText.parse(text, droppedAt: droppedAt, form: form)
        return Expiration(epochSeconds: time.epochSeconds)
    }
}
