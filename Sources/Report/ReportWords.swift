/// Formats numbers for a report.
enum ReportWords {
    /// A count, such as `1,234,567`.
    static func count(_ number: Int) -> String {
        let digits = Array(String(number.magnitude).utf8)
        var text = number < 0 ? "-" : ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place).isMultiple(of: 3) { text += "," }
            text.unicodeScalars.append(Unicode.Scalar(digit))
        }
        return text
    }

    /// A count with its noun: `1 job`, `1,234 jobs`.
    static func count(_ number: Int, _ noun: String) -> String {
        "\(count(number)) \(noun)\(number == 1 ? "" : "s")"
    }

    /// At most three digits, for the marks of a scale: `950`, `1.2k`, `35M`.
    static func short(_ number: Double) -> String {
        for (unit, name) in [(1e9, "G"), (1e6, "M"), (1e3, "k")] where number >= unit {
            return decimal(number / unit) + name
        }
        return decimal(number)
    }

    /// A percentage, such as `98.7 %`. Only a share of 1 is shown as 100 %.
    static func percent(_ share: Double) -> String {
        let tenths = share < 1 ? min(999, Int((share * 1000).rounded())) : 1000
        return "\(tenths / 10)\(tenths % 10 == 0 ? "" : ".\(tenths % 10)") %"
    }

    /// A duration: `<1 ms`, `250 ms`, `1.2 s`, `3.5 min`, `17 h`, `12 d`.
    static func duration(_ duration: Duration) -> String {
        let milliseconds = duration / .milliseconds(1)
        guard milliseconds >= 1 else { return "<1 ms" }
        let units = [(86_400_000.0, "d"), (3_600_000.0, "h"), (60_000.0, "min"), (1000.0, "s")]
        for (unit, name) in units where milliseconds >= unit { return "\(decimal(milliseconds / unit)) \(name)" }
        return "\(Int(milliseconds)) ms"
    }

    /// A number with one decimal if it is below 10 and the decimal is not zero.
    static func decimal(_ number: Double) -> String {
        guard number.isFinite, abs(number) < 1e15 else { return "∞" }
        let tenths = Int((number * 10).rounded())
        guard abs(number) < 10, !tenths.isMultiple(of: 10) else { return "\(Int(number.rounded()))" }
        return tenths < 0 ? "-\(-tenths / 10).\(-tenths % 10)" : "\(tenths / 10).\(tenths % 10)"
    }

    /// A coordinate in a plot, with at most one decimal.
    static func coordinate(_ number: Double) -> String {
        guard number.isFinite else { return "0" }
        let tenths = Int((min(max(number, -1e6), 1e6) * 10).rounded())
        guard !tenths.isMultiple(of: 10) else { return "\(tenths / 10)" }
        return (tenths < 0 ? "-" : "") + "\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
}
