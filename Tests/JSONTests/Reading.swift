import Document
import JSON

/// Reads a text as one JSON document.
func read(_ text: String, limits: DocumentLimits = DocumentLimits()) throws(Diagnostic) -> Tape {
    var parser = JSON.Parser(limits: limits)
    return try parser.parse(Array(text.utf8))
}

/// The diagnostic that a text leads to; `nil` if it is accepted.
func fault(_ text: String, limits: DocumentLimits = DocumentLimits()) -> Diagnostic? {
    fault(Array(text.utf8), limits: limits)
}

/// The diagnostic that bytes lead to; `nil` if they are accepted.
func fault(_ bytes: [UInt8], limits: DocumentLimits = DocumentLimits()) -> Diagnostic? {
    var parser = JSON.Parser(limits: limits)
    do throws(Diagnostic) {
        _ = try parser.parse(bytes)
        return nil
    } catch {
        return error
    }
}

/// A document reduced to what a test can compare: kinds, texts and counts in order.
func outline(_ node: Node) -> String {
    switch node.kind {
    case .mapping: "{" + node.members.map { "\($0.key.text)=\(outline($0.value))" }.joined(separator: " ") + "}"
    case .sequence: "[" + node.elements.map(outline).joined(separator: " ") + "]"
    case .string: "'\(node.text)'"
    case .key, .plain, .number, .true, .false, .null: node.text
    }
}
