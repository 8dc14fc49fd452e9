package import Document

extension DocumentParser {
    /// Reads a text as one document.
    ///
    /// - Throws: `Diagnostic`: what is wrong with it.
    package mutating func read(_ text: String) throws(Diagnostic) -> Tape {
        try parse(Array(text.utf8))
    }

    /// The diagnostic that bytes lead to; `nil` if they are accepted.
    package mutating func fault(_ bytes: [UInt8]) -> Diagnostic? {
        do throws(Diagnostic) {
            _ = try parse(bytes)
            return nil
        } catch {
            return error
        }
    }
}

/// A document reduced to what a test can compare: kinds, texts and counts in order; quotes tell strings from other scalars.
package func outline(_ node: Node) -> String {
    switch node.kind {
    case .mapping: "{" + node.members.map { "\($0.key.text)=\(outline($0.value))" }.joined(separator: " ") + "}"
    case .sequence: "[" + node.elements.map(outline).joined(separator: " ") + "]"
    case .string: "'\(node.text)'"
    case .key, .plain, .number, .true, .false, .null: node.text
    }
}
