package import Document
package import PushModel

/// Reads times in the forms that operators write.
package enum SinceText {
    /// The valid forms, for hints.
    package static let form =
        "how long ago, such as 90m or 7d; a UTC day, such as 2026-11-21; or RFC 3339, such as 2026-11-21T08:00:00Z"

    /// Reads `7d`, `2026-11-21` (the start of the day) or `2026-11-21T08:36:16Z`.
    ///
    /// - Throws: The fault of the text; show it with the option's name.
    package static func parse(_ text: String, now: WallTime) throws(TextFault) -> WallTime {
        if let time = WallTime(rfc3339: text) ?? WallTime(rfc3339: text + "T00:00:00Z") { return time }
        do throws(TextFault) {
            let age = try DurationText.parse(text)
            return now + (Duration.zero - age)
        } catch {
            throw TextFault("\(Diagnostic.quoted(text)) is not a valid time", hint: "write \(form)")
        }
    }
}
