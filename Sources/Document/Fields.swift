/// Typed access to the members of a mapping, collecting a diagnostic for each fault.
///
/// A key counts as known once it is asked for; `finish()` reports the others. Absent keys and nulls read as `nil`
/// without a word, faulty values as `nil` with a diagnostic, so that one run finds everything.
package struct Fields {
    /// The mapping.
    package let node: Node
    /// The mapping's own path, such as `recipients[3]`; empty for the document.
    package let path: String
    /// What has been found so far.
    package var report: Report
    private var known: [String] = []

    /// Opens a mapping; anything else but a null is a fault and reads like an empty one.
    package init(_ node: Node, path: String = "", report: Report = Report()) {
        self.node = node
        self.path = path
        self.report = report
        if node.kind != .mapping, !node.isNull {
            self.report.add(Self.wrongType(node, expected: "a mapping").about(path))
        }
    }

    /// The path of a member, or of the mapping's own for an empty key.
    package func path(of key: String) -> String {
        path.isEmpty || key.isEmpty ? path + key : "\(path).\(key)"
    }

    /// The value of a key, which is known from now on; `nil` if it is absent or null.
    package mutating func value(_ key: String) -> Node? {
        allow(key)
        guard let value = node[key], !value.isNull else { return nil }
        return value
    }

    /// Makes keys known without reading them.
    package mutating func allow(_ keys: String...) {
        for key in keys where !known.contains(key) { known.append(key) }
    }

    /// Reports an absent or null key. Returns whether it is there.
    @discardableResult
    package mutating func require(_ key: String, hint: String? = nil) -> Bool {
        guard value(key) == nil else { return true }
        report.add(Diagnostic("is missing", hint: hint, at: node.place).about(path(of: key)))
        return false
    }

    /// Reports a fault of a member, at its value if it is there.
    package mutating func refuse(_ key: String, _ message: String, hint: String? = nil) {
        let place = (node[key] ?? node).place
        report.add(Diagnostic(message, hint: hint, at: place).about(path(of: key)))
    }

    /// Reports a matter of a member that may be as meant.
    package mutating func warn(_ key: String, _ message: String, hint: String? = nil) {
        let place = (node[key] ?? node).place
        report.add(Diagnostic(message, hint: hint, at: place, severity: .warning).about(path(of: key)))
    }

    /// Reports that a value has another type than its field.
    package mutating func refuseType(_ key: String, _ value: Node, expected: String) {
        report.add(Self.wrongType(value, expected: expected).about(path(of: key)))
    }

    /// Reports each key that nobody asked for, with the nearest known one, and hands over all that was found.
    package consuming func finish() -> Report {
        for member in node.members where !known.contains(where: member.key.isText) {
            let near = Nearest.word(to: member.key.text, among: known)
            let hint = near.map { "did you mean `\($0)`?" } ?? "known here: \(known.sorted().joined(separator: ", "))"
            let name = Diagnostic.quoted(member.key.text)
            report.add(Diagnostic("the key \(name) is unknown", hint: hint, at: member.key.place).about(path))
        }
        return report
    }

    private static func wrongType(_ value: Node, expected: String) -> Diagnostic {
        Diagnostic("expected \(expected), found \(value.kindName)", at: value.place)
    }
}
