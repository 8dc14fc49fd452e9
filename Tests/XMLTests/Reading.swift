import Document
import XML

/// The events of a document as text: `<a 'text' <b > >`.
///
/// - Throws: `Diagnostic`: the first error.
func outline(_ bytes: [UInt8], depth: Int = 64, byteCount: Int = 1 << 20) throws(Diagnostic) -> String {
    let reader = DocumentReader(bytes, depth: depth, byteCount: byteCount)
    var words: [String] = []
    while let event = try reader.next() {
        switch event {
        case .begin(let name): words.append("<\(name)")
        case .text(let text): words.append("'\(String(decoding: text, as: UTF8.self))'")
        case .end: words.append(">")
        }
    }
    return words.joined(separator: " ")
}

/// The diagnostic that a document leads to; `nil` if it is accepted.
func fault(_ bytes: [UInt8], depth: Int = 64, byteCount: Int = 1 << 20) -> Diagnostic? {
    do throws(Diagnostic) {
        _ = try outline(bytes, depth: depth, byteCount: byteCount)
        return nil
    } catch {
        return error
    }
}
