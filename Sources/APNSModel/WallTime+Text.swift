extension WallTime {
    /// The UTC day, for folder names: `2026-11-21`.
    package var day: String {
        let (year, month, day) = civilDate
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }

    /// RFC 3339 in UTC with milliseconds: `2026-11-21T08:36:16.123Z`.
    package var rfc3339: String {
        let (hour, minute, second) = timeOfDay
        let millisecond = Int(fraction / 1_000_000)
        return "\(day)T\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2)).\(padded(millisecond, 3))Z"
    }

    /// A time that sorts as a file name, to the microsecond: `20261121T083616.123456Z`.
    package var compact: String {
        let (year, month, day) = civilDate
        let (hour, minute, second) = timeOfDay
        let date = padded(year, 4) + padded(month, 2) + padded(day, 2)
        let time = padded(hour, 2) + padded(minute, 2) + padded(second, 2)
        return "\(date)T\(time).\(padded(Int(fraction / 1_000), 6))Z"
    }

    private var fraction: Int64 {
        // Not the difference to the whole seconds: those of the earliest time are before the earliest time.
        let rest = nanoseconds % 1_000_000_000
        return rest < 0 ? rest + 1_000_000_000 : rest
    }

    private var timeOfDay: (hour: Int, minute: Int, second: Int) {
        let second = Int(epochSeconds - epochSeconds.quotientRoundedDown(86_400) * 86_400)
        return (second / 3600, second / 60 % 60, second % 60)
    }

    /// Howard Hinnant's `civil_from_days`: proleptic Gregorian date of a day number, exact for all of them.
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

private func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}
