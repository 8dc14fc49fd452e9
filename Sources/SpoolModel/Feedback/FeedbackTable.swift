package import Document

/// Feedback as a table: a row a line, in comma-separated values as RFC 4180 has them.
///
/// It goes to terminals and spreadsheets, and whoever drops a job writes its name and its `id`: none of it is obeyed.
package enum FeedbackTable {
    /// The members of all kinds of lines, in the order of the columns.
    package static let columns = [
        "kind", "app", "node", "job", "id", "ref", "index", "token", "outcome", "status", "reason", "verdict",
        "apns_id", "at", "gone_since", "source", "state", "code", "path", "notifications", "accepted", "rejected",
        "expired", "unsent", "unknown", "dropped_at", "claimed_at", "finished_at", "sealed",
        "duplicate_of", "duplicate_of_at",
    ]

    /// The row of names.
    package static let header = row(columns)

    /// The row of a line: what it does not have is empty.
    package static func row(of line: Node) -> [UInt8] {
        row(columns.map { line[$0]?.text ?? "" })
    }

    /// A row with these fields, and CR and LF at its end.
    ///
    /// What has a comma or a quote in it stands in quotes, and quotes are doubled. What a terminal would obey, ends of
    /// lines too, is `%XX`. What a spreadsheet would take for a formula has an apostrophe before it.
    package static func row(_ fields: [String]) -> [UInt8] {
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

    /// Whether a spreadsheet may compute it, as it begins with `=`, `+`, `-` or `@` and is no whole number.
    private static func isFormula(_ field: String) -> Bool {
        guard let first = field.utf8.first else { return false }
        if first == UInt8(ascii: "-") { return Int(field) == nil }
        return first == UInt8(ascii: "=") || first == UInt8(ascii: "+") || first == UInt8(ascii: "@")
    }
}
