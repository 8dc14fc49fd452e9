/// How large and how deep a document may be, so that no file decides our memory use.
package struct DocumentLimits: Sendable, Hashable {
    /// The longest document in bytes; whatever is asked for, at most 1 GiB, since a tape keeps 31-bit offsets.
    package var byteCount: Int {
        didSet { byteCount = max(0, min(byteCount, Self.largestByteCount)) }
    }
    /// The longest line of a `.jsonl` file in bytes.
    package var lineByteCount: Int
    /// How many mappings and sequences may be inside one another; at most 512.
    package var depth: Int {
        didSet { depth = max(0, min(depth, Self.largestDepth)) }
    }
    /// How many events a tape may hold (about two a member, one an element, 20 bytes each); at most 2²⁷.
    package var eventCount: Int {
        didSet { eventCount = max(0, min(eventCount, Self.largestEventCount)) }
    }

    /// The largest document that a tape can describe.
    package static let largestByteCount = 1 << 30
    /// The deepest nesting, so that a walk through a document cannot exhaust a thread's stack.
    package static let largestDepth = 512
    /// The largest number of events that a tape can link.
    package static let largestEventCount = 1 << 27

    /// Sets limits; the defaults are the program's.
    package init(
        byteCount: Int = 64 << 20, lineByteCount: Int = 16 << 10, depth: Int = 64, eventCount: Int = 1 << 22
    ) {
        self.byteCount = max(0, min(byteCount, Self.largestByteCount))
        self.lineByteCount = lineByteCount
        self.depth = max(0, min(depth, Self.largestDepth))
        self.eventCount = max(0, min(eventCount, Self.largestEventCount))
    }

    /// The limits of a parser that reads one line of a `.jsonl` file after another.
    package var perLine: DocumentLimits {
        DocumentLimits(
            byteCount: lineByteCount, lineByteCount: lineByteCount, depth: depth, eventCount: eventCount)
    }
}
