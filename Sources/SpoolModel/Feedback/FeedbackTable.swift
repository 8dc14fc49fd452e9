package import Document

/// Feedback as a table: a row a line, in comma-separated values as RFC 4180 has them.
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
    /// What has a comma, a quote or an end of line in it stands in quotes, and quotes are doubled.
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
        guard field.utf8.contains(where: { [0x22, 0x2C, 0x0D, 0x0A].contains($0) }) else {
            bytes.append(contentsOf: field.utf8)
            return
        }
        bytes.append(UInt8(ascii: "\""))
        for byte in field.utf8 {
            if byte == UInt8(ascii: "\"") { bytes.append(byte) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
