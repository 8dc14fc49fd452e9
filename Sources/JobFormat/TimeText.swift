import Document
import PushModel

/// Reads a time written by a user: `+3600`, `+1h`, `1795000000` or `2026-11-22T06:00:00Z`.
enum TimeText {
    /// The last second that the four bytes of the binary protocol can represent, in 2106.
    private static let lastSecond = Int64(UInt32.max)
    /// The first valid epoch second, in September 2001. A smaller number was probably meant as a relative time.
    private static let firstSecond: Int64 = 1_000_000_000

    /// The epoch seconds that are valid.
    static let epochSeconds = Int(firstSecond)...Int(lastSecond)
    /// The forms as text, for schemas.
    static let pattern = #"^(\+[0-9]+ ?(ms|s|m|h|d)?|[0-9]+|now|\#(date))$"#
    /// The form of RFC 3339, for schemas.
    static let datePattern = "^\(date)$"
    private static let date = "[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ].+"

    /// Reads a time. A relative one counts from the drop. `form` describes the valid forms in hints.
    ///
    /// - Throws: The fault of the text; show it with the field's place.
    static func parse(_ text: String, droppedAt: WallTime, form: String) throws(TextFault) -> WallTime {
        if text.utf8.first == UInt8(ascii: "+") { return try relative(text.dropFirst(), droppedAt, form) }
        if isNumber(text) { return try absolute(text, form) }
        guard let time = WallTime(rfc3339: text) else {
            throw TextFault("\(Diagnostic.quoted(text)) is not a valid time", hint: form)
        }
        return try checked(time, form)
    }

    /// Whether the text consists of digits only.
    static func isNumber(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func relative(
        _ text: Substring, _ droppedAt: WallTime, _ form: String
    ) throws(TextFault) -> WallTime {
        let duration = try DurationText.parse(isNumber(text) ? "\(text)s" : String(text))
        return try checked(droppedAt + duration, form)
    }

    private static func absolute(_ text: String, _ form: String) throws(TextFault) -> WallTime {
        guard let seconds = Int64(text) else { throw beyond(form) }
        guard seconds >= firstSecond else {
            throw TextFault(
                "epoch second \(seconds) is before 2001", hint: "write \"+\(seconds)\" for seconds from now")
        }
        return try checked(WallTime(epochSeconds: seconds), form)
    }

    private static func checked(_ time: WallTime, _ form: String) throws(TextFault) -> WallTime {
        guard time.epochSeconds <= lastSecond else { throw beyond(form) }
        guard time.epochSeconds >= firstSecond else { throw TextFault("is before 2001", hint: form) }
        return time
    }

    private static func beyond(_ form: String) -> TextFault {
        TextFault(
            "is after 2106-02-07, the last supported day", hint: "give seconds, not milliseconds; \(form)")
    }
}
