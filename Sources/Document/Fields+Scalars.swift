extension Fields {
    /// Reads a string; in YAML, the text of any scalar.
    package mutating func string(_ key: String) -> String? {
        guard let value = value(key) else { return nil }
        if let text = value.string { return text }
        refuseType(key, value, expected: "a string")
        return nil
    }

    /// Reads `true` or `false`.
    package mutating func boolean(_ key: String) -> Bool? {
        guard let value = value(key) else { return nil }
        if let answer = value.boolean { return answer }
        refuseType(key, value, expected: "true or false")
        return nil
    }

    /// Reads a whole number within limits.
    package mutating func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
        guard let value = value(key) else { return nil }
        guard let number = value.integer else {
            refuseType(key, value, expected: "a whole number")
            return nil
        }
        return check(key, number, in: range)
    }

    /// Reads one of an enumeration's raw values.
    package mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ key: String, of type: Choice.Type
    ) -> Choice? {
        guard let value = value(key) else { return nil }
        if let word = value.string, let choice = Choice(rawValue: word) { return choice }
        let words = Choice.allCases.map(\.rawValue)
        let near = value.string.flatMap { Nearest.word(to: $0, among: words) }
        let found = value.isContainer ? value.kindName : Diagnostic.quoted(value.text)
        refuse(
            key, "must be `\(words.joined(separator: "` or `"))` (got \(found))",
            hint: near.map { "did you mean `\($0)`?" })
        return nil
    }

    /// Reads a duration such as `15s`, within limits.
    package mutating func duration(_ key: String, in range: ClosedRange<Duration>) -> Duration? {
        scalar(key, expected: "a duration") { text throws(TextFault) in try DurationText.parse(text) }
            .flatMap { check(key, $0, in: range) }
    }

    /// Reads a size such as `64MiB` in bytes, within limits.
    package mutating func byteCount(_ key: String, in range: ClosedRange<Int>) -> Int? {
        scalar(key, expected: "a size") { text throws(TextFault) in try ByteCountText.parse(text) }
            .flatMap { check(key, $0, in: range) }
    }

    /// Reads any scalar except null by its text. An error that `read` throws becomes a diagnostic.
    package mutating func scalar<Value>(
        _ key: String, expected: String, read: (String) throws(TextFault) -> Value
    ) -> Value? {
        guard let value = value(key) else { return nil }
        guard let text = value.scalarText else {
            refuseType(key, value, expected: expected)
            return nil
        }
        do {
            return try read(text)
        } catch {
            refuse(key, error.message, hint: error.hint)
            return nil
        }
    }

    private mutating func check<Value: Comparable>(
        _ key: String, _ value: Value, in range: ClosedRange<Value>
    ) -> Value? {
        if range.contains(value) { return value }
        refuse(key, "\(value) is out of range", hint: "use a value from \(range.lowerBound) to \(range.upperBound)")
        return nil
    }
}
