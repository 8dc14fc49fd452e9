/// Byte strings laid end to end in one array: a million tokens are one allocation, not a million.
package struct PackedBytes: Sendable {
    /// All strings, one behind the other.
    package private(set) var bytes: [UInt8] = []
    /// Where each string ends; empty as long as all are of one length.
    private var ends: [Int] = []
    /// The length they share, 0 before the first.
    private var stride = 0
    /// How many strings there are.
    package private(set) var count = 0

    /// Creates an empty pack.
    package init() {}

    /// Creates an empty pack with room for this many bytes.
    package init(reservingByteCount byteCount: Int) {
        bytes.reserveCapacity(byteCount)
    }

    /// Appends one string.
    package mutating func append(_ string: some Collection<UInt8>) {
        bytes.append(contentsOf: string)
        commit()
    }

    /// Appends one string, at the speed that an array allows.
    package mutating func append(_ string: [UInt8]) {
        bytes.append(contentsOf: string)
        commit()
    }

    /// Appends the token that is spelled so.
    ///
    /// - Returns: What is wrong with the spelling; then nothing was appended.
    package mutating func append(token spelling: Span<UInt8>) -> TokenSpelling.Fault? {
        switch TokenSpelling.append(spelling, to: &bytes) {
        case .success: commit()
        case .failure(let fault): return fault
        }
        return nil
    }

    /// Lets `body` append bytes, which become one more string unless it returns `nil`.
    ///
    /// - Returns: What `body` returned.
    package mutating func append<Value>(_ body: (inout [UInt8]) -> Value?) -> Value? {
        let start = bytes.count
        guard let value = body(&bytes) else {
            bytes.removeLast(bytes.count - start)
            return nil
        }
        commit()
        return value
    }

    /// The place of a string in `bytes`.
    package func range(at index: Int) -> Range<Int> {
        guard !ends.isEmpty else { return index * stride..<(index + 1) * stride }
        return (index == 0 ? 0 : ends[index - 1])..<ends[index]
    }

    /// How many of the strings from `index` on, at most `limit`, are as long as the one at `index`.
    package func uniformCount(from index: Int, atMost limit: Int) -> Int {
        let limit = min(limit, count - index)
        guard !ends.isEmpty else { return limit }
        let length = range(at: index).count
        return (0..<limit).first { range(at: index + $0).count != length } ?? limit
    }

    /// A string, without copying it.
    package subscript(index: Int) -> ArraySlice<UInt8> {
        bytes[range(at: index)]
    }

    /// Notes that the bytes behind the last string are one more.
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
