/// Typed access to the members of a mapping that collects a diagnostic for each error.
///
/// A key counts as known once it is requested; `finish()` reports the others. Absent keys and nulls read as `nil`
/// without a diagnostic, invalid values as `nil` with one, so that a single pass finds every error.
package struct Fields {
    /// The mapping.
    package let node: Node
    /// The path of the mapping, such as `recipients[3]`; empty for the document.
    package let path: String
    /// The diagnostics found so far.
    package var report: Report
    private var known: [String] = []
    /// What the reader asks for, if it is sketched rather than used; see `sketch`.
    private var shape: ObjectShape?

    /// Opens a mapping. Any other value is reported, except null, and reads like an empty mapping.
    package init(_ node: Node, path: String = "", report: Report = Report()) {
        self.node = node
        self.path = path
        self.report = report
        if node.kind != .mapping, !node.isNull {
            self.report.add(Self.wrongType(node, expected: node.mappingName).about(path))
        }
    }

    /// Returns what a reader of a mapping takes: the keys that it asks for, with their types, limits and defaults.
    ///
    /// The reader runs on `node`, which has only the values that decide what it asks for. It takes both ways where
    /// `isSketch` tells it to, and its result and its diagnostics do not count.
    package static func sketch<Value>(_ node: Node = Tape().root, by read: (inout Fields) -> Value) -> ObjectShape {
        var fields = Fields(node)
        fields.shape = ObjectShape()
        _ = read(&fields)
        return fields.shape ?? ObjectShape()
    }

    /// Whether the reader is only sketched.
    package var isSketch: Bool { shape != nil }

    /// Says what a key takes, for the readers that parse it by hand. `limits` are words for limits that no schema has.
    package mutating func sketch(
        _ key: String, _ value: @autoclosure () -> Shape, limits: @autoclosure () -> String? = nil
    ) {
        guard isSketch else { return }
        shape?.note(key, value(), limits())
    }

    /// Says what a key means if it is absent: a value as JSON.
    mutating func sketch(standard: @autoclosure () -> [UInt8], for key: String) {
        guard isSketch else { return }
        shape?.note(standard: standard(), for: key)
    }

    /// Says that exactly one of these keys must have a value. The caller reports it if that is not so.
    package mutating func alternatives(_ keys: [String]) { shape?.alternatives.append(keys) }

    /// Refuses a key that belongs to another kind of file, if it has a value.
    package mutating func forbid(_ key: String, _ message: String, hint: String) {
        shape?.forbid(key)
        if value(key) != nil { refuse(key, message, hint: hint) }
    }

    /// Returns the path of a member, or the mapping's own path for an empty key.
    package func path(of key: String) -> String {
        path.isEmpty || key.isEmpty ? path + key : "\(path).\(key)"
    }

    /// Returns the value of a key and marks the key as known; `nil` if the key is absent or null.
    package mutating func value(_ key: String) -> Node? {
        allow(key)
        shape?.note(key, .anything)
        guard let value = node[key], !value.isNull else { return nil }
        return value
    }

    /// Marks keys as known without reading them.
    package mutating func allow(_ keys: String...) {
        for key in keys where !known.contains(key) { known.append(key) }
    }

    /// Reports the key if it is absent or null. Returns whether it has a value, or is only sketched.
    @discardableResult
    package mutating func require(_ key: String, hint: String? = nil) -> Bool {
        shape?.required.insert(key)
        guard value(key) == nil, !isSketch else { return true }
        report.add(Diagnostic("is missing", hint: hint, at: node.place).about(path(of: key)))
        return false
    }

    /// Reports an error in a member, at the place of its value if it exists.
    package mutating func refuse(_ key: String, _ message: String, hint: String? = nil) {
        let place = (node[key] ?? node).place
        report.add(Diagnostic(message, hint: hint, at: place).about(path(of: key)))
    }

    /// Reports a warning for a member, whose value may be intended.
    package mutating func warn(_ key: String, _ message: String, hint: String? = nil) {
        let place = (node[key] ?? node).place
        report.add(Diagnostic(message, hint: hint, at: place, severity: .warning).about(path(of: key)))
    }

    /// Reports that a value does not have the type of its field.
    package mutating func refuseType(_ key: String, _ value: Node, expected: String) {
        report.add(Self.wrongType(value, expected: expected).about(path(of: key)))
    }

    /// Reports each key that was not requested, suggests the nearest known key, and returns all diagnostics.
    package consuming func finish() -> Report {
        for member in node.members where !known.contains(where: member.key.isText) {
            let near = Nearest.word(to: member.key.text, among: known)
            let hint = near.map { "did you mean `\($0)`?" } ?? "known keys: \(known.sorted().joined(separator: ", "))"
            let name = Diagnostic.quoted(member.key.text)
            report.add(Diagnostic("the key \(name) is unknown", hint: hint, at: member.key.place).about(path))
        }
        return report
    }

    private static func wrongType(_ value: Node, expected: String) -> Diagnostic {
        Diagnostic("expected \(expected), found \(value.kindName)", at: value.place)
    }
}
