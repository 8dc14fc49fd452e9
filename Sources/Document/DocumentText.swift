/// Checks of a document's bytes that do not depend on its language: size, byte order marks, UTF-16.
package enum DocumentText {
    /// Returns the range without a UTF-8 byte order mark.
    ///
    /// - Throws: A diagnostic if the document is too large or not in UTF-8. Report it against the file.
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
                "the document has \(range.count) bytes; the limit is \(limits.byteCount)",
                hint: "split it, write one recipient per line in a .jsonl file, or raise the limit", at: place)
        }
        if let other = otherEncoding(source, range) {
            throw Diagnostic("the document is in \(other)", hint: "save it as UTF-8", at: place)
        }
        let start = range.lowerBound
        let isMarked =
            range.count >= 3 && source[start] == 0xEF && source[start + 1] == 0xBB && source[start + 2] == 0xBF
        return isMarked ? start + 3..<range.upperBound : range
    }

    /// Detects UTF-16 and UTF-32 by their byte order marks, or by zero bytes where ASCII text would have a letter.
    private static func otherEncoding(_ source: [UInt8], _ range: Range<Int>) -> String? {
        guard range.count >= 2 else { return nil }
        let (first, second) = (source[range.lowerBound], source[range.lowerBound + 1])
        let isMarked = (first == 0xFF && second == 0xFE) || (first == 0xFE && second == 0xFF)
        guard range.count >= 4 else { return isMarked ? "UTF-16" : nil }
        let (third, fourth) = (source[range.lowerBound + 2], source[range.lowerBound + 3])
        switch (first, second, third, fourth) {
        case (0xFF, 0xFE, 0, 0), (0, 0, 0xFE, 0xFF): return "UTF-32"
        case (0, 1..., 0, 1...), (1..., 0, 1..., 0): return "UTF-16"
        default: return isMarked ? "UTF-16" : nil
        }
    }
}
