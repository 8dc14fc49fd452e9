extension Fields {
    /// Reads a string; in YAML, the text of any scalar.
    package mutating func string(_ key: String) -> String? {
        sketch(key, .scalar())
        guard let value = value(key) else { return nil }
        if let text = value.string { return text }
        refuseType(key, value, expected: "a string")
        return nil
    }

    /// Reads `true` or `false`.
    package mutating func boolean(_ key: String) -> Bool? {
        sketch(key, .boolean)
        guard let value = value(key) else { return nil }
        if let answer = value.boolean { return answer }
        refuseType(key, value, expected: "true or false")
        return nil
    }

    /// Reads a whole number within limits.
    package mutating func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
        sketch(key, .integer(range))
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
        sketch(key, .words(Choice.allCases.map(\.rawValue)))
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
        sketch(
            key, .duration,
            limits: "\(DurationText.spelled(range.lowerBound)) to \(DurationText.spelled(range.upperBound))")
        return scalar(key, expected: "a duration", .duration) { text throws(TextFault) in try DurationText.parse(text) }
            .flatMap { check(key, $0, in: range) }
    }

    /// Reads a size such as `64MiB` in bytes, within limits.
    package mutating func byteCount(_ key: String, in range: ClosedRange<Int>) -> Int? {
        let shape = Shape.byteCount(range)
        sketch(
            key, shape,
            limits: "\(ByteCountText.spelled(range.lowerBound)) to \(ByteCountText.spelled(range.upperBound))")
        return scalar(key, expected: "a size", shape) { text throws(TextFault) in try ByteCountText.parse(text) }
            .flatMap { check(key, $0, in: range) }
    }

    /// Reads any scalar except null by its text. An error that `read` throws becomes a diagnostic.
    package mutating func scalar<Value>(
        _ key: String, expected: String, _ shape: Shape = .scalar(), read: (String) throws(TextFault) -> Value
    ) -> Value? {
        sketch(key, shape)
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

    /// Whether the value is this word, which stands in place of what is read otherwise.
    package mutating func has(_ word: String, for key: String) -> Bool {
        sketch(key, .words([word]))
        return value(key)?.scalarText == word
    }

    private mutating func check<Value: Comparable>(
        _ key: String, _ value: Value, in range: ClosedRange<Value>
    ) -> Value? {
        if range.contains(value) { return value }
        refuse(key, "\(value) is out of range", hint: "use a value from \(range.lowerBound) to \(range.upperBound)")
        return nil
    }
}

// The same with a default.
extension Fields {
    /// Reads a string; `standard` if there is none.
    package mutating func string(_ key: String, or standard: String) -> String {
        let value = string(key)
        sketch(standard: Self.json(standard), for: key)
        return value ?? standard
    }

    /// Reads `true` or `false`; `standard` if there is neither.
    package mutating func boolean(_ key: String, or standard: Bool) -> Bool {
        let value = boolean(key)
        sketch(standard: Array("\(standard)".utf8), for: key)
        return value ?? standard
    }

    /// Reads a whole number within limits; `standard` if there is none.
    package mutating func integer(_ key: String, in range: ClosedRange<Int>, or standard: Int) -> Int {
        let value = integer(key, in: range)
        sketch(standard: Array("\(standard)".utf8), for: key)
        return value ?? standard
    }

    /// Reads one of an enumeration's raw values; `standard` if there is none.
    package mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ key: String, of type: Choice.Type, or standard: Choice
    ) -> Choice {
        let value = choice(key, of: type)
        sketch(standard: Self.json(standard.rawValue), for: key)
        return value ?? standard
    }

    /// Reads a duration such as `15s`, within limits; `standard` if there is none.
    package mutating func duration(_ key: String, in range: ClosedRange<Duration>, or standard: Duration) -> Duration {
        let value = duration(key, in: range)
        sketch(standard: Self.json(DurationText.spelled(standard)), for: key)
        return value ?? standard
    }

    /// Reads a size such as `64MiB` in bytes, within limits; `standard` if there is none.
    package mutating func byteCount(_ key: String, in range: ClosedRange<Int>, or standard: Int) -> Int {
        let value = byteCount(key, in: range)
        sketch(standard: Self.json(ByteCountText.spelled(standard)), for: key)
        return value ?? standard
    }

    private static func json(_ text: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.string(text)
        return writer.bytes
    }
}
