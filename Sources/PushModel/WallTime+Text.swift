import Document

extension WallTime {
    /// The UTC day, for folder names: `2026-11-21`.
    package var day: String { String(spelledBy: { appendDay(to: &$0) }) }

    /// RFC 3339 in UTC with milliseconds: `2026-11-21T08:36:16.123Z`.
    package var rfc3339: String { String(spelledBy: { appendRFC3339(to: &$0) }) }

    /// A time in microseconds that sorts correctly as a file name: `20261121T083616.123456Z`.
    package var compact: String { String(spelledBy: { appendCompact(to: &$0) }) }

    /// Appends the 10 characters of `day`.
    package func appendDay(to text: inout [UInt8]) {
        text.append(addingCapacity: 10) { appendDay(to: &$0) }
    }

    private func appendDay(to output: inout OutputSpan<UInt8>) {
        let (year, month, day) = civilDate
        output.appendDigits(year, width: 4)
        output.append(UInt8(ascii: "-"))
        output.appendDigits(month, width: 2)
        output.append(UInt8(ascii: "-"))
        output.appendDigits(day, width: 2)
    }

    /// Appends the 24 characters of `rfc3339`.
    package func appendRFC3339(to text: inout [UInt8]) {
        let (hour, minute, second) = timeOfDay
        text.append(addingCapacity: 24) { output in
            appendDay(to: &output)
            output.append(UInt8(ascii: "T"))
            output.appendDigits(hour, width: 2)
            output.append(UInt8(ascii: ":"))
            output.appendDigits(minute, width: 2)
            output.append(UInt8(ascii: ":"))
            output.appendDigits(second, width: 2)
            output.append(UInt8(ascii: "."))
            output.appendDigits(Int(fraction / 1_000_000), width: 3)
            output.append(UInt8(ascii: "Z"))
        }
    }

    /// Appends the 23 characters of `compact`.
    package func appendCompact(to text: inout [UInt8]) {
        let (year, month, day) = civilDate
        let (hour, minute, second) = timeOfDay
        text.append(addingCapacity: 23) { output in
            output.appendDigits(year, width: 4)
            output.appendDigits(month, width: 2)
            output.appendDigits(day, width: 2)
            output.append(UInt8(ascii: "T"))
            output.appendDigits(hour, width: 2)
            output.appendDigits(minute, width: 2)
            output.appendDigits(second, width: 2)
            output.append(UInt8(ascii: "."))
            output.appendDigits(Int(fraction / 1_000), width: 6)
            output.append(UInt8(ascii: "Z"))
        }
    }

    private var fraction: Int64 {
        // Not computed as a difference from the whole seconds, because the earliest time rounded down is not representable.
        let rest = nanoseconds % 1_000_000_000
        return rest < 0 ? rest + 1_000_000_000 : rest
    }

    private var timeOfDay: (hour: Int, minute: Int, second: Int) {
        let second = Int(epochSeconds - epochSeconds.quotientRoundedDown(86_400) * 86_400)
        return (second / 3600, second / 60 % 60, second % 60)
    }

    /// Howard Hinnant's `civil_from_days`: the proleptic Gregorian date of a day number, exact for all of them.
    private var civilDate: (year: Int, month: Int, day: Int) {
        let shifted = Int(epochSeconds.quotientRoundedDown(86_400)) + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}
