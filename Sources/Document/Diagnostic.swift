/// A diagnostic for a user's file: the problem, its place, and a hint.
package struct Diagnostic: Error, Sendable, Hashable, CustomStringConvertible {
    /// The severity of a diagnostic.
    package enum Severity: String, Sendable, Hashable {
        /// The file, or the field that `path` names, cannot be used.
        case error
        /// The file can be used, but is probably not as its author intended.
        case warning
    }

    /// The severity.
    package var severity: Severity
    /// The problem, as a fragment without a full stop.
    package var message: String
    /// The suggested correction, as a fragment without a full stop.
    package var hint: String?
    /// The place of the problem, or `nil` if it concerns the whole file.
    package var place: Place?
    /// The path of the field, such as `recipients[3].token`, or `nil` for a syntax error.
    package var path: String?

    /// Creates a diagnostic.
    package init(
        _ message: String, hint: String? = nil, at place: Place? = nil, severity: Severity = .error
    ) {
        self.severity = severity
        self.message = message
        self.hint = hint
        self.place = place
    }

    /// Returns a copy of the diagnostic with the path of a field.
    package func about(_ path: String) -> Diagnostic {
        var copy = self
        copy.path = path.isEmpty ? nil : path
        return copy
    }

    /// The message after the path of its field, in the form `path: message`.
    package var sentence: String { path.map { "\($0): \(message)" } ?? message }

    /// The sentence, and the hint.
    package var description: String { sentence + (hint.map { "; \($0)" } ?? "") }

    /// Returns the diagnostic in the style of compilers: `file:line:column: error: path: message`, then a line with the hint.
    package func rendered(file: String) -> String {
        var text = file
        if let place { text += ":\(place.line):\(place.column)" }
        text += ": \(severity.rawValue): \(sentence)"
        if let hint { text += "\nhint: \(hint)" }
        return text
    }

    /// Quotes user input for a message: in backticks, at most 60 characters, control characters escaped. Never quotes
    /// what may be a key.
    package static func quoted(_ text: some StringProtocol) -> String {
        guard !text.mayBeKey else { return "`…` (\(text.utf8.count) bytes, not shown: they may be a key)" }
        var quoted = "`"
        for scalar in text.unicodeScalars.prefix(60) {
            let isControl =
                scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
            quoted += isControl ? scalar.escaped(asASCII: true) : String(scalar)
        }
        if text.unicodeScalars.count > 60 { quoted += "…" }
        return quoted + "`"
    }
}
