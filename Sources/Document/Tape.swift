/// One document in flat form: its bytes, and one small event for each value and key in file order.
///
/// A container's event precedes those of its contents and stores where they end, so that skipping it costs the same as
/// skipping a number. There is no tree and no allocation per value. Read it through `root`.
package struct Tape: Sendable {
    /// The language of a document.
    package enum Format: Sendable, Hashable {
        /// The notation determines the type of a scalar.
        case json
        /// The reader determines the type of a plain scalar.
        case yaml
    }

    /// The language of the document.
    package private(set) var format = Format.json
    /// The bytes that offsets refer to; usually more than the document.
    package private(set) var source: [UInt8] = []
    /// The offset of the document's first byte in `source`, after a byte order mark.
    package private(set) var start = 0
    /// The number of the line that the document starts in.
    package var firstLine = 1
    /// Text that differs from the source: strings with escapes, folded lines.
    package var arena: [UInt8] = []
    /// The events, a container before its contents, a key before its value.
    package var events: [Event] = []
    /// Whether the document marks its own end: by a closing bracket or quote, or by YAML's `...`.
    package var isEndMarked = false
    /// Line counts of a long document, so that finding a position reads only one block of it.
    var lineMarks: [LineMark] = []

    /// Creates an empty tape.
    package init() {}

    /// The document's value; a null on an empty tape.
    package var root: Node { Node(tape: self, index: 0) }

    /// Removes the document and releases its source. Keeps the capacity and `firstLine`.
    package mutating func removeAll() {
        events.removeAll(keepingCapacity: true)
        arena.removeAll(keepingCapacity: true)
        lineMarks.removeAll(keepingCapacity: true)
        source = []
        start = 0
        isEndMarked = false
    }

    /// Begins a document. For parsers, after `DocumentText` has accepted the range.
    package mutating func begin(_ format: Format, source: [UInt8], range: Range<Int>) {
        events.removeAll(keepingCapacity: true)
        arena.removeAll(keepingCapacity: true)
        lineMarks.removeAll(keepingCapacity: true)
        self.format = format
        self.source = source
        start = range.lowerBound
        isEndMarked = false
        surveyLines(in: range)
    }
}
