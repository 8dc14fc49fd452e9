/// Byte strings stored end to end in one array, so that a million addresses take one allocation instead of a million.
package struct PackedBytes: Sendable {
    /// All strings, end to end.
    package private(set) var bytes: [UInt8] = []
    /// The end of each string; empty while all strings have the same length.
    private var ends: [Int] = []
    /// The common length, or 0 before the first string.
    private var stride = 0
    /// The number of strings.
    package private(set) var count = 0

    /// Creates an empty pack.
    package init() {}

    /// Creates an empty pack with room for this many bytes.
    package init(reservingByteCount byteCount: Int) {
        bytes.reserveCapacity(byteCount)
    }

    /// Appends one string.
    package mutating func append(_ string: ArraySlice<UInt8>) {
        bytes.append(contentsOf: string)
        commit()
    }

    /// Appends one string.
    package mutating func append(_ string: [UInt8]) {
        bytes.append(contentsOf: string)
        commit()
    }

    /// Appends the bytes that `body` adds as one string, unless it returns false.
    package mutating func append(_ body: (inout [UInt8]) -> Bool) {
        let start = bytes.count
        if body(&bytes) { commit() } else { bytes.removeLast(bytes.count - start) }
    }

    /// Returns the range of a string in `bytes`.
    package func range(at index: Int) -> Range<Int> {
        guard !ends.isEmpty else { return index * stride..<(index + 1) * stride }
        return (index == 0 ? 0 : ends[index - 1])..<ends[index]
    }

    /// Returns how many strings from `index` on, at most `limit`, are as long as the one at `index`.
    package func uniformCount(from index: Int, atMost limit: Int) -> Int {
        let limit = min(limit, count - index)
        guard !ends.isEmpty else { return limit }
        let length = range(at: index).count
        return (0..<limit).first { range(at: index + $0).count != length } ?? limit
    }

    /// The string at `index`, without a copy.
    package subscript(index: Int) -> ArraySlice<UInt8> {
        bytes[range(at: index)]
    }

    /// Turns the bytes after the last string into one more string.
    private mutating func commit() {
        let start = ends.last ?? count * stride
        let length = bytes.count - start
        if count == 0 {
            stride = length
        } else if !ends.isEmpty {
            ends.append(bytes.count)
        } else if length != stride {
            ends = (1...count).map { $0 * stride }
            ends.append(bytes.count)
        }
        count += 1
    }
}
