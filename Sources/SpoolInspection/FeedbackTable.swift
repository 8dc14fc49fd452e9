import Document
import JobFormat
import PushModel

/// Feedback as a table: one row per line, as comma-separated values (RFC 4180).
///
/// Terminals and spreadsheets read it, and producers choose job names and ids: a field must not act as a command in either.
enum FeedbackTable {
    /// The members of all kinds of lines, in column order.
    static let columns =
        [
            "kind", "app", "node", "job", "id", "ref", "index", "token", "outcome", "status", "reason", "verdict",
            "apns_id", "at", "gone_since", "source", "state", "code", "path", "notifications",
        ] + Outcome.Kind.allCases.map(\.rawValue) + [
            "dropped_at", "claimed_at", "finished_at", "sealed", "duplicate_of", "duplicate_of_at", "fid",
            "topic", "condition",
        ]

    /// The header row.
    static let header = row(columns)

    /// Returns the row of a line. Members that the line lacks are empty fields.
    static func row(of line: Node) -> [UInt8] {
        row(columns.map { line[$0]?.text ?? "" })
    }

    /// Returns a row with these fields, ending with CR LF.
    ///
    /// A field with a comma or quote is quoted, with its quotes doubled. Characters that a terminal would interpret, line
    /// breaks included, become `%XX`. A field that a spreadsheet would take for a formula gets a leading apostrophe.
    static func row(_ fields: [String]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (number, field) in fields.enumerated() {
            if number > 0 { bytes.append(UInt8(ascii: ",")) }
            append(field, to: &bytes)
        }
        bytes.append(contentsOf: "\r\n".utf8)
        return bytes
    }

    private static func append(_ field: String, to bytes: inout [UInt8]) {
        var text: [UInt8] = []
        if isFormula(field) { text.append(UInt8(ascii: "'")) }
        VisibleText.append(field, to: &text)
        guard text.contains(where: { $0 == 0x22 || $0 == 0x2C }) else { return bytes.append(contentsOf: text) }
        bytes.append(UInt8(ascii: "\""))
        for byte in text {
            if byte == UInt8(ascii: "\"") { bytes.append(byte) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Whether a spreadsheet may evaluate the field: it begins with `=`, `+`, `-` or `@` and is not a whole number.
    private static func isFormula(_ field: String) -> Bool {
        guard let first = field.utf8.first else { return false }
        if first == UInt8(ascii: "-") { return Int(field) == nil }
        return first == UInt8(ascii: "=") || first == UInt8(ascii: "+") || first == UInt8(ascii: "@")
    }
}
