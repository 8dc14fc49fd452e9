/// One document, flat: its bytes, and one small event for each value and key in the order of the file.
///
/// A container's event is followed by those of its content and knows where they end, so that stepping over it costs
/// the same as over a number. There is no tree and no allocation per value. Read it through `root`.
package struct Tape: Sendable {
    /// The language a document was written in.
    package enum Format: Sendable, Hashable {
        /// Scalars have the type their notation says.
        case json
        /// A plain scalar's type is settled by who reads it.
        case yaml
    }

    /// The language of the document.
    package private(set) var format = Format.json
    /// The bytes that offsets count in; usually more than the document.
    package private(set) var source: [UInt8] = []
    /// Where the document's first byte is in `source`, after a byte order mark.
    package private(set) var start = 0
    /// The number of the line that the document starts in.
    package var firstLine = 1
    /// Text that differs from the source: strings with escapes, folded lines.
    package var arena: [UInt8] = []
    /// The events, a container before its content, a key before its value.
    package var events: [Event] = []
    /// Whether the document says itself that it is complete: by a closing bracket or quote, or YAML's `...`.
    package var isEndMarked = false
    /// Line counts of a long document, so that a place costs a look at one block of it.
    var landmarks: [Landmark] = []

    /// Makes an empty tape.
    package init() {}

    /// The document's value; a null on a tape without a document.
    package var root: Node { Node(tape: self, index: 0) }

    /// Forgets the document and lets go of its source; keeps the room and `firstLine`.
    package mutating func removeAll() {
        events.removeAll(keepingCapacity: true)
        arena.removeAll(keepingCapacity: true)
        landmarks.removeAll(keepingCapacity: true)
        source = []
        start = 0
        isEndMarked = false
    }

    /// Begins a document; for parsers, after `DocumentText` has accepted the range.
    package mutating func begin(_ format: Format, source: [UInt8], range: Range<Int>) {
        events.removeAll(keepingCapacity: true)
        arena.removeAll(keepingCapacity: true)
        landmarks.removeAll(keepingCapacity: true)
        self.format = format
        self.source = source
        start = range.lowerBound
        isEndMarked = false
        surveyLines(in: range)
    }
}
