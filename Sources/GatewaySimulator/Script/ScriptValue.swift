/// Parses the values of a script's words.
extension ScriptWord {
    /// Parses a whole number in `range`.
    func integer<Value: FixedWidthInteger>(in range: ClosedRange<Value>) throws(FaultScript.Fault) -> Value {
        let text = try nonEmpty()
        let number = text.hasPrefix("0x") ? Value(text.dropFirst(2), radix: 16) : Value(text)
        guard let number, range.contains(number) else {
            throw fault(
                "\(name) is not a number from \(range.lowerBound) to \(range.upperBound): \(text)",
                hint: "write, for example, \(name)=\(range.contains(8) ? 8 : range.lowerBound)")
        }
        return number
    }

    /// Parses a duration with its unit.
    func duration() throws(FaultScript.Fault) -> Duration {
        let text = try nonEmpty()
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int64(digits), count <= 1_000_000_000 else { throw durationFault(text) }
        switch text.dropFirst(digits.count) {
        case "ms": return .milliseconds(count)
        case "s": return .seconds(count)
        case "m": return .seconds(count * 60)
        case "h": return .seconds(count * 3600)
        default: throw durationFault(text)
        }
    }

    private func durationFault(_ text: String) -> FaultScript.Fault {
        fault("\(name) is not a duration: \(text)", hint: "write a number and ms, s, m or h, for example \(name)=500ms")
    }

    /// Parses one number or a range, `3`, `2-4` or `5-`.
    func range() throws(FaultScript.Fault) -> ClosedRange<Int> {
        let parts = try nonEmpty().split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let lower = Int(parts[0])
        let upper = parts.count == 1 ? lower : parts[1].isEmpty ? Int.max : Int(parts[1])
        guard let lower, let upper, lower >= 1, upper >= lower else {
            throw fault(
                "\(name) is neither a number from 1 nor a range", hint: "write \(name)=3, \(name)=2-4 or \(name)=5-")
        }
        return lower...upper
    }

    /// Parses a probability.
    func probability() throws(FaultScript.Fault) -> Double {
        let text = try nonEmpty()
        guard let value = Double(text), value >= 0, value <= 1 else {
            throw fault("\(name) is not between 0 and 1: \(text)", hint: "write, for example, \(name)=0.01")
        }
        return value
    }

    /// Parses hexadecimal digits, one per element.
    func digits() throws(FaultScript.Fault) -> [UInt8] {
        let text = try nonEmpty()
        let digits = text.compactMap { $0.isASCII ? $0.hexDigitValue.map(UInt8.init) : nil }
        guard digits.count == text.count else {
            throw fault(
                "\(name) is not hexadecimal: \(text)", hint: "write the first digits of a token, as in \(name)=740f47")
        }
        return digits
    }

    /// Parses one of an enumeration's raw values.
    func choice<Value: RawRepresentable<String> & CaseIterable>(
        of type: Value.Type
    ) throws(FaultScript.Fault) -> Value {
        let text = try nonEmpty()
        guard let value = Value(rawValue: text) else {
            let known = type.allCases.map(\.rawValue).joined(separator: ", ")
            throw fault("unknown \(name): \(text)", hint: "write one of \(known)")
        }
        return value
    }

    /// Parses the notification that a reply names.
    func naming() throws(FaultScript.Fault) -> FaultAction.Reply.Naming {
        switch try nonEmpty() {
        case "named": return .refused
        case "last": return .lastAccepted
        case "zero": return .number(0)
        default: return .number(try integer(in: 0...UInt32.max))
        }
    }

    /// Returns the value. Throws if it is missing.
    func nonEmpty() throws(FaultScript.Fault) -> String {
        guard let value, !value.isEmpty else {
            throw fault("\(name) has no value", hint: "write \(name)=… without spaces around the =")
        }
        return value
    }
}
