/// What turns the bytes of one document into a tape. The JSON and YAML islands each have one.
///
/// A parser keeps its buffers between documents, so that one line after another costs no allocation.
package protocol DocumentParser {
    /// Reads the document in `range` of `source` and puts its events onto the tape, in place of what was there.
    ///
    /// The whole document is checked: syntax, UTF-8, numbers, escapes, duplicate keys, depth. The tape shares the
    /// storage of `source` until its next use or `removeAll()`; until then changing the array copies it.
    /// An array with 64 readable bytes behind the range saves the JSON parser a copy.
    /// The tape's `firstLine` is kept and is the number of the range's first line.
    /// - Throws: The first fault, with its place; the tape is then empty. Report it against the file.
    mutating func parse(_ source: [UInt8], range: Range<Int>, into tape: inout Tape) throws(Diagnostic)
}

extension DocumentParser {
    /// Reads a whole array as one document onto a new tape.
    /// - Throws: The first fault, with its place. Report it against the file.
    package mutating func parse(_ source: [UInt8]) throws(Diagnostic) -> Tape {
        var tape = Tape()
        try parse(source, range: source.startIndex..<source.endIndex, into: &tape)
        return tape
    }
}
