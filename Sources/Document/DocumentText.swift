/// What is checked of a document's bytes before its language matters: size, byte order marks, UTF-16.
package enum DocumentText {
    /// Returns the range without a UTF-8 byte order mark.
    /// - Throws: That the document is too large, empty, or not in UTF-8. Report it against the file.
    package static func accept(
        _ range: Range<Int>, of source: [UInt8], firstLine: Int, limits: DocumentLimits
    ) throws(Diagnostic) -> Range<Int> {
        let place = Place(line: firstLine, column: 1)
        guard range.upperBound <= source.count, range.lowerBound >= 0,
            range.upperBound <= DocumentLimits.largestByteCount
        else {
            throw Diagnostic("the document lies beyond the first GiB of its buffer", at: place)
        }
        guard range.count <= limits.byteCount else {
            throw Diagnostic(
                "the document has \(range.count) bytes, and \(limits.byteCount) is the limit",
                hint: "split it, write one recipient a line in a .jsonl file, or raise the limit", at: place)
        }
        let bytes = source[range]
        if let other = otherEncoding(of: bytes) {
            throw Diagnostic("the document is in \(other)", hint: "save it as UTF-8", at: place)
        }
        let body = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes
        return body.indices
    }

    /// Tells UTF-16 and UTF-32 by their marks, or by zero bytes where ASCII would have a letter.
    private static func otherEncoding(of bytes: ArraySlice<UInt8>) -> String? {
        let head = Array(bytes.prefix(4))
        if head == [0xFF, 0xFE, 0, 0] || head == [0, 0, 0xFE, 0xFF] { return "UTF-32" }
        if head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF]) { return "UTF-16" }
        guard head.count >= 2 else { return nil }
        return (head[0] == 0) != (head[1] == 0) ? "UTF-16" : nil
    }
}
