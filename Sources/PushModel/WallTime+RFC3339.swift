extension WallTime {
    /// Parses RFC 3339 text: `2026-11-22T06:00:00Z`, `2026-11-22 06:00:00.25+01:00`.
    ///
    /// A leap second (`:60`) counts as the first second of the next minute. Digits beyond the nanosecond are dropped.
    ///
    /// - Returns: `nil` if the text has another form, names a day that does not exist, or has no offset.
    package init?(rfc3339 text: some StringProtocol) {
        var digits = Digits(bytes: Array(text.utf8))
        guard let year = digits.number(4), digits.skip("-"), let month = digits.number(2), digits.skip("-"),
            let day = digits.number(2), digits.skip("T") || digits.skip("t") || digits.skip(" "),
            let hour = digits.number(2), digits.skip(":"), let minute = digits.number(2), digits.skip(":"),
            let second = digits.number(2), let fraction = digits.fraction(), let offset = digits.offset(),
            digits.isAtEnd, (1...12).contains(month), day >= 1, day <= daysIn(month, of: year),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        let seconds = dayNumber(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
        self.init(nanoseconds: WallTime(epochSeconds: Int64(seconds)).nanoseconds)
        self = self + .nanoseconds(fraction)
    }
}

private struct Digits {
    let bytes: [UInt8]
    var position = 0

    var isAtEnd: Bool { position == bytes.count }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, UInt32(bytes[position]) == character.value else { return false }
        position += 1
        return true
    }

    mutating func digit() -> Int? {
        guard position < bytes.count, bytes[position] >= 0x30, bytes[position] <= 0x39 else { return nil }
        position += 1
        return Int(bytes[position - 1]) - 0x30
    }

    mutating func number(_ width: Int) -> Int? {
        var value = 0
        for _ in 0..<width {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    /// Reads the fraction in nanoseconds: 0 if there is none, `nil` for a point without digits.
    mutating func fraction() -> Int? {
        guard skip(".") else { return 0 }
        guard var value = digit() else { return nil }
        var width = 1
        while let next = digit() {
            if width < 9 { (value, width) = (value * 10 + next, width + 1) }
        }
        for _ in width..<9 { value *= 10 }
        return value
    }

    /// Reads the offset in seconds east of UTC.
    mutating func offset() -> Int? {
        if skip("Z") || skip("z") { return 0 }
        let isEast = skip("+")
        guard isEast || skip("-"), let hour = number(2), skip(":"), let minute = number(2), hour < 24, minute < 60
        else { return nil }
        return (isEast ? 1 : -1) * (hour * 3600 + minute * 60)
    }
}

private func daysIn(_ month: Int, of year: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
}

/// Howard Hinnant's `days_from_civil`: the day's number, 0 for 1970-01-01.
private func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = year / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
}
