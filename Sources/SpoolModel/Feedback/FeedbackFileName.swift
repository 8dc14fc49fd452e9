/// The name of a file in `feedback/`: `20261121T083616.123456Z-<node>.jsonl`. Names sort by when files were published.
package struct FeedbackFileName: Hashable, Sendable {
    /// The name.
    package let bytes: [UInt8]
    /// Whose it is; all of the name, if it is not of this form.
    let node: ArraySlice<UInt8>

    /// How many bytes stand before the node's name, the dash included.
    private static let stampByteCount = 24
    private static let ending = Array(".jsonl".utf8)

    /// Takes a name as the kernel gave it.
    ///
    /// - Returns: `nil` for what is no feedback: without the ending, or begun with a point.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count > Self.ending.count, bytes.first != 0x2E, bytes.suffix(Self.ending.count) == Self.ending[...]
        else { return nil }
        self.bytes = bytes
        let isStamped = bytes.count > Self.stampByteCount && bytes[Self.stampByteCount - 1] == UInt8(ascii: "-")
        node = isStamped ? bytes.dropFirst(Self.stampByteCount) : bytes[...]
    }
}

extension FeedbackFileName: Comparable {
    /// Returns whether the left file was published first.
    package static func < (left: FeedbackFileName, right: FeedbackFileName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// Which files of an app's feedback have been read: of each node all up to one, because its names only increase.
///
/// A file of another node may appear with an earlier name than one that was read: clocks differ, and files are named
/// before they are published.
package struct FeedbackCursor: Sendable {
    private var marks: [ArraySlice<UInt8>: FeedbackFileName] = [:]

    /// Nothing has been read.
    package init() {}

    /// Returns whether the file has still to be read.
    package func isNew(_ name: FeedbackFileName) -> Bool {
        guard let mark = marks[name.node] else { return true }
        return mark < name
    }

    /// Counts a file as read, and all before it of its node.
    package mutating func pass(_ name: FeedbackFileName) {
        if isNew(name) { marks[name.node] = name }
    }
}
