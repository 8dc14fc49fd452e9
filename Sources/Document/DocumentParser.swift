/// A parser that converts the bytes of one document into a tape. The JSON and YAML targets each have one.
///
/// A parser keeps its buffers between documents, so that parsing many lines one by one does not allocate.
package protocol DocumentParser {
    /// Parses the document in `range` of `source` and replaces the contents of the tape with its events.
    ///
    /// Checks the complete document: syntax, UTF-8, numbers, escapes, duplicate keys, depth. The tape shares the
    /// storage of `source` until its next use or `removeAll()`; changing the array before that copies it. If 64
    /// readable bytes follow the range in the array, the JSON parser avoids a copy. The tape's `firstLine` is kept; it
    /// is the number of the range's first line.
    ///
    /// - Throws: The first error, with its place; the tape is then empty. Report it against the file.
    mutating func parse(_ source: [UInt8], range: Range<Int>, into tape: inout Tape) throws(Diagnostic)
}

extension DocumentParser {
    /// Parses a complete array as one document onto a new tape.
    ///
    /// - Throws: The first error, with its place. Report it against the file.
    package mutating func parse(_ source: [UInt8]) throws(Diagnostic) -> Tape {
        var tape = Tape()
        try parse(source, range: source.startIndex..<source.endIndex, into: &tape)
        return tape
    }

    /// Parses the body of an answer, which may be anything: a proxy's page, a plain line, nothing.
    ///
    /// - Returns: `nil` unless it is one document of at most `limit` bytes. The status of the answer still says how to
    ///   proceed.
    package mutating func document(in body: ArraySlice<UInt8>, limit: Int) -> Tape? {
        guard !body.isEmpty, body.count <= limit else { return nil }
        do throws(Diagnostic) {
            return try parse(Array(body))
        } catch {
            return nil
        }
    }
}
