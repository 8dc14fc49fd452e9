package import APNSModel
package import Document

/// Reads when a notification is too late: `+3600`, `+1h`, `1795000000`, `2026-11-22T06:00:00Z` or `0`.
package enum ExpirationText {
    /// How long a notification that does not say may be delivered.
    package static let defaultLifetime = Duration.seconds(30 * 86_400)

    private static let form = "write +3600, +1h, epoch seconds, a time such as 2026-11-22T06:00:00Z, or 0"
    /// The last second that the four bytes of the binary protocol can tell, in 2106.
    private static let lastSecond = Int64(UInt32.max)
    /// Smaller numbers were meant to be relative: this was September 2001.
    private static let firstSecond: Int64 = 1_000_000_000

    /// Reads an expiration; relative ones count from the drop.
    ///
    /// - Throws: What is wrong with the text; show it with the field's place.
    package static func parse(_ text: String, droppedAt: WallTime) throws(TextFault) -> Expiration {
        if text.utf8.first == UInt8(ascii: "+") { return try relative(text.dropFirst(), droppedAt: droppedAt) }
        if isDigits(text) { return try absolute(text) }
        guard let time = WallTime(rfc3339: text) else {
            throw TextFault("\(Diagnostic.quoted(text)) is no time", hint: form)
        }
        return try checked(time.epochSeconds)
    }

    private static func isDigits(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func relative(_ text: Substring, droppedAt: WallTime) throws(TextFault) -> Expiration {
        let duration = try DurationText.parse(isDigits(text) ? "\(text)s" : String(text))
        return try checked((droppedAt + duration).epochSeconds)
    }

    private static func absolute(_ text: String) throws(TextFault) -> Expiration {
        guard let seconds = Int64(text) else { throw beyond }
        if seconds == 0 { return .singleAttempt }
        guard seconds >= firstSecond else {
            throw TextFault(
                "epoch second \(seconds) is before 2001", hint: "write \"+\(seconds)\" for seconds from now")
        }
        return try checked(seconds)
    }

    private static func checked(_ seconds: Int64) throws(TextFault) -> Expiration {
        guard seconds <= lastSecond else { throw beyond }
        guard seconds >= firstSecond else { throw TextFault("is before 2001", hint: form) }
        return Expiration(epochSeconds: seconds)
    }

    private static let beyond = TextFault(
        "is after 2106-02-07, the last day that can be told", hint: "give seconds, not milliseconds; \(form)")
}
