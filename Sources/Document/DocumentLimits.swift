/// The limits on the size and depth of a document, so that a file cannot cause unbounded memory use.
package struct DocumentLimits: Sendable, Hashable {
    /// The maximum size of a document in bytes; clamped to 1 GiB, because a tape stores 31-bit offsets.
    package var byteCount: Int {
        didSet { byteCount = max(0, min(byteCount, Self.largestByteCount)) }
    }
    /// The maximum length of a line of a `.jsonl` file in bytes.
    package var lineByteCount: Int
    /// The maximum nesting depth of mappings and sequences; clamped to 512.
    package var depth: Int {
        didSet { depth = max(0, min(depth, Self.largestDepth)) }
    }
    /// The maximum number of events on a tape (about two per member, one per element, 20 bytes each); clamped to 2²⁷.
    package var eventCount: Int {
        didSet { eventCount = max(0, min(eventCount, Self.largestEventCount)) }
    }

    /// The largest document that a tape can describe.
    package static let largestByteCount = 1 << 30
    /// The deepest nesting, chosen so that recursion over a document cannot exhaust a thread's stack.
    package static let largestDepth = 512
    /// The largest number of events that a tape can link.
    package static let largestEventCount = 1 << 27

    /// Creates limits. The defaults are the program's.
    package init(
        byteCount: Int = 64 << 20, lineByteCount: Int = 16 << 10, depth: Int = 64, eventCount: Int = 1 << 22
    ) {
        self.byteCount = max(0, min(byteCount, Self.largestByteCount))
        self.lineByteCount = lineByteCount
        self.depth = max(0, min(depth, Self.largestDepth))
        self.eventCount = max(0, min(eventCount, Self.largestEventCount))
    }

    /// The limits for a parser that reads the lines of a `.jsonl` file one by one.
    package var perLine: DocumentLimits {
        DocumentLimits(
            byteCount: lineByteCount, lineByteCount: lineByteCount, depth: depth, eventCount: eventCount)
    }
}
