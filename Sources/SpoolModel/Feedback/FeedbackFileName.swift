package import PushModel

/// The name of a file in `feedback/`: `20261121T083616.123456Z-<node>.jsonl`. Names sort by publication time.
package struct FeedbackFileName: Hashable, Sendable {
    /// The name.
    package let bytes: [UInt8]
    /// The node that wrote the file; empty if the name does not have this form or no clock shows its time: such a name
    /// must not hide a node's later files.
    let node: ArraySlice<UInt8>

    /// The bytes before the node's name, including the dash.
    private static let stampByteCount = 24
    private static let ending = Array(".jsonl".utf8)

    /// Takes a name as the kernel returned it.
    ///
    /// - Returns: `nil` if the name is not a feedback file's: it lacks the ending or begins with a dot.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count > Self.ending.count, bytes.first != 0x2E, bytes.suffix(Self.ending.count) == Self.ending[...]
        else { return nil }
        self.bytes = bytes
        let isStamped = Self.hasStamp(bytes) && Self.time(of: bytes).map { $0 < Self.end } == true
        node = isStamped ? bytes.dropFirst(Self.stampByteCount) : []
    }

    private static func hasStamp(_ name: [UInt8]) -> Bool {
        guard name.count > stampByteCount else { return false }
        return zip(name, "00000000T000000.000000Z-".utf8).allSatisfy { byte, form in
            form == UInt8(ascii: "0") ? byte &- form < 10 : byte == form
        }
    }

    /// The limit for times in names that another program may have created: 2250. No clock is wrong by that much.
    package static let end = WallTime(epochSeconds: 8_835_955_200)

    /// Returns the time in the name of any node's feedback file, `20261121T083616.123456Z-<node>.jsonl`.
    package static func time(of name: [UInt8]) -> WallTime? {
        guard name.count > stampByteCount, name[stampByteCount - 1] == UInt8(ascii: "-") else { return nil }
        var text: [UInt8] = []
        for (index, byte) in name.prefix(stampByteCount - 1).enumerated() {
            switch index {
            case 4, 6: text += [UInt8(ascii: "-"), byte]
            case 11, 13: text += [UInt8(ascii: ":"), byte]
            default: text.append(byte)
            }
        }
        return WallTime(rfc3339: String(decoding: text, as: UTF8.self))
    }
}

extension FeedbackFileName: Comparable {
    /// Returns whether the left file was published first.
    package static func < (left: FeedbackFileName, right: FeedbackFileName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// The files of an app's feedback that have been read: for each node all files up to one, because its names only increase.
///
/// A file of another node may appear later with an earlier name than one already read: clocks differ, and a file gets
/// its name before it is published.
package struct FeedbackCursor: Sendable {
    private var marks: [ArraySlice<UInt8>: FeedbackFileName] = [:]

    /// Creates a cursor before all files.
    package init() {}

    /// Reads a cursor's text; `nil` if it is not one. An empty text is the cursor before all files.
    package init?(_ text: some StringProtocol) {
        for part in text.split(separator: "/") {
            guard let name = FeedbackFileName(Array(part.utf8)) else { return nil }
            pass(name)
        }
    }

    /// The names of the last files read, of each node one, separated by slashes.
    package var text: String {
        marks.values.sorted().map { String(decoding: $0.bytes, as: UTF8.self) }.joined(separator: "/")
    }

    /// Returns whether the file is still unread.
    package func isNew(_ name: FeedbackFileName) -> Bool {
        guard let mark = marks[name.node] else { return true }
        return mark < name
    }

    /// Marks a file as read, with all earlier files of its node.
    package mutating func pass(_ name: FeedbackFileName) {
        if isNew(name) { marks[name.node] = name }
    }
}
