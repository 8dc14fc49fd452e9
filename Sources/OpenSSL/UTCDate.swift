/// A day of the proleptic Gregorian calendar, for messages: `2026-11-21`.
struct UTCDate: CustomStringConvertible {
    let year: Int
    let month: Int
    let day: Int

    /// Creates the day that contains `seconds` since 1970-01-01T00:00:00Z.
    ///
    /// Counts in eras of 400 years from 0000-03-01, so that leap days fall at the end of a year.
    init(_ seconds: Int64) {
        let whole = seconds.quotientAndRemainder(dividingBy: 86_400)
        let days = Int(whole.quotient) - (whole.remainder < 0 ? 1 : 0) + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var description: String {
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }
}
