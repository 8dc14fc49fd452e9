/// A fault in a user's file: what is wrong, where, and what to do about it.
package struct Diagnostic: Error, Sendable, Hashable {
    /// How much a fault matters.
    package enum Severity: String, Sendable, Hashable {
        /// The file, or the part that the path names, cannot be used.
        case error
        /// The file can be used, but probably does not say what its author meant.
        case warning
    }

    /// How much it matters.
    package var severity: Severity
    /// What is wrong, as a fragment without a full stop.
    package var message: String
    /// What the user should do, as a fragment without a full stop.
    package var hint: String?
    /// Where it is; `nil` for a fault of the file as a whole.
    package var place: Place?
    /// Which field it is about, such as `recipients[3].token`; `nil` for a fault of syntax.
    package var path: String?

    /// Describes a fault.
    package init(
        _ message: String, hint: String? = nil, at place: Place? = nil, severity: Severity = .error
    ) {
        self.severity = severity
        self.message = message
        self.hint = hint
        self.place = place
    }

    /// The same fault, said of a field.
    package func about(_ path: String) -> Diagnostic {
        var copy = self
        copy.path = path.isEmpty ? nil : path
        return copy
    }

    /// The fault in words, after the field that it is about: `topic: is no bundle identifier`.
    package var sentence: String { path.map { "\($0): \(message)" } ?? message }

    /// The fault as compilers print theirs: `file:line:column: error: path: message`, then a line with the hint.
    package func rendered(file: String) -> String {
        var text = file
        if let place { text += ":\(place.line):\(place.column)" }
        text += ": \(severity.rawValue): \(sentence)"
        if let hint { text += "\nhint: \(hint)" }
        return text
    }

    /// What a user wrote, fit for a message: in backticks, at most 60 characters, control characters escaped.
    package static func quoted(_ text: some StringProtocol) -> String {
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
