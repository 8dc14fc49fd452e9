/// Parses durations as users write them: a whole number and a unit, or `0`.
package enum DurationText {
    /// A description of the accepted text, for hints.
    package static let form = "a whole number with one of the units ms, s, m, h and d, such as 250ms, 15s or 30d"

    /// Parses `250ms`, `15s`, `5m`, `4h`, `30d` or `0`.
    ///
    /// - Throws: The fault of the text; report it at the field's place.
    package static func parse(_ text: String) throws(TextFault) -> Duration {
        let (number, unit) = try Quantity.split(text, form: form)
        switch unit {
        case "ms": return .seconds(number / 1_000) + .milliseconds(number % 1_000)
        case "s": return .seconds(number)
        case "m": return try seconds(number, times: 60)
        case "h": return try seconds(number, times: 3_600)
        case "d": return try seconds(number, times: 86_400)
        case "": return try bare(number)
        default: throw TextFault("unknown unit \(Diagnostic.quoted(unit))", hint: "write \(form)")
        }
    }

    /// Returns the shortest text for a duration in whole milliseconds: `1h`, not `3600s`.
    package static func spelled(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        guard attoseconds == 0 else { return "\(seconds * 1_000 + attoseconds / 1_000_000_000_000_000)ms" }
        let units: [(Int64, String)] = [(86_400, "d"), (3_600, "h"), (60, "m")]
        guard seconds > 0, let (factor, unit) = units.first(where: { seconds % $0.0 == 0 }) else {
            return "\(seconds)s"
        }
        return "\(seconds / factor)\(unit)"
    }

    private static func bare(_ number: Int64) throws(TextFault) -> Duration {
        guard number == 0 else { throw TextFault("the unit is missing", hint: "write \(form)") }
        return .zero
    }

    private static func seconds(_ number: Int64, times factor: Int64) throws(TextFault) -> Duration {
        .seconds(try Quantity.product(number, factor))
    }
}
