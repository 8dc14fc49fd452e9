import Document
import JSON
import TestSupport

/// Reads a text as one JSON document.
func read(_ text: String, limits: DocumentLimits = DocumentLimits()) throws(Diagnostic) -> Tape {
    var parser = JSON.Parser(limits: limits)
    return try parser.read(text)
}

/// The diagnostic that a text leads to; `nil` if it is accepted.
func fault(_ text: String, limits: DocumentLimits = DocumentLimits()) -> Diagnostic? {
    fault(Array(text.utf8), limits: limits)
}

/// The diagnostic that bytes lead to; `nil` if they are accepted.
func fault(_ bytes: [UInt8], limits: DocumentLimits = DocumentLimits()) -> Diagnostic? {
    var parser = JSON.Parser(limits: limits)
    return parser.fault(bytes)
}
